"""Where a study stands: read from the statuses alone, also while a run writes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mlaut.files_io import Study
from mlaut.files_io.lock import holder_of
from mlaut.records import Status

__all__ = ["StudyStatus", "failures", "study_status"]


@dataclass(frozen=True)
class StudyStatus:
    """Where a study stands.

    Attributes
    ----------
    path : Path
    datasets, strategies : tuple of str
    counts : mapping of (dataset, strategy) to mapping of Status to int
        Number of cells of each status.
    running : mapping or None
        The process that writes to the study now: ``pid``, ``host``, ``since``, ``command``.
    unsettled : bool
        Whether an interrupted run left a journal; the next run puts it in order.
    """

    path: Path
    datasets: tuple[str, ...]
    strategies: tuple[str, ...]
    counts: Mapping[tuple[str, str], Mapping[Status, int]]
    running: Mapping[str, Any] | None
    unsettled: bool

    @property
    def total(self) -> Counter[Status]:
        """Number of cells of each status in the whole study."""
        total: Counter[Status] = Counter()
        for counts in self.counts.values():
            total.update(counts)
        return total

    def of_strategy(self, strategy: str) -> Counter[Status]:
        """Count the cells of each status of one strategy."""
        total: Counter[Status] = Counter()
        for (_, name), counts in self.counts.items():
            if name == strategy:
                total.update(counts)
        return total

    @property
    def complete(self) -> bool:
        """Whether every cell has predictions."""
        total = self.total
        return bool(total) and total[Status.DONE] == total.total()

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain JSON values."""
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
        return "\n".join(lines)


def study_status(path: str | os.PathLike[str]) -> StudyStatus:
    """Say where a study stands.

    Parameters
    ----------
    path : path-like
        The study file.

    Returns
    -------
    StudyStatus

    Raises
    ------
    StoreError, StudyError
        The file cannot be read, or is not a study.
    """
    study = Study(path)
    counts = {}
    for dataset, (names, status) in study.statuses().items():
        for name, of_strategy in zip(names, status, strict=True):
            values, numbers = np.unique(of_strategy, return_counts=True)
            counts[dataset, name] = {
                Status(int(v)): int(n) for v, n in zip(values, numbers, strict=True)
            }
    return StudyStatus(
        path=study.path,
        datasets=study.datasets,
        strategies=tuple(entry.name for entry in study.strategies),
        counts=counts,
        running=holder_of(study.path),
        unsettled=study.journal_path.exists(),
    )


def failures(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Say why cells failed: one row a strategy, status and reason, the most frequent first.

    Returns
    -------
    list of dict
        ``strategy``, ``status``, ``cells``, ``datasets`` (the first three), ``reason``.
    """
    study = Study(path)
    found: dict[tuple[str, str, str], list[str]] = {}
    for dataset in study.datasets:
        for record in study.details(dataset):
            if record["reason"]:
                key = record["strategy"], record["status"], record["reason"]
                found.setdefault(key, []).append(dataset)
    return [
        {
            "strategy": strategy,
            "status": status,
            "cells": len(datasets),
            "datasets": ", ".join(list(dict.fromkeys(datasets))[:3])
            + (", ..." if len(set(datasets)) > 3 else ""),
            "reason": reason,
        }
        for (strategy, status, reason), datasets in sorted(
            found.items(), key=lambda item: -len(item[1])
        )
    ]
