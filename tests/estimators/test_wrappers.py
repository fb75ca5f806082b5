"""Strategies around a strategy, against scikit-learn's own and by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB

from mlaut import Data, Orchestrator
from mlaut.analysis import Results
from mlaut.costs import Costs
from mlaut.data import from_frame
from mlaut.errors import StrategyError
from mlaut.estimators import Balanced, Calibrated, Thresholded, TuningFolds, as_strategies
from mlaut.estimators.searches.tuning import TuningWarning
from mlaut.files_io import StudyStore
from mlaut.records import Status


def table(n=300, share=0.15):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n, 3))
    rare = X[:, 0] + generator.normal(size=n) > np.quantile(X[:, 0], 1 - share) + 0.5
    return X, np.where(rare, "bad", "good")


def folds(X, y):
    return list(TuningFolds(5, random_state=3).split(X, y))


def test_calibration_is_scikit_learn_s_on_the_same_folds():
    X, y = table()
    found = Calibrated(GaussianNB(), method="isotonic", random_state=3).fit(X, y)
    own = CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=folds(X, y)).fit(X, y)
    np.testing.assert_array_equal(found.predict_proba(X), own.predict_proba(X))


def test_the_threshold_is_scikit_learn_s_on_the_same_folds():
    X, y = table()
    found = Thresholded(LogisticRegression(), random_state=3).fit(X, y)
    own = TunedThresholdClassifierCV(LogisticRegression(), cv=folds(X, y)).fit(X, y)
    assert found.estimator_.best_threshold_ == own.best_threshold_
    plain = LogisticRegression().fit(X, y)
    scores = [balanced_accuracy_score(y, model.predict(X)) for model in (found, plain)]
    assert scores[0] > scores[1] + 0.1
    np.testing.assert_array_equal(found.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("costs", ["bad>good=10", {("bad", "good"): 10}])
def test_a_threshold_for_costs_costs_less(costs):
    X, y = table()
    found = Thresholded(LogisticRegression(), costs=costs, random_state=3).fit(X, y)
    each = Costs.of(costs).each
    cost = each(y, found.predict(X)).mean()
    assert cost < 0.7 * each(y, LogisticRegression().fit(X, y).predict(X)).mean()


def test_balanced_is_the_class_weight_of_scikit_learn():
    X, y = table()
    found = Balanced(LogisticRegression()).fit(X, y)
    own = LogisticRegression(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(found.predict_proba(X), own.predict_proba(X), atol=1e-6)
    weights = 1.0 + np.arange(len(y)) % 3
    of_class = np.where(
        y == "bad", len(y) / 2 / (y == "bad").sum(), len(y) / 2 / (y == "good").sum()
    )
    found = Balanced(LogisticRegression()).fit(X, y, sample_weight=weights)
    own = LogisticRegression().fit(X, y, sample_weight=weights * of_class)
    np.testing.assert_allclose(found.predict_proba(X), own.predict_proba(X), atol=1e-6)


def test_strategies_by_name_in_a_study_with_costs(tmp_path):
    X, y = table(200)
    data = from_frame(pd.DataFrame(X).add_prefix("x").assign(y=y), "y", name="credit")
    setup = Data()
    input_io, out_io = (setup.open_hdf5(tmp_path / file, "a") for file in ("in.h5", "study.h5"))
    input_io.save_datasets([data])
    setup.split_datasets(input_io, out_io, scheme="holdout")
    names = ["GaussianNaiveBayes"]
    names += [f"{word}(GaussianNaiveBayes)" for word in ("balanced", "calibrated", "thresholded")]
    Orchestrator(input_io, out_io).run(names, verbose=0, engine="inline")
    block = StudyStore(out_io.path).block("credit")
    assert list(block.strategies) == names
    assert (block.status == Status.DONE).all()
    results = Results.from_study(out_io, metric="cost(bad>good=10)")
    found = results.losses.loc["credit"]
    labels, (_, test) = np.array(block.classes), block.split.rows(0, 0)
    for s, name in enumerate(block.strategies):
        truth, predicted = labels[block.truth[test]], labels[block.predictions[s, 0, test]]
        by_hand = np.where(truth != predicted, np.where(truth == "bad", 10, 1), 0)
        assert found[name] == pytest.approx(by_hand.mean())
    assert found["thresholded(GaussianNaiveBayes)"] < found["GaussianNaiveBayes"]


def test_a_class_of_two_rows_and_a_lone_one_are_survived():
    X = np.arange(24.0).reshape(12, 2)
    y = np.array(["a"] * 9 + ["b"] * 2 + ["c"])
    with pytest.warns(TuningWarning, match="3 tuning folds instead of 5"):
        fitted = Calibrated(GaussianNB(), random_state=0).fit(X, y)
    assert list(fitted.classes_) == ["a", "b", "c"]
    with pytest.warns(TuningWarning, match="not calibrated: too few rows for two folds"):
        Calibrated(GaussianNB()).fit(X[:2], ["a", "b"])


def test_constant_probabilities_keep_the_usual_threshold():
    X, y = table(60)
    with pytest.warns(TuningWarning, match="not thresholded: in a fold, all rows get the same"):
        fitted = Thresholded(DummyClassifier(), random_state=0).fit(X, y)
    assert set(fitted.predict(X)) == {"good"}


def test_a_collective_word_takes_the_classifiers():
    found = as_strategies("balanced(Naive_Bayes)")
    assert [s.name for s in found] == [
        "balanced(GaussianNaiveBayes)",
        "balanced(BernoulliNaiveBayes)",
    ]
    assert {s.chosen_by for s in found} == {"Naive_Bayes"}
    assert as_strategies("calibrated(SVC)")[0].identity() != as_strategies("SVC")[0].identity()


def test_refusals_are_one_line():
    with pytest.raises(StrategyError, match=r"^calibrated\(SVR\) is for classification, and"):
        as_strategies("calibrated(SVR)")
    (neighbours,) = as_strategies("K_Neighbours")
    X, y = table(30)
    with pytest.raises(StrategyError, match=r"balanced\(K_Neighbours\): its fit takes no"):
        Balanced(neighbours).fit(X, y)
    with pytest.raises(StrategyError, match="two classes, and the training rows have 3"):
        Thresholded(GaussianNB()).fit(X, np.arange(30) % 3)
