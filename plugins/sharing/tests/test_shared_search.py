"""The search around the families: options of scikit-learn's search, and when it steps back."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from mlaut_sharing.interface import CannotShareError
from mlaut_sharing.kernels import GaussianMachines
from mlaut_sharing.search.candidate_groups import groups_of
from scipy.sparse import csr_array
from sharing_cases import CLASSES, STRATIFIED, both, check_all_shared, check_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from mlaut.errors import StrategyError
from mlaut.sharing import GridSearchCV as SharingGridSearchCV
from mlaut.sharing import search_limits

X, Y = CLASSES["two classes"]
KNN = KNeighborsClassifier()
NEIGHBOURS = {"n_neighbors": [1, 3, 5, 7]}


def test_several_metrics_and_refit_by_name():
    scoring = {"right": "accuracy", "area": "roc_auc"}
    plain, sharing = both(KNN, NEIGHBOURS, X, Y, STRATIFIED, scoring=scoring, refit="area")
    check_equal(plain, sharing, within=1e-15)
    check_all_shared(sharing)
    assert set(sharing.scorer_) == {"right", "area"}
    assert sharing.score(X, Y) == plain.score(X, Y)


@pytest.mark.parametrize("jobs", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_several_jobs_give_the_same(jobs):
    grid = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [1e-3, 1e-2, 0.1]}
    with parallel_config(jobs):
        plain, sharing = both(SVC(), grid, X, Y, STRATIFIED, n_jobs=2)
    check_equal(plain, sharing)
    check_all_shared(sharing)


def test_tables_with_names_and_sparse_tables():
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    for estimator, grid in [
        (KNN, NEIGHBOURS),
        (SVC(), {"C": [0.1, 1.0, 10.0]}),
        (RandomForestClassifier(random_state=0), {"n_estimators": [2, 5]}),
    ]:
        plain, sharing = both(estimator, grid, frame, pd.Series(Y), STRATIFIED)
        check_equal(plain, sharing)
        check_all_shared(sharing)
        assert list(sharing.feature_names_in_) == list(frame.columns)
        plain, sharing = both(estimator, grid, csr_array(np.maximum(X, 0)), Y, STRATIFIED)
        check_equal(plain, sharing)
        check_all_shared(sharing)


def test_groups_of_rows_make_the_folds():
    rows = np.repeat(np.arange(30), 4)
    searches = [
        kind(KNN, NEIGHBOURS, cv=GroupKFold(3)).fit(X, Y, groups=rows)
        for kind in (GridSearchCV, SharingGridSearchCV)
    ]
    check_equal(*searches)
    check_all_shared(searches[1])


# ---- pipelines and mixed grids


def test_leading_steps_of_a_pipeline_are_fitted_once_a_fold():
    CountingScaler.fits = 0
    pipeline = make_pipeline(CountingScaler(), SVC())
    grid = {"svc__C": [0.1, 1.0, 10.0], "svc__gamma": [1e-3, 0.1]}
    search = SharingGridSearchCV(pipeline, grid, cv=STRATIFIED, refit=False).fit(X, Y)
    check_all_shared(search)
    assert CountingScaler.fits == 3
    check_equal(*both(make_pipeline(StandardScaler(), SVC()), grid, X, Y, STRATIFIED))


class CountingScaler(StandardScaler):
    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


def test_a_grid_may_change_leading_steps_and_replace_the_last():
    pipeline = Pipeline(
        [("scale", StandardScaler()), ("reduce", PCA(random_state=0)), ("fit", KNN)]
    )
    grid = [
        {"scale": [StandardScaler(), MinMaxScaler()], "fit__n_neighbors": [1, 3]},
        {
            "reduce__n_components": [2, 5],
            "fit": [SVC(), SVC(class_weight="balanced")],
            "fit__C": [1, 9],
        },
        {"reduce": ["passthrough"], "fit": [DecisionTreeClassifier(random_state=0)]},
    ]
    plain, sharing = both(pipeline, grid, X, Y, STRATIFIED)
    check_equal(plain, sharing)
    check_all_shared(sharing)


def test_candidates_that_share_and_others_in_one_grid():
    grid = [{"kernel": ["rbf"], "C": [0.1, 1.0]}, {"kernel": ["linear", "poly"], "C": [0.1, 1.0]}]
    plain, sharing = both(SVC(random_state=0), grid, X, Y, STRATIFIED)
    check_equal(plain, sharing)
    assert sharing.sharing_ == {"shared": 6, "plain": 12, "resumed": 0, "missing": 0}


def test_candidates_are_put_into_groups():
    points = [{"C": C, "gamma": gamma} for C in (1, 2) for gamma in (0.1, "scale")]
    groups = groups_of(SVC(), points)
    assert [[c.index for c in group.candidates] for group in groups] == [[0, 2], [1, 3]]
    assert all(isinstance(group.sharer, GaussianMachines) for group in groups)
    assert not groups_of(SVC(kernel="linear"), points)[0].shares


# ---- what fails, fails as in scikit-learn


def test_invalid_candidates_get_the_error_score():
    grid = {"n_neighbors": [1, 5, 500, -1]}
    with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="Scoring failed"):
        plain, sharing = both(KNN, grid, X, Y, STRATIFIED, error_score=-1)
    check_equal(plain, sharing)
    assert sharing.sharing_["plain"] == 6


def test_where_a_sharer_fails_scikit_learn_fits(monkeypatch):
    def refuse(self, candidates, fold):
        raise CannotShareError("no")

    monkeypatch.setattr(GaussianMachines, "models", refuse)
    plain, sharing = both(SVC(), {"C": [0.1, 1.0]}, X, Y, STRATIFIED)
    check_equal(plain, sharing)
    assert sharing.sharing_["plain"] == 6


# ---- stepping back


def unshared(search, **fit_params):
    search.fit(X, Y, **fit_params)
    return search.sharing_["shared"] == 0


def test_a_generator_as_seed_is_shared_since_every_clone_has_a_copy():
    forest = RandomForestClassifier(random_state=np.random.RandomState(4))
    plain, sharing = both(forest, {"n_estimators": [2, 4, 6]}, X, Y, STRATIFIED)
    check_equal(plain, sharing)
    check_all_shared(sharing)


def test_a_function_that_may_look_into_the_model_is_not_given_a_stand_in():
    def number_of_rows(model, X, y):
        return model.n_samples_fit_

    search = SharingGridSearchCV(KNN, NEIGHBOURS, cv=STRATIFIED, scoring=number_of_rows)
    assert unshared(search)
    assert search.best_score_ == 80
    scorer = make_scorer(accuracy_score)
    check_all_shared(SharingGridSearchCV(KNN, NEIGHBOURS, cv=STRATIFIED, scoring=scorer).fit(X, Y))


class First(ClassifierMixin, BaseEstimator):
    def __init__(self, label=0):
        self.label = label

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[self.label])


class OwnNeighbours(KNeighborsClassifier):
    pass


# ------------------------------------------------------------------- honest score


def test_the_honest_score_follows_its_algorithm():
    """Tsamardinos et al. (2018), algorithm 5, draw by draw."""
    search = SharingGridSearchCV(KNN, NEIGHBOURS, cv=STRATIFIED).fit(X, Y)
    right = np.zeros((len(Y), 4))
    for place, n in enumerate(NEIGHBOURS["n_neighbors"]):
        guess = cross_val_predict(KNeighborsClassifier(n), X, Y, cv=STRATIFIED)
        right[:, place] = guess == Y
    n = len(Y)
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=1000)
    total = rows = 0
    for counts in drawn:
        chosen = np.argmax([np.repeat(column, counts).sum() for column in right.T])
        total += right[counts == 0, chosen].sum()
        rows += (counts == 0).sum()
    assert search.honest_score_ == pytest.approx(total / rows)
    assert search.honest_score_ < search.best_score_
    low, high = search.honest_interval_
    assert low < search.honest_score_ < high
    assert (low + high) / 2 == pytest.approx(search.honest_score_)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_honest_score_survives_a_kill_and_needs_no_sharing(tmp_path, n_jobs):
    whole = SharingGridSearchCV(KNN, NEIGHBOURS, cv=STRATIFIED).fit(X, Y)
    for _ in range(2):
        with search_limits(checkpoint=tmp_path / "scores"), parallel_config("threading"):
            again = SharingGridSearchCV(KNN, NEIGHBOURS, cv=STRATIFIED, n_jobs=n_jobs).fit(X, Y)
    assert again.sharing_["resumed"] == 4 * whole.n_splits_
    assert again.honest_score_ == whole.honest_score_
    pipeline = make_pipeline(MinMaxScaler(), GaussianNB())
    alone = SharingGridSearchCV(pipeline, {"gaussiannb__var_smoothing": [1e-9, 1e-3]})
    alone.share_work = False
    assert alone.fit(X, Y).sharing_["shared"] == 0
    assert 0.5 < alone.honest_score_ <= 1


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"scoring": "roc_auc"}, "the score is no accuracy, R2 or negative mean squared error"),
        ({"scoring": ["accuracy", "roc_auc"], "refit": "accuracy"}, "the score is no accuracy"),
        ({"refit": lambda _: 0}, "a function chose the candidate"),
    ],
)
def test_searches_without_an_honest_score_say_why(options, reason):
    search = SharingGridSearchCV(KNN, NEIGHBOURS, **options).fit(X, Y)
    with pytest.raises(StrategyError, match=f"no honest score: {reason}"):
        _ = search.honest_score_
    assert getattr(search, "honest_score_", None) is None
