"""The state of a study at one moment: its pace, the time left, and the last failures."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from mlaut.experiments import StudyStatus, study_status
from mlaut.files_io import StudyStore
from mlaut.plugins import FEW_CELLS, USAGE, mean_seconds, predicted_seconds
from mlaut.records import Status

_FAILED = tuple(status for status in Status if status.failed)
_WINDOW = 600.0  # seconds; the pace of the last ten minutes follows a change of the machine


@dataclass(frozen=True, eq=False)
class Snapshot:
    """State of a study at one moment.

    Attributes
    ----------
    status : StudyStatus
        Number of cells by dataset, strategy and status, and the process that runs.
    cells_per_minute : float
        Cells that have ended per minute, in the last ten minutes or since the run began; NaN
        without a run.
    seconds_left : float
        Expected wall seconds until every cell has an outcome, from the times of the cells done so
        far and the number of cells that ran at once; NaN where that is not known.
    failures : tuple of mapping
        The last failures, latest first: `mlaut.files_io.StudyStore.details` of the cells, with
        ``dataset``.
    """

    status: StudyStatus
    cells_per_minute: float
    seconds_left: float
    failures: tuple[Mapping[str, Any], ...]

    @property
    def finished(self) -> bool:
        """Return whether every cell has an outcome and no process writes."""
        n_missing = self.status.total[Status.MISSING]
        return self.status.running is None and self.status.n_cells > 0 and n_missing == 0


def take_snapshot(path: str | os.PathLike[str], *, n_failures: int = 5) -> Snapshot:
    """Return the state of a study now; a run that writes to it is not disturbed.

    Parameters
    ----------
    path : path-like
        Path of the study's database.
    n_failures : int, default 5
        Number of failures.

    Raises
    ------
    StoreError, StudyError
        The file cannot be read, or is not a study.
    """
    status, study = study_status(path), StudyStore(path)
    now = time.time()
    window = min(_WINDOW, max(now - _begun(status.running), 1.0))
    means = np.full((len(status.datasets), len(status.strategies)), np.nan)
    row = {name: place for place, name in enumerate(status.datasets)}
    column = {name: place for place, name in enumerate(status.strategies)}
    ended, busy = 0, 0.0
    for name, strategies, numbers in study.numbers([x for x in study.datasets if x in row]):
        at = [column[strategy] for strategy in strategies if strategy in column]
        means[row[name], at] = mean_seconds(numbers)[: len(at)]  # a run adds strategies at the end
        began, elapsed = (numbers["usage"][..., USAGE.index(k)] for k in ("started", "elapsed"))
        recent = began + elapsed > now - window
        ended += int(recent.sum())
        busy += float((began + elapsed - np.maximum(began, now - window))[recent].sum())
    expected = float(np.nansum(status.cells[:, :, Status.MISSING] * predicted_seconds(means)))
    running = status.running is not None
    at_once = busy / window  # cells that ran at the same time, on average
    return Snapshot(
        status=status,
        cells_per_minute=60 * ended / window if running else np.nan,
        seconds_left=expected / at_once if running and ended >= FEW_CELLS and at_once else np.nan,
        failures=_failures(study, n_failures) if status.n_failed else (),
    )


def _begun(running: Mapping[str, Any] | None) -> float:
    """Return when the present run began, in POSIX seconds; 0 where that is not known."""
    try:
        return datetime.fromisoformat(str((running or {})["since"])).timestamp()
    except (KeyError, ValueError):
        return 0.0


def _failures(study: StudyStore, n: int) -> tuple[dict[str, Any], ...]:
    failed = [
        {**record, "dataset": dataset}
        for dataset, records in study.all_details(only=_FAILED)
        for record in records
    ]
    failed.sort(key=lambda record: -record.get("started", 0.0) - record.get("elapsed", 0.0))
    return tuple(failed[:n])
