"""Results in the forms of Every Eval Ever and of the Hugging Face Hub.

``every_eval_ever/`` has the schema of the first, with its licence (MIT). The second has a
specification in words: `HUB` says it as a schema.
"""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from jsonschema import Draft7Validator
from mlaut_boards.exchange import to_every_eval_ever, to_hugging_face

from mlaut import Study
from mlaut.analysis import Results, read_results
from mlaut.cli import cli
from mlaut.errors import AnalysisError
from mlaut.report import make_report

SCHEMA = Path(__file__).with_name("every_eval_ever") / "eval.schema.json"
TEXT = {"type": "string", "minLength": 1}
HUB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["dataset", "value"],
        "additionalProperties": False,
        "properties": {
            "dataset": {
                "type": "object",
                "required": ["id", "task_id"],
                "additionalProperties": False,
                "properties": {"id": TEXT, "task_id": TEXT, "revision": TEXT},
            },
            "value": {"type": "number"},
            "verifyToken": TEXT,
            "date": TEXT,
            "source": {
                "type": "object",
                "required": ["url"],
                "additionalProperties": False,
                "properties": {"url": TEXT, "name": TEXT, "user": TEXT, "org": TEXT},
            },
            "notes": TEXT,
        },
    },
}
TABLE = pd.DataFrame(
    {"tree: 1/2": [0.9, 0.8, math.nan], "forest": [0.96, 0.9, 0.7]}, index=["iris", "zoo", "ü"]
)


def report(**more):
    return make_report(Results.from_table(TABLE, metric="accuracy", n_test=50), title="A/B", **more)


def read(path):
    content = json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    Draft7Validator(json.loads(SCHEMA.read_text())).validate(content)
    return content


def wilson(share, n, z=1.959963984540054):
    """Return the ends of Wilson's interval (Wilson 1927), written down anew."""
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return middle - half, middle + half


def test_a_table_has_the_intervals_of_its_scores(tmp_path):
    tree, forest = map(read, to_every_eval_ever(report(), tmp_path, "Ada & Co."))
    assert forest["model_info"]["id"] == "Ada & Co./forest"
    assert forest["source_metadata"]["source_type"] == "documentation"
    assert [one["evaluation_name"] for one in forest["evaluation_results"]] == ["iris", "zoo", "ü"]
    for one, score in zip(forest["evaluation_results"], [0.96, 0.9, 0.7], strict=True):
        details = one["score_details"]
        interval = details["uncertainty"]["confidence_interval"]
        assert details["score"] == score
        assert details["uncertainty"]["num_samples"] == 50
        assert interval["confidence_level"] == 0.95
        assert (interval["lower"], interval["upper"]) == pytest.approx(wilson(score, 50))
        assert one["metric_config"]["lower_is_better"] is False
        assert [one["metric_config"][f"{end}_score"] for end in ("min", "max")] == [0, 1]
    assert len(tree["evaluation_results"]) == 2
    assert tree["source_metadata"]["additional_details"]["without a score"] == "ü"
    assert "without a score" not in forest["source_metadata"]["additional_details"]
    assert "Too few datasets" in forest["source_metadata"]["additional_details"]["conclusion"]


def test_files_lie_where_the_datastore_has_them_and_replace_their_former_selves(tmp_path):
    paths = to_every_eval_ever(report(), tmp_path, "Ada & Co.")
    assert [path.parent.relative_to(tmp_path).as_posix() for path in paths] == [
        "data/A-B/Ada-Co/tree-1-2",
        "data/A-B/Ada-Co/forest",
    ]
    version_4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.json"
    assert pd.Series([path.name for path in paths]).str.fullmatch(version_4).all()
    assert to_every_eval_ever(report(), tmp_path, "Ada & Co.") == paths
    other = to_every_eval_ever(report(), tmp_path, "Ada  Co")  # the same folders
    assert not set(other) & set(paths)


def test_mlaut_reads_what_it_wrote(tmp_path):
    to_every_eval_ever(report(), tmp_path, "Ada")
    again = read_results(tmp_path)
    assert again.metric.name == "accuracy"
    expected = TABLE.rename(columns=lambda name: f"Ada/{name}")
    pd.testing.assert_frame_equal(
        again.scores.sort_index(), expected.sort_index(), check_names=False, check_like=True
    )


def test_a_loss_without_bounds_has_no_invented_ones(tmp_path):
    losses = Results.from_table(TABLE[["forest"]].assign(tree=1.5), metric="mse")
    for path in to_every_eval_ever(make_report(losses), tmp_path, "Ada"):
        for one in read(path)["evaluation_results"]:
            about = one["metric_config"]
            assert about["lower_is_better"] is True
            assert (about["min_score"], about["max_score"]) == (0, "Infinity")
            assert "uncertainty" not in one["score_details"]  # nothing is known about it


