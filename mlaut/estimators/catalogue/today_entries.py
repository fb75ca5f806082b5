"""The strategies of the collection ``"Today"``, as plain data.

Settings are the defaults of AutoGluon, which TabArena uses as the defaults of each learner. The
search spaces are in `mlaut.estimators.catalogue.today_spaces`.
"""

from typing import Any

from mlaut.estimators.preparing import NATIVE
from mlaut.estimators.sizes import SizeLimit
from mlaut.estimators.strategy.listed_strategy import TODAY as COLLECTION
from mlaut.estimators.strategy.listed_strategy import Strategy
from mlaut.records import CLASSIFICATION, REGRESSION

MOST_ROUNDS = 10_000
"""Rounds of boosting at most; TabArena's bound. Early stopping ends nearly all fits before it."""

_TREES_OF_A_FOREST = 300
"""AutoGluon's default. TabArena's random candidates have 50 trees, to save time."""

_BOOSTING: dict[str, Any] = {
    "estimator_family": "Ensemble_methods",
    "takes": frozenset({"categories", "early_stopping", "gpu", "missing", "threads"}),
    "weights": True,
}


def _both(name: str, class_name: str, wraps: str, **common: Any) -> list[Strategy]:
    """Return the entries of a classifier and of a regressor; ``{}`` stands for the kind."""
    return [
        Strategy(
            name.format(kind),
            class_name=class_name.format(kind),
            tasks=task,
            wraps=wraps.format(kind),
            collection=COLLECTION,
            **common,
        )
        for kind, task in (("Classifier", CLASSIFICATION), ("Regressor", REGRESSION))
    ]


_FOREST: dict[str, Any] = {
    "settings": {"n_estimators": _TREES_OF_A_FOREST},
    "estimator_family": "Ensemble_methods",
    "preprocessing": {"categories": "ordinal"},
    "takes": frozenset({"missing", "sparse", "threads"}),
    "weights": True,
}

_ALL: list[list[Strategy]] = [
    _both(
        "XGBoost{}",
        "XGBoost_{}",
        "xgboost:XGB{}",
        about="Boost trees with XGBoost (Chen and Guestrin 2016), stopped by a fifth of the rows.",
        package="xgboost",
        settings={
            "n_estimators": MOST_ROUNDS,
            "learning_rate": 0.1,
            "enable_categorical": True,
            "verbosity": 0,
        },
        preprocessing=NATIVE,
        stops=True,
        **_BOOSTING,
    ),
    _both(
        "LightGBM{}",
        "LightGBM_{}",
        "lightgbm:LGBM{}",
        about="Boost trees with LightGBM (Ke et al. 2017), stopped by a fifth of the rows.",
        package="lightgbm",
        # The last five are LightGBM's defaults: a parameter that its class does not name can be
        # tuned only where it is set.
        settings={
            "n_estimators": MOST_ROUNDS,
            "learning_rate": 0.05,
            "verbosity": -1,
            "subsample_freq": 1,
            "extra_trees": False,
            "min_data_per_group": 100,
            "cat_l2": 10.0,
            "cat_smooth": 10.0,
            "max_cat_to_onehot": 4,
        },
        preprocessing=NATIVE,
        stops=True,
        **_BOOSTING,
    ),
    _both(
        "CatBoost{}",
        "CatBoost_{}",
        "catboost:CatBoost{}",
        about="Boost trees with CatBoost (Prokhorenkova et al. 2018), stopped by a fifth of rows.",
        package="catboost",
        settings={
            "iterations": MOST_ROUNDS,
            "learning_rate": 0.05,
            "verbose": False,
            "allow_writing_files": False,
        },
        preprocessing={"categories": "text"},
        stops=True,
        **_BOOSTING,
    ),
    _both(
        "ExplainableBoosting{}",
        "Explainable_Boosting_{}",
        "interpret.glassbox:ExplainableBoosting{}",
        about="Add curves of single features and of pairs (Lou et al. 2013; Nori et al. 2019).",
        package="interpret-core",
        settings={"random_state": None},  # so that the seed of the cell is used
        preprocessing=NATIVE,
        **{**_BOOSTING, "takes": _BOOSTING["takes"] - {"gpu"}},
    ),
    _both(
        "RealMLP{}",
        "RealMLP_{}",
        "pytabkit:RealMLP_TD_{}",
        about="""Train the network RealMLP (Holzmüller, Grinsztajn and Steinwart 2024).

    Its default settings were tuned by its authors on other tables. A fifth of the rows chooses the
    epoch.
    """,
        estimator_family="Neural_Networks",
        package="pytabkit",
        # Without a device it takes a GPU where there is one, and results differ between machines.
        settings={"device": "cpu"},
        weights=False,
        takes=frozenset({"early_stopping", "gpu", "threads"}),
    ),
    _both(
        "TabPFN{}",
        "TabPFN_{}",
        "tabpfn:TabPFN{}",
        about="""Predict with the pretrained transformer TabPFN (Hollmann et al. 2025).

    Its weights must be on this machine; they are not loaded from the internet during a run.
    ``params={"model_path": ...}`` names their file. The limit of rows is that of its version 2.
    """,
        estimator_family="Neural_Networks",
        package="tabpfn",
        settings={"device": "cpu", "random_state": None},
        weights=False,
        preprocessing=NATIVE,
        size_limit=SizeLimit(rows=10_000),
        takes=frozenset({"categories", "gpu", "missing", "threads"}),
    ),
    _both(
        "HistGradientBoosting{}_today",
        "Hist_Gradient_Boosting_{}_Today",
        "sklearn.ensemble:HistGradientBoosting{}",
        about="Boost trees on binned features, over Auto-Sklearn's space, without its stopping.",
        settings={"categorical_features": "from_dtype", "early_stopping": False, "max_iter": 512},
        preprocessing=NATIVE,
        **{**_BOOSTING, "takes": _BOOSTING["takes"] - {"early_stopping", "gpu"}},
    ),
    _both(
        "RandomForest{}_today",
        "Random_Forest_{}_Today",
        "sklearn.ensemble:RandomForest{}",
        about="Average trees on bootstrap samples, over TabArena's space.",
        **_FOREST,
    ),
    _both(
        "ExtraTrees{}",
        "Extra_Trees_{}",
        "sklearn.ensemble:ExtraTrees{}",
        about="Average trees with random thresholds (Geurts, Ernst and Wehenkel 2006).",
        **_FOREST,
    ),
]

TODAY = tuple(entry for pair in _ALL for entry in pair)
"""Entries of the collection; a classifier and a regressor of each learner."""
