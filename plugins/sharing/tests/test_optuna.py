"""Search with Optuna: seeded, pruned by fold, and resumed after a kill."""

import numpy as np
import pytest

optuna = pytest.importorskip("optuna")

from scipy.stats import loguniform, randint  # noqa: E402
from searching import check_kills, searched  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

from mlaut.errors import StrategyError  # noqa: E402
from mlaut.estimators import BudgetedSearch, as_strategies  # noqa: E402
from mlaut.estimators.searches.tuning import TuningFolds  # noqa: E402

X, Y = load_iris(return_X_y=True)
FOLDS = TuningFolds(4, random_state=0)


def fitted(space, words="optuna(8)", **options):
    search = BudgetedSearch(SVC(), space, search=words, cv=FOLDS, random_state=0, **options)
    return search.fit(X, Y)


def test_candidates_are_scored_as_scikit_learn_scores_them():
    search = fitted({"C": loguniform(1e-3, 1e3), "gamma": [0.01, 0.1, 1], "degree": randint(2, 5)})
    params = search.cv_results_["params"]
    assert {type(p["C"]) for p in params} == {float}
    assert {type(p["degree"]) for p in params} <= {int}
    scored = np.isfinite(search.cv_results_["mean_test_score"])
    assert len(params) == 8
    assert scored.sum() >= 5  # the first five are never pruned
    row = int(np.flatnonzero(scored)[-1])
    scores = [search.cv_results_[f"split{fold}_test_score"][row] for fold in range(4)]
    np.testing.assert_array_equal(scores, cross_val_score(SVC(**params[row]), X, Y, cv=FOLDS))
    assert search.best_score_ == np.nanmax(search.cv_results_["mean_test_score"])


def test_candidates_that_fall_behind_are_pruned_and_cost_less():
    search, trace = searched("optuna(20)")
    missing = np.isnan(trace.scores)
    assert missing.any()
    assert not missing[:5].any()
    assert search.spent_["evaluations"] == pytest.approx((~missing).sum() / 4)
    assert search.spent_["evaluations"] < 20


def test_a_search_that_was_killed_resumes_to_the_same_trace(tmp_path, monkeypatch):
    check_kills("optuna(14)", (1, 7, 24), tmp_path, monkeypatch)


def test_a_budget_of_evaluations_counts_folds():
    search = fitted({"C": loguniform(1e-3, 1e3)}, "optuna", budget="6 evaluations")
    assert 6 <= search.spent_["evaluations"] < 7


def test_several_spaces_and_words():
    space = [{"kernel": ["linear"], "C": [1, 10]}, {"kernel": ["rbf"], "gamma": [0.1, 1.0]}]
    for params in fitted(space).cv_results_["params"]:
        assert set(params) == {"kernel", "C" if params["kernel"] == "linear" else "gamma"}


def test_optuna_says_nothing_and_keeps_its_settings(capfd):
    level = optuna.logging.get_verbosity()
    fitted({"C": [1, 10]}, "optuna(2)")
    assert optuna.logging.get_verbosity() == level
    assert capfd.readouterr() == ("", "")


def test_a_distribution_without_quantiles_is_refused():
    class Draws:
        def rvs(self, random_state=None):
            return 1.0

    with pytest.raises(StrategyError, match="no quantiles"):
        fitted({"C": Draws()})


def test_a_strategy_with_optuna_is_tuned():
    (strategy,) = as_strategies("SVC")
    strategy.set_params(search="optuna(4)", random_state=0).fit(X, Y)
    assert strategy.score(X, Y) > 0.9
