"""Status of a study: counts of cells, reasons for missing predictions, warnings.

The status can be read while a run writes. Predictions are not read.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mlaut.errors import some_of
from mlaut.experiments.plans.ledger import Ledger, count_cells, counts_text, counts_words
from mlaut.experiments.plans.shards import held_shard, requested_cells
from mlaut.files_io import StudyStore
from mlaut.files_io.outcomes.reason_counts import raised_once, rows_by_kind, without_numbers
from mlaut.files_io.outcomes.study_records import general_reason
from mlaut.files_io.safe_files.lock import holder_of, holder_words
from mlaut.files_io.studies.study_checks import journal_problems, remains_of
from mlaut.files_io.studies.study_layout import damage_explained
from mlaut.helpers.markup import Displayed, counted
from mlaut.records import Status

JOURNAL_LEFT = "an interrupted run left a journal; the next run merges it into the study"


@dataclass(frozen=True, eq=False, repr=False)
class StudyStatus(Displayed, Ledger):
    """Status of a study: number of cells by dataset, strategy and status.

    Attributes
    ----------
    datasets, strategies : tuple of str
        Names, in the order of the axes of ``cells``.
    cells : ndarray of int, shape (datasets, strategies, statuses)
        Number of cells of each `mlaut.records.Status`.
    path : Path
        Path of the study's database.
    running : mapping or None
        Process that writes to the study now: ``pid``, ``host``, ``since``, ``command``, and
        ``silent``, the seconds since it last showed that it is making progress.
    unsettled : bool
        Whether an interrupted run left a journal; the next run merges it into the study.
    remains : tuple of str
        What killed writers or damage left beside the study, one line each.
    warned : int
        Number of cells that ended with warnings; `warnings_of` returns their texts.
    shard : str
        The shard that the database holds, such as ``"2/10"``, whose cells are counted; empty for a
        whole study.
    """

    path: Path
    running: Mapping[str, Any] | None
    unsettled: bool
    remains: tuple[str, ...] = ()
    warned: int = 0
    shard: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {
            "study": str(self.path),
            "complete": self.complete,
            "cells": counts_words(self.total),
            "strategies": {name: counts_words(self.of_strategy(name)) for name in self.strategies},
            "datasets": list(self.datasets),
            "running": dict(self.running) if self.running else None,
            "unsettled": self.unsettled,
            "remains": list(self.remains),
            "warned": self.warned,
            **({"shard": self.shard} if self.shard else {}),
        }

    def _lines(self) -> list[str]:
        n_datasets = counted(len(self.datasets), "dataset")
        if not self.strategies:
            return [f"{self.path}: nothing run yet: {n_datasets}", *self.remains]
        lines = [
            f"{self.path}: {f'shard {self.shard}, ' if self.shard else ''}{n_datasets}, "
            f"{counted(len(self.strategies), 'strategy', 'strategies')}, "
            f"{counted(self.n_cells, 'cell')}: {counts_text(self.total) or 'none yet'}"
        ]
        if self.running:
            lines.append(
                f"running: {holder_words(self.running)} since {self.running.get('since', '?')}"
            )
        elif self.unsettled:
            lines.append(JOURNAL_LEFT)
        if self.warned:
            cells = counted(self.warned, "cell")
            lines.append(f"{cells} ended with warnings; 'mlaut status --why' shows them")
        return [*lines, *self.remains]


def nothing_run(path: Path, datasets: Sequence[str]) -> StudyStatus:
    """Return the status of a study before its first run."""
    ledger = count_cells({name: ((), np.zeros((0, 0, 0), dtype=np.uint8)) for name in datasets})
    return StudyStatus(**vars(ledger), path=path, running=holder_of(path), unsettled=False)


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
    study = StudyStore(path)
    statuses = study.statuses()  # read before the strategies: a run may add strategies in between
    strategies = [entry.name for entry in study.strategies]
    shard = held_shard(study)
    with damage_explained(study.path):
        ledger = count_cells(statuses, strategies, requested_cells(study, shard))
    return StudyStatus(
        **vars(ledger),
        path=study.path,
        running=holder_of(study.path),
        unsettled=study.journal_path.exists(),
        remains=(*remains_of(study), *journal_problems(study)),
        warned=sum(1 for _ in study.warnings()),
        shard=str(shard or ""),
    )


@dataclass(frozen=True, repr=False)
class SummedStatus(Displayed):
    """Status of several files together: the shards of a study, or studies.

    Attributes
    ----------
    title : str
        What the files are of.
    parts : tuple of (Path, StudyStatus or None, str)
        Each file, its status (None if there is no file yet), and its task in a queue.
    """

    title: str
    parts: tuple[tuple[Path, StudyStatus | None, str], ...]

    @property
    def total(self) -> Counter[Status]:
        """Number of cells of each status, of all files."""
        known = (status.total for _, status, _ in self.parts if status is not None)
        return sum(known, Counter[Status]())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {"title": self.title, "cells": counts_words(self.total), "parts": self.rows()}

    def _lines(self) -> list[str]:
        lines = [
            f"{self.title}: {counted(len(self.parts), 'part')}, "
            f"{counted(self.total.total(), 'cell')}: "
            f"{counts_text(self.total) or 'none yet'}"
        ]
        if absent := [path.name for path, status, _ in self.parts if status is None]:
            lines.append(f"no file yet, and their cells not counted: {some_of(absent, 3)}")
        return lines

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each file: its cells, and what runs it or waits for it."""
        rows = []
        for path, status, task in self.parts:
            total = Counter[Status]() if status is None else status.total
            running = status and status.running
            cells, done, missing = total.total(), total[Status.DONE], total[Status.MISSING]
            ended = "finished" if cells and not missing else "stopped" if status else "no file yet"
            now = holder_words(running) if running else task or ended
            failed = cells - done - missing
            counts = {"cells": cells, "done": done, "other": failed, "missing": missing}
            rows.append({"file": path.name, **counts, "now": now})
        return rows


