"""The base class of strategies."""

import pickle
import re
import types

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from mlaut.errors import StrategyError
from mlaut.estimators import (
    REGISTRY,
    DataShape,
    Generic_Estimator,
    GridSearch,
    MlautEstimator,
    Preprocessor,
    as_strategies,
    instantiate_default_estimators,
    properties,
)
from mlaut.estimators.catalogue.listed import (
    Bagging_Classifier,
    K_Neighbours,
    Lasso_mlaut,
    Random_Forest_Classifier,
    SVC_mlaut,
    SVR_mlaut,
)
from mlaut.estimators.libraries.parameters import seed_all, set_n_jobs

IRIS = load_iris(return_X_y=True)
ALL = instantiate_default_estimators([spec.name for spec in REGISTRY.search("all")])


@properties(
    name="Nearest",
    estimator_family=["Cluster"],
    tasks=["Classification"],
    param_grid={"n_neighbors": [1, 3]},
)
class Nearest(MlautEstimator):
    """Metadata by the decorator and a build method, nothing else."""

    def build(self):
        return KNeighborsClassifier()


# ---- one's own


def test_a_decorated_class_with_a_build_method_is_a_strategy():
    strategy = Nearest(random_state=0)
    assert (strategy.name, strategy.tasks) == ("Nearest", ("Classification",))
    assert strategy.estimator_family == ("Cluster",)
    fitted = strategy.fit(*IRIS)
    assert fitted.estimator_[-1].best_params_ in ({"n_neighbors": 1}, {"n_neighbors": 3})
    assert fitted.score(*IRIS) > 0.9


def test_a_strategy_may_be_built_to_measure():
    class Measured(Nearest):
        def build(self, *, shape=None):
            return KNeighborsClassifier(n_neighbors=shape.n_classes)

    strategy = Measured(param_grid=None).fit(*IRIS)
    assert strategy.estimator_[-1].n_neighbors == 3


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        (Generic_Estimator(SVC(), search="random(5)"), "strategy 'SVC': search='random(5)' has"),
        (Generic_Estimator(SVC(), budget="2m cpu"), "strategy 'SVC': budget='2m cpu' has nothing"),
        (as_strategies("balanced(SVC)")[0].set_params(search="halving(9)"), "strategy that this"),
    ],
)
def test_a_search_of_nothing_is_refused(strategy, said):
    with pytest.raises(StrategyError, match=re.escape(said)):
        strategy.assemble()


def test_a_build_method_may_give_its_own_search():
    class Searching(Nearest):
        def build(self, **_):
            return GridSearchCV(KNeighborsClassifier(), {"p": [1, 2]}, cv=3)

    assert Searching().fit(*IRIS).estimator_[-1].n_splits_ == 3


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"estimatr_family": 1}, "is called 'estimatr_family'; did you mean 'estimator_family'"),
        ({"name": "a/b"}, "'a/b' cannot name a strategy: it has a slash"),
        ({"name": " "}, "' ' cannot name a strategy: it cannot be read"),
        ({"name": 3}, "3 cannot name a strategy: it is not text"),
        ({"tasks": ["regression"]}, "no task is called 'regression'; did you mean 'Regression'"),
        ({"tasks": []}, "strategy 'A' has no task; give Classification or Regression"),
    ],
)
def test_wrong_metadata_is_refused(metadata, message):
    right = {"name": "A", "estimator_family": ["Mine"], "tasks": ["Regression"]}
    with pytest.raises(StrategyError, match=message):
        properties(**{**right, **metadata})


def test_a_class_without_metadata_or_build_says_what_to_do():
    class Bare(MlautEstimator):
        pass

    with pytest.raises(StrategyError, match="Bare has no metadata; decorate the class"):
        Bare()
    named = properties(name="Bare", estimator_family=["Mine"], tasks=["Regression"])(Bare)
    with pytest.raises(StrategyError, match="Bare has no build method; write one"):
        named().assemble()


