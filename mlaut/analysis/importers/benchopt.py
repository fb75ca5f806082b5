"""Reader of the results of benchopt."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mlaut.analysis.importers.reading import Format, Source, choose, in_one_line
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

FORMAT = Format(
    kind="table of benchopt",
    required=("objective_name", "solver_name", "time"),
    columns={
        "dataset": ("data_name", "dataset_name"),
        "strategy": "solver_name",
        "repeat": "idx_rep",
        "fit_seconds": "time",
    },
)


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
    frame = FORMAT.rows(source).rename(columns={"objective_name": "objective"})
    frame = choose(frame, "objective", objective, FORMAT.kind)
    if not {"data_name", "dataset_name"} & set(frame):
        raise AnalysisError(f"no {FORMAT.kind}: it has no column 'data_name' or 'dataset_name'")
    named = metric if metric.startswith("objective_") else f"objective_{metric}"
    given = [name for name in frame if str(name).startswith("objective_")]
    column = FORMAT.score_column(frame, named, given)
    if greater_is_better is None and column == "objective_value":
        greater_is_better = False
    cells = FORMAT.cells(frame, frame[column].where(np.isfinite(frame[column])))
    cells = cells.assign(reason="not a finite number")
    along = cells.loc[_along_curves(frame).sort_values(kind="stable").index]
    last = along.drop_duplicates(["dataset", "strategy", "repeat"], keep="last").sort_index()
    return FORMAT.results(last, column, greater_is_better=greater_is_better)


def _along_curves(frame: pd.DataFrame) -> pd.Series:
    """Return the position of each row on its curve: iterations increase, tolerances decrease."""
    if "stop_val" not in frame:
        return frame["time"]
    down = frame.get("sampling_strategy", pd.Series("", frame.index)).astype(str).str.lower()
    return frame["stop_val"].where(down != "tolerance", -frame["stop_val"])
