"""Any scikit-learn estimator as a strategy."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.cluster import DBSCAN, KMeans
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import IsolationForest, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.fixes import parse_version

from mlaut import Study
from mlaut.errors import StrategyError
from mlaut.estimators import Generic_Estimator, Preprocessor, Properties
from mlaut.estimators.libraries.native import coding_of
from mlaut.estimators.strategy.generic_estimator import name_of

from .tables import SHAPE, awkward, labels


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.parametrize("as_frame", [True, False])
@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(),
        LogisticRegression(C=1e-4, tol=0.1, max_iter=1000),
        RandomForestClassifier(n_estimators=5, random_state=1),
        make_pipeline(StandardScaler(), SVC()),
    ],
    ids=name_of,
)
def test_results_on_complete_numbers_are_those_of_scikit_learn(estimator, load, as_frame):
    X, y = load(return_X_y=True, as_frame=as_frame)
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    strategy = Generic_Estimator(estimator=estimator, name="any").assemble(random_state=99)
    scores = cross_val_score(strategy, X, y, cv=cv)
    np.testing.assert_array_equal(scores, cross_val_score(estimator, X, y, cv=cv))


def test_predictions_of_numbers_are_those_of_scikit_learn_to_the_last_bit():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    strategy = Generic_Estimator(Ridge()).assemble().fit(X[:300], y[:300])
    np.testing.assert_array_equal(
        strategy.predict(X[300:]), Ridge().fit(X[:300], y[:300]).predict(X[300:])
    )


def test_an_estimator_gets_what_the_table_needs():
    X = awkward()
    y = labels(X, "Classification")
    model = Generic_Estimator(RandomForestClassifier(n_estimators=20)).assemble(
        SHAPE, random_state=0
    )
    assert set(model.fit(X, y).predict(awkward(20, 1, unseen=True))) == {"over", "under"}


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(StandardScaler(), SVC()),
        GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1]}),
        VotingClassifier([("a", make_pipeline(StandardScaler(), SVC()))]),
        make_pipeline(ColumnTransformer([("a", StandardScaler(), [0])]), SVC()),
    ],
    ids=name_of,
)
def test_an_estimator_that_prepares_the_table_itself_is_used_as_it_is(estimator):
    assert Generic_Estimator(estimator).preprocessing is None
    assert type(Generic_Estimator(estimator).assemble()) is type(estimator)
    added = Generic_Estimator(estimator, preprocessing=Preprocessor()).assemble()
    assert isinstance(added[0], Preprocessor)


def test_the_estimator_given_is_not_changed():
    estimator = SVC()
    Generic_Estimator(estimator, params={"C": 9}).assemble(random_state=0).fit(
        *load_wine(return_X_y=True)
    )
    assert estimator.C == 1
    assert estimator.random_state is None
    assert not hasattr(estimator, "classes_")


def test_it_is_tuned_over_a_grid():
    strategy = Generic_Estimator(SVC(), param_grid={"C": [1, 2]}, cv=3)
    assert strategy.assemble()["estimator"].param_grid == {"C": [1, 2]}
    assert strategy.describe()["n_candidates"] == 2


def test_metadata_are_given_or_read_off():
    read = Generic_Estimator(SVC())
    assert (read.name, read.tasks, read.estimator_family) == (
        "SVC",
        ("Classification",),
        ("Generic",),
    )
    given = Generic_Estimator(SVC(), properties={"estimator_family": "Mine", "cv": 3})
    assert (given.name, given.estimator_family, given.cv) == ("SVC", ("Mine",), 3)
    whole = Properties(name="All", estimator_family=["Mine"], tasks=["Classification"])
    assert Generic_Estimator(SVC(), properties=whole).name == "All"
    assert Generic_Estimator(SVC(), properties=whole, name="Other").name == "Other"


def test_a_task_that_cannot_be_told_must_be_given():
    class Unknown(BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.zeros(len(X))

    with pytest.raises(StrategyError, match=r"Unknown cannot .* neither .* before BaseEst"):
        Generic_Estimator(Unknown())
    given = Generic_Estimator(Unknown(), properties={"tasks": ["Classification"]})
    assert given.tasks == ("Classification",)


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (3, "a int is not an estimator: it has no fit method"),
        (StandardScaler(), "a StandardScaler is not an estimator: it has no predict method"),
        (SVC, r"SVC is a class, not an estimator; give an instance: SVC\(\)"),
    ],
)
def test_what_is_no_estimator_is_refused(thing, message):
    with pytest.raises(StrategyError, match=message):
        Generic_Estimator(thing)


class MixinLast(BaseEstimator, ClassifierMixin):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


class Survival(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]

    def predict_survival_function(self, X):
        return X


HIDDEN = r"asks BaseEstimator before ClassifierMixin; write class MixinLast\(ClassifierMixin, Base"


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (MixinLast(), HIDDEN),
        (make_pipeline(StandardScaler(), MixinLast()), HIDDEN),
        (Survival(), "Survival is a survival learner, and MLaut takes classifiers and regressors"),
        (KMeans(), "KMeans is a clusterer"),
        (DBSCAN(), "DBSCAN is a clusterer"),  # which has no predict
        (make_pipeline(StandardScaler(), KMeans()), "StandardScaler-KMeans is a clusterer"),
        (IsolationForest(), "IsolationForest is a detector of outliers"),
        (GaussianMixture(), "GaussianMixture is a density estimator"),
    ],
    ids=str,
)
def test_other_kinds_of_learners_are_refused_with_their_kind(thing, message):
    with pytest.raises(StrategyError, match=message):
        Generic_Estimator(thing)


def test_gaps_that_appear_only_later_are_filled():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = Generic_Estimator(KNeighborsClassifier()).assemble().fit(X, y)
    gap = X.copy()
    gap.iloc[0, 0] = np.nan
    filled = X.copy()
    filled.iloc[0, 0] = X.iloc[:, 0].median()
    np.testing.assert_array_equal(model.predict_proba(gap), model.predict_proba(filled))


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (SVC(), "SVC"),
        (make_pipeline(StandardScaler(), "passthrough", None, SVC()), "StandardScaler-SVC"),
        (GridSearchCV(SVC(), {}), "GridSearchCV-SVC"),
        (
            GridSearchCV(make_pipeline(StandardScaler(), SVC()), {}),
            "GridSearchCV-StandardScaler-SVC",
        ),
    ],
)
def test_name_of(estimator, name):
    assert name_of(estimator) == name


def test_it_is_shown_with_its_estimator():
    assert repr(Generic_Estimator(SVC(C=2))) == (
        "<mlaut.estimators.Generic_Estimator estimator=SVC(C=2)>"
    )


def test_a_table_of_other_columns_is_refused_by_name():
    X = pd.DataFrame({"a": [1.0, 2.0] * 5, "b": [0.0, 1.0] * 5})
    model = Generic_Estimator(SVC()).fit(X, [0, 1] * 5)
    with pytest.raises(Exception, match="column 'b' of the training table"):
        model.predict(X[["a"]])


class NotOfScikitLearn:
    """Classifier without a base class."""

    def get_params(self, deep=True):
        return {}

    def set_params(self, **_):
        return self

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.repeat("a", len(X))


def test_an_object_without_parameters_is_refused_with_tasks_too():
    with pytest.raises(StrategyError, match="a object is not an estimator: it has no fit method"):
        Generic_Estimator(object(), **OWN)


@pytest.mark.parametrize(
    ("name", "coding"), [("ExplainableBoostingClassifier", "native"), ("APLRClassifier", None)]
)
def test_learners_of_interpret_are_known_by_their_class(name, coding):
    learner = type(name, (NotOfScikitLearn,), {"__module__": "interpret.glassbox._any"})()
    assert coding_of(learner) == coding


OWN = {"properties": {"tasks": ["Classification"]}, "name": "own"}


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.7"),
    reason="scikit-learn 1.6 only warns where there are no tags",
)
def test_a_class_without_the_tags_of_scikit_learn_is_refused_before_the_run():
    with pytest.raises(StrategyError, match=r"does not inherit .* or give preprocessing=None$"):
        Generic_Estimator(NotOfScikitLearn(), **OWN).identity()


def test_a_class_without_the_tags_of_scikit_learn_runs_alone(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets(pd.DataFrame({"x": range(9), "y": [*"aabababab"]}), name="d", target="y")
    own = Generic_Estimator(NotOfScikitLearn(), preprocessing=None, **OWN)
    assert study.run(own, engine="inline", verbose=0).n_done == 1


@pytest.mark.parametrize("grid", [None, {"svc__C": [1, 2]}])
def test_a_pipeline_that_meets_gaps_is_told_the_way_out(grid, tmp_path):
    X, y = pd.DataFrame({"size": [1.5, np.nan] * 4, "age": range(8)}), ["a", "b"] * 4
    study = Study(tmp_path / "study.h5")
    study.add_datasets(X.assign(y=y), name="d", target="y")
    own = Generic_Estimator(make_pipeline(StandardScaler(), SVC()), param_grid=grid, cv=2)
    ((reason, _),) = study.run(own, engine="inline", verbose=0).reasons
    assert "no step seems to fill the gaps of columns ('size'): begin the pipeline" in reason
    of_its_own = Generic_Estimator(make_pipeline(FunctionTransformer(pd.DataFrame.shift), SVC()))
    with pytest.raises(ValueError, match=r"^Input X contains NaN"):  # the table has no gaps
        of_its_own.fit(X[["age"]], y)


class KeepsNothing(DecisionTreeClassifier):
    def __init__(self, depth=3):
        super().__init__(max_depth=depth)


class TakesAnything(DecisionTreeClassifier):
    def __init__(self, *args):
        super().__init__()


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (KeepsNothing(), "KeepsNothing: .* no attribute 'depth'; name and store each param"),
        (TakesAnything(), "TakesAnything: scikit-learn estimators should always .*; name and"),
    ],
)
def test_a_class_whose_parameters_cannot_be_read_is_told_the_way_out(given, line):
    with pytest.raises(StrategyError, match=line) as answer:
        Generic_Estimator(given)
    assert "\n" not in str(answer.value)


@pytest.mark.parametrize("grid", [None, {"svc__C": [1, 2]}])
def test_a_pipeline_that_meets_text_is_told_the_way_out(grid, tmp_path):
    X, y = pd.DataFrame({"size": range(8), "colour": ["red", "blue"] * 4}), ["a", "b"] * 4
    pipeline = make_pipeline(StandardScaler(), SVC())
    strategy = Generic_Estimator(pipeline, param_grid=grid, cv=2)
    with pytest.raises(StrategyError, match=r"no step prepares the columns of text \('colour'\): "):
        strategy.fit(X, y)
    assert strategy.set_params(preprocessing=Preprocessor()).fit(X, y).score(X, y) == 1
    study = Study(tmp_path / "study.h5")
    study.add_datasets(X.assign(y=y), name="d", target="y")
    own = Generic_Estimator(pipeline, param_grid=grid, cv=2)
    ((reason, _),) = study.run(own, engine="inline", verbose=0).reasons
    assert "no step prepares the columns of text ('colour'): begin the pipeline with a " in reason


class TakesMore(ClassifierMixin, BaseEstimator):
    def __init__(self, depth=1, **more):
        self.depth, self.more = depth, more

    def fit(self, X, y):
        self.tree_ = DecisionTreeClassifier(max_depth=self.depth, **self.more).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


@pytest.mark.parametrize(
    "wrap", [lambda one: one, lambda one: make_pipeline(StandardScaler(), one)]
)
def test_parameters_that_copies_lose_are_refused(wrap):
    """Copies had no min_samples_leaf: another learner was measured, under one name for all."""
    line = r"copies of TakesMore .* have \{'depth': 1, 'more': \{\}\}, not .*: 20\}\}: name each in"
    with pytest.raises(StrategyError, match=line):
        Generic_Estimator(wrap(TakesMore(min_samples_leaf=20)), name="more").build()
    Generic_Estimator(wrap(TakesMore(depth=2)), name="more").build()
