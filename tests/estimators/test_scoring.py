"""Tuning by the metric of a study."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import average_precision_score, f1_score
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from mlaut import Generic_Estimator, Orchestrator, Study
from mlaut.analysis import metric
from mlaut.estimators import as_strategies
from mlaut.estimators.strategy.scoring import OnPositions, tuned_by
from mlaut.experiments import study_status
from mlaut.files_io import StudyStore as Store
from mlaut.report.state import study_state

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(90, 3)), columns=list("abc"))
Y = np.where(X["a"] + RNG.normal(size=90) > 1, "yes", "no")
TREE = Generic_Estimator(
    DecisionTreeClassifier(random_state=0), name="tree", param_grid={"max_depth": [1, 2, 9]}
)
MARGIN = Generic_Estimator(SVC(), name="svc", param_grid={"C": [1, 10]})
RIDGE = Generic_Estimator(Ridge(), name="ridge", param_grid={"alpha": [1, 10]})


@pytest.mark.parametrize(
    ("strategy", "name", "score"),
    [
        (TREE, "mcc", "matthews_corrcoef"),
        (TREE, "F1", "f1"),
        (TREE, "pr_auc", "average_precision"),
        (TREE, "balanced accuracy", "balanced_accuracy"),
        (TREE, "cost(yes>no=5)", "cost(yes>no=5)"),
        (MARGIN, "recall", "recall"),
        (RIDGE, "mae", "neg_mean_absolute_error"),
        (TREE, "accuracy", None),  # the default
        (TREE, "rmse", None),  # of another task
        (RIDGE, "f1", None),
        (MARGIN, "log_loss", None),  # has no probabilities
        (TREE, "specificity", None),  # no scorer of scikit-learn
        (Generic_Estimator(LogisticRegression()), "mcc", None),  # tunes nothing
        (Generic_Estimator(SVC(), param_grid={"C": [1]}, scoring="f1_macro"), "mcc", "f1_macro"),
    ],
)
def test_the_score_of_tuning_is_that_of_the_metric(strategy, name, score):
    found = tuned_by(strategy, name)
    assert str(found.scoring) == str(score)
    assert (found is strategy) == (found.scoring is strategy.scoring)
    assert strategy.scoring in (None, "f1_macro")  # the given one does not change


def test_a_strategy_inside_another_one_is_tuned_by_the_metric_too():
    (outer,) = as_strategies("balanced(SVC)")
    inner = tuned_by(outer, "f1").get_params()["estimator__estimator"]
    assert inner.describe()["tuning"].endswith(", by f1")


def test_the_last_class_is_positive_as_in_the_analysis():
    model = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    assert OnPositions("f1")(model, X, Y) == f1_score(Y, model.predict(X), pos_label="yes")
    shares = model.predict_proba(X)[:, 1]
    expected = average_precision_score(Y == "yes", shares)
    assert OnPositions("average_precision")(model, X, Y) == expected
    codes = np.searchsorted(["no", "yes"], Y)
    assert metric("pr_auc").calculate(codes, model.predict_proba(X)) == expected


@pytest.fixture
def study(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets((X, Y), name="t")
    return study


def plan_of(study, strategies):
    rows = Orchestrator(*study._prepared("", True)).plan(strategies).why()
    return {row["strategy"]: row["because"] for row in rows if not row["cells"]}


def test_a_study_tunes_by_its_metric_and_says_so(study):
    study.analysis(metric="pr_auc")
    strategies = [TREE, MARGIN]
    study.run(strategies, split="kfold(3)", engine="inline", verbose=0)
    stored = {entry.name: entry.metadata.get("tunes_by") for entry in Store(study.path).strategies}
    assert stored == {"tree": "average_precision", "svc": None}
    assert plan_of(study, strategies) == {
        "tree": "tunes by average_precision",
        "svc": "tunes by accuracy, not by the study's pr_auc",
    }
    assert "Tuned by average_precision: tree." in study_state(Store(study.path)).lines
    assert study.run(strategies, engine="inline", verbose=0).tried.n_cells == 0
    assert study.save_models([TREE], engine="inline") == 3  # fits the same strategy again


def test_a_study_goes_on_with_the_score_that_it_began_with(study):
    study.run([TREE], split="kfold(3)", engine="inline", verbose=0)
    study.analysis(metric="mcc")
    summary = study.run([TREE, MARGIN], engine="inline", verbose=0)
    assert summary.tried.n_cells == 3  # those of the new strategy
    assert plan_of(study, [TREE, MARGIN]) == {
        "tree": "tunes by accuracy, not by the study's mcc",
        "svc": "tunes by matthews_corrcoef",
    }
    assert study_status(study.path).complete
