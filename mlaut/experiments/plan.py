"""What a run will do: the cells that are wanted, minus those that are done, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlaut.errors import StrategyError, StudyError
from mlaut.estimators import MlautEstimator
from mlaut.files_io import MemoryStudy, SplitEntry, StrategyEntry, Study
from mlaut.records import Status

__all__ = ["Plan", "PlannedDataset", "applicable", "changed_parameters", "make_plan", "parse_retry"]


@dataclass(frozen=True, eq=False)
class PlannedDataset:
    """The cells of one dataset.

    Attributes
    ----------
    entry : SplitEntry
    strategies : tuple of str, length S
        Those that this run wants.
    status : ndarray of uint8, shape (S, R, F)
        As stored before the run.
    todo : ndarray of bool, shape (S, R, F)
        What the run will do.
    """

    entry: SplitEntry
    strategies: tuple[str, ...]
    status: np.ndarray
    todo: np.ndarray


@dataclass(frozen=True, eq=False)
class Plan:
    """The cells that a run wants, by dataset.

    Attributes
    ----------
    datasets : tuple of PlannedDataset
    """

    datasets: tuple[PlannedDataset, ...]

    @property
    def n_cells(self) -> int:
        """Number of cells wanted, done or not."""
        return sum(planned.todo.size for planned in self.datasets)

    @property
    def n_todo(self) -> int:
        """Number of cells that the run will do."""
        return sum(int(planned.todo.sum()) for planned in self.datasets)

    def counts(self) -> Counter[Status]:
        """Count the wanted cells of each status before the run."""
        counts: Counter[Status] = Counter()
        for planned in self.datasets:
            values, numbers = np.unique(planned.status, return_counts=True)
            counts.update({Status(v): int(n) for v, n in zip(values, numbers, strict=True)})
        return counts

    def groups(self) -> Iterator[tuple[SplitEntry, str, tuple[tuple[int, int], ...]]]:
        """Give dataset, strategy and (repeat, fold) of the cells to do, group by group."""
        for planned in self.datasets:
            for strategy, todo in zip(planned.strategies, planned.todo, strict=True):
                if todo.any():
                    cells = tuple((int(r), int(f)) for r, f in np.argwhere(todo))
                    yield planned.entry, strategy, cells

    def why(self) -> list[dict[str, Any]]:
        """Tell for each dataset and strategy how many cells are in which state.

        Returns
        -------
        list of dict
            ``dataset``, ``strategy``, ``cells``, ``todo``, and ``because``: ``new``, ``done``,
            ``tried again: timeout``, ``failed before: error (not tried again)``.
        """
        rows = []
        for planned in self.datasets:
            for name, status, todo in zip(
                planned.strategies, planned.status, planned.todo, strict=True
            ):
                for value in np.unique(status):
                    for run in np.unique(todo[status == value]):
                        count = int(((status == value) & (todo == run)).sum())
                        rows.append(
                            {
                                "dataset": planned.entry.name,
                                "strategy": name,
                                "cells": count,
                                "todo": count if run else 0,
                                "because": _because(Status(int(value)), bool(run)),
                            }
                        )
        return rows


def _because(status: Status, run: bool) -> str:
    if status is Status.MISSING:
        return "new" if run else "not wanted"
    if status is Status.DONE:
        return "done"
    return (
        f"tried again: {status.word}" if run else f"failed before: {status.word} (not tried again)"
    )


def applicable(
    entries: Iterable[SplitEntry], strategies: Sequence[MlautEstimator]
) -> dict[str, list[str]]:
    """Say which strategies run on which dataset: those of its task.

    Raises
    ------
    StrategyError
        A strategy suits no dataset, or a dataset has no strategy that suits it.
    """
    entries = list(entries)
    tasks = sorted({entry.task for entry in entries})
    for strategy in strategies:
        if not set(strategy.tasks) & set(tasks):
            raise StrategyError(
                f"strategy {strategy.name!r} is for {' and '.join(strategy.tasks)}, and the "
                f"datasets ({', '.join(entry.name for entry in entries[:3])}"
                f"{', ...' if len(entries) > 3 else ''}) are for {' and '.join(tasks)}; "
                "leave it out, or add datasets of its task"
            )
    suited = {e.name: [s.name for s in strategies if e.task in s.tasks] for e in entries}
    for entry in entries:
        if not suited[entry.name]:
            raise StrategyError(
                f"dataset {entry.name!r} is for {entry.task}, and none of the strategies is; "
                "leave it out, or add a strategy of its task"
            )
    return suited


def changed_parameters(old: StrategyEntry, new: StrategyEntry) -> list[str]:
    """Name what differs between two identities, as ``parameter: old -> new``."""
    before, after = _flat(old.identity), _flat(new.identity)
    nothing = "(absent)"
    return [
        f"{key}: {before.get(key, nothing)} -> {after.get(key, nothing)}"
        for key in sorted({*before, *after})
        if before.get(key, nothing) != after.get(key, nothing)
    ]


def _flat(value: Any, prefix: str = "") -> dict[str, str]:
    """Give every leaf of nested mappings and lists under its path; a (name, value) pair by name."""
    if isinstance(value, list | tuple) and any(isinstance(v, Mapping | list) for v in value):
        named = all(isinstance(v, list) and len(v) == 2 and isinstance(v[0], str) for v in value)
        value = dict(value) if named else dict(enumerate(value))
    if not isinstance(value, Mapping) or not value:
        return {prefix: str(value)}
    parts: dict[str, str] = {}
    for key, inner in value.items():
        parts |= _flat(inner, f"{prefix}.{key}" if prefix else str(key))
    return parts


def parse_retry(
    retry: Sequence[str] | Mapping[str, Sequence[str]], strategies: Sequence[str]
) -> dict[str, frozenset[Status]]:
    """Say for each strategy which failed cells are tried again.

    Parameters
    ----------
    retry : sequence of str, or mapping of str to sequence of str
        Statuses (``"error"``, ``"timeout"``, ``"memory"``, ``"crashed"``), or by strategy.
    strategies : sequence of str

    Raises
    ------
    StudyError
        A word is not a status of a failed cell, or a strategy is not part of the run.

    Examples
    --------
    >>> sorted(parse_retry(["timeout"], ["SVC"])["SVC"])
    [<Status.TIMEOUT: 3>]
    """
    by_strategy = retry if isinstance(retry, Mapping) else dict.fromkeys(strategies, retry)
    words = {status.word: status for status in Status if status.failed or status is Status.SKIPPED}
    parsed = dict.fromkeys(strategies, frozenset[Status]())
    for name, statuses in by_strategy.items():
        if name not in parsed:
            raise StudyError(f"retry: strategy {name!r} is not part of this run; check its name")
        for word in statuses:
            if word not in words:
                raise StudyError(f"retry {word!r}: not a failure; use {', '.join(words)}")
        parsed[name] = frozenset(words[word] for word in statuses)
    return parsed


def make_plan(
    study: Study | MemoryStudy,
    wanted: Mapping[str, Sequence[str]],
    retry: Mapping[str, frozenset[Status]],
) -> Plan:
    """Give the cells wanted minus the cells done.

    Parameters
    ----------
    study : Study
        In which room is allocated already.
    wanted : mapping of str to sequence of str
        Strategies of each dataset.
    retry : mapping
        As `parse_retry` gives it.
    """
    entries = study.load_splits()
    planned = []
    for dataset, (names, stored) in study.statuses(wanted).items():
        strategies = tuple(wanted[dataset])
        status = stored[[names.index(name) for name in strategies]]
        todo = np.stack(
            [
                (part == Status.MISSING) | np.isin(part, sorted(retry.get(name, ())))
                for name, part in zip(strategies, status, strict=True)
            ]
        )
        planned.append(PlannedDataset(entries[dataset], strategies, status, todo))
    return Plan(tuple(planned))
