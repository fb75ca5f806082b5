"""A database and a killed run of an early version (0.1.0, journals not yet synced by the clock)."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import sklearn

from mlaut import Data
from mlaut.analysis import Results
from mlaut.experiments import plan_study, run_study, study_status, verify_study
from mlaut.files_io import Study
from mlaut.records import Status

# What the early version found when it ran the same study file to its end.
SCORES = {"GaussianNaiveBayes": 2 / 3, "K_Neighbours": 0.625, "DecisionTreeClassifier": 35 / 48}

# K_Neighbours searches in another way there, so going on with it is refused, as it should be.
needs_same_search = pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9),
    reason="the study was made with K_Neighbours of scikit-learn 1.9",
)


@pytest.fixture
def killed(tmp_path):
    folder = tmp_path / "interrupted"
    shutil.copytree(Path(__file__).with_name("interrupted"), folder)
    return folder


def test_the_tables_of_the_database_are_as_they_were(killed):
    io = Data().open_hdf5(killed / "input.h5")
    assert io.list_datasets() == (["cars", "sort"], ["/mine/cars", "/mine/sort"])
    cars = io.load_dataset("/mine/cars")
    assert (cars.target, cars.task, cars.metadata) == ("price", "Regression", {"source": "by hand"})
    assert cars.fingerprint.startswith("c9fe3f617bc3a174")
    row = cars.frame.iloc[1]
    assert row.drop("note").tolist() == [-0.13, "blue", pd.Timestamp("2001-02-03"), True, 3, -0.878]
    assert pd.isna(row["note"])
    assert isinstance(cars.frame["colour"].dtype, pd.CategoricalDtype)


@needs_same_search
def test_the_status_names_the_journal_and_changes_nothing(killed):
    before = {path: path.read_bytes() for path in killed.iterdir()}
    status = study_status(killed / "study.h5")
    assert status.unsettled
    assert status.total == {Status.DONE: 7, Status.MISSING: 11}
    assert plan_study(killed / "study.toml").plan.refusals == ()
    assert {path: path.read_bytes() for path in before} == before


@needs_same_search
def test_the_run_goes_on_and_finds_what_the_early_version_found(killed):
    stored = Study(killed / "study.h5").block("sort")
    assert (stored.status[0] == Status.DONE).all()
    run = run_study(killed / "study.toml", n_jobs=1, verbose=0)
    assert run.complete
    study = Study(killed / "study.h5")
    assert not (killed / "study.h5.journal").exists()
    after = study.block("sort")
    assert (after.status == Status.DONE).all()
    assert (after.seconds[0] == stored.seconds[0]).all()  # these cells did not run again
    scores = Results.from_study(study, "accuracy").scores.loc["sort"]
    assert scores.to_dict() == pytest.approx(SCORES, abs=1e-12)
    assert verify_study(killed / "study.toml").ok
