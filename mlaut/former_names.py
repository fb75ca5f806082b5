"""Names of MLaut 0.1 and 0.2 that this version lacks, with their replacements."""

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
    "datasets_needed_in_context ContextDesign": "examples/studies/lacoste2012/contexts.py",
    "dataset_properties": "the tables of the datasets, by pandas",
    "dataset_plot": "mlaut.analysis.methods.lacoste.probabilities_by_dataset",
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
