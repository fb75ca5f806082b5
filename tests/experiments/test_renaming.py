"""Renaming: cells keep their seeds, a name is that of one dataset, and what comes back is said."""

from itertools import pairwise

import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import mlaut
from mlaut import Data
from mlaut.cli import main
from mlaut.errors import DataError, StoreError, StudyError
from mlaut.experiments import load_model, verify_study
from mlaut.experiments.restructure import restructure
from mlaut.files_io import StudyStore, merge_studies

OPTIONS = {"engine": "inline", "verbose": 0}


def _forest(name="forest", n=3):
    return (name, RandomForestClassifier(n))


def _study(path, **options):
    study = mlaut.Study(path)
    study.add_datasets(["starter/iris", "starter/glass"])
    study.run([_forest()], split="kfold(2)", **OPTIONS, **options)
    return study


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return _study(tmp_path_factory.mktemp("made") / "study.h5")


@pytest.fixture
def study(made, tmp_path):
    for path in (made.path, made.datasets_path):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return mlaut.Study(tmp_path / made.path.name)


def _rename(study, what, *names):
    for old, new in pairwise(names):
        main(["study", "rename", str(study.path), f"--{what}", old, new])


def _drifts(path, *names):
    given = [_forest(name) for name in names]
    found = verify_study(path, refit=1, strategies=given, engine="inline")
    assert found.problems == found.left_out == ()
    return found.refitted, found.drifts


def _seeds(study):
    return {name: numbers["seed"].tolist() for name, _, numbers in StudyStore(study.path).numbers()}


@pytest.mark.parametrize("names", [("glas",), ("glas", "broken glass"), ("glas", "glass")])
def test_cells_of_a_renamed_dataset_are_fitted_again_as_stored(study, names):
    _rename(study, "dataset", "glass", *names)
    assert _drifts(study.path, "forest") == (4, ())
    assert study.save_models([_forest()], engine="inline") == 4


@pytest.mark.parametrize("names", [("wood",), ("wood", "trees"), ("wood", "forest")])
def test_cells_of_a_renamed_strategy_are_fitted_again_as_stored(study, names):
    _rename(study, "strategy", "forest", *names)
    assert _drifts(study.path, names[-1]) == (4, ())
    assert study.save_models([_forest(names[-1])], engine="inline") == 4


def test_new_cells_have_the_seeds_that_they_would_have_without_renaming(study, tmp_path):
    study.run([_forest("later")], **OPTIONS)
    study.run([_forest()], split="repeated_kfold(2, 2)", **OPTIONS)
    whole = _seeds(study)
    (tmp_path / "other").mkdir()
    other = _study(tmp_path / "other" / "study.h5")
    _rename(other, "dataset", "glass", "glas")
    _rename(other, "strategy", "forest", "wood")
    other.run([_forest("later")], **OPTIONS)
    other.run([_forest("wood")], split="repeated_kfold(2, 2)", **OPTIONS)
    assert _seeds(other) == {"iris": whole["iris"], "glas": whole["glass"]}
    assert _drifts(other.path, "wood", "later") == (12, ())


def test_cells_of_earlier_versions_keep_the_seeds_of_their_new_names(study, monkeypatch):
    _rename(study, "dataset", "glass", "glas")
    with monkeypatch.context() as earlier:
        earlier.setattr("mlaut.files_io.SplitEntry.first_name", property(lambda e: e.name))
        study.run([_forest("later")], **OPTIONS)
    assert _drifts(study.path, "forest", "later") == (8, ())


def test_renamed_studies_are_merged_and_compacted(study, tmp_path):
    _rename(study, "dataset", "glass", "glas")
    _rename(study, "strategy", "forest", "wood")
    (tmp_path / "other").mkdir()
    other = mlaut.Study(tmp_path / "other" / "study.h5")
    other.add_datasets("starter/glass?name=glas")
    other.run([_forest("wood")], split="kfold(2)", **OPTIONS)
    StudyStore(other.path).restructure(strategies={"wood": "copse"})
    for sources in ([study.path, other.path], [other.path, study.path]):
        merged = merge_studies(sources, tmp_path / f"merged-{sources[0].parent.name}.h5")
        merged.compact()
        found = verify_study(
            merged.path,
            refit=1,
            strategies=[_forest("wood"), _forest("copse")],
            hdf5_input_io=mlaut.Data().open_hdf5(study.datasets_path, "r"),
            engine="inline",
        )
        assert (found.refitted, found.drifts, found.problems) == (6, (), ())


def test_shards_that_are_renamed_have_the_same_cells(tmp_path):
    shards = []
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        study = _study(tmp_path / str(number) / "s.h5", shard=f"{number}/2")
        _rename(study, "dataset", "glass", "a")
        _rename(study, "strategy", "forest", "wood")
        assert study.run([_forest("wood")], shard=f"{number}/2", **OPTIONS).tried.n_cells == 0
        shards.append(study.path)
    merged = merge_studies(shards, tmp_path / "merged.h5")
    assert [(merged.status(name) == 1).all() for name in ("iris", "a")] == [True, True]


def test_a_new_strategy_of_a_former_name_leaves_saved_models_alone(study):
    study.save_models([_forest()], engine="inline")
    _rename(study, "strategy", "forest", "wood")
    study.run([_forest("forest", 5)], save_models=True, **OPTIONS)
    models = [load_model(study.path, "iris", name, trusted=True) for name in ("wood", "forest")]
    assert [model["estimator"].n_estimators for model in models] == [3, 5]


