import json
import re
import shutil
from dataclasses import replace

import pytest
from mlaut_exchange import extend_bundle, verify_bundle
from mlaut_exchange.extending import datasets_io, strategies_of_bundle
from mlaut_exchange.publishing import _sealed, _with_files, study_file_beside
from sklearn.tree import DecisionTreeClassifier

from mlaut.cli import main
from mlaut.errors import StudyError
from mlaut.experiments import verify_study
from mlaut.files_io import FilesIO, merge_studies
from mlaut.files_io import StudyStore as Store

SEED = 7  # of the study
INLINE = {"engine": "inline"}
TREE = [("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
FILE = "[strategies]\nnames = ['BaselineClassifier']\nfile = 'mine.py'\n"
TRAP = "from pathlib import Path\nPath('ran').touch()\nstrategies = ['GaussianNaiveBayes']\n"


def test_a_share_of_the_cells_is_fitted_again(published):
    bundle, found = verify_bundle(published.folder, refit="50%", **INLINE)
    assert bundle == published
    assert found.ok
    assert found.refitted == 4


def test_without_refit_the_tables_of_the_bundle_are_checked(published):
    _, found = verify_bundle(published.folder)
    assert found.ok
    assert found.unchecked == ""
    assert found.refitted == 0


def test_tables_that_are_not_included_are_loaded_by_reference(published, tmp_path):
    outside = replace(
        published, datasets=tuple(replace(d, included=False) for d in published.datasets)
    )
    io = datasets_io(outside, Store(published.study), tmp_path / "new.h5")
    inside = FilesIO(published.folder / "datasets.h5")
    names, paths = io.list_datasets()
    assert names == ["iris", "zoo"]
    assert io.fingerprints(paths) == inside.fingerprints(paths)


def test_tables_of_a_group_are_stored_in_one_change_of_the_file(published, tmp_path, monkeypatch):
    changes, save = [], FilesIO.save_datasets
    monkeypatch.setattr(
        FilesIO, "save_datasets", lambda *given: changes.append(save(*given)) or changes[-1]
    )
    io = datasets_io(published, Store(published.study), tmp_path / "new.h5")
    assert changes == [tuple(io.list_datasets()[1])]


def lacking(published, **changes):
    iris, zoo = published.datasets
    return replace(published, datasets=(replace(iris, included=False, **changes), zoo))


@pytest.mark.parametrize(
    ("reference", "way"),
    [
        ("", r"needs a database .*\(--input\): 1 have no place"),
        ("starter/iris", "loads and checks"),
    ],
)
def test_what_checks_tables_that_are_not_included(published, monkeypatch, reference, way):
    bundle = lacking(published, reference=reference)
    monkeypatch.setattr("mlaut_exchange.extending.open_bundle", lambda *_, **__: bundle)
    _, found = verify_bundle(bundle.folder)
    assert re.match(f"1 of 2 datasets are not in the bundle; --refit {way}", found.unchecked)


def test_a_table_that_is_nowhere_is_named(published, tmp_path):
    bundle = lacking(published, reference="")
    with pytest.raises(
        StudyError, match="table of dataset 'iris' is not in the bundle, and it names no"
    ):
        datasets_io(bundle, Store(published.study), tmp_path / "new.h5")
    given = FilesIO(published.folder / "datasets.h5")
    io = datasets_io(bundle, Store(published.study), tmp_path / "new.h5", given)
    assert io.list_datasets()[0] == ["iris", "zoo"]


def test_a_table_of_another_content_is_refused(published, tmp_path):
    bundle = lacking(published, reference="starter/wine")
    with pytest.raises(StudyError, match="dataset 'iris' has another content now"):
        datasets_io(bundle, Store(published.study), tmp_path / "new.h5")


def test_a_manifest_that_names_another_table_is_a_problem(bundle):
    content = json.loads((bundle / "bundle.json").read_bytes())
    content["datasets"][0]["fingerprint"] = "0" * 64
    (bundle / "bundle.json").write_text(json.dumps(content))
    _, found = verify_bundle(bundle)
    assert found.problems == (
        ("dataset 'iris'", "the manifest and the study do not name the same table"),
    )


def test_an_extension_is_merged_without_fitting_again(published, tmp_path):
    mine = tmp_path / "mine.h5"
    first = extend_bundle(published.folder, TREE, mine, verbose=0, **INLINE)
    assert (first.n_done, [s.name for s in Store(mine).strategies]) == (4, ["tree"])
    again = extend_bundle(published.folder, TREE, mine, verbose=0, **INLINE)
    assert again.n_done == 4
    assert Store(mine).runs[-1]["seed"] == SEED  # that of the published study
    merged = merge_studies([published.study, mine], tmp_path / "all.h5")
    assert [s.name for s in merged.strategies] == [
        "BaselineClassifier",
        "GaussianNaiveBayes",
        "tree",
    ]
    assert all(status.all() for _, status in merged.statuses().values())
    assert verify_study(merged.path).ok
    before = {name: numbers for name, _, numbers in Store(published.study).numbers()}
    for name, _, numbers in merged.numbers():
        assert (numbers["usage"][:2] == before[name]["usage"]).all()


def test_a_name_of_the_bundle_is_refused(published, tmp_path):
    with pytest.raises(StudyError, match="has the strategy 'GaussianNaiveBayes' already"):
        extend_bundle(published.folder, "GaussianNaiveBayes", tmp_path / "mine.h5", **INLINE)
    assert not list(tmp_path.iterdir())


def with_files(published, folder, **texts):
    """Return a copy of a bundle with further files."""
    shutil.copytree(published.folder, folder)
    (folder / "bundle.json").unlink()
    for name, text in texts.items():
        (folder / name.replace("_", ".")).write_text(text)
    return _sealed(_with_files(replace(published, folder=folder)))


def test_code_of_a_bundle_runs_only_with_trust(published, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = with_files(published, tmp_path / "b", strategies_py=TRAP, study_toml=FILE).folder
    _, found = verify_bundle(folder, refit="1%", **INLINE)
    assert found.left_out == ("GaussianNaiveBayes: no strategy so called is given",)
    assert found.unchecked.startswith("--trust runs the Python file of the bundle")
    extend_bundle(folder, TREE, tmp_path / "mine.h5", verbose=0, **INLINE)
    assert not (tmp_path / "ran").exists()
    _, found = verify_bundle(folder, refit="1%", trusted=True, **INLINE)
    assert (tmp_path / "ran").exists()
    assert (found.refitted, found.left_out, found.unchecked) == (1, (), "")


def test_parameters_of_a_study_file_are_used_but_not_those_that_name_files(published, tmp_path):
    text = """[strategies]
    names = ["SVC", "K_Neighbours"]
    [strategies.parameters.SVC]
    params = {C = 2.0, kernel = "rbf"}
    [strategies.parameters.K_Neighbours]
    params = {n_neighbors = 3, cache = "/tmp/x"}
    """
    bundle = with_files(published, tmp_path / "b", study_toml=text)
    svc, neighbours = strategies_of_bundle(bundle, trusted=False)
    assert svc.params == {"C": 2.0, "kernel": "rbf"}
    assert neighbours.params is None
    trusted = strategies_of_bundle(bundle, trusted=True)
    assert trusted[1].params == {"n_neighbors": 3, "cache": "/tmp/x"}


@pytest.mark.parametrize("text", ["x = " + "[" * 100_000, "[strategies]\nnames = ['no such']", "?"])
def test_a_study_file_that_cannot_be_used_is_left_out(published, tmp_path, text):
    bundle = with_files(published, tmp_path / "b", study_toml=text)
    assert strategies_of_bundle(bundle, trusted=False) is None


def test_the_command_line(published, server, tmp_path, capsys):
    shutil.copytree(published.folder, tmp_path / "b")
    (tmp_path / "mine.py").write_text(
        "from sklearn.tree import DecisionTreeClassifier\n"
        "strategies = [('tree', DecisionTreeClassifier(max_depth=2, random_state=0))]\n"
    )
    mine, merged = tmp_path / "mine.h5", tmp_path / "all.h5"
    address = f"{server.url}/b"
    main(["verify", address])
    told = capsys.readouterr().out
    assert told.startswith("Small study (Ada, Charles, ")
    assert "2 datasets, 8 cells: 8 done\n  no problem found in structure and content" in told
    main(
        [
            "run",
            address,
            "--add",
            str(tmp_path / "mine.py"),
            "-o",
            str(mine),
            "-q",
            "--set",
            "engine=inline",
        ]
    )
    main(["merge", address, str(mine), "-o", str(merged)])
    assert "2 datasets, 3 strategies, 12 cells: 12 done" in capsys.readouterr().out
    main(["status", str(published.folder)])
    assert "8 cells: 8 done" in capsys.readouterr().out


def test_a_study_file_that_lies_beside_is_named(study, tmp_path, capsys):
    for name in ("study.h5", "study.datasets.h5"):
        shutil.copy(study.with_name(name), tmp_path)
    (tmp_path / "broken.toml").write_text("?")
    (tmp_path / "other.toml").write_text("[study]\noutput = 'other.h5'")
    assert study_file_beside(tmp_path / "study.h5") is None
    (tmp_path / "mine.toml").write_text("")
    assert study_file_beside(tmp_path / "study.h5") == tmp_path / "mine.toml"


MISTAKES = [
    (["run", "x.toml", "--add", "mine.py"], "--add and -o belong together"),
    (["verify", "{bundle}", "--mend"], "a bundle is not changed"),
    (["verify", "{bundle}", "--limit", "much"], "'much': not a size above 0"),
]


@pytest.mark.parametrize(("arguments", "text"), MISTAKES)
def test_mistakes_on_the_command_line(published, capsys, arguments, text):
    with pytest.raises(SystemExit) as left:
        main([one.format(bundle=published.folder) for one in arguments])
    assert left.value.code == 5
    assert text in capsys.readouterr().err
