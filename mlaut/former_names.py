"""Names of earlier versions: what to write today, and those that a plug-in has."""

from importlib import import_module
from typing import Any

_TODAY = {
    "AnalyzeResults": "mlaut.AnalyseResults",
    "analyze_results": "mlaut.AnalyseResults; its scores are in mlaut.analysis.scores",
    "Deep_NN Deep_NN_Classifier Deep_NN_Regressor": (
        "mlaut.estimators.keras_network, or those that 'mlaut list strategies "
        "Neural_Networks' lists"
    ),
    "strategies": (
        "mlaut.instantiate_default_estimators([...]) with names that 'mlaut list strategies' lists"
    ),
    "MLaut_estimator": "mlaut.MlautEstimator, and mlaut.properties",
    "MlautClassifier MlautRegressor TabClassifStrategy TabRegrStrategy": (
        "mlaut.Generic_Estimator(estimator, name=...)"
    ),
    "highlevel": (
        "mlaut.Generic_Estimator(estimator, name=...) for a strategy, and "
        "mlaut.Study.add_datasets for a task"
    ),
    "RAMDataset HDDDataset TabClassifTask TabRegrTask": "mlaut.Study.add_datasets(frame, ...)",
    "HDDResults RAMResults": (
        "mlaut.Study, and mlaut.analysis.importers.read_sktime for a folder of HDDResults"
    ),
    "benchmarking": (
        "mlaut.Study to run, mlaut.compare and mlaut.analysis to evaluate, and "
        "mlaut.analysis.importers.read_sktime for a folder of HDDResults"
    ),
    "Evaluator": "mlaut.compare, and the functions of mlaut.analysis",
    "Losses": "mlaut.Results",
    "skillings_mack_test": "mlaut.analysis.treat_missing, then mlaut.analysis.friedman_test",
    "datasets_needed_in_context ContextDesign": "contexts.py, in examples/studies/lacoste2012",
    "dataset_properties": "the tables of the datasets, by pandas",
    "dataset_plot probabilities_by_dataset poisson_binomial_pairs": (
        "mlaut.analysis.methods.lacoste.poisson_binomial_test"
    ),
    "percent_of_best": "mlaut.analysis.scale_free_table",
    "load_result save_result": "to_frame() of the result, and pandas or pickle",
    "probability_of_improvement": "mlaut.analysis.elo_ratings",
    "RandomForestClassifier_large_grid": "RandomForestClassifier with param_grid={...}",
    "aligned_ranks_test": "mlaut.analysis.friedman_test, or methods.frequentist.quade_test",
    "MLautScore": "mlaut.analysis.MLautScore",
    "ScoreAccuracy": "mlaut.analysis.scores.ScoreAccuracy",
    "orchestrator": "mlaut.Orchestrator",
    "SingleSplit PresplitFilesCV model_selection resampling": "mlaut.Data.split_datasets",
    "DiskOperations shared": "mlaut.Files_IO",
    "Data.load_train_test_split": (
        "mlaut.files_io.StudyStore(path).load_splits()[name].split.rows(repeat, fold)"
    ),
    "Data.load_true_labels": "mlaut.files_io.StudyStore(path).load_splits()[name].truth",
}
FORMER = {
    name if name[0].isupper() else f"mlaut.{name}": today
    for names, today in _TODAY.items()
    for name in names.split()
}
"""Names of earlier versions, each with what to write today."""
IN_PLUGINS = dict.fromkeys(("paired_items", "same_results", "skill_table"), "boards")
"""Names of the analysis that MLaut's own plug-ins have; they are still imported from MLaut."""


def without_plugin(what: str, plugin: str) -> str:
    """Return the sentence that tells which of MLaut's plug-ins is missing, and how to get it.

    Examples
    --------
    >>> print(without_plugin("boards are read by", "boards"))
    boards are read by the plug-in mlaut-boards: 'pip install ./plugins/boards' in a copy of \
MLaut's repository
    """
    return (
        f"{what} the plug-in mlaut-{plugin}: 'pip install ./plugins/{plugin}' in a copy of "
        "MLaut's repository"
    )


def of_plugin(name: str) -> Any:
    """Return what a plug-in has by a name of `IN_PLUGINS`; an error says which one is missing."""
    package = f"mlaut_{IN_PLUGINS[name]}"
    try:
        return getattr(import_module(package), name)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ImportError(without_plugin(f"{name} is in", IN_PLUGINS[name])) from None


def check_former(name: str) -> None:
    """Raise an error with the replacement if a name is that of an earlier version.

    Examples
    --------
    >>> check_former("mlaut.shared")
    Traceback (most recent call last):
    ...
    ImportError: 'mlaut.shared' is a name of an earlier version; today: mlaut.Files_IO
    """
    if name in FORMER:
        raise ImportError(f"{name!r} is a name of an earlier version; today: {FORMER[name]}")
