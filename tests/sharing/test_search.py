"""The search around the families: options of scikit-learn's search, and when it steps back."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from joblib import parallel_config
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_friedman1
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mlaut.errors import StrategyError
from mlaut.sharing import GridSearchCV as SharingGridSearchCV
from mlaut.sharing import search_limits
from mlaut.sharing.interface import Candidate, CannotShareError
from mlaut.sharing.learners.candidate_groups import groups_of
from mlaut.sharing.learners.kernels import GaussianMachines
from mlaut.sharing.search.honest import OutOfFold

from .sharing_cases import CLASSES, STRATIFIED, both, check_all_shared, check_equal

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


def test_refit_by_a_function_and_no_refit():
    def last(results):
        return len(results["params"]) - 1

    plain, sharing = [
        kind(KNN, NEIGHBOURS, cv=STRATIFIED, refit=last).fit(X, Y)
        for kind in (GridSearchCV, SharingGridSearchCV)
    ]
    assert sharing.best_params_ == plain.best_params_ == {"n_neighbors": 7}
    assert not hasattr(sharing, "best_score_")
    bare = SharingGridSearchCV(KNN, NEIGHBOURS, cv=STRATIFIED, refit=False).fit(X, Y)
    assert not hasattr(bare, "best_estimator_")
    assert bare.best_params_ == both(KNN, NEIGHBOURS, X, Y, STRATIFIED)[0].best_params_


def test_the_final_model_is_scikit_learns():
    plain, sharing = both(SVC(), {"C": [0.1, 1.0, 10.0]}, X, Y, STRATIFIED)
    assert type(sharing.best_estimator_) is SVC
    np.testing.assert_array_equal(sharing.predict(X), plain.predict(X))
    np.testing.assert_array_equal(sharing.decision_function(X), plain.decision_function(X))
    assert sharing.refit_time_ > 0
    assert sharing.n_features_in_ == X.shape[1]


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


def test_gaps_are_handled_as_by_scikit_learn():
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    forest = RandomForestClassifier(random_state=0)
    plain, sharing = both(forest, {"n_estimators": [2, 5]}, gaps, Y, STRATIFIED)
    check_equal(plain, sharing)
    tree = DecisionTreeClassifier(random_state=0)
    check_equal(*both(tree, {"max_depth": [1, 3]}, gaps, Y, STRATIFIED))


def test_groups_of_rows_make_the_folds():
    rows = np.repeat(np.arange(30), 4)
    searches = [
        kind(KNN, NEIGHBOURS, cv=GroupKFold(3)).fit(X, Y, groups=rows)
        for kind in (GridSearchCV, SharingGridSearchCV)
    ]
    check_equal(*searches)
    check_all_shared(searches[1])


def test_folds_are_drawn_once_from_a_generator():
    searches = [
        kind(KNN, NEIGHBOURS, cv=KFold(3, shuffle=True, random_state=np.random.RandomState(5)))
        for kind in (GridSearchCV, SharingGridSearchCV)
    ]
    check_equal(*[search.fit(X, Y) for search in searches])


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
    assert groups_of(SVC(kernel="linear"), points)[0].sharer is None


# ---- what fails, fails as in scikit-learn


def test_invalid_candidates_get_the_error_score():
    grid = {"n_neighbors": [1, 5, 500, -1]}
    with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="Scoring failed"):
        plain, sharing = both(KNN, grid, X, Y, STRATIFIED, error_score=-1)
    check_equal(plain, sharing)
    assert sharing.sharing_["plain"] == 6


def test_errors_are_raised_where_asked():
    grid = {"C": [1.0, -1.0]}
    search = SharingGridSearchCV(SVC(), grid, cv=STRATIFIED, error_score="raise")
    with pytest.raises(ValueError, match="'C' parameter of SVC must be a float"):
        search.fit(X, Y)
    with pytest.raises(ValueError, match="All the 6 fits failed"):
        SharingGridSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=STRATIFIED).fit(X * np.nan, Y)
    with pytest.raises(ValueError, match="Invalid parameter 'K'"):
        SharingGridSearchCV(SVC(), {"K": [1]}, cv=STRATIFIED).fit(X, Y)
    with pytest.raises(ValueError, match="refit must be set"):
        SharingGridSearchCV(SVC(), grid, scoring=["accuracy"], cv=STRATIFIED).fit(X, Y)


def test_a_number_to_classify_is_refused():
    tree = DecisionTreeClassifier(random_state=0)
    numbers = X[:, 0]
    with pytest.raises(ValueError, match="fits failed"):
        SharingGridSearchCV(tree, {"max_depth": [1, 2]}, cv=KFold(3)).fit(X, numbers)


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


def test_an_ensemble_without_a_seed_is_not_shared():
    grid = {"n_estimators": [2, 4]}
    assert unshared(SharingGridSearchCV(RandomForestClassifier(), grid, cv=STRATIFIED))
    np.random.seed(3)  # noqa: NPY002 - the generator that scikit-learn draws from
    plain = GridSearchCV(RandomForestClassifier(), grid, cv=STRATIFIED).fit(X, Y)
    np.random.seed(3)  # noqa: NPY002 - the generator that scikit-learn draws from
    sharing = SharingGridSearchCV(RandomForestClassifier(), grid, cv=STRATIFIED).fit(X, Y)
    check_equal(plain, sharing)


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


def test_weights_given_to_fit_are_passed_on():
    weights = np.linspace(0.1, 1, len(Y))
    searches = [
        kind(SVC(), {"C": [0.1, 1.0]}, cv=STRATIFIED, scoring="accuracy").fit(
            X, Y, sample_weight=weights
        )
        for kind in (GridSearchCV, SharingGridSearchCV)
    ]
    check_equal(*searches)
    assert searches[1].sharing_["shared"] == 0


def test_routing_of_metadata_is_left_to_scikit_learn():
    with sklearn.config_context(enable_metadata_routing=True):
        assert unshared(SharingGridSearchCV(KNN, NEIGHBOURS, cv=STRATIFIED))


def test_unknown_estimators_and_subclasses_are_left_to_scikit_learn():
    assert unshared(SharingGridSearchCV(First(), {"label": [0, 1]}, cv=STRATIFIED))
    assert unshared(SharingGridSearchCV(OwnNeighbours(), NEIGHBOURS, cv=STRATIFIED))


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


def test_several_targets_are_left_to_scikit_learn():
    search = SharingGridSearchCV(KNN, NEIGHBOURS, cv=KFold(3))
    assert search.fit(X, np.column_stack([Y, Y])).sharing_["shared"] == 0


def test_a_candidate_makes_new_estimators():
    pattern = KNeighborsClassifier(weights="distance")
    candidate = Candidate(0, pattern, {"n_neighbors": 3})
    made = candidate.estimator()
    assert (made.n_neighbors, made.weights) == (3, "distance")
    assert made is not candidate.estimator()
    assert pattern.n_neighbors == 5
    assert candidate.setting("n_neighbors") == 3
    assert candidate.setting("weights") == "distance"


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


def test_the_honest_score_without_information_is_a_half():
    rng = np.random.default_rng(1)
    common, own = rng.normal(size=(60, 200, 1)), rng.normal(size=(60, 200, 100))
    found = [OutOfFold(rows.astype(float)).honest for rows in 0.9 * common + 0.45 * own > 0]
    bias = (np.mean([score for score, _ in found]) - 0.5) / (0.5 / np.sqrt(200))
    covered = [low < 0.5 < high for _, (low, high) in found]
    assert abs(bias) < 0.2
    assert 0.9 < np.mean(covered) <= 1


def test_one_candidate_needs_no_correction():
    search = SharingGridSearchCV(DecisionTreeRegressor(random_state=0), {"max_depth": [3]}, cv=5)
    for scoring in (None, "neg_mean_squared_error"):
        rows, target = make_friedman1(200, random_state=0)
        search.set_params(scoring=scoring).fit(rows, target)
        assert search.honest_score_ == pytest.approx(search.best_score_, rel=0.02)


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


def test_a_search_around_a_pipeline_with_a_forest_has_an_honest_score():
    pipeline = make_pipeline(MinMaxScaler(), RandomForestClassifier(5, random_state=0))
    search = SharingGridSearchCV(pipeline, {"randomforestclassifier__max_depth": [1, 2, 4]}, cv=3)
    search.fit(X, Y)
    low, high = search.honest_interval_
    assert 0.5 < low < search.honest_score_ <= search.best_score_ + 0.01 < high


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
