"""Functions that the readers of all formats share: columns, cells, directions, error messages."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import numpy as np
import pandas as pd

from mlaut.analysis.results.results import Results
from mlaut.analysis.scores.base import MLautScore
from mlaut.analysis.scores.catalogue import metric as find_metric
from mlaut.errors import AnalysisError, MlautError, nearest
from mlaut.files_io.tables import read_table

__all__ = ["in_one_line", "last_counts", "read_foreign", "results_of_cells", "value_column"]

Source = str | os.PathLike[str] | pd.DataFrame | Sequence[str | os.PathLike[str]]

P = ParamSpec("P")

KEYS = ["dataset", "repeat", "fold"]
# Endings of the names of metrics: lower is better for LESS, higher is better for GREATER.
LESS = ("error", "loss", "rmse", "mae", "mse", "mape", "smape", "mase", "rmsle", "deviance")
GREATER = (
    *("score", "accuracy", "acc", "auc", "r2", "correct", "correlation", "kappa", "roc", "prc"),
    *("precision", "recall", "measure", "f1"),
)


def in_one_line(read: Callable[P, Results]) -> Callable[P, Results]:
    """Wrap a reader so that unusable values raise an `AnalysisError` with a one-line message."""

    @wraps(read)
    def reader(*arguments: P.args, **named: P.kwargs) -> Results:
        try:
            return read(*arguments, **named)
        except MlautError:
            raise
        except (IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            source = arguments[0] if arguments else named.get("source")
            where = "the table" if isinstance(source, pd.DataFrame) else source
            raise AnalysisError(
                f"{where}: its values cannot be used ({type(error).__name__}: "
                f"{' '.join(str(error).split())}); check the file"
            ) from error

    return reader


def paths_of(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    """Return the paths of one file or of several."""
    if isinstance(source, str | os.PathLike):
        return [Path(source)]
    return [Path(path) for path in source]


def read_foreign(
    source: Source,
    what: str,
    columns: Iterable[str],
    read: Callable[[Path], pd.DataFrame] = read_table,
) -> pd.DataFrame:
    """Return the rows of one or several tables; raise an error if required columns are missing.

    Parameters
    ----------
    source : path-like, sequence of path-like, or DataFrame
    what : str
        Name of the kind of table, for error messages.
    columns : iterable of str
        Required columns.
    read : callable, default `mlaut.files_io.tables.read_table`
        Function that reads a file.

    Raises
    ------
    AnalysisError
        A column is missing, or there is no row.
    DataError
        A file cannot be read.
    """
    if isinstance(source, pd.DataFrame):
        frames = [("the table", source)]
    else:
        frames = [(str(path), read(path)) for path in paths_of(source)]
    for name, frame in frames:
        for column in columns:
            if column not in frame.columns:
                hint = nearest(column, frame.columns) or f"; it has {_first(frame.columns)}"
                raise AnalysisError(f"{name}: no {what}: it has no column {column!r}{hint}")
        if frame.empty:
            raise AnalysisError(f"{name}: {what} without a row; check the file")
    return pd.concat([frame for _, frame in frames], ignore_index=True)


def _first(names: Iterable[Any]) -> str:
    names = [str(name) for name in names]
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def value_column(frame: pd.DataFrame, wanted: str, known: Iterable[Any], what: str) -> str:
    """Return the column of the wanted scores.

    Raises
    ------
    AnalysisError
        There is no such column; the message names the nearest one.
    """
    if wanted in frame.columns:
        return wanted
    names = [str(name) for name in known]
    hint = nearest(wanted, names) or f"; it has {_first(names)}"
    raise AnalysisError(f"{what} has no scores {wanted!r}{hint}")


def last_counts(cells: pd.DataFrame, word: str = "run") -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the last row of each cell, and a note on the earlier rows that were dropped."""
    doubled = cells.duplicated([*KEYS, "strategy"], keep="last")
    if not doubled.any():
        return cells, ()
    cell = cells.loc[doubled, ["dataset", "strategy"]].iloc[0]
    note = (
        f"{int(doubled.sum())} cells have an earlier {word}, for example {cell['strategy']} on "
        f"{cell['dataset']}: the last one counts"
    )
    return cells[~doubled], (note,)


