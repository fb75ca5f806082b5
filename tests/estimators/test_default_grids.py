"""The default strategies wrap and search exactly what the documentation lists."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.utils.fixes import parse_version

from mlaut.estimators import REGISTRY, instantiate_default_estimators

PA_IS_SGD = parse_version(sklearn.__version__) >= parse_version("1.8")

TEN_TO_THE = [10.0**power for power in range(-2, 11)]  # C of SVC and of passive-aggressive
GAMMA = [10.0**power for power in range(-9, 4)]
LOGISTIC_C = [2 ** (-5 + 20 * i / 12) for i in range(13)]
NEIGHBOURS = {"n_neighbors": list(range(1, 31)), "p": [1, 2]}
TREE = {
    "max_depth": [None, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 100],
    "max_features": [None, "sqrt", "log2"],
    "min_samples_leaf": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
}
FOREST = {
    "n_estimators": [10, 100, 200, 500],
    "max_features": ["sqrt", "log2", None],
    "max_depth": [10, 100, None],
}
BAGS = {"n_estimators": [10, 100, 200, 500], "max_samples": [0.5, 1.0], "max_features": [0.5, 1.0]}
BOOSTING = {
    "n_estimators": [100, 200, 500],
    "max_depth": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    "learning_rate": [0.01, 0.1, 1],
}
LACOSTE_WIDTHS = [3, 4, 5, 6, 7, 9, 11, 13, 16, 19, 23, 28, 33, 40, 48, 57, 69, 83, 100]
LACOSTE_SECOND = [2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6, 6, 7, 7, 8, 9, 10, 10]


def log_k(k, low, high):
    """Log_k(a, b) of Lacoste's appendix: k powers of ten, evenly spaced on the log scale."""
    return [10 ** (low + i * (high - low) / (k - 1)) for i in range(k)]