def sum_of_studies(title: str, tasks: Mapping[Path, str]) -> SummedStatus:
    """Return the status of several files together, each given with its task in a queue."""
    parts = []
    for path, task in tasks.items():
        begun = path.exists() and StudyStore(path).exists
        parts.append((path, study_status(path) if begun else None, task))
    return SummedStatus(title, tuple(parts))


def check_alive(path: str | os.PathLike[str], within: float = 300.0) -> tuple[bool, str]:
    """Return whether a study is finished or a run of it is making progress, and a line about it.

    This function is for health checks; ``mlaut status --alive`` prints the line. While a run works,
    only its lock is read.

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
    study = StudyStore(path)
    run = holder_of(study.path)
    if run is not None:
        who = holder_words(run)
        if run["silent"] <= within:
            return True, f"{study.path}: {who} is running; last progress {run['silent']:.0f} s ago"
        return False, (
            f"{study.path}: {who} has shown no progress for {run['silent']:.0f} s (allowed: "
            f"{within:.0f} s); look at its output, or stop it and make the same call again"
        )
    if not study.exists:
        return False, f"{study.path}: there is no study yet, and no run; start one with 'mlaut run'"
    ledger = count_cells(study.statuses(), where=requested_cells(study, held_shard(study)))
    n_cells, missing = ledger.n_cells, ledger.total[Status.MISSING]
    if n_cells and not missing:
        return True, f"{study.path}: finished, all {n_cells} cells have an outcome"
    return False, (
        f"{study.path}: no run is active, and {missing} of {n_cells} cells have no outcome; "
        "'mlaut run' resumes it"
    )


def unfinished(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the reasons why cells have no predictions, most cells first.

    Returns
    -------
    list of dict
        One row per strategy, status and reason: ``strategy``, ``status``, ``cells``, ``datasets``
        (the first three), ``reason``, ``traceback`` (of the first of these cells; empty if none
        was stored). Reasons that differ only in numbers have one row, with the first of them.
    """
    study = StudyStore(path)
    tracebacks: dict[tuple[str, ...], str] = {}

    def found() -> Iterator[tuple[dict[str, str], str, str, int]]:
        for dataset, records in study.all_details(only=[s for s in Status if s != Status.DONE]):
            for record in records:
                whose = {name: record[name] for name in ("strategy", "status")}
                text = general_reason(record)
                kind = (*whose.values(), without_numbers(text))
                tracebacks.setdefault(kind, record.get("traceback", ""))
                yield whose, text, dataset, 1
        requested = requested_cells(study, held_shard(study))
        for dataset, (names, status) in study.statuses().items():
            missing = ((status == Status.MISSING) & requested[dataset]).sum(axis=(1, 2))
            for name, count in zip(names, missing.tolist(), strict=True):
                if count:
                    whose = {"strategy": name, "status": Status.MISSING.word}
                    yield whose, "not run yet", dataset, count

    rows = rows_by_kind("reason", found())
    kinds = [(row["strategy"], row["status"], without_numbers(row["reason"])) for row in rows]
    return [{**r, "traceback": tracebacks.get(k, "")} for r, k in zip(rows, kinds, strict=True)]


def warnings_of(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the warnings of the cells of a study, most cells first.

    Returns
    -------
    list of dict
        One row per strategy and warning: ``strategy``, ``cells``, ``datasets`` (the first three),
        and ``warning`` (its first line, without how often it came in a cell). Warnings that differ
        only in numbers have one row, with the first of them.
    """
    lines = (
        ({"strategy": strategy}, line, dataset, 1)
        for dataset, strategy, texts in StudyStore(path).warnings()
        for line in dict.fromkeys(raised_once(text).partition("\n")[0] for text in texts)
    )
    return rows_by_kind("warning", lines)
