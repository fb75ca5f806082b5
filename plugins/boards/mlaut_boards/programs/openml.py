"""Readers of OpenML: lists of evaluations, and the predictions of runs."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from mlaut.analysis import Results
from mlaut.data import read_table
from mlaut.errors import AnalysisError
from mlaut.plugins import (
    MOST_JSON,
    Format,
    choose,
    in_one_line,
    last_counts,
    read_text,
    strict_json,
)
from mlaut_boards.programs.predicted import Predicted, blocks_of

EVALUATIONS = Format(
    kind="list of OpenML evaluations",
    required=("run_id", "task_id", "data_name", "function", "value"),
    metrics={
        "predictive_accuracy": "accuracy",
        "root_mean_squared_error": "rmse",
        "area_under_roc_curve": "roc_auc",
        "mean_absolute_error": "mae",
    },
)
OML = "{http://openml.org/openml}"  # the namespace of OpenML's XML


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
    table = source if isinstance(source, pd.DataFrame) else _evaluations(Path(source))
    form = replace(EVALUATIONS, required=(*EVALUATIONS.required, strategy))
    frame = form.rows(table).sort_values("run_id", kind="stable")
    frame = choose(
        frame.rename(columns={"function": "metric"}), "metric", metric, f"the {form.kind}"
    )
    several = frame.groupby("data_name")["task_id"].transform("nunique") > 1
    numbered = frame["data_name"].astype(str) + " (task " + frame["task_id"].astype(str) + ")"
    names = frame["data_name"].astype(str).where(~several, numbered)
    cells = form.cells(frame, frame["value"].astype(float))
    cells, again = last_counts(cells.assign(dataset=names, strategy=frame[strategy]))
    if "values" in frame and frame["values"].notna().all():
        cells = _by_fold(cells, frame["values"])
    name = str(frame["metric"].iloc[0])
    return form.results(cells, name, greater_is_better=greater_is_better, notes=again)


def _evaluations(path: Path) -> pd.DataFrame:
    if path.suffix.lower() != ".json":
        return read_table(path)
    try:
        content = strict_json(read_text(path, MOST_JSON))
        return pd.DataFrame(content["evaluations"]["evaluation"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AnalysisError(
            f"{path}: not the JSON of OpenML's evaluation/list ({type(error).__name__}: {error})"
        ) from error


def _by_fold(cells: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    lists = values[cells.index].map(lambda x: json.loads(x) if isinstance(x, str) else x)
    cells = cells.assign(score=lists, fold=lists.map(lambda scores: range(len(scores))))
    return cells.explode(["score", "fold"]).astype({"score": float, "fold": int})


# ------------------------------------------------------------- predictions of runs


@in_one_line
def read_openml_runs(
    source: str | os.PathLike[str] | Mapping[tuple[str, str], str | os.PathLike[str]], metric: Any
) -> Results:
    r"""Return the scores of the predictions of OpenML runs.

    Parameters
    ----------
    source : path-like or mapping
        A folder that contains, at any depth, folders of runs with ``description.xml`` and
        ``predictions.arff``, as written by ``run.to_filesystem`` and OpenML's cache; or a mapping
        of (dataset, strategy) to the path of ``predictions.arff``.
    metric : str or MLautScore
        See `mlaut.analysis.metric`.

    Returns
    -------
    Results
        Results with single test points, as those of a study, and with probabilities if the runs
        have them. Each flow is a strategy; several runs of a flow on one dataset are strategies
        with the run's number in their names. The training set of a fold is taken to be all rows
        that it does not test.

    Raises
    ------
    AnalysisError
        There is no run, a file does not have OpenML's format or lacks the truth, or two runs of a
        dataset have different truths for one row.

    Examples
    --------
    >>> import tempfile
    >>> head = "@relation r\n" + "".join(f"@attribute {name} numeric\n" for name in
    ...     ("repeat", "fold", "row_id", "prediction", "truth")) + "@data\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "predictions.arff")
    ...     _ = path.write_text(head + "0,0,0,1.5,1\n0,0,1,2,2\n")
    ...     read_openml_runs({("houses", "tree"): path}, "squared").losses
    strategy   tree
    dataset
    houses    0.125
    """
    if isinstance(source, Mapping):
        runs = [_predicted(Path(path), *names) for names, path in source.items()]
    else:
        runs = openml_runs(Path(source))
    return Results.from_blocks(blocks_of(runs), metric)


def openml_runs(source: Path, dataset: str = "") -> list[Predicted]:
    """Return the predictions of the runs in a folder, or of one ``predictions.arff``.

    Parameters
    ----------
    source : Path
        Folder of runs, or file; a file without ``description.xml`` belongs to ``dataset``.
    dataset : str, optional
    """
    if source.is_file():
        description = source.with_name("description.xml")
        if description.is_file():
            return [_predicted(source, *_names(description)[:2])]
        if not dataset:
            raise AnalysisError(
                f"{source}: no description.xml beside it, so its dataset is not known; name it"
            )
        return [_predicted(source, dataset, source.stem)]
    return _runs(source)


def openml_splits(path: Path) -> dict[tuple[int, int], np.ndarray]:
    """Return the test rows of ``datasplits.arff`` by (repeat, fold), in the order of the file.

    Raises
    ------
    AnalysisError
        The file is no list of splits.
    """
    frame = read_table(path)
    for name in ("type", "rowid", "repeat", "fold"):
        if name not in frame:
            raise AnalysisError(f"{path}: no splits of an OpenML task: no attribute {name!r}")
    test = frame[frame["type"].astype(str) == "TEST"]
    cells: dict[tuple[int, int], list[int]] = {}
    for repeat, fold, row in test[["repeat", "fold", "rowid"]].astype(int).to_numpy().tolist():
        cells.setdefault((repeat, fold), []).append(row)
    return {cell: np.array(rows) for cell, rows in cells.items()}


def _runs(folder: Path) -> list[Predicted]:
    files = [p for p in sorted(folder.rglob("description.xml")) if _arff_of(p).is_file()]
    if not files:
        raise AnalysisError(
            f"{folder}: no OpenML run in it; a run is a folder with description.xml and "
            "predictions.arff"
        )
    names = [_names(file) for file in files]
    runs = []
    for file, (dataset, flow, number) in zip(files, names, strict=True):
        several = sum(other[:2] == (dataset, flow) for other in names) > 1
        runs.append(
            _predicted(_arff_of(file), dataset, f"{flow} (run {number})" if several else flow)
        )
    return runs


def _arff_of(description: Path) -> Path:
    return description.with_name("predictions.arff")


def _names(file: Path) -> tuple[str, str, str]:
    """Return dataset, flow and number of a run."""
    try:
        root = ElementTree.parse(file).getroot()
    except ElementTree.ParseError as error:
        raise AnalysisError(f"{file}: not XML ({error}); restore the file") from error
    if root.tag != f"{OML}run":
        raise AnalysisError(f"{file}: no description of an OpenML run, but {root.tag!r}")

    def text(path: str) -> str:
        return (root.findtext("/".join(OML + part for part in path.split("/"))) or "").strip()

    dataset = text("input_data/dataset/name") or f"task {text('task_id')}"
    flow = text("flow_name") or f"flow {text('flow_id')}"
    return dataset, flow, text("run_id") or file.parent.name


def _predicted(path: Path, dataset: str, strategy: str) -> Predicted:
    frame = read_table(path)
    truth = next((name for name in ("correct", "truth") if name in frame), None)
    for name in ("repeat", "fold", "row_id", "prediction"):
        if name not in frame:
            raise AnalysisError(f"{path}: no predictions of an OpenML run: no attribute {name!r}")
    if truth is None:
        raise AnalysisError(
            f"{path}: neither an attribute 'correct' nor 'truth'; the run was stored without them"
        )
    if "sample" in frame and (frame["sample"] != frame["sample"].iloc[0]).any():
        raise AnalysisError(
            f"{path}: a learning curve, of which no fold has one score; leave it out"
        )
    keys = frame[["repeat", "fold", "row_id"]].astype(int).rename(columns={"row_id": "row"})
    rows = keys.assign(truth=_labels(frame[truth]), prediction=_labels(frame["prediction"]))
    confidences = [name for name in frame if str(name).startswith("confidence.")]
    given = frame[confidences].rename(columns=lambda name: str(name).partition(".")[2])
    return Predicted(dataset, strategy, rows, str(path), given if confidences else None)


def _labels(column: pd.Series) -> pd.Series:
    """Return categories as plain labels."""
    return column.astype(object) if isinstance(column.dtype, pd.CategoricalDtype) else column
