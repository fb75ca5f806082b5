"""Predictions of other programs as the table that `mlaut_exchange.import_predictions` takes."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mlaut.data import read_table
from mlaut.errors import AnalysisError, nearest, some_of
from mlaut.files_io import SplitEntry
from mlaut.plugins import in_one_line, read_text, strict_json
from mlaut.records import CLASSIFICATION
from mlaut_boards.programs.openml import openml_runs, openml_splits
from mlaut_boards.programs.predicted import Predicted
from mlaut_boards.programs.sktime_results import stored_predictions

_NUMBERS = ("float16", "float32", "float64")  # what TabArena stores; other types are not read


@in_one_line
def read_predictions(
    path: Path,
    entries: Mapping[str, SplitEntry],
    *,
    model: str = "",
    dataset: str = "",
    splits: Path | None = None,
) -> pd.DataFrame:
    """Return the predictions that another program stored, with their rows, folds and truth.

    Parameters
    ----------
    path : Path
        One of these:

        - ``predictions.arff`` of an OpenML run, or a folder of runs, as `read_openml_runs` reads;
        - a folder of the AutoML benchmark with files ``<task>/<fold>/predictions.csv``;
        - a folder of TabArena or TabRepo with ``<dataset>/<fold>/pred-test.dat``, ``metadata.json``
          and ``label-test.csv.zip``;
        - a folder of sktime's ``HDDResults``.
    entries, model, dataset, splits
        As for `mlaut_exchange.read_predictions`.

    Raises
    ------
    AnalysisError
        The source is none of these, a model or a dataset must be chosen, or a file is damaged.
    DataError
        A file cannot be read.
    """
    if path.is_dir() and (files := sorted(path.rglob("pred-test.dat"))):
        runs = list(_of_tabarena(files, entries, model, dataset))
    elif path.is_dir() and (files := sorted(path.rglob("predictions.csv"))):
        return _of_amlb(files, dataset, None if splits is None else openml_splits(splits))
    elif path.is_file() or any(path.rglob("predictions.arff")):
        only = dataset or (next(iter(entries)) if len(entries) == 1 else "")
        runs = openml_runs(path, only)
    else:
        runs = list(stored_predictions(path))
    return _one_table(path, runs, model, dataset)


def _one_table(source: Path, runs: Iterable[Predicted], model: str, dataset: str) -> pd.DataFrame:
    """Return the predictions of one model as a table."""
    by_model: dict[str, list[Predicted]] = {}
    for run in runs:
        by_model.setdefault(run.strategy, []).append(run)
    if model and model not in by_model:
        hint = nearest(model, by_model) or f"; it has {some_of(by_model)}"
        raise AnalysisError(f"{source}: no predictions of {model!r}{hint}")
    if not model and len(by_model) > 1:
        raise AnalysisError(
            f"{source}: predictions of {len(by_model)} models ({', '.join(list(by_model)[:5])}); "
            "choose one by model"
        )
    chosen = by_model[model] if model else next(iter(by_model.values()))
    if dataset and len({run.dataset for run in chosen}) > 1:
        raise AnalysisError(f"{source}: several datasets, so one name does not fit; leave it out")
    return pd.concat([_table(run, dataset) for run in chosen], ignore_index=True)


def _table(predicted: Predicted, dataset: str) -> pd.DataFrame:
    frame = predicted.rows.reset_index(drop=True).assign(dataset=dataset or predicted.dataset)
    if predicted.probabilities is not None:
        given = predicted.probabilities.reset_index(drop=True).add_prefix("confidence.")
        frame = pd.concat([frame, given], axis=1)
    if predicted.seconds is not None:
        cells = zip(frame["repeat"], frame["fold"], strict=True)
        times = [predicted.seconds.get(cell, (np.nan, np.nan)) for cell in cells]
        frame[["fitting_seconds", "predicting_seconds"]] = times
    return frame


def _of_amlb(
    files: Iterable[Path], dataset: str, rows: Mapping[tuple[int, int], np.ndarray] | None
) -> pd.DataFrame:
    """Return predictions of the AutoML benchmark, whose files have no row numbers."""
    frames = []
    for file in files:
        frame = read_table(file)
        task, fold = file.parts[-3:-1]
        if not {"predictions", "truth"} <= set(frame) or not fold.isdigit():
            raise AnalysisError(
                f"{file}: no predictions of the AutoML benchmark: <task>/<fold>/predictions.csv "
                "with columns 'predictions' and 'truth'"
            )
        given = frame.drop(columns=["predictions", "truth"]).add_prefix("confidence.")
        table = pd.DataFrame(
            {
                "dataset": dataset or task,
                "repeat": 0,
                "fold": int(fold),
                "prediction": frame["predictions"],
                "truth": frame["truth"],
            }
        )
        if rows is not None:
            order = rows.get((0, int(fold)), np.array([]))
            if len(order) != len(frame):
                raise AnalysisError(
                    f"{file}: {len(frame)} rows, and the splits have {len(order)} for this fold; "
                    "they are of another task"
                )
            table["row"] = order
        frames.append(pd.concat([table, given], axis=1))
    return pd.concat(frames, ignore_index=True)


def _of_tabarena(
    files: Iterable[Path], entries: Mapping[str, SplitEntry], model: str, dataset: str
) -> Iterator[Predicted]:
    """Yield the predictions of each fold for all models, or for the named one."""
    for file in files:
        about = _metadata(file.with_name("metadata.json"))
        name = dataset or str(about["dataset"])
        if name not in entries:
            raise AnalysisError(
                f"{file}: the study has no dataset {name!r}{nearest(name, entries)}; name it by "
                "dataset"
            )
        if model and model not in about["models"]:
            continue
        if not model and len(about["models"]) > 1:
            raise AnalysisError(
                f"{file}: predictions of {len(about['models'])} models "
                f"({', '.join(map(str, about['models'][:5]))}); choose one by model"
            )
        values = _array(file, about)[about["models"].index(model) if model else 0]
        yield _of_fold(file, entries[name], name, model or str(about["models"][0]), about, values)


def _metadata(file: Path) -> dict[str, Any]:
    try:
        about: dict[str, Any] = strict_json(read_text(file))
        for key in ("models", "dataset", "fold", "dtype", "pred_test_shape"):
            about[key]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AnalysisError(f"{file}: no metadata of TabArena ({error})") from error
    return about


def _array(file: Path, about: Mapping[str, Any]) -> np.ndarray:
    """Return the predictions of all models on a fold: (models, rows) or (models, rows, classes)."""
    shape = tuple(about["pred_test_shape"])
    if (
        about["dtype"] not in _NUMBERS
        or len(shape) not in (2, 3)
        or shape[0] != len(about["models"])
    ):
        raise AnalysisError(
            f"{file}: its metadata are not those of TabArena: {shape}, {about['dtype']}"
        )
    wanted = int(np.prod(shape)) * np.dtype(about["dtype"]).itemsize
    if file.stat().st_size != wanted:
        raise AnalysisError(f"{file}: {file.stat().st_size} bytes, and its metadata say {wanted}")
    return np.memmap(file, dtype=about["dtype"], mode="r", shape=shape)


def _of_fold(
    file: Path,
    entry: SplitEntry,
    name: str,
    model: str,
    about: Mapping[str, Any],
    values: np.ndarray,
) -> Predicted:
    labels = file.with_name("label-test.csv.zip")
    try:
        known = pd.read_csv(labels, index_col=0).iloc[:, 0]
    except Exception as error:  # archives and parsers raise many types of errors
        reason = " ".join(str(error).split())
        raise AnalysisError(f"{labels}: cannot be read ({reason}); restore the file") from error
    if len(known) != len(values):
        raise AnalysisError(f"{file}: {len(values)} predictions, and {len(known)} labels beside it")
    repeat, fold = divmod(int(about["fold"]), entry.split.n_folds)
    rows = pd.DataFrame({"repeat": repeat, "fold": fold, "row": known.index.to_numpy()})
    values = np.asarray(values, dtype=float)
    if entry.task != CLASSIFICATION:
        rows = rows.assign(truth=known.to_numpy(), prediction=values)
        return Predicted(name, model, rows, str(file))
    if values.ndim == 1:  # of two classes the probability of the second
        values = np.column_stack([1 - values, values])
    if values.shape[1] != len(entry.classes):
        raise AnalysisError(
            f"{file}: probabilities of {values.shape[1]} classes, and {name} has "
            f"{len(entry.classes)} in the study"
        )
    classes = np.array(entry.classes, dtype=object)
    rows = rows.assign(
        truth=_decoded(known, entry, rows["row"]), prediction=classes[values.argmax(axis=1)]
    )
    totals = values.sum(axis=1, keepdims=True)  # 1 but for rounding to the stored type
    shares = pd.DataFrame(values / totals, columns=[str(label) for label in entry.classes])
    return Predicted(name, model, rows, str(file), shares)


def _decoded(known: pd.Series, entry: SplitEntry, rows: pd.Series) -> np.ndarray:
    """Return labels. TabArena stores positions of the sorted classes, like the study.

    Positions that differ from those of the study are returned unchanged: the import compares them.
    """
    given = known.to_numpy()
    within = rows.to_numpy() < len(entry.truth)
    if within.all() and np.array_equal(given, entry.truth[rows.to_numpy()]):
        given = np.array(entry.classes, dtype=object)[given.astype(int)]
    return given
