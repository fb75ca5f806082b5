"""What a cell is run with, and the outcome of one that was lost.

Processes that run no cell need this: it imports no scikit-learn.
"""

import hashlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Any

from mlaut.records import Cell, Outcome, Status


@dataclass(frozen=True)
class CellOptions:
    """Options that all cells of a run share.

    Attributes
    ----------
    threads : int, default 1
        Number of threads that a cell may use.
    memory : int or None
        Bytes that a cell may allocate, in addition to those that its process already holds.
    models : Path or None
        Folder in which fitted models are saved; None saves none.
    tuning_timeout : float or None
        CPU seconds after which a search chooses among the candidates that it has scored.
    checkpoints : Path or None
        Folder in which the scores of a search are kept while it runs; None keeps none.
    trace_predictions : bool, default False
        Whether to fit also what smaller budgets would have chosen, and to predict with it.
    settings : mapping of str to object
        What the session of the run has changed in libraries (`session_settings`).
    path : tuple of str, default that of this process
        Folders in which the session of the run finds modules (``sys.path``).
    """

    threads: int = 1
    memory: int | None = None
    models: Path | None = None
    tuning_timeout: float | None = None
    checkpoints: Path | None = None
    trace_predictions: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    path: tuple[str, ...] = field(default_factory=lambda: tuple(map(os.path.abspath, sys.path)))


def cell_seed(seed: int, cell: Cell) -> int:
    """Return the seed of a cell, derived from its key and the seed of the study.

    Neither the order of the cells nor the number of workers changes a result.

    Examples
    --------
    >>> cell_seed(0, Cell("iris", "SVC")) == cell_seed(0, Cell("iris", "SVC", fold=1))
    False
    """
    # A digest and not a sequence of draws: a draw would depend on how many cells came before. What
    # follows the dataset's name cannot hold the zero byte, so no two cells have one key.
    key = "\0".join([str(seed), cell.dataset, cell.strategy, str(cell.repeat), str(cell.fold)])
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "little")


def failed_outcome(
    cell: Cell, status: Status, reason: str, seed: int, elapsed: float = 0.0, traceback: str = ""
) -> Outcome:
    """Return the outcome of a cell that reported none, for example because its process ended.

    Parameters
    ----------
    cell : Cell
    status : Status
    reason : str
        One line that says how the cell ended.
    seed : int
        Seed of the cell (`cell_seed`).
    elapsed : float, default 0
        Seconds since the cell began; 0 if it did not begin.
    traceback : str, default ""

    Examples
    --------
    >>> lost = failed_outcome(Cell("iris", "SVC"), Status.CRASHED, "the machine is gone", seed=7)
    >>> lost.status.word, lost.details["elapsed"]
    ('crashed', 0.0)
    """
    details = {"traceback": traceback, "started": time() - elapsed, "elapsed": elapsed}
    return Outcome(cell, status, seed=seed, reason=reason, details=details)
