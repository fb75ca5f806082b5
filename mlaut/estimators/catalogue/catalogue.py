"""Records of the strategies that come with MLaut, as plain data.

A record names classes as text ("module:class"), so that reading the catalogue imports no
scikit-learn. `listed` makes a strategy class of each record. To add a strategy, add a record; it
then appears in the tables of the documentation.
"""

import math
from typing import Any

import numpy as np

from mlaut.estimators.networks.architectures import ARCHITECTURES, LEARNING_RATES
from mlaut.estimators.preparing import NATIVE
from mlaut.estimators.sizes import SizeLimit
from mlaut.estimators.strategy.listed_strategy import Strategy
from mlaut.identity.distributions import installed_version
from mlaut.records import CLASSIFICATION, REGRESSION

MOST_STEPS = 1_000_000
"""Largest number of steps of a support vector machine; a fit that stops there raises a warning.

Without a bound, one fit with C = 10^10 takes half a minute on 87 rows of noise. On the tables of
the starter collection, no fit with C up to 10^4 takes as many steps; docs/strategies.md has the
figures.
"""


def _sklearn_release() -> tuple[int, ...]:
    """Return the first two numbers of scikit-learn's version."""
    version = installed_version("scikit-learn")
    if version is None:  # a folder of packages without their metadata, as some systems have
        import sklearn

        version = sklearn.__version__
    return tuple(int(part) for part in version.split(".")[:2])


_SKLEARN = _sklearn_release()


def _powers(start: float, stop: float, n: int, base: float = 10) -> list[float]:
    """Return ``n`` powers of the base, with exponents from ``start`` to ``stop``."""
    powers: list[float] = np.logspace(start, stop, n, base=base).tolist()
    return powers


_SCALED = {"normalize_features": True}
_ORDINAL = {"categories": "ordinal"}

_DUMMY: dict[str, Any] = {
    "estimator_family": "Baseline",
    "takes": frozenset({"categories", "missing", "sparse"}),
}
_LINEAR: dict[str, Any] = {
    "estimator_family": "Generalized_Linear_Models",
    "takes": frozenset({"sparse"}),
    "preprocessing": _SCALED,
}
_NEIGHBOURS: dict[str, Any] = {
    "estimator_family": "Nearest_Neighbours",
    "takes": frozenset({"sparse", "threads"}),
    "preprocessing": _SCALED,
    "at_most_rows": "n_neighbors",
    "size_limit": SizeLimit(rows=1_000_000),
    "param_grid": {"n_neighbors": list(range(1, 31)), "p": [1, 2]},
}
_MACHINE: dict[str, Any] = {
    "estimator_family": "Support_Vector_Machines",
    "takes": frozenset({"sparse"}),
    "preprocessing": _SCALED,
    "settings": {"kernel": "rbf", "max_iter": MOST_STEPS},
    "size_limit": SizeLimit(rows=20_000),
}
_TREE: dict[str, Any] = {
    "estimator_family": "Decision_Tree",
    "takes": frozenset({"missing", "sparse"}),
    "preprocessing": _ORDINAL,
}
_TREE_GRID = {
    "max_depth": [None, *range(2, 11), 20, 50, 100],
    "max_features": [None, "sqrt", "log2"],
    "min_samples_leaf": list(range(1, 11)),
}
_N_MEMBERS = [10, 100, 200, 500]
_FOREST_GRID = {
    "n_estimators": _N_MEMBERS,
    "max_features": ["sqrt", "log2", None],
    "max_depth": [10, 100, None],
}
_PASSIVE_AGGRESSIVE: dict[str, Any] = (
    {
        "wraps": "sklearn.linear_model:SGDClassifier",
        "settings": {
            "loss": "hinge",
            "penalty": None,
            "learning_rate": "pa1",
            "eta0": 1.0,
            "max_iter": 1000,
        },
        "called": {"C": "eta0"},
    }
    if _SKLEARN >= (1, 8)  # which made it a learning rate
    else {
        "wraps": "sklearn.linear_model:PassiveAggressiveClassifier",
        "settings": {"max_iter": 1000},
    }
)
# Penalties for a target of standard deviation 1. At penalty 1 all coefficients are 0.
_PENALTIES = {"alpha": _powers(-4, 0, 13)}
_LACOSTE: dict[str, Any] = {"tasks": CLASSIFICATION, "collection": "Lacoste2012", "cv": 10}
_NEURONS = [3, 4, 5, 6, 7, 9, 11, 13, 16, 19, 23, 28, 33, 40, 48, 57, 69, 83, 100]


