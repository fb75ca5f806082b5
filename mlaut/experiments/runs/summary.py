"""Summary of a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlaut.experiments.plans.ledger import Ledger, alike, counts_text, counts_words
from mlaut.helpers.markup import Displayed, counted
from mlaut.records import Status


@dataclass(frozen=True, eq=False, repr=False)
class RunSummary(Displayed):
    """Numbers of cells that a run did, with the reasons of failures.

    Attributes
    ----------
    study : Path
        Path of the study's database.
    before : Ledger
        All requested cells, by their status before the run.
    tried : Ledger
        Cells that the run was to do, by their status before the run.
    counts : mapping of Status to int
        Number of cells of this run, by status.
    reasons : tuple of (str, int)
        Reasons of failures with their number of cells, the most frequent first.
    seconds : float
        Wall time of this run.
    race : str
        Result of the race in words; empty for a study that is no race.
    versions : str
        Versions of libraries that the results of the study mix, in words; else empty.
    n_unsaved : int
        Number of cells that are done and have no saved model, of a run with ``save_models``.
    """

    study: Path
    before: Ledger
    tried: Ledger
    counts: Mapping[Status, int]
    reasons: tuple[tuple[str, int], ...]
    seconds: float
    race: str = ""
    versions: str = ""
    n_unsaved: int = 0

    @property
    def n_cells(self) -> int:
        """Number of requested cells."""
        return self.before.n_cells

    @property
    def n_before(self) -> int:
        """Number of requested cells that were done before this run."""
        return self.before.n_done

    @property
    def n_done(self) -> int:
        """Number of cells that are done now."""
        return self.n_before + self.counts.get(Status.DONE, 0)

    @property
    def failed_before(self) -> int:
        """Number of cells that failed in earlier runs and were not tried again."""
        return self.before.n_failed - self.tried.n_failed

    @property
    def n_failed(self) -> int:
        """Number of failed cells, of this run and of earlier ones."""
        return self.failed_before + sum(n for status, n in self.counts.items() if status.failed)

    @property
    def skipped_before(self) -> int:
        """Number of cells that were skipped in earlier runs and were not tried in this one."""
        return self.before.total[Status.SKIPPED] - self.tried.total[Status.SKIPPED]

    @property
    def complete(self) -> bool:
        """Return whether every requested cell has predictions."""
        return self.n_done == self.n_cells

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {
            "study": str(self.study),
            "complete": self.complete,
            "cells": self.n_cells,
            "done": self.n_done,
            "this_run": counts_words(self.counts),
            "failed_before": self.failed_before,
            "skipped_before": self.skipped_before,
            "reasons": [{"reason": reason, "cells": count} for reason, count in self.reasons],
            "seconds": self.seconds,
            **({"race": self.race} if self.race else {}),
            **({"versions": self.versions} if self.versions else {}),
            **({"without_model": self.n_unsaved} if self.n_unsaved else {}),
        }

    def _lines(self) -> list[str]:
        lines = [
            f"{self.study}: {self.n_done} of {counted(self.n_cells, 'cell')} done; this run: "
            f"{counts_text(self.counts) or 'nothing to do'} in {self.seconds:.1f} s"
        ]
        parts = ((reason.partition(": "), count) for reason, count in self.reasons)
        grouped = alike((name + colon, reason, count) for (name, colon, reason), count in parts)
        for name, reason, count in sorted(grouped, key=lambda group: -group[2]):
            lines.append(f"  {counted(count, 'cell')}: {name}{reason}")
        if self.failed_before:
            lines.append(
                f"  {counted(self.failed_before, 'cell')} failed in earlier runs and "
                f"{'was' if self.failed_before == 1 else 'were'} not tried again; "
                "retry=['error', 'timeout', ...] tries them"
            )
        if skipped := self.skipped_before + self.counts.get(Status.SKIPPED, 0):
            lines.append(
                f"  {counted(skipped, 'cell')} skipped, too large for their strategies; "
                "limits=False or retry=['skipped'] tries them"
            )
        if self.race:
            lines.append(f"  race: {self.race}")
        if self.versions:
            lines.append(f"  {self.versions}")
        if self.n_unsaved:
            lines.append(
                f"  {counted(self.n_unsaved, 'cell')} done before without a saved model; "
                f"save_models of the study, or 'mlaut study models {self.study}', fits them again"
            )
        return lines