# ------------------------------------------------------------- datasets of one name

ONE = pd.DataFrame({"x": range(12), "target": ["a", "b"] * 6})
OTHER = ONE.assign(x=1)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tables").mkdir()
    for name, table in (("one", OTHER), ("two", ONE)):
        table.to_csv(tmp_path / "tables" / f"{name}.csv", index=False)
    return tmp_path / "tables"


def test_a_study_takes_a_name_once_whatever_its_source(tmp_path, folder):
    study = mlaut.Study(tmp_path / "study.h5")
    study.add_datasets(ONE, name="one")
    with pytest.raises(StoreError, match="/one exists and differs: other values in column 'x'"):
        study.add_datasets(folder)
    assert study.datasets == ["one"]
    study.add_datasets(folder, overwrite=True)
    assert study.add_datasets(ONE, name="two") == ["two"]
    assert study.add_datasets(folder) == study.datasets == ["one", "two"]
    with pytest.raises(StoreError, match="/starter/iris exists and differs"):
        study.add_datasets(["starter/iris", "sklearn/iris"])


def test_removing_and_renaming_takes_one_of_several_datasets_of_a_name(tmp_path, capsys):
    path = tmp_path / "in.h5"
    io = Data().open_hdf5(path, "a")
    for group, table in (("/", ONE), ("/tabs", OTHER), ("/more", ONE)):
        io.save_datasets([mlaut.data.from_frame(table, "target", name="one")], group)
    study = mlaut.Study(tmp_path / "study.h5", datasets=path)
    with pytest.raises(DataError, match=r"'mlaut study remove .* --dataset /one'"):
        study.run("GaussianNaiveBayes", **OPTIONS)
    for command in (["remove"], ["rename"]):
        new = ["first"] if command == ["rename"] else []
        with pytest.raises(SystemExit):
            main(["study", *command, str(path), "--dataset", "one", *new])
        said = capsys.readouterr().err
        assert (
            "3 datasets are called 'one'; name one by its path: /more/one or /one or /tabs" in said
        )
    main(["study", "remove", str(path), "--dataset", "/more/one"])
    main(["study", "rename", str(path), "--dataset", "/one", "first"])
    assert io.list_datasets()[1] == ["/first", "/tabs/one"]


def test_a_study_file_removes_the_dataset_of_its_own_group(tmp_path, folder):
    text = '[data]\nfolder = "tables"\n[strategies]\nnames = ["BaselineClassifier"]\n'
    (tmp_path / "study.toml").write_text(text + "[run]\nengine = 'inline'\n")
    main(["run", "-q", str(tmp_path / "study.toml")])
    io = Data().open_hdf5(tmp_path / "input.h5", "a")
    io.save_datasets([mlaut.data.from_frame(ONE, "target", name="one")], "others")
    main(["study", "remove", str(tmp_path / "study.toml"), "--dataset", "one"])
    assert io.list_datasets()[1] == ["/others/one", "/tables/two"]
    assert StudyStore(tmp_path / "study.h5").datasets == ("two",)


@pytest.mark.parametrize("changes", [({"iris": None}, {}), ({}, {"SVC": "machine"})])
def test_a_study_file_that_was_not_run_holds_no_names(tmp_path, changes):
    file = tmp_path / "study.toml"
    file.write_text("[data]\ncollection = 'starter'\n[strategies]\nnames = ['SVC']\n")
    with pytest.raises(StudyError, match="stored yet, since it was not run; change the names in"):
        restructure(file, *changes)


def test_what_the_next_run_adds_again_is_said(study, tmp_path, folder, capsys):
    path = tmp_path / "s.toml"
    text = '[study]\noutput = "new.h5"\n[strategies]\nnames = ["BaselineClassifier"]\n[data]\n'
    path.write_text(text + 'folder = "tables"\n[run]\nengine = "inline"\n')
    main(["run", "-q", str(path)])
    capsys.readouterr()
    for arguments, said in (
        (["rename", "--dataset", "one", "uno"], "one is still in tables: the next run will add it"),
        (["remove", "--dataset", "two"], "two is still in tables: the next run will add it again"),
        (["rename", "--strategy", "BaselineClassifier", "b"], "s.toml still names it: change that"),
    ):
        main(["study", arguments[0], str(path), *arguments[1:]])
        assert said in capsys.readouterr().out
    main(["study", "remove", str(study.path), "--dataset", "iris"])
    said = capsys.readouterr().out
    assert f"'mlaut study remove {study.datasets_path} --dataset iris' removes it" in said
    main(["study", "remove", str(study.datasets_path), "--dataset", "iris"])
    assert study.datasets == ["glass"]
    (folder / "one.csv").unlink()
    main(["study", "rename", str(path), "--dataset", "uno", "one"])
    assert "still" not in capsys.readouterr().out


def test_a_dataset_that_is_renamed_in_the_study_alone_is_not_added_again(study):
    StudyStore(study.path).restructure(datasets={"glass": "glas"})
    assert study.run([_forest()], split="kfold(2)", **OPTIONS).tried.n_cells == 0
    assert StudyStore(study.path).datasets == ("glas", "iris")


def test_a_file_that_is_not_there_is_told_and_not_made(tmp_path):
    for new in ("b", None):
        with pytest.raises(StoreError, match=r"none\.h5: no such file; check the path"):
            restructure(tmp_path / "none.h5", {}, {"a": new})
    assert not list(tmp_path.iterdir())
