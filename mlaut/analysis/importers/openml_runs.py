"""Blocks from predictions that other programs stored, and the reader of OpenML runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from mlaut.analysis.importers.reading import in_one_line
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError
from mlaut.files_io.datasets import infer_task
from mlaut.files_io.tables import read_table
from mlaut.records import CLASSIFICATION, TRAIN_ONLY, Block, Split, Status

__all__ = ["Predicted", "blocks_of", "read_openml_runs"]

MOST = 10**9
OML = "{http://openml.org/openml}"


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions of one strategy for the test rows of one dataset.

    Attributes
    ----------
    dataset, strategy : str
    rows : DataFrame
        Columns ``repeat``, ``fold``, ``row`` (from 0), ``truth`` and ``prediction``.
    source : str
        Origin of the predictions, for error messages.
    probabilities : DataFrame, optional
        Probabilities, one column for each class.
    seconds : mapping of (repeat, fold) to (fitting, predicting)
        Times of the folds, in seconds.
    """

    dataset: str
    strategy: str
    rows: pd.DataFrame
    source: str
    probabilities: pd.DataFrame | None = None
    seconds: Mapping[tuple[int, int], tuple[float, float]] | None = None


def blocks_of(predicted: Iterable[Predicted]) -> list[Block]:
    """Return one block for each dataset, with the predictions of all strategies.

    Rows that no fold tests are taken for training rows.

    Raises
    ------
    AnalysisError
        Two sources have different truths for one row of a dataset, or rows, folds or repeats are
        not numbered from 0.
    """
    by_dataset: dict[str, list[Predicted]] = {}
    for one in predicted:
        by_dataset.setdefault(one.dataset, []).append(one)
    return [_block(name, several) for name, several in by_dataset.items()]


def _block(name: str, several: Sequence[Predicted]) -> Block:
    strategies = tuple(one.strategy for one in several)
    every = pd.concat([one.rows.assign(source=one.source) for one in several], ignore_index=True)
    every = _own_repeats(every)
    split, test = _split(name, every)
    task = infer_task(pd.concat([every["truth"], every["prediction"]], ignore_index=True))
    classes = _classes(every) if task == CLASSIFICATION else ()
    shape = (len(several), split.n_repeats, split.n_rows)
    nothing = -1 if classes else np.nan
    predictions = np.full(shape, nothing, dtype=np.int32 if classes else np.float64)
    truth = np.full(split.n_rows, 0 if classes else np.nan, dtype=predictions.dtype)
    truth[test["row"]] = _encoded(test["truth"], classes)
    status = np.zeros((len(several), split.n_repeats, split.n_folds), dtype=np.uint8)
    seconds = np.full((*status.shape, 3), np.nan)
    start = 0
    for s, one in enumerate(several):
        rows = every.iloc[start : start + len(one.rows)]
        start += len(one.rows)
        predictions[s, rows["repeat"], rows["row"]] = _encoded(rows["prediction"], classes)
        _fill_cells(one, rows, split, status[s], seconds[s])
    return Block(
        dataset=name,
        task=task,
        fingerprint="",
        strategies=strategies,
        classes=classes,
        truth=truth,
        split=split,
        status=status,
        predictions=predictions,
        probabilities=_probabilities(several, every, classes, shape) if classes else None,
        seconds=seconds,
    )


def _own_repeats(every: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with each fold as its own repeat if folds of one repeat share test rows.

    Folds of a moving window do; a repeat can test each row only once.
    """
    cells = every[["repeat", "fold", "row"]].drop_duplicates()
    if not cells.duplicated(["repeat", "row"]).any():
        return every
    number = every.groupby(["repeat", "fold"]).ngroup()
    return every.assign(repeat=number, fold=0)


def _split(name: str, every: pd.DataFrame) -> tuple[Split, pd.DataFrame]:
    """Return the split, and the test rows with their truth."""
    unlike = every.groupby("row")["truth"].transform("nunique") > 1
    if unlike.any():
        row = every.loc[unlike].iloc[0]
        raise AnalysisError(
            f"{row['source']}: row {row['row']} of {name!r} has another truth than in other files; "
            "they are of other datasets, which need names of their own"
        )
    cells = every.drop_duplicates(["repeat", "row"])
    shape = int(every["repeat"].max()) + 1, int(every["row"].max()) + 1
    numbers = every[["repeat", "fold", "row"]].to_numpy()
    most_folds = np.iinfo(np.int16).max
    if shape[0] * shape[1] > MOST or numbers.min() < 0 or every["fold"].max() > most_folds:
        raise AnalysisError(
            f"{every['source'].iloc[0]}: {shape[0]} repeats of {shape[1]} rows of {name!r}, of "
            f"which {len(cells)} are tested: no numbers from 0; check the files"
        )
    folds = np.full(shape, TRAIN_ONLY)
    folds[cells["repeat"], cells["row"]] = cells["fold"]
    return Split(folds.astype(np.int16), "as stored"), every.drop_duplicates("row")


def _classes(every: pd.DataFrame) -> tuple[Any, ...]:
    labels = {*every["truth"].tolist(), *every["prediction"].tolist()}
    try:
        return tuple(sorted(labels))
    except TypeError:
        return tuple(sorted(map(str, labels)))


def _encoded(values: pd.Series, classes: Sequence[Any]) -> np.ndarray:
    if not classes:
        return values.to_numpy(dtype=float)
    where = {label: position for position, label in enumerate(classes)}
    return np.array([where.get(v, where.get(str(v), -1)) for v in values.tolist()], dtype=np.int32)


def _fill_cells(
    one: Predicted, rows: pd.DataFrame, split: Split, status: np.ndarray, seconds: np.ndarray
) -> None:
    """Set the status of cells whose test rows all have a prediction, and the times of cells."""
    given = one.rows[["repeat", "fold"]].to_numpy()  # as the times are keyed
    cells = rows[["repeat", "fold"]].to_numpy()
    for repeat, fold in np.unique(cells, axis=0).tolist():
        of_cell = (cells == (repeat, fold)).all(axis=1)
        if of_cell.sum() == np.count_nonzero(split.folds[repeat] == fold):
            status[repeat, fold] = Status.DONE
        key = tuple(given[of_cell][0].tolist())
        seconds[repeat, fold, 1:] = (one.seconds or {}).get(key, (np.nan, np.nan))


def _probabilities(
    several: Sequence[Predicted],
    every: pd.DataFrame,
    classes: Sequence[Any],
    shape: tuple[int, ...],
) -> np.ndarray | None:
    if all(one.probabilities is None for one in several):
        return None
    probabilities = np.full((*shape, len(classes)), np.nan, dtype=np.float32)
    start = 0
    for s, one in enumerate(several):
        rows = every.iloc[start : start + len(one.rows)]
        start += len(one.rows)
        if one.probabilities is not None:
            given = one.probabilities.reindex(columns=[str(label) for label in classes])
            probabilities[s, rows["repeat"], rows["row"]] = given.fillna(0).to_numpy(dtype=float)
    return probabilities


# -------------------------------------------------------------------- OpenML


@in_one_line
def read_openml_runs(
    source: str | os.PathLike[str] | Mapping[tuple[str, str], str | os.PathLike[str]],
    metric: Any,
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
        found = [_predicted(Path(path), *names) for names, path in source.items()]
    else:
        found = _runs(Path(source))
    return Results.from_blocks(blocks_of(found), metric)


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
