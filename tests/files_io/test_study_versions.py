"""Weights of rows, and studies whose files other versions wrote or something spoilt."""

import dataclasses
import errno

import numpy as np
import pytest
from studies import entry, strategy

from mlaut.errors import StoreError
from mlaut.files_io import StrategyEntry, StudyStore
from mlaut.files_io.safe_files.hdf5 import rewrite_h5
from mlaut.files_io.safe_files.texts import put_json, put_labels
from mlaut.files_io.studies.study_layout import damage_explained
from mlaut.identity.digests import digest

# ----------------------------------------------------------- weights, and files of other versions


def test_weights_of_rows_are_kept_and_checked(tmp_path):
    weights = np.array([1, 2, 0.5, 0, 1, 1])
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([dataclasses.replace(entry("iris"), weights=weights)])
    study.allocate([strategy("tree")])
    assert study.load_split("iris").weights.tolist() == weights.tolist()
    assert study.block("iris").weights.tolist() == weights.tolist()
    for wrong in (-weights, np.full(6, np.inf), weights[:5], weights.astype("f4")):
        with rewrite_h5(study.path) as file:
            del file["splits/iris/weights"]
            file["splits/iris/weights"] = wrong
        with pytest.raises(StoreError, match="the split of dataset 'iris' contradicts itself"):
            study.load_split("iris")


def test_a_strategy_of_a_version_with_other_modules_is_the_same_today(study):
    identity = {"class": "mlaut.estimators.strategy.wrappers.Balanced", "C": [1]}
    study.allocate([StrategyEntry("old", digest(identity), identity)])
    today = {"class": "mlaut.estimators.Balanced", "C": [1]}
    assert study.strategies[-1] == StrategyEntry("old", digest(today), today)
    study.allocate([StrategyEntry("old", digest(today), today)])
    assert [one.name for one in study.strategies] == ["tree", "svc", "old"]


def test_a_regression_without_stored_classes_has_none(study):
    with rewrite_h5(study.path) as file:
        del file["splits/cpu/classes"]
    assert study.load_split("cpu").classes == ()


@pytest.mark.parametrize("call", [StudyStore.compact, lambda s: s.copy_to("copy.h5", dict)])
def test_a_dataset_that_has_lost_its_arrays_is_damage(study, call, monkeypatch):
    monkeypatch.chdir(study.path.parent)
    with rewrite_h5(study.path) as file:
        del file["experiments/predictions/cpu"]
    with pytest.raises(StoreError, match=r"study\.h5: damaged where a study was expected .*'cpu'"):
        call(study)
    assert list(study.path.parent.iterdir()) == [study.path]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("experiments/strategies/name", [1, 2], "a strategy has no name, fingerprint, identity"),
        ("experiments/strategies/metadata", ["[]", "[]"], "a strategy has no name, fingerprint"),
        ("experiments/predictions/iris/strategies", [1, 2], "a strategy of /.*/iris has no name"),
    ],
)
def test_strategies_with_values_of_other_types_are_damage(study, name, value, message):
    with rewrite_h5(study.path) as file:
        group, _, key = name.rpartition("/")
        del file[name]
        put_labels(file[group], key, value)
    with pytest.raises(StoreError, match=f"damaged where a study was expected .*{message}"):
        _ = study.strategies, study.block("iris")


@pytest.mark.parametrize("wrong", [{"seed": "1"}, {"versions": []}, {"input": 3}, {"id": 3}])
def test_a_run_with_values_of_other_types_is_damage(study, wrong):
    with rewrite_h5(study.path) as file:
        put_json(file, "experiments/runs", [{"id": "a", **wrong}])
    with pytest.raises(StoreError, match="the record of a run has a value of another type"):
        _ = study.runs


def test_an_error_of_the_system_in_the_midst_of_reading_is_no_damage(study):
    with (
        pytest.raises(StoreError, match=r"study\.h5: too many files are open while reading; raise"),
        damage_explained(study.path),
    ):
        raise RuntimeError(f"Can't read data (errno = {errno.EMFILE}, error message = 'Too many')")
