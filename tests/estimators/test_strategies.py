"""Whatever a user has, as strategies."""

import pytest
from sklearn.linear_model import Ridge
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from mlaut.errors import StrategyError
from mlaut.estimators import (
    Generic_Estimator,
    MlautEstimator,
    Registry,
    as_strategies,
    instantiate_default_estimators,
)
from mlaut.estimators.catalogue.listed import K_Neighbours, SVC_mlaut


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("SVC", ["SVC"]),
        ("Naive_Bayes", ["GaussianNaiveBayes", "BernoulliNaiveBayes"]),
        (["SVC", "Naive_Bayes"], ["SVC", "GaussianNaiveBayes", "BernoulliNaiveBayes"]),
        (("SVC", "K_Neighbours"), ["SVC", "K_Neighbours"]),
        (["Naive_Bayes", "GaussianNaiveBayes"], ["GaussianNaiveBayes", "BernoulliNaiveBayes"]),
        (SVC_mlaut, ["SVC"]),
        (SVC_mlaut(name="mine"), ["mine"]),
        (LinearSVC, ["LinearSVC"]),
        (LinearSVC(), ["LinearSVC"]),
        (make_pipeline(StandardScaler(), SVC()), ["StandardScaler-SVC"]),
        (("pipe", make_pipeline(StandardScaler(), SVC())), ["pipe"]),
        ([("a", SVC()), ("b", SVC())], ["a", "b"]),
        ({"a": SVC(), "b": "SVC", "c": K_Neighbours}, ["a", "b", "c"]),
        ([SVC_mlaut(), {"a": Ridge()}, "BaselineRegressor"], ["SVC", "a", "BaselineRegressor"]),
        (iter(["SVC"]), ["SVC"]),
        ([], []),
    ],
    ids=lambda value: str(value).partition(" at 0x")[0],  # the same in all processes
)
def test_everything_becomes_strategies(given, names):
    strategies = as_strategies(given)
    assert [strategy.name for strategy in strategies] == names
    assert all(isinstance(strategy, MlautEstimator) for strategy in strategies)


def test_plain_estimators_are_generic_strategies_with_their_task():
    first, second = as_strategies([SVC(), Ridge()])
    assert isinstance(first, Generic_Estimator)
    assert (first.tasks, second.tasks) == (("Classification",), ("Regression",))


def test_a_word_for_many_is_remembered_and_a_name_is_not():
    words = ["Cluster", "SVC", "SVC_mlaut", "Classification", "K_Neighbours"]
    chosen = {s.name: s.chosen_by for s in as_strategies(words)}
    assert (chosen["SVC"], chosen["K_Neighbours"]) == ("", "")
    assert (chosen["K_Neighbours_Regressor"], chosen["BaselineClassifier"]) == (
        "Cluster",
        "Classification",
    )
    made = instantiate_default_estimators(["SVC", "Support_Vector_Machines"])
    assert [s.chosen_by for s in made] == ["", "Support_Vector_Machines"]
    assert [s.chosen_by for s in as_strategies(made)] == ["", "Support_Vector_Machines"]
    assert [s.chosen_by for s in as_strategies([SVC_mlaut(), LinearSVC()])] == ["", ""]


def test_what_is_given_is_not_changed():
    given = SVC_mlaut()
    (taken,) = as_strategies({"other": given})
    assert (given.name, taken.name) == ("SVC", "other")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            [SVC(C=1), SVC(C=2)],
            r"two strategies are called 'SVC': SVC\(C=1\) and SVC\(C=2\); "
            r"give them names: \{'SVC 1': \.\.\., 'SVC 2': \.\.\.\}",
        ),
        (["SVC", SVC()], r"two strategies are called 'SVC': 'SVC' and SVC\(\); give them names"),
        ([SVC_mlaut(), ("SVC", Ridge())], r"called 'SVC': <mlaut.*estimators.SVC> and Ridge\(\);"),
    ],
)
def test_one_name_for_two_is_refused(given, message):
    with pytest.raises(StrategyError, match=message):
        as_strategies(given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("SVMC", "no strategy, family or task is called 'SVMC'; did you mean 'SVC'"),
        (3, "a int is not an estimator"),
        ([None], "a NoneType is not an estimator"),
        ({"a": "Naive_Bayes"}, "the name 'a' is given to 2 strategies; give each its own"),
        ({"a/b": SVC()}, "'a/b' cannot name a strategy: it has a slash"),
        ({3: SVC()}, "3 cannot name a strategy: it is not text"),
        (MultiOutputClassifier, "MultiOutputClassifier cannot be made without arguments"),
    ],
)
def test_what_cannot_be_a_strategy_is_refused(given, message):
    with pytest.raises(StrategyError, match=message):
        as_strategies(given)


def test_a_strategy_of_ones_own_is_registered_by_its_metadata():
    registry = Registry()
    assert registry.register(K_Neighbours) is K_Neighbours
    assert registry.search("Cluster")[0].name == "K_Neighbours"
    with pytest.raises(StrategyError, match="'K_Neighbours' is registered already"):
        registry.register(K_Neighbours)


def test_names_of_the_field_of_mlaut_0_1_and_of_the_paper_find_a_strategy():
    from mlaut import estimators

    assert estimators.SVC is SVC_mlaut
    assert repr(estimators.SVC()) == "<mlaut.estimators.svm_estimators.SVC>"
    assert estimators.Random_Forest_Classifier().name == "RandomForestClassifier"
    printed = {
        "NN-4-layer-droput-each-layer_lr0001": "NN-4-layer-dropout-each-layer_lr001",
        "NN-2-layer-droput-input-layer_lr1": "NN-2-layer-dropout-input-layer_lr1",
        "NN-12-layer_wide_with_dropout": "NN-12-layer_wide_with_dropout_lr001",
        "SVC_mlaut": "SVC",
    }
    assert [s.name for s in as_strategies(list(printed))] == list(printed.values())
