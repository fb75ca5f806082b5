"""Parts that all readers share: the columns of a format, cells, and messages.

A new reader is one file with a `Format` that names its columns, and a function with `@in_one_line`.
With an entry in `_READERS` of `any_table.py`, its tables are recognised by their columns.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd

from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError, MlautError, nearest, some_of
from mlaut.files_io.tables.tables import ending_of, read_table

Source = str | os.PathLike[str] | pd.DataFrame | Sequence[str | os.PathLike[str]]

P = ParamSpec("P")
Read = TypeVar("Read")

# What wrong values of a table raise somewhere.
_UNUSABLE = (
    *(ArithmeticError, AttributeError, LookupError, TypeError, ValueError),
    *(MemoryError, RecursionError),
)
KEYS = ["dataset", "repeat", "fold"]


def read_without_twins(path: Path) -> pd.DataFrame:
    """Return the table of a file; raise `AnalysisError` if two of its columns are equal."""
    table = read_table(path)
    twins = [x for x in map(str, table) if x[-1].isdigit() and x.rpartition(".")[0] in table]
    if twins and ending_of(path.name) in (".csv", ".tsv"):  # gpt-4.1 may be a name of its own
        header = str(pd.read_csv(path, sep="\x01", header=None, nrows=1, dtype=str).iloc[0, 0])
        if new := [name for name in twins if name not in header]:
            raise AnalysisError(f"{path}: two columns are called {new[0].rpartition('.')[0]!r}")
    return table


@dataclass(frozen=True, kw_only=True)
class Format:
    """Table of results of another program: its columns, and the names of its metrics.

    Attributes
    ----------
    kind : str
        Name of the kind of table, for error messages.
    required : tuple of str
        Columns without which a table is not of this kind.
    columns : mapping of str to str or tuple of str
        Column for each part of a cell: ``dataset``, ``strategy``, ``repeat``, ``fold``,
        ``fit_seconds``, ``predict_seconds``, ``reason``. Of several
        columns the first one that the table has is used. A part without a column is left out;
        ``repeat`` and ``fold`` are then 0.
    metrics : mapping of str to str
        Names in `mlaut.analysis.metric` of metrics that have another name in this format.
    read : callable
        Function that reads a file.
    """

    kind: str
    required: tuple[str, ...]
    columns: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    read: Callable[[Path], pd.DataFrame] = read_without_twins

    def rows(self, source: Source) -> pd.DataFrame:
        """Return the rows of one or several tables.

        Raises
        ------
        AnalysisError
            A required column is missing, or there is no row.
        DataError
            A file cannot be read.
        """
        if isinstance(source, pd.DataFrame):
            frames = [("the table", source)]
        else:
            paths = [source] if isinstance(source, str | os.PathLike) else source
            frames = [(str(path), self.read(Path(path))) for path in paths]
        for name, frame in frames:
            for column in self.required:
                if column not in frame.columns:
                    hint = nearest(column, frame.columns) or f"; it has {some_of(frame.columns)}"
                    raise AnalysisError(
                        f"{name}: no {self.kind}: it has no column {column!r}{hint}"
                    )
            if frame.empty:
                raise AnalysisError(f"{name}: {self.kind} without a row; check the file")
        return pd.concat([frame for _, frame in frames], ignore_index=True)

    def score_column(self, frame: pd.DataFrame, wanted: str, known: Iterable[Any]) -> str:
        """Return the column of the wanted scores; raise `AnalysisError` if there is none.

        The message names the nearest of the ``known`` columns of scores.
        """
        if wanted in frame.columns:
            return wanted
        names = [str(name) for name in known]
        hint = nearest(wanted, names) or f"; it has {some_of(names)}"
        raise AnalysisError(f"the {self.kind} has no scores {wanted!r}{hint}")

    def cells(self, frame: pd.DataFrame, score: pd.Series) -> pd.DataFrame:
        """Return the cells of a table, one in each row, with their scores."""
        parts: dict[str, pd.Series] = {}
        for part, names in self.columns.items():
            for name in (names,) if isinstance(names, str) else names:
                if name in frame:
                    parts.setdefault(part, frame[name])
        return pd.DataFrame({"repeat": 0, "fold": 0, **parts, "score": score}, index=frame.index)

    def results(
        self,
        cells: pd.DataFrame,
        metric: str,
        *,
        greater_is_better: bool | None = None,
        notes: Sequence[str] = (),
    ) -> Results:
        """Return cells as `Results`; of several rows for one cell, the last counts."""
        cells, again = last_counts(cells)
        name = self.metrics.get(metric, metric)
        notes = [*notes, *again]
        return results_of_cells(cells, name, greater_is_better=greater_is_better, notes=notes)


def in_one_line(read: Callable[P, Read]) -> Callable[P, Read]:
    """Wrap a reader so that unusable values raise an `AnalysisError` with a one-line message."""

    @wraps(read)
    def reader(*arguments: P.args, **named: P.kwargs) -> Read:
        try:
            return read(*arguments, **named)
        except MlautError:
            raise
        except _UNUSABLE as error:
            source = arguments[0] if arguments else named.get("source")
            where = "the table" if isinstance(source, pd.DataFrame) else source
            raise AnalysisError(
                f"{where}: its values cannot be used ({type(error).__name__}: "
                f"{' '.join(str(error).split())}); check the file"
            ) from error

    return reader


def choose(frame: pd.DataFrame, column: str, chosen: str | None, what: str) -> pd.DataFrame:
    """Return the rows with the chosen value; raise an error if one of several must be chosen."""
    if column not in frame:
        return frame
    values = [str(value) for value in pd.unique(frame[column].dropna())]
    if chosen is None and len(values) > 1:
        raise AnalysisError(f"{what} has several: {', '.join(values[:8])}; choose by {column}=")
    if chosen is not None and chosen not in values:
        raise AnalysisError(f"{what} has no {column} {chosen!r}; there are {', '.join(values[:8])}")
    return frame[frame[column].astype(str) == chosen] if chosen is not None else frame


def last_counts(cells: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the last row of each cell, and a note on the earlier rows that were dropped."""
    doubled = cells.duplicated([*KEYS, "strategy"], keep="last")
    if not doubled.any():
        return cells, ()
    cell = cells.loc[doubled, ["dataset", "strategy"]].iloc[0]
    first = f"for example {cell['strategy']} on {cell['dataset']}: the last one counts"
    return cells[~doubled], (f"{int(doubled.sum())} cells have an earlier run, {first}",)


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
        ``fit_seconds``, ``predict_seconds`` and ``reason``.
    metric : str
        Name of a metric that `mlaut.analysis.metric` accepts, or any other name.
    greater_is_better : bool, optional
        Direction of a metric that is not known by its name.
    notes : sequence of str
    """
    cells = cells.astype(
        {"dataset": str, "strategy": str, "repeat": float, "fold": float, "score": float}
    )
    wide = cells.set_index([*KEYS, "strategy"])["score"].unstack()  # noqa: PD010 - one value each
    order = {name: number for number, name in enumerate(pd.unique(cells["dataset"]))}
    by_appearance = wide.index.get_level_values(0).map(order)
    wide = wide.iloc[np.argsort(by_appearance, kind="stable")]
    wide = wide[list(pd.unique(cells["strategy"]))]
    results = Results.from_table(wide, metric=metric, greater_is_better=greater_is_better)
    at = _positions(cells, results)
    return replace(
        results, notes=tuple(notes), seconds=_seconds(cells, at, results), reasons=_why(cells, at)
    )


def _positions(cells: pd.DataFrame, results: Results) -> tuple[np.ndarray, ...]:
    """Return the position of each row in the arrays of the results."""
    each = (("dataset", results.datasets), ("strategy", results.strategies))
    named = [pd.Categorical(cells[key], categories=names).codes for key, names in each]
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
    """Return the reasons of the cells without a score, by position."""
    if "reason" not in cells:
        return {}
    keys = zip(*(positions.tolist() for positions in at), strict=True)
    rows = zip(keys, cells["reason"], cells["score"].isna(), strict=True)
    return {
        (i, k, r, f): " ".join(str(why).split())
        for (i, k, r, f), why, missing in rows
        if missing and isinstance(why, str) and why.strip()
    }