# ---- an estimator like any other


@pytest.mark.parametrize("strategy", ALL, ids=lambda s: s.name)
def test_it_is_cloned_and_set_as_any_estimator(strategy):
    copy = clone(strategy)
    assert copy is not strategy
    assert copy.fingerprint() == strategy.fingerprint()
    assert copy.get_params().keys() == strategy.get_params().keys()
    copy.set_params(**strategy.get_params(deep=False))
    assert copy.fingerprint() == strategy.fingerprint()
    assert pickle.loads(pickle.dumps(strategy)).fingerprint() == strategy.fingerprint()
    assert is_classifier(strategy) is (strategy.tasks == ("Classification",))
    assert is_regressor(strategy) is (strategy.tasks == ("Regression",))


RESOLVED = "a default is replaced by the strategy's own value when it is constructed"


@pytest.mark.parametrize(
    "strategy",
    [
        K_Neighbours(param_grid=None),
        Nearest(cv=2),
        Generic_Estimator(Ridge()),
        Generic_Estimator(KNeighborsClassifier()),
    ],
    ids=lambda s: s.name,
)
@pytest.mark.filterwarnings("ignore::mlaut.estimators.TuningWarning")
def test_it_follows_the_rules_of_scikit_learn(strategy):
    expected = {"check_parameters_default_constructible": RESOLVED}
    outcomes = check_estimator(strategy, expected_failed_checks=expected, on_skip=None)
    assert sum(outcome["status"] == "passed" for outcome in outcomes) > 30
    assert [o["check_name"] for o in outcomes if o["status"] == "xfail"] == list(expected)


def test_a_grid_is_changed_in_one_strategy_only():
    one = SVC_mlaut()
    one.param_grid["C"] = [1.0]
    assert len(SVC_mlaut().param_grid["C"]) == 13
    assert one.set_params(param_grid="default").param_grid == SVC_mlaut().param_grid


def test_preprocessing_is_changed_by_its_parameters():
    strategy = SVC_mlaut().set_params(preprocessing__categories="ordinal")
    assert strategy.assemble()["preprocessing"].categories == "ordinal"
    assert SVC_mlaut().preprocessing.categories == "one-hot"


def test_it_works_in_pipelines_and_searches():
    untuned = K_Neighbours(param_grid=None)
    pipe = make_pipeline(FunctionTransformer(), untuned)
    assert cross_val_score(pipe, *IRIS, cv=3).min() > 0.9
    search = GridSearchCV(untuned, {"params": [{"n_neighbors": 1}, {"n_neighbors": 50}]}, cv=3)
    assert search.fit(*IRIS).best_params_ == {"params": {"n_neighbors": 1}}
    bag = BaggingClassifier(untuned, n_estimators=2, random_state=0).fit(*IRIS)
    assert bag.score(*IRIS) > 0.9


def test_labels_of_any_type_come_back():
    X, y = IRIS
    for names in (np.array(["a", "b", "c"]), np.array([-5, 0, 7]), np.array([False, True, True])):
        strategy = K_Neighbours(param_grid=None).fit(X, names[y])
        assert strategy.classes_.tolist() == sorted(set(names.tolist()))
        assert strategy.predict(X).dtype == names.dtype
    series = pd.Series(np.array(["a", "b", "c"])[y], dtype="category")
    assert set(K_Neighbours(param_grid=None).fit(X, series).predict(X)) == {"a", "b", "c"}


def test_it_has_the_methods_that_its_estimator_has():
    strategy = K_Neighbours(param_grid=None)
    assert hasattr(strategy, "predict_proba")
    assert not hasattr(strategy, "decision_function")
    assert not hasattr(SVC_mlaut(), "predict_proba")
    assert not hasattr(strategy, "classes_")
    with pytest.raises(NotFittedError):
        strategy.predict(IRIS[0])
    strategy.fit(*IRIS)
    assert strategy.predict_proba(IRIS[0]).shape == (150, 3)
    assert SVC_mlaut(param_grid=None).fit(*IRIS).decision_function(IRIS[0]).shape == (150, 3)


