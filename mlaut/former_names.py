"""Names and modules of MLaut 0.1 and 0.2 that this version lacks, with their replacements."""

import sys

_TODAY = {
    "mlaut.AnalyseResults": "AnalyzeResults",
    "mlaut.AnalyseResults; its scores are in mlaut.analysis.scores": "analyze_results",
    "mlaut.estimators.keras_network, or those that 'mlaut list strategies Neural_Networks' lists": (
        "Deep_NN Deep_NN_Classifier Deep_NN_Regressor estimators.nn_estimators"
    ),
    "mlaut.instantiate_default_estimators([...]) with names that 'mlaut list strategies' lists": (
        "estimators.baseline_estimators estimators.bayes_estimators estimators.cluster_estimators "
        "estimators.decision_trees estimators.default_estimators estimators.ensemble_estimators "
        "estimators.estimators estimators.glm_estimators estimators.svm_estimators strategies"
    ),
    "mlaut.MlautEstimator, and mlaut.properties": (
        "MLaut_estimator estimators.base estimators.mlaut_estimator"
    ),
    "mlaut.Generic_Estimator(estimator, name=...)": (
        "MlautClassifier MlautRegressor TabClassifStrategy TabRegrStrategy "
        "estimators.generic_estimator"
    ),
    "mlaut.Generic_Estimator(estimator, name=...) for a strategy, and mlaut.Study.add_datasets "
    "for a task": "highlevel",
    "mlaut.Study.add_datasets(frame, ...)": "RAMDataset HDDDataset TabClassifTask TabRegrTask",
    "mlaut.Study, and mlaut.analysis.importers.read_sktime for a folder of HDDResults": (
        "HDDResults RAMResults"
    ),
    "mlaut.Study to run, mlaut.compare and mlaut.analysis to evaluate, and "
    "mlaut.analysis.importers.read_sktime for a folder of HDDResults": "benchmarking",
    "mlaut.compare, and the functions of mlaut.analysis": "Evaluator experiments.analysis",
    "mlaut.Results": "Losses experiments.losses",
    "mlaut.analysis.treat_missing, then mlaut.analysis.friedman_test": "skillings_mack_test",
    "mlaut.analysis.methods.lacoste.judge_on_context": "datasets_needed_in_context ContextDesign",
    "the tables of the datasets, by pandas": "dataset_properties",
    "mlaut.analysis.methods.lacoste.probabilities_by_dataset": "dataset_plot",
    "mlaut.analysis.scale_free_table": "percent_of_best",
    "to_frame() of the result, and pandas or pickle": "load_result save_result",
    "mlaut.analysis.elo_ratings": "probability_of_improvement",
    "RandomForestClassifier with param_grid={...}": "RandomForestClassifier_large_grid",
    "mlaut.analysis.friedman_test, or methods.frequentist.quade_test": "aligned_ranks_test",
    "mlaut.analysis.MLautScore": "MLautScore experiments.scores",
    "mlaut.Orchestrator": "experiments.orchestrator",
    "mlaut.Data": "data.data experiments.data",
    "mlaut.Data.split_datasets": "SingleSplit PresplitFilesCV model_selection resampling",
    "mlaut.Files_IO": "DiskOperations shared",
    "mlaut.files_io.StudyStore(path).load_splits()[name].split.rows(repeat, fold)": (
        "Data.load_train_test_split"
    ),
    "mlaut.files_io.StudyStore(path).load_splits()[name].truth": "Data.load_true_labels",
}
FORMER = {
    name if name[0].isupper() else f"mlaut.{name}": today
    for today, names in _TODAY.items()
    for name in names.split()
}
"""Names and modules of earlier versions, each with what to write today."""


def check_former(name: str) -> None:
    """Raise an error with the replacement if a name or module is that of an earlier version.

    Examples
    --------
    >>> check_former("mlaut.shared")
    Traceback (most recent call last):
    ...
    ImportError: 'mlaut.shared' is a name of an earlier version; today: mlaut.Files_IO
    """
    if name in FORMER:
        raise ImportError(f"{name!r} is a name of an earlier version; today: {FORMER[name]}")


class _FormerModules:
    """Finder of modules that no other finder has; it only reports former names."""

    @staticmethod
    def find_spec(fullname: str, *_: object) -> None:
        check_former(fullname)


sys.meta_path.append(_FormerModules)
