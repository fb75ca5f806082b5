"""Reports on tables of scores, and reports with several metrics."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from made_up import made_up_study

from mlaut.analysis import Results, compare
from mlaut.cli import cli
from mlaut.cli.output import in_own_words
from mlaut.errors import AnalysisError
from mlaut.report import make_report
from mlaut.report.page import as_html

TABLE = pd.DataFrame(
    np.random.default_rng(0).uniform(0.6, 0.9, (12, 3)) + np.array([0.0, 0.05, 0.1]),
    index=pd.Index([f"d{i}" for i in range(12)], name="dataset"),
    columns=["one", "two", "three"],
).clip(0, 1)


def test_a_table_has_the_conclusions_of_compare(draw_only):
    draw_only()
    report = make_report(TABLE, "accuracy")
    assert report.sections[0].sentences == compare(TABLE, metric="accuracy").sentences()
    assert report.state.lines == ("12 datasets, from a table of scores.",)
    page = as_html(report)
    assert "What was run" not in page
    assert "No cell that was run failed" not in page
    again = make_report(Results.from_table(TABLE, metric="accuracy"))
    assert again.sections[0].sentences == report.sections[0].sentences


def test_the_command_line_reports_a_csv_file(tmp_path):
    path = tmp_path / "results.csv"
    TABLE.to_csv(path)
    full = ["report", str(path), "--metric", "accuracy", "--format", "full"]
    done = CliRunner().invoke(cli, full)
    assert done.exit_code == 0, done.output
    compared = compare(TABLE, metric="accuracy")
    assert compared.sentences()[0] in done.output
    told = json.loads(CliRunner().invoke(cli, [*full[:-1], "json"]).output)
    verdicts = {row["strategy"]: row["verdict"] for row in told["sections"][0]["strategies"]}
    assert verdicts == compared.decision().frame["verdict"].to_dict()
    assert told["sections"][0]["headline"] == list(compared.decision().headline())
    assert told["studied"].startswith("Read: 12 datasets (rows, named by `dataset`); 3 strat")
    without = CliRunner().invoke(cli, ["report", str(path)])
    assert "a table does not say what its scores are" in without.output
    assert f"{path} --less-is-better" in without.output
    own = ["report", str(path), "--metric", "my score", "--greater-is-better"]
    assert CliRunner().invoke(cli, own).exit_code == 0


def test_what_reading_a_table_has_left_out_stands_on_the_first_screen(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(",forest,svm,Average\na,90,80,85\nb,91,failed,91\nmean,90.5,80,85\n")
    screen = " ".join(repr(make_report(path, "accuracy")).split())
    assert (
        "Read: 2 datasets (rows, named by `unnamed` (columns are strategies by their names)); 2 "
        "strategies (columns); accuracy in percent, divided by 100; failed: 1 'failed'; not used: "
        "row `mean` (no more than a summary of the others), `Average` (an average of the others). "
        "Not recorded:"
    ) in screen


def test_scores_in_other_units_are_kept_in_the_words_of_the_command_line(tmp_path):
    path = tmp_path / "results.csv"
    (TABLE * 300).to_csv(path)
    command = ["report", str(path), "--metric", "accuracy"]
    refused = CliRunner().invoke(cli, command).exception
    assert "change the units, or pass greater_is_better=True to keep them" in str(refused)
    assert "pass --greater-is-better to keep them" in in_own_words(refused)
    assert CliRunner().invoke(cli, [*command, "--greater-is-better"]).exit_code == 0


def test_the_first_of_several_metrics_is_the_primary_one(tmp_path):
    study = made_up_study(tmp_path / "s.h5", ["one", "two"], [f"d{i}" for i in range(6)])
    first, second = make_report(study, ["mcc", "accuracy"]).sections
    assert [first.scored.metric.name, second.scored.metric.name] == ["mcc", "accuracy"]
    line = "A secondary metric: the primary one, which decides, is mcc."
    assert second.sentences[0] == line
    assert line not in first.sentences


def test_the_sources_of_a_study_come_from_a_csv_file(tmp_path):
    names = [f"d{i}" for i in range(6)]
    study = made_up_study(tmp_path / "s.h5", ["one", "two"], names)
    rows = [f"{name},{name if name != 'd1' else 'd0'}" for name in names]
    path = tmp_path / "sources.csv"
    command = ["report", str(study.path), "--clusters", str(path)]
    path.write_text("\n".join(["dataset,source", *rows]))
    shown = CliRunner().invoke(cli, command)
    assert "Too few sources to be sure (5, and at least 6 are needed)" in " ".join(
        shown.output.split()
    )
    for text, message in {
        "\n".join(
            ["dataset,source", *rows[:1], "d9,x", *rows[2:]]
        ): "no source for the dataset 'd1'",
        "dataset\nd0": "two columns are needed, datasets and their sources",
    }.items():
        path.write_text(text)
        assert message in str(CliRunner().invoke(cli, command).exception)
    refused = CliRunner().invoke(cli, [*command[:-1], "source"]).exception
    assert "only tables have columns: give the source of each dataset in a mapping" in str(refused)


def test_the_sources_of_a_table_in_json_come_from_a_csv_file(tmp_path):
    scores = [{"dataset": f"d{i}", "A": 0.9, "B": 0.8} for i in range(6)]
    (tmp_path / "t.json").write_text(json.dumps(scores))
    path = tmp_path / "sources.csv"
    path.write_text("\n".join(["dataset,source", *(f"d{i},{max(i, 1)}" for i in range(6))]))
    command = ["report", str(tmp_path / "t.json"), "--metric", "accuracy", "--clusters", str(path)]
    shown = CliRunner().invoke(cli, command, catch_exceptions=False)
    assert "Too few sources to be sure (5, and at least 6 are needed)" in " ".join(
        shown.output.split()
    )


def test_nothing_is_concluded_where_nothing_is_tested(tmp_path):
    rows = ["dataset,near,nb,rf", *(f"{name},0.9,failed,failed" for name in "abc")]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    (section,) = make_report(tmp_path / "t.csv", "accuracy").sections
    assert section.robustness is None
    (line,) = section.headline
    assert line.startswith("One strategy has no other to be compared with (2 of 3 strategies")


def test_what_a_table_needs():
    with pytest.raises(
        AnalysisError, match="does not say what its scores are: give metric='accuracy'"
    ):
        make_report(TABLE)
    with pytest.raises(AnalysisError, match="these results are of accuracy"):
        make_report(Results.from_table(TABLE, metric="accuracy"), "mcc")


def test_the_metrics_are_listed():
    done = CliRunner().invoke(cli, ["list", "metrics", "--task", "regression", "--json"])
    rows = {row["name"]: row for row in json.loads(done.output)}
    assert rows["rmse"] == {
        "name": "rmse",
        "metric": "rmse",
        "task": "Regression",
        "better": "less",
        "range": "0 to inf",
        "needs": "labels",
        "source": "MLaut",
    }
    assert "accuracy" not in rows
    assert "accuracy" in CliRunner().invoke(cli, ["list", "metrics"]).output


def test_one_set_of_scores_has_one_metric(tmp_path):
    """It would confirm itself under the name of another metric."""
    table = pd.DataFrame({"A": [0.9, 0.8, 0.7], "B": [0.6, 0.7, 0.5]}, index=list("xyz"))
    table.to_csv(tmp_path / "wide.csv", index_label="dataset")
    for source in (table, tmp_path / "wide.csv"):
        with pytest.raises(AnalysisError, match="one set of scores, so it has one metric"):
            make_report(source, ["accuracy", "f1"])
    long = table.rename_axis("dataset").reset_index().melt("dataset", var_name="model")
    long = long.rename(columns={"value": "accuracy"}).assign(f1=[0.1, 0.2, 0.3, 0.2, 0.1, 0.4])
    long.to_csv(tmp_path / "long.csv", index=False)
    assert len(make_report(tmp_path / "long.csv", ["accuracy", "f1"]).sections) == 2


def test_a_text_without_a_table_is_no_study(tmp_path):
    path = tmp_path / "table.md"
    path.write_text("# Results\n\nNone yet.\n")
    with pytest.raises(AnalysisError, match=r"table.md: no table in it: save the table as CSV"):
        make_report(path, "accuracy")
