"""Learners of today: with the settings that AutoGluon takes, and tuned within one budget."""

from mlaut.estimators import as_strategies

BUDGET = "5s cpu"  # of each search, so that the whole study takes about half an hour of CPU time
NAMES = {
    "XGBoostClassifier": "XGBoost",
    "LightGBMClassifier": "LightGBM",
    "CatBoostClassifier": "CatBoost",
    "HistGradientBoostingClassifier_today": "HistGradientBoosting",
    "RandomForestClassifier_today": "RandomForest",
    "ExtraTreesClassifier": "ExtraTrees",
    "ExplainableBoostingClassifier": "ExplainableBoosting",
    "RealMLPClassifier": "RealMLP",
}


def named(suffix="", **parameters):
    """Return the strategies under short names, with further parameters."""
    found = as_strategies(list(NAMES))
    return [one.set_params(name=NAMES[one.name] + suffix, **parameters) for one in found]


strategies = [*named(), *named(" tuned", search="random", budget=BUDGET)]