EXPECTED = {  # name: (wrapped class, number of candidates, grid)
    "BaselineClassifier": ("DummyClassifier", 1, None),
    "GaussianNaiveBayes": ("GaussianNB", 1, None),
    "BernoulliNaiveBayes": ("BernoulliNB", 1, None),
    "LogisticRegression": ("LogisticRegression", 13, {"C": LOGISTIC_C}),
    "PassiveAggressiveClassifier": (
        "SGDClassifier" if PA_IS_SGD else "PassiveAggressiveClassifier",
        13,
        {"C": TEN_TO_THE},
    ),
    "K_Neighbours": ("KNeighborsClassifier", 60, NEIGHBOURS),
    "SVC": ("SVC", 169, {"C": TEN_TO_THE, "gamma": GAMMA}),
    "DecisionTreeClassifier": (
        "DecisionTreeClassifier",
        780,
        {**TREE, "criterion": ["gini", "entropy"]},
    ),
    "RandomForestClassifier": ("RandomForestClassifier", 36, FOREST),
    "BaggingClassifier": ("BaggingClassifier", 16, BAGS),
    "GradientBoostingClassifier": ("GradientBoostingClassifier", 90, BOOSTING),
    "BaselineRegressor": ("DummyRegressor", 1, None),
    "K_Neighbours_Regressor": ("KNeighborsRegressor", 60, NEIGHBOURS),
    "SVR": ("SVR", 143, {"C": log_k(11, -2, 3), "gamma": log_k(13, -5, 1)}),
    "DecisionTreeRegressor": ("DecisionTreeRegressor", 390, TREE),
    "RandomForestRegressor": ("RandomForestRegressor", 36, FOREST),
    "BaggingRegressor": ("BaggingRegressor", 16, BAGS),
    "GradientBoostingRegressor": ("GradientBoostingRegressor", 90, BOOSTING),
    "Lacoste_SVM": ("SVC", 400, {"gamma": log_k(20, -5, 5), "C": log_k(20, -2, 5)}),
    "Lacoste_Parzen": ("ParzenWindow", 30, {"gamma": log_k(30, -4, 4)}),
    "Lacoste_AdaBoost": (
        "AdaBoostClassifier",
        90,
        {
            "n_estimators": [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
            "estimator__n_stumps": [1, 2, 3, 4, 6, 10, 14, 21, 31],
        },
    ),
    "Lacoste_ANN": (
        "MLPClassifier",
        380,
        {
            "hidden_layer_sizes": list(zip(LACOSTE_WIDTHS, LACOSTE_SECOND, strict=True)),
            "alpha": log_k(20, -2, 2),
        },
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_grid(name):
    (strategy,) = instantiate_default_estimators(name)
    wrapped, n_candidates, grid = EXPECTED[name]
    words = strategy.describe()
    assert words["wraps"].startswith(f"{wrapped}(")
    assert words["n_candidates"] == n_candidates
    assert (strategy.param_grid or {}).keys() == (grid or {}).keys()
    for parameter, values in (grid or {}).items():
        found = strategy.param_grid[parameter]
        if isinstance(values[0], float):
            np.testing.assert_allclose(found, values, rtol=1e-12)
        else:
            assert found == values


@pytest.mark.parametrize("spec", REGISTRY.search("all"), ids=lambda spec: spec.name)
def test_every_default_strategy_is_described_in_plain_json(spec):
    (strategy,) = instantiate_default_estimators(spec.name)
    words = strategy.describe()
    assert json.loads(json.dumps(words)) == words
    assert "default" not in words["wraps"]
    assert strategy.cv == (10 if spec.collection == "Lacoste2012" else 5)


@pytest.mark.parametrize("spec", REGISTRY.search(package="scikit-learn"), ids=lambda s: s.name)
def test_every_default_strategy_that_iterates_has_a_bound(spec):
    (strategy,) = instantiate_default_estimators(spec.name)
    parameters = core(strategy).get_params()
    if "max_iter" not in parameters or "max_iter" in (strategy.param_grid or {}):
        return
    if parameters["max_iter"] is None:  # of Ridge: its solver for dense tables has no iterations
        assert spec.name == "RidgeRegression"
        return
    assert parameters["max_iter"] > 0
    assert strategy.describe()["stops_after"] == {"max_iter": parameters["max_iter"]}


def test_what_was_corrected():
    by_name = {
        s.name: s
        for s in instantiate_default_estimators([spec.name for spec in REGISTRY.search("all")])
    }
    assert by_name["LogisticRegression"].tasks == ("Classification",)
    assert type(core(by_name["BaggingRegressor"]).estimator).__name__ == "DecisionTreeRegressor"
    assert all(isinstance(v, float) for v in by_name["BaggingClassifier"].param_grid["max_samples"])
    assert core(by_name["BaselineClassifier"]).strategy == "prior"
    assert core(by_name["BaselineRegressor"]).strategy == "median"
    assert core(by_name["BernoulliNaiveBayes"]).binarize == 0
    assert core(by_name["SVC"]).kernel == "rbf"
    assert core(by_name["PassiveAggressiveClassifier"]).max_iter == 1000


def core(strategy):
    """The wrapped estimator, without preprocessing and search."""
    model = strategy.assemble()["estimator"]
    return getattr(model, "estimator", model) if hasattr(model, "param_grid") else model


def test_what_needs_scaling_is_scaled():
    scaled = {
        strategy.name
        for strategy in instantiate_default_estimators(
            [spec.name for spec in REGISTRY.search("all")]
        )
        if getattr(strategy.preprocessing, "normalize_features", False)
    }
    networks = {strategy.name for strategy in instantiate_default_estimators("Neural_Networks")}
    assert len(networks) == 36
    assert networks < scaled
    assert scaled - networks == {
        "GaussianNaiveBayes",
        "BernoulliNaiveBayes",
        "LogisticRegression",
        "PassiveAggressiveClassifier",
        "K_Neighbours",
        "SVC",
        "RidgeRegression",
        "Lasso",
        "LassoLars",
        "K_Neighbours_Regressor",
        "SVR",
        "Lacoste_ANN",
    }


def test_the_page_of_strategies_has_all_of_scikit_learn():
    root = Path(__file__).parents[2]
    text = runpy.run_path(str(root / "tools" / "strategies_table.py"))["page"]()
    for spec in REGISTRY.search("all", package="scikit-learn"):
        assert f"| `{spec.name}` |" in text
    assert "| `XGBoostClassifier`, `XGBoostRegressor` | xgboost |" in text
