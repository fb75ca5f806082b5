"""The study in one object: the same files, splits and numbers as the steps one by one."""

import h5py
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from mlaut import Data, Orchestrator, Results, Study
from mlaut.errors import DataError, StoreError, StudyError
from mlaut.files_io import Study as Store
from mlaut.records import Status

STRATEGIES = ["BaselineClassifier", ("tree", DecisionTreeClassifier(random_state=0))]
QUIET = {"engine": "inline", "verbose": 0}


@pytest.fixture
def study(tmp_path):
    made = Study(tmp_path / "study.h5")
    assert made.add_datasets(["starter/iris", "starter/zoo"]) == ["iris", "zoo"]
    return made


def test_it_does_what_the_steps_do(study, tmp_path):
    study.run(STRATEGIES, split="kfold(3)", **QUIET)

    data = Data()
    input_io = data.open_hdf5(tmp_path / "input.h5", mode="a")
    out_io = data.open_hdf5(tmp_path / "steps.h5", mode="a")
    data.load(["starter/iris", "starter/zoo"], hdf5_io=input_io)
    data.split_datasets(hdf5_in=input_io, hdf5_out=out_io, scheme="kfold(3)")
    Orchestrator(input_io, out_io).run(STRATEGIES, **QUIET)

    for mine, theirs in zip(Store(study.path).blocks(), Store(out_io.path).blocks(), strict=True):
        assert np.array_equal(mine.predictions, theirs.predictions)
    assert study.results("accuracy").losses.equals(Results.from_study(out_io, "accuracy").losses)


def test_a_second_run_and_a_new_dataset_do_only_what_is_new(study, tmp_path):
    assert study.run(STRATEGIES, split="kfold(3)", **QUIET).n_done == 12
    assert study.run(STRATEGIES, **QUIET).n_before == 12
    again = Study(study.path)
    assert again.add_datasets("starter/wine") == ["wine"]
    summary = again.run(STRATEGIES, **QUIET)
    assert (summary.n_before, summary.n_cells) == (12, 18)
    splits = Store(study.path).load_splits()
    assert {entry.split.scheme for entry in splits.values()} == {"kfold(n_folds=3)"}
    assert again.status().total[Status.DONE] == 18


def test_datasets_of_a_study_that_was_made_by_steps_are_found(tmp_path):
    data = Data()
    input_io = data.open_hdf5(tmp_path / "elsewhere" / "input.h5", mode="a")
    out_io = data.open_hdf5(tmp_path / "steps.h5", mode="a")
    data.load("starter/iris", hdf5_io=input_io)
    data.split_datasets(hdf5_in=input_io, hdf5_out=out_io)
    Orchestrator(input_io, out_io).run("BaselineClassifier", **QUIET)
    assert Study(out_io.path).datasets == ["iris"]


def test_a_file_that_is_no_study_is_refused(study, tmp_path):
    with pytest.raises(
        StudyError, match=r"datasets\.h5: a database of datasets, not a study; name"
    ):
        Study(tmp_path / "study.datasets.h5")
    with h5py.File(tmp_path / "old.hdf5", "w") as file:
        file["split_dts_idx/iris/train_idx"] = np.arange(3)
    with pytest.raises(StoreError, match=r"results of MLaut 0\.1 or 0\.2"):
        Study(tmp_path / "old.hdf5")


def test_datasets_outside_of_the_folder_have_to_be_named(tmp_path):
    """A study from an unknown source may name any file of the machine as its datasets."""
    data = Data()
    input_io = data.open_hdf5(tmp_path / "input.h5", mode="a")
    out_io = data.open_hdf5(tmp_path / "studies" / "steps.h5", mode="a")
    data.load("starter/iris", hdf5_io=input_io)
    data.split_datasets(hdf5_in=input_io, hdf5_out=out_io)
    Orchestrator(input_io, out_io).run("BaselineClassifier", **QUIET)
    study = Study(out_io.path)
    assert study.status().total[Status.DONE] == 1
    with pytest.raises(StudyError, match=r"datasets are in \.\./input\.h5, .* name them yourself"):
        study.add_datasets("starter/zoo")
    assert Study(out_io.path, datasets=input_io.path).datasets == ["iris"]


def test_a_study_that_is_opened_again_goes_on_with_its_seed(tmp_path):
    """New cells have the bits that one run of all of them would have given."""
    forest = ("forest", ExtraTreesClassifier(n_estimators=3))
    for name in ("once", "twice"):
        study = Study(tmp_path / f"{name}.h5", seed=5)
        study.add_datasets("starter/iris")
        if name == "twice":
            study.run("BaselineClassifier", split="kfold(3)", **QUIET)
            study = Study(study.path)
            assert study.seed == 5
        study.run(["BaselineClassifier", forest], split="kfold(3)", **QUIET)
    once, twice = (next(Store(tmp_path / f"{name}.h5").blocks()) for name in ("once", "twice"))
    assert np.array_equal(once.probabilities, twice.probabilities)


def test_a_table_of_ones_own(tmp_path):
    x = np.arange(40.0)
    table = pd.DataFrame({"x": x, "price": x * 2 + 1})
    study = Study(tmp_path / "study.h5")
    assert study.add_datasets(table, name="prices", target="price") == ["prices"]
    several = {"prices": table, "more": table * 2}
    assert study.add_datasets(several, target="price") == ["prices", "more"]
    study.run(["BaselineRegressor", ("line", LinearRegression())], **QUIET)
    assert study.results().losses.loc["prices", "line"] == pytest.approx(0, abs=1e-9)


def test_models_of_cells_that_are_done_are_saved_on_demand(study):
    with pytest.raises(StudyError, match=r"nothing was run yet, so there are no models; run it"):
        study.save_models(STRATEGIES)
    study.run(STRATEGIES, split="kfold(2)", **QUIET)
    assert study.save_models(STRATEGIES, engine="inline") == 8
    assert study.save_models(STRATEGIES, engine="inline") == 0
    records = [record for _, told in Store(study.path).all_details() for record in told]
    assert len(records) == 8
    assert all(record["model"] for record in records)


def test_compare_and_report(study, tmp_path, capsys):
    study.run([*STRATEGIES, "GaussianNaiveBayes"], split="kfold(3)", **QUIET)
    found = study.compare()
    found.show()
    shown = capsys.readouterr().out
    assert found.decision().answer() in shown
    study.report(tmp_path / "report.html")
    assert "GaussianNaiveBayes" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_what_cannot_be_done_is_said_in_one_line(study, tmp_path):
    table = pd.DataFrame({"x": [1.0, 2.0], "target": ["a", "b"]})
    with pytest.raises(DataError, match="a table has no name; pass name="):
        study.add_datasets(table)
    with pytest.raises(DataError, match="'stater' is no collection"):
        study.add_datasets("stater")
    with pytest.raises(
        StudyError, match=r"has no dataset; add some, for example with add_datasets\('starter'\)"
    ):
        Study(tmp_path / "empty.h5").run(STRATEGIES)
    assert not (tmp_path / "empty.h5").exists()


@pytest.mark.parametrize("asked", ["results", "compare", "report"])
def test_what_needs_results_says_that_nothing_was_run(tmp_path, asked):
    with pytest.raises(StudyError, match=r"s\.h5: nothing was run yet; run the study first"):
        getattr(Study(tmp_path / "s.h5"), asked)()
