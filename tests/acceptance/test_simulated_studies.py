"""Studies of simulated datasets, and what a calibration makes of them."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier

from mlaut.analysis import Results
from mlaut.analysis.methods.cross_validation import cv_differences
from mlaut.errors import StudyError

sys.path.append(str(Path(__file__).parents[2] / "examples" / "studies" / "bouckaert2003"))
from measures import calibrate, rejection_rates
from simulated import null_table, simulate_study

STRATEGIES = {
    "naive Bayes": BernoulliNB(),
    "tree": DecisionTreeClassifier(min_samples_leaf=2, random_state=0),
}
HOW = {"scheme": "repeated_kfold(2, 2)", "engine": "inline", "verbose": 0}


def small(generator):
    return null_table(generator, n_rows=60, n_attributes=4)


def differences(path):
    return cv_differences(Results.from_study(path, "accuracy"))


def test_differences_are_those_of_scikit_learn_on_the_same_splits(tmp_path):
    summary = simulate_study(tmp_path / "null.h5", STRATEGIES, small, n_datasets=3, **HOW)
    assert (summary.n_cells, summary.complete) == (24, True)
    from mlaut.files_io import FilesIO, StudyStore

    x, study = differences(summary.study), StudyStore(summary.study)
    tables = FilesIO(tmp_path / "null.datasets.h5", "r")
    for place, name in enumerate(study.datasets):
        split = study.load_split(name)
        table = tables.load_dataset(split.path)
        rows, labels = table.features, table.labels.to_numpy()
        for number, (train, test) in enumerate(split.split):
            right = [
                (
                    model.fit(rows.iloc[train], labels[train]).predict(rows.iloc[test])
                    == labels[test]
                ).mean()
                for model in STRATEGIES.values()
            ]
            run, fold = divmod(number, 2)
            assert x[place, fold, run] == pytest.approx(right[1] - right[0])


def test_more_datasets_leave_the_first_as_they_are(tmp_path):
    simulate_study(tmp_path / "a.h5", STRATEGIES, small, n_datasets=2, **HOW)
    more = simulate_study(tmp_path / "a.h5", STRATEGIES, small, n_datasets=4, **HOW)
    assert (more.n_before, more.n_done) == (16, 32)
    at_once = simulate_study(tmp_path / "b.h5", STRATEGIES, small, n_datasets=4, **HOW)
    np.testing.assert_array_equal(differences(more.study), differences(at_once.study))
    other = simulate_study(tmp_path / "c.h5", STRATEGIES, small, n_datasets=4, seed=1, **HOW)
    assert (differences(other.study) != differences(at_once.study)).any()


def test_a_study_of_random_splits_is_calibrated_too(tmp_path):
    how = HOW | {"scheme": "repeated_holdout(n_repeats=5)"}
    summary = simulate_study(tmp_path / "null.h5", STRATEGIES, small, n_datasets=6, **how)
    x = differences(summary.study)
    assert x.shape == (6, 5)
    found = calibrate(x, ["corrected resampling"], test_to_train=0.5)
    assert (found.n_datasets, found.folds) == (6, 5)


def test_tables_from_which_one_learns_more_measure_power(tmp_path):
    def parity(generator):
        """Only the tree can learn that two attributes differ."""
        table = null_table(generator, n_rows=100, n_attributes=3)
        table["class"] = np.where(table["x1"] == table["x2"], "a", "b")
        return table

    summary = simulate_study(tmp_path / "power.h5", STRATEGIES, parity, n_datasets=5, **HOW)
    rates = rejection_rates(differences(summary.study), ["use all data"], df=3).frame
    assert rates.loc["use all data", 0.05] == 1


def test_what_went_wrong_is_said(tmp_path):
    with pytest.raises(StudyError, match="n_datasets = 0"):
        simulate_study(tmp_path / "null.h5", STRATEGIES, n_datasets=0)
    broken = STRATEGIES | {"tree": DecisionTreeClassifier(max_depth=-3)}
    with pytest.raises(StudyError, match=r"8 of 16 cells failed, .* biased"):
        simulate_study(tmp_path / "broken.h5", broken, small, n_datasets=2, **HOW)


def test_differences_need_two_strategies_and_one_shape(tmp_path):
    from mlaut.errors import AnalysisError

    three = STRATEGIES | {"stump": DecisionTreeClassifier(max_depth=1, random_state=0)}
    summary = simulate_study(tmp_path / "null.h5", three, small, n_datasets=2, **HOW)
    results = Results.from_study(summary.study, "accuracy")
    with pytest.raises(AnalysisError, match="there are 3: give pair="):
        cv_differences(results)
    chosen = cv_differences(results, pair=("stump", "tree"))
    np.testing.assert_allclose(chosen, -cv_differences(results, pair=("tree", "stump")))
