"""Searches within a budget: random and halving."""

import re

import numpy as np
import pytest
from mlaut_sharing.budgeted import _affordable, _rungs
from searching import check_kills, searched
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from mlaut.errors import StrategyError
from mlaut.estimators import BudgetedSearch, as_strategies
from mlaut.estimators.searches.traces import search_in
from mlaut.estimators.searches.tuning import TuningFolds, tuning_record
from mlaut.sharing import Floats, Integers

X, Y = load_iris(return_X_y=True)
FOLDS = TuningFolds(4, random_state=0)
TREES = {"max_depth": Integers(1, 6), "min_samples_leaf": [1, 5, 20], "criterion": ["gini"]}


def fitted(search, space=TREES, estimator=None, **options):
    estimator = DecisionTreeClassifier(random_state=0) if estimator is None else estimator
    return BudgetedSearch(estimator, space, search=search, cv=FOLDS, random_state=0, **options).fit(
        X, Y
    )


def test_random_candidates_are_scored_as_scikit_learn_scores_them():
    search = fitted("random(6)")
    for row, params in enumerate(search.cv_results_["params"]):
        scores = [search.cv_results_[f"split{fold}_test_score"][row] for fold in range(4)]
        tree = DecisionTreeClassifier(random_state=0, **params)
        np.testing.assert_array_equal(scores, cross_val_score(tree, X, Y, cv=FOLDS))
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])


def test_the_seed_determines_the_candidates():
    one, same = (fitted("random(6)").cv_results_["params"] for _ in range(2))
    other = BudgetedSearch(
        DecisionTreeClassifier(), TREES, search="random(6)", cv=FOLDS, random_state=1
    )
    assert one == same
    assert one != other.fit(X, Y).cv_results_["params"]


def test_a_grid_that_is_smaller_than_the_number_is_drawn_once():
    search = fitted("random(50)", {"max_depth": [1, 2, 3]})
    assert sorted(p["max_depth"] for p in search.cv_results_["params"]) == [1, 2, 3]


def test_a_budget_of_evaluations_limits_every_search():
    for words in ("grid", "random", "random(30)", "halving", "halving(30)"):
        space = {"max_depth": [1, 2, 3, 4, 5, 6], "min_samples_leaf": [1, 5, 20, 30]}
        spent = fitted(words, space, budget="9 evaluations").spent_["evaluations"]
        assert 6 <= spent <= 9.0001, words
    assert fitted("random(5)", budget=9).spent_["evaluations"] == 5


@pytest.mark.parametrize("budget", ["0.000001 cpu", "0.000001s"])
def test_a_budget_of_seconds_scores_at_least_one_candidate(budget):
    search = fitted("random(20)", budget=budget)
    assert search.cv_results_["params"] == fitted("random(20)").cv_results_["params"][:1]
    assert search.spent_["cpu" if "cpu" in budget else "wall"] > 1e-6


def test_a_budget_of_seconds_that_is_never_used_up_changes_nothing():
    timed, untimed = (fitted("random(9)", budget=budget) for budget in ("1h cpu", None))
    assert timed.cv_results_["params"] == untimed.cv_results_["params"]
    np.testing.assert_array_equal(
        timed.cv_results_["mean_test_score"], untimed.cv_results_["mean_test_score"]
    )


def test_halving_scores_the_best_of_each_rung_on_more_rows():
    search = fitted("halving(9)", {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 5, 20]})
    params, means = search.cv_results_["params"], search.cv_results_["mean_test_score"]
    assert search.shares_.tolist() == [pytest.approx(1 / 3)] * 9 + [1.0] * 3
    best = sorted(range(9), key=lambda row: (-means[row], row))[:3]
    assert [params[row] for row in sorted(best)] == params[9:]
    assert search.best_index_ == 9 + int(np.argmax(means[9:]))
    assert search.spent_["evaluations"] == pytest.approx(6)
    for row in (9, 10, 11):  # on all rows, as scikit-learn scores them
        tree = DecisionTreeClassifier(random_state=0, **params[row])
        assert means[row] == pytest.approx(cross_val_score(tree, X, Y, cv=FOLDS).mean())


def test_halving_keeps_every_class_and_enough_rows_for_the_neighbours():
    labels = np.r_[Y[:-3], 3, 3, 3]
    space = {"n_neighbors": Integers(1, 30)}
    search = BudgetedSearch(
        KNeighborsClassifier(), space, search="halving(27)", cv=TuningFolds(3, random_state=0),
        random_state=0,
    )  # fmt: skip
    search.fit(X, labels)
    assert search.shares_.min() == pytest.approx(1 / 3)  # a ninth would be 11 rows
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_halving_of_numbers():
    table, numbers = load_diabetes(return_X_y=True)
    search = BudgetedSearch(
        KNeighborsRegressor(),
        {"n_neighbors": [*range(1, 28)]},
        search="halving(27)",
        random_state=0,
    )
    search.fit(table, numbers)
    assert len(search.shares_) == 39
    assert search.best_params_["n_neighbors"] > 3


