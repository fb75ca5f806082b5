"""Answers without meaning become errors; none counts as the outcome of a cell."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier

from mlaut import Data, Orchestrator
from mlaut.errors import DataError, StrategyError
from mlaut.estimators import as_strategies
from mlaut.experiments import verify_study
from mlaut.experiments.cells import prediction_checks
from mlaut.experiments.cells.messages import largest_outcome
from mlaut.experiments.cells.prediction_checks import checked_predictions, checked_probabilities
from mlaut.files_io import StudyStore
from mlaut.records import Cell, Outcome, Status

CLASSES = ("a", "b", "c")
THIRDS = np.full((4, 3), 1 / 3)


class Answering:
    """A fitted model that returns what it was made with."""

    def __init__(self, probabilities, classes=CLASSES):
        self._probabilities = probabilities
        self.classes_ = np.array(classes)

    def predict_proba(self, X):
        return self._probabilities


def probabilities(given, classes=CLASSES):
    return checked_probabilities(Answering(given, classes), pd.DataFrame({"x": range(4)}), CLASSES)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            np.full((4, 3), 7.5),
            r"not in .0, 1. with the sum 1 for every row, as in \[7.5, 7.5, 7.5\]",
        ),
        (np.full((4, 3), -1.0), "not in .0, 1. with the sum 1 for every row"),
        (np.array([[1, 1, -1]] * 4), "not in .0, 1. with the sum 1 for every row"),
        (np.zeros((4, 3)), "not in .0, 1. with the sum 1 for every row"),
        (np.full((4, 3), 0.334 + 1e-3), "not in .0, 1. with the sum 1 for every row"),
        (np.full((4, 3), 1e300), "not in .0, 1. with the sum 1 for every row"),
        (
            np.where(np.eye(4, 3) == 1, np.nan, THIRDS),
            "values that are NaN or infinite for 3 of 4 rows, as in",
        ),
        (np.ma.masked_all((4, 3)), "predict_proba returned only values that are masked"),
        (np.ma.masked_array(THIRDS, np.eye(4, 3)), "predict_proba returned 3 values that are mask"),
        (THIRDS[:, :2], r"shape \(4, 2\) for 4 test rows and 3 classes"),
        (THIRDS[:3], r"shape \(3, 3\) for 4 test rows and 3 classes"),
        (THIRDS.astype(str), "<U.* values that are no real numbers"),
        (THIRDS.astype(complex), "complex128 values that are no real numbers"),
        (THIRDS.astype("timedelta64[s]"), "values that are no real numbers"),
        (np.full((4, 3), None), "object values that are no real numbers"),
        (None, r"shape \(\)"),
    ],
)
def test_probabilities_without_meaning_are_refused(given, told):
    with pytest.raises(StrategyError, match=told):
        probabilities(given)


def test_probabilities_are_stored_in_the_order_of_the_classes():
    shares = np.array([[0.2, 0.8]] * 4)
    np.testing.assert_array_equal(
        probabilities(shares, ("c", "a")), np.float32([[0.8, 0, 0.2]] * 4)
    )
    np.testing.assert_array_equal(
        probabilities(shares.astype(object), ("a", "b"))[:, 1], np.float32([0.8] * 4)
    )
    np.testing.assert_array_equal(probabilities(np.ones((4, 2)), ("b",)), [[0, 1, 0]] * 4)
    with pytest.raises(StrategyError, match="classes_ contains a class twice"):
        probabilities(shares, ("a", "a"))
    with pytest.raises(DataError, match="label 'z' is not one of the 3 classes"):
        probabilities(shares, ("a", "z"))


def test_rounding_is_no_nonsense():
    half = (np.ones((4, 3)) / 3).astype(np.float16)
    assert probabilities(half) is not None
    single = np.array([[1.0000001, -1e-9, 0]] * 4)
    np.testing.assert_array_equal(probabilities(single), [[1, 0, 0]] * 4)


def test_without_classes_the_predictions_show_what_the_columns_mean():
    model, table = Answering(np.eye(3)), pd.DataFrame({"x": range(3)})
    del model.classes_
    model.predict = lambda _: list("abc")
    np.testing.assert_array_equal(checked_probabilities(model, table, CLASSES), np.eye(3))
    model.predict = lambda _: list("cba")
    with pytest.raises(StrategyError, match="no classes_, and predictions that do not show"):
        checked_probabilities(model, table, CLASSES)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (np.ma.masked_array([1.0, 2.0], [False, True]), "predict returned 1 values that are mask"),
        ([1.0, np.inf], "predict returned 1 values of 2 that are NaN or infinite"),
        (["1.5", "2.5"], "predict returned <U3 values that are no real numbers"),
        ([1 + 2j, 3], "predict returned complex128 values that are no real numbers"),
        (np.array([None, 1.0]), "predict returned object values that are no real numbers"),
        (np.array(["2020-01-01"] * 2, "M8[D]"), "values that are no real numbers"),
        ((x for x in "ab"), "returned a generator for 2 test rows; return an array"),
        ([[1.0, 2.0], [3.0, 4.0]], r"predict returned shape \(2, 2\) for 2 test rows"),
    ],
)
def test_numbers_without_meaning_are_refused(given, told):
    with pytest.raises(StrategyError, match=told):
        checked_predictions(given, (), 2)


def test_predictions_are_taken_in_every_form_that_means_them():
    assert checked_predictions([[1], [2]], (), 2).tolist() == [1, 2]
    assert checked_predictions(np.array([1.5, 2], dtype=object), (), 2).tolist() == [1.5, 2]
    assert checked_predictions(np.ma.masked_array(["b", "a"]), CLASSES, 2).tolist() == [1, 0]
    with pytest.raises(StrategyError, match="predict returned 1 values that are masked"):
        checked_predictions(np.ma.masked_array(["b", "a"], [False, True]), CLASSES, 2)


class Boastful(ClassifierMixin, BaseEstimator):
    """Is 750 % sure of every class."""

    def __init__(self, masked=False):
        self.masked = masked

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))

    def predict_proba(self, X):
        given = np.full((len(X), len(self.classes_)), 7.5)
        return np.ma.masked_all_like(given) if self.masked else given


class Worded(RegressorMixin, BaseEstimator):
    """Predicts numbers in words."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.repeat("12", len(X))