def _ensembles(kind: str) -> list[Strategy]:
    """Return the ensembles of trees of a kind: ``"Classifier"`` or ``"Regressor"``."""
    common: dict[str, Any] = {
        "estimator_family": "Ensemble_methods",
        "tasks": CLASSIFICATION if kind == "Classifier" else REGRESSION,
    }
    return [
        Strategy(
            f"RandomForest{kind}",
            about="Average trees on bootstrap samples, with a random choice of features at splits.",
            wraps=f"sklearn.ensemble:RandomForest{kind}",
            takes=frozenset({"missing", "sparse", "threads"}),
            preprocessing=_ORDINAL,
            size_limit=SizeLimit(values=5_000_000),
            param_grid=_FOREST_GRID,
            **common,
        ),
        Strategy(
            f"Bagging{kind}",
            about="Average trees on random samples of rows and features.",
            wraps=f"sklearn.ensemble:Bagging{kind}",
            base=f"sklearn.tree:DecisionTree{kind}",
            takes=frozenset({"sparse", "threads"}),
            preprocessing=_ORDINAL,
            size_limit=SizeLimit(values=10_000_000),
            param_grid={
                "n_estimators": _N_MEMBERS,
                "max_samples": [0.5, 1.0],
                "max_features": [0.5, 1.0],
            },
            beyond_paper=("max_samples", "max_features"),
            **common,
        ),
        Strategy(
            f"GradientBoosting{kind}",
            about="Add trees that each correct the ones before.",
            wraps=f"sklearn.ensemble:GradientBoosting{kind}",
            takes=frozenset({"sparse"}),
            preprocessing=_ORDINAL,
            size_limit=SizeLimit(values=4_000_000, per_class=True),
            param_grid={
                "n_estimators": [100, 200, 500],
                "max_depth": list(range(1, 11)),
                "learning_rate": [0.01, 0.1, 1],
            },
            beyond_paper=("learning_rate",),
            **common,
        ),
        Strategy(
            f"HistGradientBoosting{kind}",
            about="Boost trees on binned features; gaps and categories need no preprocessing.",
            wraps=f"sklearn.ensemble:HistGradientBoosting{kind}",
            settings={"categorical_features": "from_dtype", "early_stopping": False},
            takes=frozenset({"categories", "missing", "threads"}),
            preprocessing=NATIVE,
            size_limit=SizeLimit(values=500_000_000, per_class=True),
            param_grid={
                "max_iter": [100, 300],
                "learning_rate": [0.03, 0.1, 0.3],
                "max_leaf_nodes": [7, 31],
                "min_samples_leaf": [5, 20],
            },
            **common,
        ),
    ]


