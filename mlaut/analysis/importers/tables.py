"""Readers of tables of results: AutoML benchmark, benchopt, Weka's Experimenter and OpenML."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from mlaut.analysis.importers.reading import (
    Source,
    in_one_line,
    last_counts,
    read_foreign,
    results_of_cells,
    value_column,
)
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.sources import TableMetric
from mlaut.errors import AnalysisError
from mlaut.files_io.tables import read_table

__all__ = ["read_automlbenchmark", "read_benchopt", "read_openml_evaluations", "read_weka"]


def _only(frame: pd.DataFrame, column: str, chosen: str | None, what: str) -> pd.DataFrame:
    """Return the rows with the chosen value; raise an error if one of several must be chosen."""
    if column not in frame:
        return frame
    values = [str(value) for value in pd.unique(frame[column].dropna())]
    if chosen is None and len(values) > 1:
        raise AnalysisError(f"{what} has several: {', '.join(values[:8])}; choose by {column}=")
    if chosen is not None and chosen not in values:
        raise AnalysisError(f"{what} has no {column} {chosen!r}; there are {', '.join(values[:8])}")
    return frame[frame[column].astype(str) == chosen] if chosen is not None else frame


# ----------------------------------------------------------- AutoML benchmark

_OF_AMLB = {"acc": "accuracy", "balacc": "balanced_accuracy", "logloss": "log_loss"}
_AMLB_LESS = {"logloss", "max_pce", "mean_pce", "mae", "mse", "msle", "rmse", "rmsle", "nrmse"}
_MIXED = "tasks have metrics of their own"
_AMLB_LESS |= {"mase", "smape", "mape", "wape", "wql", "mql", "sql", "ncrps"}


@in_one_line
def read_automlbenchmark(
    source: Source, metric: str | None = None, *, constraint: str | None = None
) -> Results:
    """Read results of the AutoML benchmark (AMLB): one or more ``results.csv``.

    Parameters
    ----------
    source : path-like, sequence of path-like, or DataFrame
    metric : str, optional
        A column of scores, for example ``"acc"``, ``"auc"`` or ``"logloss"``. Default: ``result``,
        the optimised metric, of which more is better. If tasks have different optimised metrics, a
        note says so: ranks and signs can be compared, means over tasks cannot.
    constraint : str, optional
        The constraint, for example ``"1h8c"``; required if the table has several.

    Returns
    -------
    Results
        Tasks are the datasets, frameworks the strategies. A failed fold is a missing cell with the
        text of ``info`` as its reason. If a fold ran several times, its last row counts.

    Raises
    ------
    AnalysisError
        The table is not of this kind, a constraint must be chosen, or the metric is not in it.

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "task": ["iris", "iris"], "framework": ["flaml", "tpot"], "fold": [0, 0],
    ...     "constraint": "1h8c", "metric": "acc", "result": [0.9, None], "info": ["", "timeout"]})
    >>> read_automlbenchmark(table).missing.to_dict("records")
    [{'dataset': 'iris', 'strategy': 'tpot', 'repeat': 0, 'fold': 0, 'reason': 'timeout'}]
    """
    what = "table of the AutoML benchmark"
    frame = read_foreign(source, what, ["task", "framework", "fold"])
    frame = _only(frame, "constraint", constraint, f"the {what}")
    scores, name, greater, notes = _amlb_scores(frame, metric)
    mixed = greater is True  # more of `result` is better, whatever the task's metric
    cells = pd.DataFrame(
        {
            "dataset": frame["task"],
            "strategy": frame["framework"],
            "repeat": 0,
            "fold": frame["fold"],
            "score": scores,
            "reason": frame.get("info"),
            "fit_seconds": frame.get("training_duration", frame.get("duration")),
            "predict_seconds": frame.get("predict_duration"),
        }
    )
    defined = cells.groupby("dataset")["score"].transform("count") > 0
    if metric is not None and not defined.all():
        without = ", ".join(map(str, pd.unique(cells.loc[~defined, "dataset"])))
        notes = [*notes, f"{metric} is on none of these tasks, left out: {without}"]
        cells = cells[defined]
    if cells.empty:
        raise AnalysisError(f"the {what} has no value of {metric!r}; choose another metric")
    cells, again = last_counts(cells)
    found = results_of_cells(cells, name, greater_is_better=greater, notes=[*notes, *again])
    return replace(found, metric=TableMetric(name, True, _MIXED)) if mixed else found


def _amlb_scores(
    frame: pd.DataFrame, metric: str | None
) -> tuple[pd.Series, str, bool | None, list[str]]:
    """Return scores, the name of their metric, the direction of an unknown metric, and notes."""
    if metric is not None:
        fixed = list(frame.columns).index("info") + 1 if "info" in frame else 0
        column = value_column(frame, metric, frame.columns[fixed:], "the AutoML benchmark's table")
        name = _OF_AMLB.get(metric, metric)
        return frame[column], name, (False if metric in _AMLB_LESS else None), []
    if "metric" not in frame or "result" not in frame:
        raise AnalysisError(
            "the AutoML benchmark's table has no column 'metric' (nor had it before 2020), so the "
            "direction of 'result' is not known; name a column of scores, as in metric='auc'"
        )
    kinds = frame["metric"].astype("string")
    names = [str(kind) for kind in pd.unique(kinds.dropna())]
    if len(names) == 1:
        less = False if names[0] in _AMLB_LESS else None
        return frame["result"], _OF_AMLB.get(names[0], names[0]), less, []
    # Older tables have losses under their own names, without "neg_" and without a changed sign.
    flipped = kinds.isin(_AMLB_LESS).fillna(False).to_numpy(dtype=bool)
    scores = frame["result"].where(~flipped, -frame["result"])
    tasks = frame.groupby(kinds)["task"].nunique()
    counts = ", ".join(f"{kind} on {number}" for kind, number in tasks.items())
    note = f"not one metric for all tasks ({counts}): ranks and signs compare, means do not"
    return scores, "result", True, [note]


# ------------------------------------------------------------------- benchopt


@in_one_line
def read_benchopt(
    source: Source,
    metric: str = "objective_value",
    *,
    objective: str | None = None,
    greater_is_better: bool | None = None,
) -> Results:
    """Read results of benchopt: one or more ``benchopt_run_*.parquet`` (or CSV).

    The last point of each curve counts: the value at which the solver was stopped.

    Parameters
    ----------
    source : path-like, sequence of path-like, or DataFrame
        The tables. Parquet files need the extra ``parquet``.
    metric : str, default "objective_value"
        Name of a column ``objective_...``; the prefix can be omitted.
    objective : str, optional
        A value of ``objective_name``; required if the table has several.
    greater_is_better : bool, optional
        Direction of a metric that is not known by its name. ``objective_value`` is minimised.

    Returns
    -------
    Results
        Solvers are the strategies, ``idx_rep`` the repeats.

    Raises
    ------
    AnalysisError
        The table is not of this kind, an objective must be chosen, or the metric is not in it.

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "objective_name": "lasso", "data_name": "leukemia", "solver_name": ["cd", "cd", "ista"],
    ...     "idx_rep": 0, "stop_val": [1, 9, 5], "time": [.1, .5, .4],
    ...     "objective_value": [3.0, 1.0, 2.0]})
    >>> read_benchopt(table).losses
    strategy   cd  ista
    dataset
    leukemia  1.0   2.0
    """
    what = "table of benchopt"
    frame = read_foreign(source, what, ["objective_name", "solver_name", "time"])
    frame = _only(
        frame.rename(columns={"objective_name": "objective"}), "objective", objective, what
    )
    data = next((name for name in ("data_name", "dataset_name") if name in frame), None)
    if data is None:
        raise AnalysisError(f"no {what}: it has no column 'data_name' or 'dataset_name'")
    named = metric if metric.startswith("objective_") else f"objective_{metric}"
    given = [name for name in frame if str(name).startswith("objective_")]
    column = value_column(frame, named, given, f"the {what}")
    if greater_is_better is None and column == "objective_value":
        greater_is_better = False
    cells = pd.DataFrame(
        {
            "dataset": frame[data],
            "strategy": frame["solver_name"],
            "repeat": frame.get("idx_rep", 0),
            "fold": 0,
            "score": frame[column].where(np.isfinite(frame[column])),
            "fit_seconds": frame["time"],
            "reason": "not a finite number",
        }
    )
    cells = cells.loc[_along_curves(frame).sort_values(kind="stable").index]
    last = cells.drop_duplicates(["dataset", "strategy", "repeat"], keep="last").sort_index()
    return results_of_cells(last, column, greater_is_better=greater_is_better)


def _along_curves(frame: pd.DataFrame) -> pd.Series:
    """Return the position of each row on its curve: iterations increase, tolerances decrease."""
    if "stop_val" not in frame:
        return frame["time"]
    down = frame.get("sampling_strategy", pd.Series("", frame.index)).astype(str).str.lower()
    return frame["stop_val"].where(down != "tolerance", -frame["stop_val"])


# ----------------------------------------------------------------------- Weka

_WEKA = {"Percent_correct": "accuracy", "Percent_incorrect": "misclassification"}
_WEKA |= {"Root_mean_squared_error": "rmse", "Mean_absolute_error": "mae"}
_WEKA_GREATER = {"Kappa_statistic", "Area_under_ROC", "Area_under_PRC", "Correlation_coefficient"}


@in_one_line
def read_weka(
    source: Source, metric: str = "Percent_correct", *, greater_is_better: bool | None = None
) -> Results:
    """Read results of Weka's Experimenter: ARFF or CSV with ``Key_Dataset``, ``Key_Run``, ...

    Parameters
    ----------
    source : path-like, sequence of path-like, or DataFrame
    metric : str, default "Percent_correct"
        A column of scores; percentages become shares.
    greater_is_better : bool, optional
        Direction of a metric that is not known by its name.

    Returns
    -------
    Results
        Strategies are named by ``Key_Scheme`` without its package, and with its options if a scheme
        has several. Runs are the repeats. The results have the sizes of test and training sets and
        the times of the table.

    Raises
    ------
    AnalysisError
        The table is not of this kind, or the metric is not in it.

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "Key_Dataset": "iris", "Key_Run": 1, "Key_Fold": [1, 2, 1, 2],
    ...     "Key_Scheme": ["weka.classifiers.rules.ZeroR"] * 2 + ["weka.classifiers.trees.J48"] * 2,
    ...     "Percent_correct": [33.0, 33.0, 96.0, 94.0]})
    >>> read_weka(table).scores
    strategy  ZeroR   J48
    dataset
    iris       0.33  0.95
    """
    what = "table of Weka's Experimenter"
    frame = read_foreign(source, what, ["Key_Dataset", "Key_Scheme", "Key_Run"], _weka_table)
    numbers = [name for name in frame if pd.api.types.is_numeric_dtype(frame[name])]
    given = [name for name in numbers if not str(name).startswith("Key_")]
    column = value_column(frame, metric, given, f"the {what}")
    percent = column.startswith("Percent_")
    if greater_is_better is None and column in _WEKA_GREATER:
        greater_is_better = True
    cells = pd.DataFrame(
        {
            "dataset": frame["Key_Dataset"],
            "strategy": _schemes(frame),
            "repeat": frame["Key_Run"].astype(float),
            "fold": frame.get("Key_Fold", pd.Series(0.0, frame.index)).astype(float),
            "score": frame[column] / (100 if percent else 1),
            "n_test": frame.get("Number_of_testing_instances"),
            "n_train": frame.get("Number_of_training_instances"),
            "fit_seconds": frame.get("Elapsed_Time_training"),
            "predict_seconds": frame.get("Elapsed_Time_testing"),
        }
    )
    cells, again = last_counts(cells)
    name = _WEKA.get(column, column)
    return results_of_cells(cells, name, greater_is_better=greater_is_better, notes=again)


def _weka_table(path: Path) -> pd.DataFrame:
    """Read a file of Weka, whose CSV has texts in single quotes, as ARFF has."""
    if path.suffix.lower() == ".csv" and path.is_file() and _single_quotes(path):
        return pd.read_csv(path, quotechar="'", escapechar="\\", na_values=["?"])
    return read_table(path)


def _single_quotes(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return ",'" in text and ',"' not in text


def _schemes(frame: pd.DataFrame) -> pd.Series:
    """Return the names of the schemes, with their options if a scheme has several."""
    names = frame["Key_Scheme"].astype(str).str.rpartition(".")[2]
    if "Key_Scheme_options" not in frame:
        return names
    options = frame["Key_Scheme_options"].astype(object).fillna("").astype(str).str.strip("'\" ")
    several = options.groupby(names).transform("nunique") > 1
    return names.where(~several, (names + " " + options).str.strip())


# ----------------------------------------------------------- OpenML evaluations


@in_one_line
def read_openml_evaluations(
    source: str | os.PathLike[str] | pd.DataFrame,
    metric: str | None = None,
    *,
    strategy: str = "flow_name",
    greater_is_better: bool | None = None,
) -> Results:
    """Read a list of evaluations of OpenML runs.

    Parameters
    ----------
    source : path-like or DataFrame
        The result of ``openml.evaluations.list_evaluations(..., output_format="dataframe")``, or a
        CSV or parquet file of it; or the JSON of OpenML's REST API
        (``evaluation/list/function/...``).
    metric : str, optional
        A value of ``function``; required if the list has several.
    strategy : str, default "flow_name"
        Column whose values are the strategies; ``"setup_id"`` distinguishes the parameters of a
        flow.
    greater_is_better : bool, optional
        Direction of a metric that is not known by its name.

    Returns
    -------
    Results
        One cell for each fold if the list has ``values`` (``per_fold=True``), with folds numbered
        through all repeats; otherwise one cell for each dataset. The last of several runs counts.

    Raises
    ------
    AnalysisError
        The list is not of this kind, or a metric must be chosen.

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "run_id": [1, 2], "task_id": 59, "flow_name": ["rf", "svm"], "data_name": "iris",
    ...     "function": "predictive_accuracy", "value": [0.9, 0.95]})
    >>> read_openml_evaluations(table).scores
    strategy   rf   svm
    dataset
    iris      0.9  0.95
    """
    what = "list of OpenML evaluations"
    table = source if isinstance(source, pd.DataFrame) else _evaluations(Path(source))
    columns = ["run_id", "task_id", "data_name", "function", "value", strategy]
    frame = read_foreign(table, what, columns).sort_values("run_id", kind="stable")
    frame = frame.rename(columns={"function": "metric"})
    frame = _only(frame, "metric", metric, f"the {what}")
    name = str(frame["metric"].iloc[0])
    several = frame.groupby("data_name")["task_id"].transform("nunique") > 1
    numbered = frame["data_name"].astype(str) + " (task " + frame["task_id"].astype(str) + ")"
    cells = pd.DataFrame(
        {
            "dataset": frame["data_name"].astype(str).where(~several, numbered),
            "strategy": frame[strategy],
            "repeat": 0,
            "fold": 0,
            "score": frame["value"].astype(float),
        }
    )
    cells, again = last_counts(cells)
    if "values" in frame and frame["values"].notna().all():
        cells = _by_fold(cells, frame["values"])
    known = {"predictive_accuracy": "accuracy", "root_mean_squared_error": "rmse"}
    known |= {"area_under_roc_curve": "roc_auc", "mean_absolute_error": "mae"}
    return results_of_cells(
        cells, known.get(name, name), greater_is_better=greater_is_better, notes=again
    )


def _evaluations(path: Path) -> pd.DataFrame:
    if path.suffix.lower() != ".json":
        return read_foreign(path, "list of OpenML evaluations", [])
    try:
        return pd.DataFrame(json.loads(path.read_text())["evaluations"]["evaluation"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AnalysisError(
            f"{path}: not the JSON of OpenML's evaluation/list ({type(error).__name__}: {error})"
        ) from error


def _by_fold(cells: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    lists = values[cells.index].map(lambda one: json.loads(one) if isinstance(one, str) else one)
    cells = cells.assign(score=lists, fold=lists.map(lambda one: range(len(one))))
    return cells.explode(["score", "fold"]).astype({"score": float, "fold": int})