def test_a_study_has_the_intervals_of_its_report(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets(["starter/iris", "starter/zoo"])
    study.run(["BaselineClassifier", "GaussianNaiveBayes"], engine="inline", verbose=0)
    made = make_report(study.path, title="Small")
    table = made.sections[0].tables["estimates by dataset"]
    for path in to_every_eval_ever(made, tmp_path, "Ada"):
        content = read(path)
        assert content["source_metadata"]["source_type"] == "evaluation_run"
        for one in content["evaluation_results"]:
            row = table.loc[(one["evaluation_name"], content["model_info"]["name"])]
            details = one["score_details"]
            assert details["score"] == pytest.approx(row["value"])
            interval = details["uncertainty"]["confidence_interval"]
            assert [interval["lower"], interval["upper"]] == [row["low"], row["high"]]
            assert interval["method"] == row["method"] != ""
            sizes = {"iris": 50, "zoo": 34}  # a third of the rows, rounded up
            assert details["uncertainty"]["num_samples"] == sizes[one["evaluation_name"]]


def test_the_hub_has_the_interval_in_the_notes(tmp_path):
    paths = to_hugging_face(report(), tmp_path, "ada/bench", "https://example.org/bundle")
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == [
        "tree-1-2/.eval_results/A-B.yaml",
        "forest/.eval_results/A-B.yaml",
    ]
    tree, forest = (yaml.safe_load(path.read_text(encoding="utf-8")) for path in paths)
    for one in (tree, forest):
        Draft7Validator(HUB).validate(one)
    assert [(one["dataset"]["task_id"], one["value"]) for one in forest] == [
        ("iris", 0.96),
        ("zoo", 0.9),
        ("ü", 0.7),
    ]
    assert [one["dataset"]["task_id"] for one in tree] == ["iris", "zoo"]  # one has no score
    assert forest[0]["dataset"]["id"] == "ada/bench"
    assert forest[0]["source"] == {"url": "https://example.org/bundle"}
    low, high = wilson(0.96, 50)
    assert f"; 95% interval {low:.6g} to {high:.6g} (over test points)" in forest[0]["notes"]


def test_names_of_a_study_do_not_change_the_form(tmp_path):
    strange = 'a: "b"\n- dataset: x'
    table = pd.DataFrame({strange: [0.5, np.nan], "b": [0.25, 1.0]}, index=["x\x07", "#y"])
    made = make_report(Results.from_table(table, metric="accuracy"), title="t")
    first, second = to_hugging_face(made, tmp_path, "ada/bench")
    assert first.parent.parent.parent == tmp_path
    (entry,) = yaml.safe_load(first.read_text(encoding="utf-8"))
    assert (entry["dataset"]["task_id"], entry["value"]) == ("x\x07", 0.5)
    assert [one["value"] for one in yaml.safe_load(second.read_text("utf-8"))] == [0.25, 1.0]


@pytest.mark.parametrize("arguments", [[], ["--every-eval-ever", "a", "--hugging-face", "hub"]])
def test_a_call_names_one_form(arguments):
    done = CliRunner().invoke(cli, ["leaderboard", "export", "scores.csv", *arguments])
    assert (done.exit_code, "name one of --every-eval-ever" in done.output) == (2, True)


def test_what_is_missing_is_asked_for(tmp_path):
    with pytest.raises(AnalysisError, match="say who ran the strategies"):
        to_every_eval_ever(report(), tmp_path, " ")
    with pytest.raises(AnalysisError, match="benchmark 'bench': write the Hub's dataset as OWNER"):
        to_hugging_face(report(), tmp_path, "bench")
    assert list(tmp_path.iterdir()) == []
    table = pd.DataFrame({"a b": [0.9, 0.8], "a:b": [0.7, 0.6]}, index=["iris", "zoo"])
    alike = make_report(Results.from_table(table, metric="accuracy"))
    with pytest.raises(AnalysisError, match=r"'a:b': another strategy also has the file .*a-b.*; "):
        to_hugging_face(alike, tmp_path, "ada/bench")


def test_a_table_of_scores_is_exported_by_the_command(tmp_path):
    TABLE.to_csv(tmp_path / "scores.csv", index_label="dataset")
    given = ["--metric", "accuracy", "--hugging-face", str(tmp_path), "--benchmark", "ada/bench"]
    done = CliRunner().invoke(cli, ["leaderboard", "export", str(tmp_path / "scores.csv"), *given])
    assert (done.exit_code, done.output.count(".eval_results")) == (0, 2)