def test_rungs_and_what_a_budget_affords():
    assert _rungs(1, 3, 0.1) == [(1, 1.0)]
    assert [size for size, _ in _rungs(27, 3, 0.5)] == [27]  # too few rows for a smaller rung
    n = _affordable(9, 3, 0.01)
    assert sum(size * share for size, share in _rungs(n, 3, 0.01)) <= 9
    assert n >= 27


@pytest.mark.parametrize(
    ("words", "places"), [("random(8)", (1, 9, 31)), ("halving(9)", (5, 30, 45))]
)
def test_a_search_that_was_killed_resumes_to_the_same_trace(words, places, tmp_path, monkeypatch):
    check_kills(words, places, tmp_path, monkeypatch)


def test_weights_reach_every_fit():
    weights = np.where(Y == 2, 1e-9, 1.0)
    search = BudgetedSearch(
        DecisionTreeClassifier(random_state=0), TREES, search="random(4)", cv=FOLDS, random_state=0
    )
    search.fit(X, Y, sample_weight=weights)
    assert search.sharing_["plain"] == 16
    assert search.best_score_ < fitted("random(4)").best_score_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"search": "radom(5)"}, "did you mean 'random'"),
        ({"search": "random(0)"}, "a number of candidates above 0"),
        ({"search": "grid(5)"}, "write 'random(5)'"),
        ({"search": "halving(9, factor=1)"}, "a factor of 2 or more"),
        ({"search": "random(5)", "budget": "soon"}, "not a budget above 0"),
        ({"search": "random(5)", "budget": "5m evaluations"}, "not a budget above 0"),
    ],
)
def test_mistakes_are_one_line_before_any_fit(options, message):
    (strategy,) = as_strategies("SVC")
    with pytest.raises(StrategyError, match=re.escape(message)):
        strategy.set_params(**options).assemble()


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(StrategyError, match="nothing says how many candidates"):
        fitted("random")
    with pytest.raises(StrategyError, match="neither a list of values nor a range"):
        fitted("random(3)", {"max_depth": 3})
    (strategy,) = as_strategies("SVC")
    with pytest.raises(StrategyError, match="has no end"):
        strategy.set_params(param_grid={"C": Floats(1, 2)}).assemble()


def test_search_and_budget_are_part_of_the_identity_and_the_grid_is_as_before():
    (plain,) = as_strategies("SVC")
    prints = {plain.fingerprint()}
    for options in ({"search": "random(9)"}, {"search": "grid", "budget": 9}, {"budget": "1h cpu"}):
        (strategy,) = as_strategies("SVC")
        prints.add(strategy.set_params(**options).fingerprint())
    assert len(prints) == 4
    (explicit,) = as_strategies("SVC")
    assert explicit.set_params(search="grid").fingerprint() == plain.fingerprint()
    assert explicit.describe()["tuning"].startswith("exhaustive grid")


def test_a_strategy_draws_from_its_search_space_and_searches_its_grid():
    (strategy,) = as_strategies("K_Neighbours")
    space = {"n_neighbors": Integers(1, 60, log=True)}
    strategy.set_params(search_space=space, search="random(4)", random_state=0).fit(X, Y)
    chosen = search_in(strategy)
    assert chosen.param_grid == space
    assert strategy.describe()["n_candidates"] == 4
    strategy.set_params(search=None)
    assert strategy.describe()["n_candidates"] == 60


def test_the_number_of_evaluations_counts_resumed_scores(tmp_path):
    whole, _ = searched("random(4)", checkpoint=tmp_path / "scores")
    again, _ = searched("random(4)", checkpoint=tmp_path / "scores")
    assert again.sharing_["resumed"] == 16
    assert again.spent_ == whole.spent_


def test_only_searches_whose_candidates_do_not_depend_on_scores_are_honest():
    search = fitted("random(6)")
    assert 0.8 < search.honest_score_ <= search.best_score_
    assert tuning_record(search).honest_score == search.honest_score_
    halving = fitted("halving(27)")
    with pytest.raises(StrategyError, match="halving dropped candidates by scores of the same"):
        _ = halving.honest_score_
    assert tuning_record(halving).honest_score is None


def test_a_search_with_optuna_has_no_honest_score():
    pytest.importorskip("optuna")
    with pytest.raises(StrategyError, match="Optuna proposed candidates by scores of the same"):
        _ = fitted("optuna(3)").honest_score_