@pytest.mark.parametrize("preprocessing", ["default", None])
def test_weights_reach_the_wrapped_estimator(preprocessing):
    strategy = SVC_mlaut(preprocessing=preprocessing, param_grid={"C": [1, 2]})
    X, y = IRIS
    weights = np.where(y == 2, 1e-9, 1.0)
    strategy.fit(X, y, sample_weight=weights)
    assert set(strategy.predict(X)) == {0, 1}


# ---- assembling


def test_what_is_assembled_is_preprocessing_and_search():
    model = SVC_mlaut().assemble(DataShape(100, 4, 3))
    assert isinstance(model, Pipeline)
    assert isinstance(model["preprocessing"], Preprocessor)
    assert isinstance(model["estimator"], GridSearch)
    assert model["estimator"].cv.n_splits == 5
    assert model["estimator"].cv.stratify


def test_preprocessing_and_tuning_are_switched_off():
    assert isinstance(SVC_mlaut(preprocessing=None, param_grid=None).assemble(), SVC)
    assert isinstance(SVC_mlaut(preprocessing=None).assemble(), GridSearch)


def test_a_parameter_that_is_set_is_not_tuned():
    model = K_Neighbours(params={"p": 1}).assemble()["estimator"]
    assert model.estimator.p == 1
    assert list(model.param_grid) == ["n_neighbors"]
    both = K_Neighbours(params={"p": 1, "n_neighbors": 2}, preprocessing=None).assemble()
    assert isinstance(both, KNeighborsClassifier)
    parts = [{"p": [1]}, {"n_neighbors": [1]}]
    assert K_Neighbours(params={"p": 1}, param_grid=parts).assemble()[-1].param_grid == parts[1:]


@pytest.mark.parametrize(
    "given", [{"params": {"n_neighbour": 1}}, {"param_grid": {"n_neighbour": [1]}}]
)
def test_an_unknown_parameter_is_answered_with_the_nearest(given):
    with pytest.raises(StrategyError) as error:
        K_Neighbours(**given).assemble()
    assert str(error.value) == (
        "strategy 'K_Neighbours': KNeighborsClassifier has no parameter 'n_neighbour'; "
        "did you mean 'n_neighbors'?"
    )


def test_every_random_state_that_is_none_comes_from_the_one_given():
    model = Bagging_Classifier().assemble(random_state=7)
    states = {key: v for key, v in model.get_params().items() if key.endswith("random_state")}
    assert sorted(states) == [
        "estimator__cv__random_state",
        "estimator__estimator__estimator__random_state",
        "estimator__estimator__random_state",
    ]
    source = np.random.RandomState(7)
    assert list(dict(sorted(states.items())).values()) == [
        source.randint(np.iinfo(np.int32).max) for _ in states
    ]
    again = Bagging_Classifier().assemble(random_state=7).get_params()
    assert {key: again[key] for key in states} == states


def test_a_random_state_of_its_own_goes_first():
    own = Random_Forest_Classifier(random_state=1)
    assert seeds(own.assemble(random_state=2)) == seeds(own.assemble(random_state=3))
    fixed = Random_Forest_Classifier(params={"random_state": 5}).assemble(random_state=2)
    assert fixed["estimator"].estimator.random_state == 5
    assert set(seeds(Random_Forest_Classifier().assemble())) == {None}


def seeds(model):
    parameters = model.get_params()
    return [parameters[key] for key in sorted(parameters) if key.endswith("random_state")]


