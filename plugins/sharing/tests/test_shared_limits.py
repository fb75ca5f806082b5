"""Deadlines of searches that share work: parts of the grid take turns, and ensembles stop."""

import time

import numpy as np
import pytest
from mlaut_sharing import forests, groups, kernels
from mlaut_sharing.search.candidate_groups import groups_of
from mlaut_sharing.search.parallel import in_parts
from sharing_cases import CLASSES, STRATIFIED, check_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mlaut.errors import StrategyError
from mlaut.sharing import GridSearchCV as SharingGridSearchCV
from mlaut.sharing import IncompleteSearchWarning, search_limits

X, Y = CLASSES["noisy, negative labels"]


def test_a_large_c_that_takes_long_does_not_hold_up_the_others():
    points = list(ParameterGrid({"C": np.logspace(-2, 5, 12), "gamma": [0.1, 1.0]}))
    parts = in_parts(groups_of(SVC(), points))
    assert sorted(len(part.candidates) for part in parts) == [2, 2, 5, 5, 5, 5]
    assert sorted(c.index for part in parts for c in part.candidates) == list(range(24))
    forest = groups_of(
        RandomForestClassifier(random_state=0), [{"n_estimators": n} for n in range(1, 9)]
    )
    assert [len(part.candidates) for part in in_parts(forest)] == [8]


@pytest.mark.parametrize("step", ["", "randomforestclassifier__"])
def test_small_forests_are_scored_first_if_that_costs_little(monkeypatch, step):
    forest = RandomForestClassifier(random_state=0)
    model = make_pipeline(StandardScaler(), forest) if step else forest
    grid = {f"{step}n_estimators": [1, 20], f"{step}max_depth": [2, None]}
    over, grow = [], forests._Forest.grow

    def noted(self, i, *depth):
        over.extend(
            [True] * (i >= forests.N_COMPARED)
        )  # time is over in the first fold of the large ones
        return grow(self, i, *depth)

    monkeypatch.setattr(forests._Forest, "grow", noted)
    with (
        pytest.warns(IncompleteSearchWarning, match="among the 2 of 4 candidates"),
        search_limits(deadline=lambda: bool(over)),
    ):
        search = SharingGridSearchCV(model, grid, cv=STRATIFIED).fit(X, Y)
    assert search.best_params_[f"{step}n_estimators"] == 1
    few = [{"n_estimators": n} for n in (10, 100, 10, 99)]
    assert [len(part.candidates) for part in in_parts(groups_of(forest, few))] == [2, 2]
    assert [len(part.candidates) for part in in_parts(groups_of(forest, few[2:]))] == [2]


@pytest.mark.parametrize("step", ["", "svc__"])
@pytest.mark.parametrize(("most_bytes", "times_a_fold"), [(None, 1), (0, 2)])
def test_distances_are_computed_once_a_fold_though_parts_of_the_grid_take_turns(
    monkeypatch, most_bytes, times_a_fold, step
):
    if most_bytes is not None:  # as if the table were too large to keep its distances
        monkeypatch.setattr(groups, "_MOST_BYTES", most_bytes)
    computed, compute = [], kernels._distances_within
    monkeypatch.setattr(kernels, "_distances_within", lambda X: computed.append(X) or compute(X))
    model = make_pipeline(StandardScaler(), SVC()) if step else SVC()
    grid = {f"{step}C": [1.0], f"{step}gamma": [0.1, 0.5]}
    with search_limits(deadline=time.time() + 1e6):
        mine = SharingGridSearchCV(model, grid, cv=STRATIFIED).fit(X, Y)
    assert len(computed) == times_a_fold * mine.n_splits_
    check_equal(GridSearchCV(model, grid, cv=STRATIFIED).fit(X, Y), mine)


def test_nothing_is_prepared_when_time_is_over(monkeypatch):
    """Nor is a machine fitted to see whether its group can share, as it was for every group."""
    fitted, fit = [], SVC.fit
    monkeypatch.setattr(SVC, "fit", lambda self, X, y: fitted.append(self.gamma) or fit(self, X, y))
    computed, compute = [], kernels._distances_within
    monkeypatch.setattr(kernels, "_distances_within", lambda X: computed.append(X) or compute(X))
    over = iter([False] * 4)  # two looks a fold
    grid = {"C": [1.0], "gamma": [0.1, 0.2, 0.3, 0.4]}
    with (
        search_limits(deadline=lambda: next(over, True)),
        pytest.raises(StrategyError, match="before the deadline"),
    ):
        SharingGridSearchCV(SVC(), grid, cv=STRATIFIED).fit(X, Y)
    assert len(fitted) == len(computed) == 2


def test_an_ensemble_stops_between_its_members():
    """The clock of this one is over at the 20th look: a million members would look more often."""
    looks = []
    forest = RandomForestClassifier(random_state=0)
    search = SharingGridSearchCV(forest, {"n_estimators": [10**6]}, cv=STRATIFIED)
    with (
        search_limits(deadline=lambda: len(looks) >= 20 or looks.append(1)),
        pytest.raises(StrategyError, match="deadline"),
    ):
        search.fit(X, Y)
    assert len(looks) == 20
