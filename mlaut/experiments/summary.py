"""Summary of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlaut.markup import table_html
from mlaut.records import Status

__all__ = ["RunSummary"]


@dataclass(frozen=True, repr=False)
class RunSummary:
    """Numbers of cells that a run did, with the reasons of failures.

    Attributes
    ----------
    study : Path
        Path of the study's database.
    n_cells : int
        Number of requested cells.
    n_before : int
        Number of requested cells that were done before this run.
    counts : mapping of Status to int
        Number of cells of this run, by status.
    failed_before : int
        Number of cells that failed in earlier runs and were not tried again.
    reasons : tuple of (str, int)
        Reasons of failures with their number of cells, the most frequent first.
    seconds : float
        Wall time of this run.
    skipped_before : int
        Number of cells that were skipped in earlier runs and were not tried in this one.
    """

    study: Path
    n_cells: int
    n_before: int
    counts: Mapping[Status, int]
    failed_before: int
    reasons: tuple[tuple[str, int], ...]
    seconds: float
    skipped_before: int = 0

    @property
    def n_done(self) -> int:
        """Number of cells that are done now."""
        return self.n_before + self.counts.get(Status.DONE, 0)

    @property
    def n_failed(self) -> int:
        """Number of failed cells, of this run and of earlier ones."""
        return self.failed_before + sum(n for status, n in self.counts.items() if status.failed)

    @property
    def complete(self) -> bool:
        """Whether every requested cell has predictions."""
        return self.n_done == self.n_cells

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {
            "study": str(self.study),
            "complete": self.complete,
            "cells": self.n_cells,
            "done": self.n_done,
            "this_run": {status.word: n for status, n in sorted(self.counts.items())},
            "failed_before": self.failed_before,
            "skipped_before": self.skipped_before,
            "reasons": [{"reason": reason, "cells": count} for reason, count in self.reasons],
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        words = [f"{n} {status.word}" for status, n in sorted(self.counts.items()) if n]
        lines = [
            f"{self.study}: {self.n_done} of {self.n_cells} cells done; this run: "
            f"{', '.join(words) or 'nothing to do'} in {self.seconds:.1f} s"
        ]
        lines += [f"  {count} cells: {reason}" for reason, count in self.reasons]
        if self.failed_before:
            lines.append(
                f"  {self.failed_before} cells failed in earlier runs and were not tried again; "
                "retry=['error', 'timeout', ...] does"
            )
        if skipped := self.skipped_before + self.counts.get(Status.SKIPPED, 0):
            lines.append(
                f"  {skipped} cells are too large for their strategies and were skipped; "
                "limits=False or retry=['skipped'] tries them"
            )
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return table_html(str(self))