def test_only_an_n_jobs_that_is_given_is_set():
    model = Random_Forest_Classifier(n_jobs=-1).assemble(n_jobs=1)
    assert model["estimator"].n_jobs == 1
    assert model["estimator"].estimator.n_jobs is None
    assert Random_Forest_Classifier(n_jobs=-1).assemble()["estimator"].n_jobs == -1
    assert set_n_jobs(RandomForestClassifier(n_jobs=4), 2).n_jobs == 2


def test_seeding_takes_a_generator_as_well():
    tree = DecisionTreeClassifier
    assert (
        seed_all(tree(), np.random.RandomState(0)).random_state == seed_all(tree(), 0).random_state
    )


def test_the_same_seed_gives_the_same_predictions():
    X, y = IRIS
    strategy = Random_Forest_Classifier(params={"n_estimators": 5, "max_depth": 3})
    one, same, other = (
        strategy.assemble(random_state=seed).fit(X[::2], y[::2]).predict_proba(X[1::2])
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_target_is_scaled_for_fitting_and_predicted_in_its_own_units():
    X, y = load_diabetes(return_X_y=True)
    strategy = SVR_mlaut(param_grid=None).fit(X, 1e6 * y)
    assert 20e6 < strategy.predict(X).mean() - 100e6 < 60e6
    assert strategy.score(X, 1e6 * y) > 0.5
    small = SVR_mlaut(param_grid=None).fit(X, y)
    np.testing.assert_allclose(strategy.predict(X), 1e6 * small.predict(X), rtol=1e-6)
    assert not hasattr(SVR_mlaut(normalize_labels=False).assemble()[-1], "regressor")


def test_the_penalty_of_the_lasso_is_relative_to_the_target():
    X, y = load_diabetes(return_X_y=True)
    chosen = [Lasso_mlaut(random_state=0).fit(X, c * y) for c in (1, 1000)]
    best = [strategy.estimator_[-1].regressor_.best_params_ for strategy in chosen]
    assert best[0] == best[1]
    flat = Lasso_mlaut(params={"alpha": 1.0}).fit(X, y).estimator_[-1].regressor_
    np.testing.assert_allclose(flat.coef_, 0, atol=1e-12)


def test_any_splitter_and_score_may_tune():
    cv = KFold(3, shuffle=True, random_state=0)
    search = K_Neighbours(cv=cv, scoring="balanced_accuracy").fit(*IRIS).estimator_[-1]
    assert search.n_splits_ == 3
    assert search.scoring == "balanced_accuracy"


# ---- what it is


def test_what_changes_a_result_changes_the_identity():
    start = K_Neighbours().fingerprint()
    changes = [
        {"params": {"weights": "distance"}},
        {"param_grid": {"n_neighbors": [1]}},
        {"param_grid": None},
        {"cv": 3},
        {"scoring": "f1_macro"},
        {"preprocessing": None},
        {"preprocessing__max_categories": 3},
        {"random_state": 1},
    ]
    prints = [K_Neighbours().set_params(**change).fingerprint() for change in changes]
    assert len({start, *prints}) == len(changes) + 1


def test_what_changes_no_result_does_not():
    same = K_Neighbours(name="other", n_jobs=4, verbose=3)
    assert same.fingerprint() == K_Neighbours().fingerprint()
    assert K_Neighbours().fit(*IRIS).fingerprint() == same.fingerprint()


def test_all_default_strategies_differ():
    assert len({strategy.fingerprint() for strategy in ALL}) == len(ALL)


SOURCE = """
from mlaut.estimators import MlautEstimator, properties
from sklearn.neighbors import KNeighborsClassifier

@properties(name="Mine", estimator_family=["Mine"], tasks=["Classification"])
class Mine(MlautEstimator):
    def build(self, *, shape=None):
        return KNeighborsClassifier(1 if shape.n_rows < 1000 else 5)
"""


def test_the_code_of_a_build_method_counts_but_not_its_comments():
    def strategy(source):
        space = types.ModuleType("study")
        exec(source, vars(space))
        return space.Mine()

    start = strategy(SOURCE).fingerprint()
    comment = SOURCE.replace("        return", "        # as they say\n        return")
    assert strategy(comment).fingerprint() == start
    assert strategy(SOURCE.replace("5)", "6)")).fingerprint() != start


def test_it_is_described():
    words = Random_Forest_Classifier(n_jobs=2).describe()
    assert words["wraps"] == "RandomForestClassifier()"
    assert words["n_candidates"] == 36
    assert words["tuning"] == (
        "exhaustive grid, 5-fold cross-validation on the training part, by accuracy"
    )
    assert words["preprocessing"]["numbers"] == "gaps become the training median"
    takes = {kind for kind, taken in words["takes"].items() if taken}
    assert takes == {"missing", "sparse", "threads", "weights"}
    assert (words["search_space"], words["source"]) == ({}, "")
    assert Lasso_mlaut().describe()["tuning"].endswith("by R2")
    assert Lasso_mlaut(param_grid=None).describe()["tuning"] == "none"


def test_it_is_shown_with_what_is_not_as_usual():
    assert repr(Random_Forest_Classifier(n_jobs=3, verbose=1)) == (
        "<mlaut.estimators.ensemble_estimators.Random_Forest_Classifier>"
    )
    assert repr(K_Neighbours(name="1-NN", param_grid=None)) == (
        "<mlaut.estimators.cluster_estimators.K_Neighbours name='1-NN' param_grid=None>"
    )
    html = K_Neighbours(name="<b>")._repr_mimebundle_()["text/html"]
    assert "&lt;b&gt;" in html
    assert "KNeighborsClassifier(" in html


# ---- keeping it


def test_a_fitted_strategy_is_saved_and_loaded(tmp_path):
    strategy = K_Neighbours(param_grid=None).fit(*IRIS)
    path = strategy.save(tmp_path / "model.joblib")
    back = MlautEstimator.load(path, trusted=True)
    np.testing.assert_array_equal(back.predict(IRIS[0]), strategy.predict(IRIS[0]))
    assert back.fingerprint() == strategy.fingerprint()
    assert [file.name for file in tmp_path.iterdir()] == ["model.joblib"]


def test_a_strategy_that_cannot_be_saved_leaves_the_old_file(tmp_path):
    path = K_Neighbours().save(tmp_path / "model.joblib")
    before = path.read_bytes()
    with pytest.raises(Exception, match="pickle"):
        K_Neighbours(params={"metric": lambda *_: 0}).save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_loading_says_what_is_wrong(tmp_path):
    path = tmp_path / "model.joblib"
    with pytest.raises(StrategyError, match="no such file; check the path"):
        MlautEstimator.load(path, trusted=True)
    joblib.dump(Ridge(), path)
    with pytest.raises(StrategyError, match="if you trust where it comes from, pass trusted=True"):
        MlautEstimator.load(path)
    with pytest.raises(StrategyError, match="holds a Ridge, not a strategy"):
        MlautEstimator.load(path, trusted=True)
    path.write_bytes(b"nothing")
    with pytest.raises(StrategyError, match="cannot be read as a strategy"):
        MlautEstimator.load(path, trusted=True)


def test_a_parameter_has_the_name_of_the_field_and_that_of_scikit_learn():
    (strategy,) = instantiate_default_estimators("PassiveAggressiveClassifier")
    assert list(strategy.param_grid) == list(strategy.describe()["param_grid"]) == ["C"]
    whole = strategy.identity()
    own = strategy.metadata.called.get("C", "C")  # eta0 since scikit-learn 1.8
    for name in ("C", own):
        strategy.set_params(param_grid={name: [1, 2]})
        assert strategy.assemble()[-1].param_grid == {own: [1, 2]}
        strategy.set_params(params={name: 3.0})
        assert strategy.assemble()[-1].get_params()[own] == 3.0
        strategy.set_params(params=None, param_grid="default")
        assert strategy.identity() == whole