def results_of_cells(
    cells: pd.DataFrame,
    metric: str,
    *,
    greater_is_better: bool | None = None,
    notes: Sequence[str] = (),
) -> Results:
    """Return a table with one row for each cell as `Results`.

    Parameters
    ----------
    cells : DataFrame
        Columns ``dataset``, ``strategy``, ``repeat``, ``fold`` and ``score``, and optional columns
        ``fit_seconds``, ``predict_seconds``, ``n_test``, ``n_train`` and ``reason``.
    metric : str
        Name of a metric that `mlaut.analysis.metric` accepts, or any other name.
    greater_is_better : bool, optional
        Direction of a metric that is not known by its name.
    notes : sequence of str
    """
    cells = cells.astype({"dataset": str, "strategy": str, "score": float})
    wide = cells.set_index([*KEYS, "strategy"])["score"].unstack()  # noqa: PD010 - one value each
    order = {name: number for number, name in enumerate(pd.unique(cells["dataset"]))}
    by_appearance = wide.index.get_level_values(0).map(order)
    wide = wide.iloc[np.argsort(by_appearance, kind="stable")]
    wide = wide[list(pd.unique(cells["strategy"]))]
    score, direction = _direction(metric, greater_is_better)
    sizes = {name: _sizes(cells, name, wide.index) for name in ("n_test", "n_train")}
    results = Results.from_table(wide, metric=score, greater_is_better=direction, **sizes)
    at = _positions(cells, results)
    return replace(
        results, notes=tuple(notes), seconds=_seconds(cells, at, results), reasons=_why(cells, at)
    )


def _direction(metric: str, greater_is_better: bool | None) -> tuple[str | MLautScore, bool | None]:
    """Return a known metric, or the name of an unknown one with its direction, if that is known."""
    if greater_is_better is not None:
        return metric, greater_is_better
    try:
        return find_metric(metric), None
    except AnalysisError:
        word = re.sub(r"[^a-z0-9]", "", metric.lower())
    if metric.startswith("neg_") or word.endswith(GREATER):
        return metric, True
    return metric, False if word.endswith(LESS) else None


def _sizes(cells: pd.DataFrame, name: str, index: pd.Index) -> pd.Series | None:
    """Return the sizes of the test or training sets; None unless all are known."""
    if name not in cells:
        return None
    sizes = cells.groupby(KEYS)[name].first().reindex(index)
    return sizes if bool((sizes > 0).all()) else None


def _positions(cells: pd.DataFrame, results: Results) -> tuple[np.ndarray, ...]:
    """Return the position of each row in the arrays of the results."""
    named = (
        pd.Categorical(cells["dataset"], categories=results.datasets).codes,
        pd.Categorical(cells["strategy"], categories=results.strategies).codes,
    )
    return (*named, *(pd.factorize(cells[key], sort=True)[0] for key in KEYS[1:]))


def _seconds(
    cells: pd.DataFrame, at: tuple[np.ndarray, ...], results: Results
) -> np.ndarray | None:
    names = ("fit_seconds", "predict_seconds")
    if not any(name in cells for name in names):
        return None
    seconds = np.full((*results.cells.shape, 3), np.nan)
    for position, name in enumerate(names, start=1):
        if name in cells:
            seconds[..., position][at] = pd.to_numeric(cells[name], errors="coerce")
    return seconds


def _why(
    cells: pd.DataFrame, at: tuple[np.ndarray, ...]
) -> Mapping[tuple[int, int, int, int], str]:
    """Return the reasons of the cells without a score."""
    if "reason" not in cells:
        return {}
    keys = zip(*(positions.tolist() for positions in at), strict=True)
    rows = zip(keys, cells["reason"], cells["score"].isna(), strict=True)
    return {
        (i, k, r, f): " ".join(str(why).split())
        for (i, k, r, f), why, missing in rows
        if missing and isinstance(why, str) and why.strip()
    }
