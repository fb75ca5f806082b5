"""Asking for strategies."""

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from mlaut.errors import StrategyError, UnusableWarning
from mlaut.estimators import (
    REGISTRY,
    Registry,
    Strategy,
    as_strategies,
    instantiate_default_estimators,
)
from mlaut.identity.describer import class_path
from mlaut.records import CLASSIFICATION, REGRESSION, TASKS

PAPER = [
    "BaselineClassifier",
    "GaussianNaiveBayes",
    "BernoulliNaiveBayes",
    "LogisticRegression",
    "PassiveAggressiveClassifier",
    "K_Neighbours",
    "SVC",
    "DecisionTreeClassifier",
    "RandomForestClassifier",
    "BaggingClassifier",
    "GradientBoostingClassifier",
]


def names(*words, **metadata):
    return [spec.name for spec in REGISTRY.search(*words, **metadata)]


def test_the_default_classifiers_are_those_of_the_paper_and_histogram_boosting():
    assert names(CLASSIFICATION) == [*PAPER, "HistGradientBoostingClassifier"]


def test_the_order_of_asking_is_kept_and_nothing_comes_twice():
    found = names("RandomForestClassifier", "BaggingClassifier", "Ensemble_methods")
    assert found[:2] == ["RandomForestClassifier", "BaggingClassifier"]
    assert len(set(found)) == len(found)


def test_a_strategy_is_found_by_the_name_of_its_class():
    assert names("Random_Forest_Classifier") == ["RandomForestClassifier"]


@pytest.mark.parametrize("spec", list(REGISTRY), ids=lambda spec: spec.name)
def test_what_is_listed_is_what_the_class_says(spec):
    cls = spec.load()
    assert cls.properties.name == spec.name
    assert cls.properties.estimator_family == spec.estimator_family
    assert cls.properties.tasks == spec.tasks
    assert cls.properties.package == spec.package
    assert class_path(cls).endswith(spec.class_name)


def test_searching_by_metadata():
    assert names("Ensemble_methods", tasks=REGRESSION, categories=True) == [
        "HistGradientBoostingRegressor"
    ]


@pytest.mark.parametrize(
    ("word", "same"),
    [
        ("Kernel methods", "Support_Vector_Machines"),
        ("prototype method", "Nearest_Neighbours"),
        ("Cluster", "Nearest_Neighbours"),  # its name before
        ("nearest neighbors", "Nearest_Neighbours"),
        ("decision trees", "Decision_Tree"),
        ("classification", "Classification"),
        ("XGBoost", "xgboost"),
        ("xgboost", ["XGBoostClassifier", "XGBoostRegressor"]),
        ("keras", "Neural_Networks"),  # named in the answer to Deep_NN_Classifier
    ],
)
def test_families_of_the_paper_and_packages_are_words(word, same):
    assert names(word) == (names(same) if isinstance(same, str) else same)


@pytest.mark.parametrize(
    ("word", "nearest"),
    [
        ("RandomForrest", ["RandomForestClassifier", "RandomForestRegressor"]),
        ("Ensembles", ["Ensemble_methods"]),
        ("SVM", ["SVC", "SVR"]),
        ("DummyClassifier", ["BaselineClassifier", "BaselineRegressor"]),
        ("DummyRegressor", ["BaselineRegressor", "BaselineClassifier"]),
        ("GaussianNB", ["GaussianNaiveBayes"]),
    ],
)
def test_an_unknown_word_is_answered_with_the_three_nearest_and_the_command(word, nearest):
    with pytest.raises(StrategyError, match=f"called '{word}'; did you mean ") as error:
        instantiate_default_estimators([word])
    suggested, _, rest = str(error.value).partition("? ")
    suggestions = re.findall(r"'([^']+)'", suggested)[1:]
    assert suggestions[: len(nearest)] == nearest
    assert len(suggestions) <= 3
    assert rest == "'mlaut list strategies' has all"