CATALOGUE = (
    # -------------------------------------------------------------- default classifiers
    Strategy(
        "BaselineClassifier",
        tasks=CLASSIFICATION,
        about="""Predict the most frequent class of the training part.

    The probability of each class is its share of the training rows. The expected log loss is
    therefore at most that of equal probabilities for all classes.
    """,
        wraps="sklearn.dummy:DummyClassifier",
        settings={"strategy": "prior"},
        **_DUMMY,
    ),
    Strategy(
        "GaussianNaiveBayes",
        estimator_family="Naive_Bayes",
        tasks=CLASSIFICATION,
        about="Model features as normal within each class, and independent.",
        wraps="sklearn.naive_bayes:GaussianNB",
        preprocessing=_SCALED,
    ),
    Strategy(
        "BernoulliNaiveBayes",
        estimator_family="Naive_Bayes",
        tasks=CLASSIFICATION,
        about="Cut features at their mean, and model them as independent within each class.",
        wraps="sklearn.naive_bayes:BernoulliNB",
        settings={"binarize": 0.0},  # the mean of a scaled feature
        takes=frozenset({"sparse"}),
        preprocessing=_SCALED,
    ),
    Strategy(
        "LogisticRegression",
        tasks=CLASSIFICATION,
        about="Fit a logistic regression with an L2 penalty.",
        wraps="sklearn.linear_model:LogisticRegression",
        settings={"max_iter": 1000},
        param_grid={"C": _powers(-5, 15, 13, base=2)},
        **_LINEAR,
    ),
    Strategy(
        "PassiveAggressiveClassifier",
        tasks=CLASSIFICATION,
        about="""Fit the online passive-aggressive linear classifier (PA-I).

    Since scikit-learn 1.8 it is a learning rate of `SGDClassifier`, which calls C ``eta0``; a grid
    may have either name.
    """,
        param_grid={"C": _powers(-2, 10, 13)},
        **_PASSIVE_AGGRESSIVE,
        **_LINEAR,
    ),
    Strategy(
        "K_Neighbours",
        tasks=CLASSIFICATION,
        about="Predict the class that most of the nearest training rows have.",
        wraps="sklearn.neighbors:KNeighborsClassifier",
        settings={
            "n_neighbors": 5,
            # Before 1.9, scikit-learn's brute-force search with p=1 refused labels that are text.
            "algorithm": "auto" if _SKLEARN >= (1, 9) else "ball_tree",
        },
        **_NEIGHBOURS,
    ),
    Strategy(
        "SVC",
        class_name="SVC_mlaut",
        tasks=CLASSIFICATION,
        about="Fit a support vector machine with a Gaussian kernel and at most `MOST_STEPS` steps.",
        wraps="sklearn.svm:SVC",
        param_grid={"C": _powers(-2, 10, 13), "gamma": _powers(-9, 3, 13)},
        **_MACHINE,
    ),
    Strategy(
        "DecisionTreeClassifier",
        tasks=CLASSIFICATION,
        about="Grow one tree.",
        wraps="sklearn.tree:DecisionTreeClassifier",
        size_limit=SizeLimit(values=25_000_000),
        param_grid={**_TREE_GRID, "criterion": ["gini", "entropy"]},
        **_TREE,
    ),
    *_ensembles("Classifier"),
    # --------------------------------------------------------------- default regressors
    Strategy(
        "BaselineRegressor",
        tasks=REGRESSION,
        about="Predict the median of the training part.",
        wraps="sklearn.dummy:DummyRegressor",
        settings={"strategy": "median"},
        **_DUMMY,
    ),
    Strategy(
        "RidgeRegression",
        tasks=REGRESSION,
        about="Fit least squares with an L2 penalty.",
        wraps="sklearn.linear_model:Ridge",
        param_grid={"alpha": _powers(-4, 4, 17)},
        **_LINEAR,
    ),
    Strategy(
        "Lasso",
        class_name="Lasso_mlaut",
        tasks=REGRESSION,
        about="Fit least squares with an L1 penalty to the scaled target.",
        wraps="sklearn.linear_model:Lasso",
        settings={"max_iter": 10_000},
        normalize_labels=True,
        param_grid=_PENALTIES,
        **_LINEAR,
    ),
    Strategy(
        "LassoLars",
        tasks=REGRESSION,
        about="Fit the Lasso by least-angle regression to the scaled target.",
        wraps="sklearn.linear_model:LassoLars",
        normalize_labels=True,
        param_grid=_PENALTIES,
        **{**_LINEAR, "takes": frozenset()},
    ),
    Strategy(
        "K_Neighbours_Regressor",
        tasks=REGRESSION,
        about="Predict the mean of the nearest training rows.",
        wraps="sklearn.neighbors:KNeighborsRegressor",
        settings={"n_neighbors": 5},
        **_NEIGHBOURS,
    ),
    Strategy(
        "SVR",
        class_name="SVR_mlaut",
        tasks=REGRESSION,
        about="""Fit support vector regression with a Gaussian kernel to the scaled target.

    The solver takes `MOST_STEPS` steps at most.

    The grid ends at C = 10^3 (the classifier's at 10^10), because beyond it a fit on a noisy target
    takes seconds to minutes (300 rows, 10 columns).
    """,
        wraps="sklearn.svm:SVR",
        normalize_labels=True,
        param_grid={"C": _powers(-2, 3, 11), "gamma": _powers(-5, 1, 13)},
        **_MACHINE,
    ),
    Strategy(
        "DecisionTreeRegressor",
        tasks=REGRESSION,
        about="Grow one tree.",
        wraps="sklearn.tree:DecisionTreeRegressor",
        size_limit=SizeLimit(values=50_000_000),
        param_grid=_TREE_GRID,
        **_TREE,
    ),
    *_ensembles("Regressor"),
    # ------------------------------ Lacoste, Laviolette and Marchand (2012), appendix 9.2
    Strategy(
        "Lacoste_SVM",
        estimator_family="Support_Vector_Machines",
        about="Fit a support vector machine with a Gaussian kernel.",
        wraps="sklearn.svm:SVC",
        settings={"kernel": "rbf", "max_iter": MOST_STEPS},
        preprocessing={},
        then="mlaut.estimators.catalogue.lacoste_estimators:UnitDistance",
        size_limit=SizeLimit(rows=20_000),
        param_grid={"gamma": _powers(-5, 5, 20), "C": _powers(-2, 5, 20)},
        **_LACOSTE,
    ),
    Strategy(
        "Lacoste_Parzen",
        estimator_family="Nearest_Neighbours",
        about="Compare the sums of Gaussian kernels on the training rows of each class.",
        wraps="mlaut.estimators.catalogue.lacoste_estimators:ParzenWindow",
        preprocessing={},
        then="mlaut.estimators.catalogue.lacoste_estimators:UnitDistance",
        size_limit=SizeLimit(rows=300_000),
        param_grid={"gamma": _powers(-4, 4, 30)},
        **_LACOSTE,
    ),
    Strategy(
        "Lacoste_AdaBoost",
        class_name="Lacoste_AdaBoost",
        estimator_family="Ensemble_methods",
        about="Boost stumps with equally spaced thresholds.",
        wraps="sklearn.ensemble:AdaBoostClassifier",
        base="mlaut.estimators.catalogue.lacoste_estimators:UniformStump",
        preprocessing={},
        size_limit=SizeLimit(values=30_000_000),
        param_grid={
            "n_estimators": [2**n for n in range(1, 11)],
            "estimator__n_stumps": [1, 2, 3, 4, 6, 10, 14, 21, 31],
        },
        **_LACOSTE,
    ),
    Strategy(
        "Lacoste_ANN",
        estimator_family="Neural_Networks",
        about="""Train a network with two hidden layers of logistic units and L2 regularisation.

    It is trained by L-BFGS on all rows at once. The original used conjugate gradients, which
    scikit-learn does not have.
    """,
        wraps="sklearn.neural_network:MLPClassifier",
        settings={"activation": "logistic", "solver": "lbfgs", "max_iter": 1000},
        preprocessing=_SCALED,
        size_limit=SizeLimit(rows=100_000),
        param_grid={
            "hidden_layer_sizes": [(n, math.ceil(math.sqrt(n))) for n in _NEURONS],
            "alpha": _powers(-2, 2, 20),
        },
        **_LACOSTE,
    ),
)
"""All entries; strategies are found and listed in this order."""


