"""Status of a study: counts of cells, reasons for missing predictions, warnings.

The status can be read while a run writes. Predictions are not read.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mlaut.files_io import Study
from mlaut.files_io.lock import holder_of
from mlaut.files_io.remains import remains_of
from mlaut.files_io.study_layout import damage_explained
from mlaut.markup import table_html
from mlaut.records import Status

__all__ = ["StudyStatus", "check_alive", "study_status", "unfinished", "warnings_of"]


@dataclass(frozen=True, repr=False)
class StudyStatus:
    """Status of a study: number of cells by dataset, strategy and status.

    Attributes
    ----------
    path : Path
        Path of the study's database.
    datasets, strategies : tuple of str
        Names, in the order of the axes of ``cells``.
    cells : ndarray of int, shape (datasets, strategies, 7)
        Number of cells of each `mlaut.records.Status`.
    running : mapping or None
        Process that writes to the study now: ``pid``, ``host``, ``since``, ``command``, and
        ``silent``, the seconds since it last showed that it is making progress.
    unsettled : bool
        Whether an interrupted run left a journal; the next run merges it into the study.
    warned : int
        Number of cells that ended with warnings; `warnings_of` returns their texts.
    remains : tuple of str
        What killed writers or damage left beside the study, one line each.
    """

    path: Path
    datasets: tuple[str, ...]
    strategies: tuple[str, ...]
    cells: np.ndarray
    running: Mapping[str, Any] | None
    unsettled: bool
    remains: tuple[str, ...] = ()
    warned: int = 0

    @property
    def total(self) -> Counter[Status]:
        """Number of cells of each status in the whole study."""
        return _counter(self.cells.sum(axis=(0, 1)))

    def of_strategy(self, strategy: str) -> Counter[Status]:
        """Return the number of cells of one strategy by status."""
        return _counter(self.cells[:, self.strategies.index(strategy)].sum(axis=0))

    @property
    def complete(self) -> bool:
        """Whether every cell has predictions."""
        total = self.total
        return bool(total) and total[Status.DONE] == total.total()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {
            "study": str(self.path),
            "complete": self.complete,
            "cells": {status.word: count for status, count in sorted(self.total.items())},
            "strategies": {
                name: {status.word: n for status, n in sorted(self.of_strategy(name).items())}
                for name in self.strategies
            },
            "datasets": list(self.datasets),
            "running": dict(self.running) if self.running else None,
            "unsettled": self.unsettled,
            "remains": list(self.remains),
            "warned": self.warned,
        }

    def __str__(self) -> str:
        total = self.total
        cells = ", ".join(f"{n} {status.word}" for status, n in sorted(total.items()))
        lines = [
            f"{self.path}: {len(self.datasets)} datasets, {len(self.strategies)} strategies, "
            f"{total.total()} cells: {cells or 'none yet'}"
        ]
        if self.running:
            lines.append(
                f"running: process {self.running['pid']} on {self.running['host']} "
                f"since {self.running['since']}"
            )
        elif self.unsettled:
            lines.append("an interrupted run left a journal; the next run goes on from it")
        if self.warned:
            lines.append(
                f"{self.warned} cells ended with warnings; 'mlaut status --why' shows them"
            )
        lines += self.remains
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        words = sorted(self.total)
        rows = [
            {"strategy": name, **{word.word: self.of_strategy(name)[word] for word in words}}
            for name in self.strategies
        ]
        return table_html(str(self), rows)


def study_status(path: str | os.PathLike[str]) -> StudyStatus:
    """Return the status of a study.

    Parameters
    ----------
    path : path-like
        Path of the study's database.

    Returns
    -------
    StudyStatus

    Raises
    ------
    StoreError, StudyError
        The file cannot be read, or is not a study.
    """
    study = Study(path)
    statuses = study.statuses()  # read before the strategies: a run may add strategies in between
    strategies = tuple(entry.name for entry in study.strategies)
    position = {name: s for s, name in enumerate(strategies)}
    cells = np.zeros((len(statuses), len(strategies), len(Status)), dtype=np.intp)
    with damage_explained(study.path):
        for d, (names, status) in enumerate(statuses.values()):
            flat = status.reshape(len(names), math.prod(status.shape[1:]))
            for kind in Status:
                cells[d, [position[name] for name in names], kind] = (flat == kind).sum(axis=1)
    return StudyStatus(
        path=study.path,
        datasets=tuple(statuses),
        strategies=strategies,
        cells=cells,
        running=holder_of(study.path),
        unsettled=study.journal_path.exists(),
        remains=remains_of(study),
        warned=sum(1 for _ in study.warnings()),
    )


def check_alive(path: str | os.PathLike[str], within: float = 300.0) -> tuple[bool, str]:
    """Return whether a study is finished or a run of it is making progress, and a line about it.

    Meant for health checks; ``mlaut status --alive`` prints the line. While a run works, only its
    lock is read.

    Parameters
    ----------
    path : path-like
        Path of the study's database.
    within : float, default 300
        Seconds after which a run that shows no progress counts as stalled. Its engine shows
        progress about every second, also while no cell ends; the engine ``"inline"`` only when a
        cell ends.

    Raises
    ------
    StoreError, StudyError
        The file cannot be read, or is not a study.
    """
    study = Study(path)
    run = holder_of(study.path)
    if run is not None:
        who = f"process {run.get('pid', '?')} on {run.get('host', '?')}"
        if run["silent"] <= within:
            return True, f"{study.path}: {who} is running; last progress {run['silent']:.0f} s ago"
        return False, (
            f"{study.path}: {who} has shown no progress for {run['silent']:.0f} s (allowed: "
            f"{within:.0f} s); look at its output, or stop it and make the same call again"
        )
    if not study.exists:
        return False, f"{study.path}: there is no study yet, and no run; start one with 'mlaut run'"
    counts = [(status.size, int((status == 0).sum())) for _, status in study.statuses().values()]
    n_cells, missing = (sum(numbers) for numbers in zip(*counts, strict=True)) if counts else (0, 0)
    if n_cells and not missing:
        return True, f"{study.path}: finished, all {n_cells} cells have an outcome"
    return False, (
        f"{study.path}: no run is active, and {missing} of {n_cells} cells have no outcome; "
        "'mlaut run' goes on"
    )


def _counter(numbers: np.ndarray) -> Counter[Status]:
    return Counter({Status(kind): int(n) for kind, n in enumerate(numbers) if n})


def unfinished(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the reasons why cells have no predictions, most cells first.

    Returns
    -------
    list of dict
        One row per strategy, status and reason: ``strategy``, ``status``, ``cells``, ``datasets``
        (the first three), ``reason``, ``traceback`` (of the first of these cells; empty if none
        was stored).
    """
    study = Study(path)
    found: dict[tuple[str, str, str], dict[str, int]] = {}
    tracebacks: dict[tuple[str, str, str], str] = {}
    for dataset, records in study.all_details(only=[s for s in Status if s != Status.DONE]):
        for record in records:
            key = record["strategy"], record["status"], record["reason"]
            of_reason = found.setdefault(key, {})
            tracebacks.setdefault(key, record.get("traceback", ""))
            of_reason[dataset] = of_reason.get(dataset, 0) + 1
    for dataset, (names, status) in study.statuses().items():
        missing = (status == Status.MISSING).sum(axis=(1, 2))
        for name, count in zip(names, missing.tolist(), strict=True):
            if count:
                key = name, Status.MISSING.word, "not run yet"
                found.setdefault(key, {})[dataset] = count
    return [
        {
            "strategy": strategy,
            "status": status,
            "cells": sum(datasets.values()),
            "datasets": _first(datasets),
            "reason": reason,
            "traceback": tracebacks.get((strategy, status, reason), ""),
        }
        for (strategy, status, reason), datasets in sorted(
            found.items(), key=lambda item: -sum(item[1].values())
        )
    ]


def warnings_of(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the warnings of the cells of a study, most cells first.

    Returns
    -------
    list of dict
        One row per strategy and warning: ``strategy``, ``cells``, ``datasets`` (the first three),
        ``warning`` (its first line).
    """
    found: dict[tuple[str, str], dict[str, int]] = {}
    for dataset, strategy, texts in Study(path).warnings():
        for text in dict.fromkeys(text.strip().partition("\n")[0] for text in texts):
            of_text = found.setdefault((strategy, text), {})
            of_text[dataset] = of_text.get(dataset, 0) + 1
    return [
        {
            "strategy": strategy,
            "cells": sum(datasets.values()),
            "datasets": _first(datasets),
            "warning": text,
        }
        for (strategy, text), datasets in sorted(
            found.items(), key=lambda item: -sum(item[1].values())
        )
    ]


def _first(names: Iterable[str]) -> str:
    shown = [*names]
    return ", ".join(shown[:3]) + (", ..." if len(shown) > 3 else "")