def test_nonsense_is_an_error_of_the_cell(databases):
    input_io, out_io = databases
    Data().split_datasets(input_io, out_io, ["tables/iris", "numbers/diabetes"])
    strategies = {"boastful": Boastful(), "masked": Boastful(masked=True), "worded": Worded()}
    summary = Orchestrator(input_io, out_io).run(strategies, engine="inline", verbose=0)
    assert summary.counts == {Status.ERROR: 3}
    assert sorted(reason for reason, _ in summary.reasons) == [
        "boastful: error: predict_proba returned values that are not in [0, 1] with the sum 1 for "
        "every row, as in [7.5, 7.5, 7.5]",
        "masked: error: predict_proba returned only values that are masked",
        "worded: error: predict returned <U2 values that are no real numbers",
    ]


def test_nonsense_that_was_stored_before_is_found(databases):
    input_io, out_io = databases
    Data().split_datasets(input_io, out_io, ["tables/iris"])
    guess = {"boastful": DummyClassifier(), "modest": DummyClassifier()}
    Orchestrator(input_io, out_io).run(guess, engine="inline", verbose=0)
    study = StudyStore(out_io.path)
    block = study.block("iris")
    test = block.split.rows(0, 0)[1]
    # Each row sums to 1, so that only the range tells.
    nonsense = np.tile(np.float32([2, -1, 0]), (len(test), 1))
    cell = Cell("iris", "boastful", 0, 0)
    with study.writing({"seed": 0}) as writer:
        writer.write(
            Outcome(
                cell,
                Status.DONE,
                block.predictions[0, 0, test],
                nonsense,
                (0.0, 0.0, 0.0),
                next(r["seed"] for r in study.details("iris") if r["strategy"] == "boastful"),
            )
        )
    assert verify_study(study.path).problems == (
        (
            "dataset 'iris'",
            "'boastful' gave 50 rows of probabilities that are not in [0, 1] with the sum 1; "
            "mend the strategy, and run it with --set overwrite_predictions=true",
        ),
    )


def test_the_baseline_predicts_as_before_and_is_as_sure_as_the_frequencies():
    generator = np.random.default_rng(0)
    (baseline,) = as_strategies("BaselineClassifier")
    for n_classes in (2, 3, 7):
        y = generator.choice(
            list("abcdefg")[:n_classes], 60, p=generator.dirichlet([1] * n_classes)
        )
        X = pd.DataFrame({"x": range(60)})
        model = baseline.assemble().fit(X, y)
        before = DummyClassifier(strategy="most_frequent").fit(X, y)
        assert model.predict(X).tolist() == before.predict(X).tolist()
        shares = [(y == label).mean() for label in model.classes_]
        np.testing.assert_allclose(model.predict_proba(X), [shares] * 60, rtol=1e-12)


def test_more_probabilities_than_the_journal_takes_are_an_error_of_the_cell(monkeypatch):
    monkeypatch.setattr(prediction_checks, "LARGEST_RECORD", largest_outcome(4, 3))
    assert probabilities(THIRDS).shape == (4, 3)
    monkeypatch.setattr(prediction_checks, "LARGEST_RECORD", largest_outcome(4, 3) - 1)
    with pytest.raises(StrategyError, match=r"for 4 test rows and 3 classes needs \d+ bytes, and"):
        probabilities(THIRDS)