def _in_the_paper(stem: str, suffix: str) -> tuple[str, ...]:
    """Return the spellings of a network in the tables of the paper, where they are others."""
    stem = stem.replace("-dropout-", "-droput-")
    if suffix == "lr001":
        return (stem, f"{stem}_{suffix}", f"{stem}_lr0001")
    return (f"{stem}_{suffix}",)


def _networks() -> list[Strategy]:
    """Return the networks of the MLaut study: six architectures at three learning rates."""
    return [
        Strategy(
            name := f"{stem}_{suffix}{ending}",
            estimator_family="Neural_Networks",
            tasks=task,
            about=f"{name}: layers {architecture.layers}, Adam at {rate:g}; see `Listed_Network`.",
            wraps=f"mlaut.estimators.networks.keras_estimator:Keras{kind}",
            settings={"network": architecture, "learning_rate": rate},
            preprocessing=_SCALED,
            normalize_labels=task == REGRESSION,
            collection="Neural_Networks",
            package="keras",
            also=_in_the_paper(stem, suffix) if task == CLASSIFICATION else (),
        )
        for task, kind, ending in (
            (CLASSIFICATION, "Classifier", ""),
            (REGRESSION, "Regressor", "_Regressor"),
        )
        for stem, architecture in ARCHITECTURES.items()
        for suffix, rate in LEARNING_RATES.items()
    ]


NETWORKS = tuple(_networks())
"""All networks of the study: 18 for classification, then 18 for regression."""