def test_no_distribution_is_suggested_in_the_place_of_a_strategy():
    with pytest.raises(StrategyError, match="is called 'NearestCentroid'; ") as error:
        instantiate_default_estimators(["NearestCentroid"])
    assert "interpret-core" not in str(error.value)


def test_a_word_that_is_near_none_and_a_former_name_get_no_odd_suggestion():
    for word, hint in (("zzzzzz", "'mlaut list str"), ("Deep_NN_Classifier", "today: mlaut.est")):
        with pytest.raises(StrategyError, match=f"is called '{word}'; {hint}"):
            instantiate_default_estimators([word])


def test_the_package_of_most_strategies_is_a_word_too():
    assert names("scikit-learn") == names("sklearn") == names(package="scikit-learn")


def test_a_grid_that_is_misspelt_is_refused():
    with pytest.raises(StrategyError, match="no param_grid is called 'papr'; give default, paper"):
        instantiate_default_estimators("SVC", param_grid="papr")


def test_an_unknown_property_is_answered_with_the_nearest():
    with pytest.raises(StrategyError, match="called 'task'; did you mean 'tasks'"):
        REGISTRY.search("all", task=CLASSIFICATION)


def test_listing_3_of_the_paper():
    est = ["RandomForestClassifier", "BaggingClassifier"]
    assert repr(instantiate_default_estimators(estimators=est)) == (
        "[<mlaut.estimators.ensemble_estimators.Random_Forest_Classifier>, "
        "<mlaut.estimators.ensemble_estimators.Bagging_Classifier>]"
    )


def test_listing_11_of_the_paper():
    strategies = instantiate_default_estimators(estimators=["Classification"], verbose=1, n_jobs=-1)
    assert {(s.verbose, s.n_jobs) for s in strategies} == {(1, -1)}
    assert len(strategies) == len(names(CLASSIFICATION))


def test_parameters_reach_every_strategy():
    strategies = instantiate_default_estimators("Naive_Bayes", random_state=3, cv=2)
    assert [(s.random_state, s.cv) for s in strategies] == [(3, 2), (3, 2)]


def test_asking_for_nothing_gives_nothing():
    assert instantiate_default_estimators([]) == []


def test_a_name_is_registered_once():
    spec = Strategy("Mine", class_name="Mine", estimator_family="Mine", tasks=TASKS)
    registry = Registry([spec])
    with pytest.raises(StrategyError, match=r"'Mine' is registered already .*give the new one"):
        registry.add(spec)
    assert registry["Mine"] is spec
    with pytest.raises(StrategyError, match="no strategy is called 'Mein'; did you mean 'Mine'"):
        registry["Mein"]


def test_the_table_has_a_row_a_strategy():
    table = REGISTRY.table()
    assert len(table) == len(REGISTRY)
    assert list(table.columns) == ["name", "family", "task", "collection", "package"]


def test_listing_imports_neither_scikit_learn_nor_keras_and_loading_every_class_no_keras():
    code = (
        "import sys; from mlaut.estimators import REGISTRY; "
        "REGISTRY.table('Classification'); "
        "print([m for m in ('sklearn', 'keras', 'scipy', 'matplotlib') if m in sys.modules]); "
        "[spec.load() for spec in REGISTRY]; print('keras' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["[]", "False"]


def test_all_is_what_can_be_run_and_a_warning_names_the_rest(monkeypatch):
    here, gone = REGISTRY["SVC"], replace(REGISTRY["GaussianNaiveBayes"], package="no-such-package")
    for module in ("registry", "strategies"):
        known = Registry([here, gone])
        monkeypatch.setattr(f"mlaut.estimators.catalogue.{module}.REGISTRY", known)
    told = "left out of 'all': 'GaussianNaiveBayes', since no-such-package is not installed here"
    for make in (instantiate_default_estimators, as_strategies):
        with pytest.warns(UnusableWarning, match=told):
            assert [s.name for s in make("all")] == ["SVC"]
    (named,) = as_strategies("GaussianNaiveBayes")  # a run will refuse it
    assert named.name == "GaussianNaiveBayes"
