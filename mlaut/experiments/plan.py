"""What a run will do: the cells that are wanted, minus those that are done, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlaut.errors import MlautError, StrategyError, StudyError, nearest
from mlaut.estimators import MlautEstimator
from mlaut.estimators.former_identity import has_compiled_code, without_code
from mlaut.estimators.packages import check_packages
from mlaut.files_io import MemoryStudy, SplitEntry, StrategyEntry, Study
from mlaut.files_io.study_records import merged_entry
from mlaut.markup import table_html
from mlaut.records import Status

__all__ = [
    "Plan",
    "PlannedDataset",
    "applicable",
    "changed_parameters",
    "make_plan",
    "parse_retry",
]


@dataclass(frozen=True, eq=False)
class PlannedDataset:
    """The cells of one dataset.

    Attributes
    ----------
    entry : SplitEntry
        With the repeats that the run wants.
    strategies : tuple of str, length S
        Those that this run wants.
    status : ndarray of uint8, shape (S, R, F)
        As stored before the run; missing what will be given up.
    todo : ndarray of bool, shape (S, R, F)
        What the run will do.
    stored : SplitEntry or None
        As the study has it; None for a new dataset.
    known : tuple of str
        Strategies that the study has room for on this dataset.
    refused : str
        Why nothing can run on it: its content or its split is not the stored one.
    too_large : mapping of str to str
        The strategies that cannot do it in reasonable time, and why.
    """

    entry: SplitEntry
    strategies: tuple[str, ...]
    status: np.ndarray
    todo: np.ndarray
    stored: SplitEntry | None = None
    known: tuple[str, ...] = ()
    refused: str = ""
    too_large: Mapping[str, str] = field(default_factory=dict)

    @property
    def skipped(self) -> np.ndarray:
        """What the run will store as skipped, without trying: bool, shape (S, R, F)."""
        large = np.array([name in self.too_large for name in self.strategies], dtype=bool)
        return (self.status == Status.MISSING) & large[:, None, None]


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """The cells that a run wants, by dataset.

    Attributes
    ----------
    datasets : tuple of PlannedDataset
    changed : mapping of str to str
        The strategies that are stored with other parameters: what differs.
    known : frozenset of str
        The strategies of the study.
    refusals : tuple of MlautError
        What the run will refuse, each with its way out.
    notes : mapping of str to tuple of str
        What else is to be known of a strategy: that it was recognised by an older identity, and
        where a change of its code would not be noticed.
    """

    datasets: tuple[PlannedDataset, ...]
    changed: Mapping[str, str] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    refusals: tuple[MlautError, ...] = ()
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def n_cells(self) -> int:
        """Number of cells wanted, done or not."""
        return sum(planned.todo.size for planned in self.datasets)

    @property
    def n_todo(self) -> int:
        """Number of cells that the run will do."""
        return sum(int(planned.todo.sum()) for planned in self.datasets)

    @property
    def n_skipped(self) -> int:
        """Number of cells that the run will store as skipped, without trying them."""
        return sum(int(planned.skipped.sum()) for planned in self.datasets)

    def __str__(self) -> str:
        refused = [f"refused: {refusal}" for refusal in self.refusals]
        return "\n".join([f"{self.n_cells} cells, {self.n_todo} to do", *refused])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return table_html(str(self), self.why())

    def check(self) -> None:
        """Raise the first of the refusals, if there are any."""
        if self.refusals:
            raise self.refusals[0]

    def counts(self) -> Counter[Status]:
        """Count the wanted cells of each status before the run."""
        numbers = sum(
            (
                np.bincount(planned.status.ravel(), minlength=len(Status))
                for planned in self.datasets
            ),
            start=np.zeros(len(Status), dtype=np.intp),
        )
        return Counter({Status(value): int(n) for value, n in enumerate(numbers) if n})

    def groups(self) -> Iterator[tuple[SplitEntry, str, tuple[tuple[int, int], ...]]]:
        """Return dataset, strategy and (repeat, fold) of the cells to do, group by group."""
        for planned in self.datasets:
            for strategy, todo in zip(planned.strategies, planned.todo, strict=True):
                if todo.any():
                    cells = tuple((int(r), int(f)) for r, f in np.argwhere(todo))
                    yield planned.entry, strategy, cells

    def why(self) -> list[dict[str, Any]]:
        """Tell why each group of cells will run or not.

        Returns
        -------
        list of dict
            One row a strategy and reason, in the order of the run: ``strategy``, ``because``,
            ``cells``, ``todo`` and ``datasets`` (the first three). The reasons are ``new
            strategy``, ``new dataset``, ``new repeats``, ``not run yet``, ``parameters changed:
            ...``, ``data changed: ...``, ``done``, ``tried again: timeout``, ``failed before:
            error (not tried again)``, ``skipped: ...``. A row of no cells tells of a strategy
            itself (``notes``).
        """
        found: dict[tuple[str, str], tuple[Counter[str], list[str]]] = {}
        for planned in self.datasets:
            for s, strategy in enumerate(planned.strategies):
                for because, cells, todo in self._reasons(planned, s):
                    counts, datasets = found.setdefault((strategy, because), (Counter(), []))
                    counts.update(cells=cells, todo=todo)
                    datasets.append(planned.entry.name)
        order = {name: k for k, name in enumerate(dict.fromkeys(name for name, _ in found))}
        for name in order:
            found |= {(name, note): (Counter(), []) for note in self.notes.get(name, ())}
        return [
            {
                "strategy": strategy,
                "because": because,
                "cells": counts["cells"],
                "todo": counts["todo"],
                "datasets": ", ".join(datasets[:3]) + (", ..." if len(datasets) > 3 else ""),
            }
            for (strategy, because), (counts, datasets) in sorted(
                found.items(), key=lambda item: order[item[0][0]]
            )
        ]

    def _reasons(self, planned: PlannedDataset, s: int) -> Iterator[tuple[str, int, int]]:
        """Return reason, cells and cells to do of each group of one strategy on one dataset."""
        strategy, status, todo = planned.strategies[s], planned.status[s], planned.todo[s]
        if planned.refused or strategy in self.changed:
            because = planned.refused or f"parameters changed: {self.changed[strategy]}"
            yield because + ("" if todo.any() else " (refused)"), todo.size, int(todo.sum())
            return
        has_room = planned.stored is not None and strategy in planned.known
        stored = planned.stored.split.n_repeats if planned.stored and has_room else len(status)
        for value in np.unique(status[:stored]).tolist():
            of_value = status[:stored] == value
            run = int(todo[:stored][of_value].sum())
            if not run and strategy in planned.too_large and value in _NOT_TRIED:
                because = f"skipped: {planned.too_large[strategy]}"
            elif value == Status.MISSING:
                because = self._newness(planned, strategy)
            else:
                because = _because(value, bool(run))
            yield because, int(of_value.sum()), run
        if stored < len(status):
            yield "new repeats", status[stored:].size, int(todo[stored:].sum())

    def _newness(self, planned: PlannedDataset, strategy: str) -> str:
        if planned.stored is None:
            return "new dataset" if strategy in self.known else "new strategy"
        if strategy in planned.known:
            return "not run yet"
        return "new dataset for it" if strategy in self.known else "new strategy"


_NOT_TRIED = (Status.MISSING, Status.SKIPPED)


def _because(status: int, run: bool) -> str:
    word = Status(status).word
    if status == Status.DONE:
        return word
    return f"tried again: {word}" if run else f"failed before: {word} (not tried again)"


def applicable(
    entries: Iterable[SplitEntry], strategies: Sequence[MlautEstimator]
) -> dict[str, list[str]]:
    """Say which strategies run on which dataset: those of its task.

    What a word for many (``"all"``, a family) gives for other tasks is left out.

    Raises
    ------
    StrategyError
        A strategy that was named suits no dataset, or a dataset has none that suits it.
    OptionalPackageError
        A strategy needs a package that is not installed.
    """
    entries = list(entries)
    tasks = sorted({entry.task for entry in entries})
    tasks_of = {strategy.name: strategy.tasks for strategy in strategies}
    suits_any = [strategy for strategy in strategies if set(tasks_of[strategy.name]) & set(tasks)]
    for strategy in strategies:
        if strategy not in suits_any and not strategy.chosen_by:
            raise StrategyError(
                f"strategy {strategy.name!r} is for {' and '.join(strategy.tasks)}, and the "
                f"datasets ({', '.join(entry.name for entry in entries[:3])}"
                f"{', ...' if len(entries) > 3 else ''}) are for {' and '.join(tasks)}; "
                "leave it out, or add datasets of its task"
            )
    check_packages(suits_any)
    suited = {e.name: [s.name for s in suits_any if e.task in tasks_of[s.name]] for e in entries}
    for entry in entries:
        if not suited[entry.name]:
            raise StrategyError(
                f"dataset {entry.name!r} is for {entry.task}, and none of the strategies is; "
                "leave it out, or add a strategy of its task"
            )
    return suited


def changed_parameters(old: StrategyEntry, new: StrategyEntry) -> list[str]:
    """Name what differs between two identities, as ``parameter: old -> new``."""
    if has_compiled_code(old.identity):  # by an older version, which looked at code in another way
        before, after = _flat(without_code(old.identity)), _flat(without_code(new.identity))
        if before == after:
            return ["code: as it was compiled -> another"]
    else:
        before, after = _flat(old.identity), _flat(new.identity)
    nothing = "(absent)"
    return [
        f"{key}: {_short(before.get(key, nothing))} -> {_short(after.get(key, nothing))}"
        for key in sorted({*before, *after})
        if before.get(key, nothing) != after.get(key, nothing)
    ]


def _short(text: str) -> str:
    """Write a digest by its beginning, as everywhere."""
    return text[:12] if re.fullmatch("[0-9a-f]{64}", text) else text


def _flat(value: Any, prefix: str = "") -> dict[str, str]:
    """Return each leaf of nested mappings and lists by its path; a (name, value) pair by name."""
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
    retry: str | Sequence[str] | Mapping[str, str | Sequence[str]], strategies: Sequence[str]
) -> dict[str, frozenset[Status]]:
    """Say for each strategy which failed cells are tried again.

    Parameters
    ----------
    retry : str, sequence of str, or mapping of str to either
        Statuses (``"error"``, ``"timeout"``, ``"memory"``, ``"crashed"``), or by strategy.
    strategies : sequence of str

    Raises
    ------
    StudyError
        A word is not a status of a failed cell, or a strategy is not part of the run.

    Examples
    --------
    >>> sorted(parse_retry("timeout", ["SVC"])["SVC"])
    [<Status.TIMEOUT: 3>]
    """
    by_strategy = retry if isinstance(retry, Mapping) else dict.fromkeys(strategies, retry)
    words = {status.word: status for status in Status if status.failed or status is Status.SKIPPED}
    parsed = dict.fromkeys(strategies, frozenset[Status]())
    for name, statuses in by_strategy.items():
        if name not in parsed:
            raise StudyError(f"retry: strategy {name!r} is not part of this run; check its name")
        chosen = [statuses] if isinstance(statuses, str) else list(statuses)
        for word in chosen:
            if word not in words:
                hint = nearest(word, words) or f"; use {', '.join(words)}"
                raise StudyError(f"retry {word!r}: not a failure{hint}")
        parsed[name] = frozenset(words[word] for word in chosen)
    return parsed


def make_plan(
    study: Study | MemoryStudy | None,
    wanted: Mapping[str, Sequence[str]],
    retry: Mapping[str, frozenset[Status]],
    *,
    entries: Mapping[str, SplitEntry] | None = None,
    strategies: Sequence[StrategyEntry] = (),
    replace: bool = False,
    too_large: Mapping[str, Mapping[str, str]] | None = None,
) -> Plan:
    """Return the cells wanted minus the cells done; nothing is changed.

    Parameters
    ----------
    study : Study, MemoryStudy or None
        None where there is none yet.
    wanted : mapping of str to sequence of str
        Strategies of each dataset.
    retry : mapping
        As `parse_retry` gives it.
    entries : mapping of str to SplitEntry, optional
        The datasets as they are now, with the splits wanted; default as they are stored.
    strategies : sequence of StrategyEntry
        As they are now; default as they are stored.
    replace : bool, default False
        Run strategies again that are stored with other parameters.
    too_large : mapping of str to mapping, optional
        For each dataset the strategies that shall not try it, and why, as
        `mlaut.experiments.size_checks.too_large` gives them. A cell that was skipped before is run
        where its strategy is not among them.
    """
    stored = study.load_splits() if study else {}
    statuses = study.statuses([name for name in wanted if name in stored]) if study else {}
    before = {entry.name: entry for entry in study.strategies} if study else {}
    changed = {
        new.name: _told_change(before[new.name], new)
        for new in strategies
        if new.name in before and not before[new.name].is_same(new)
    }
    notes = {new.name: _notes(before.get(new.name), new) for new in strategies}
    refusals = [] if replace else [_refused(name, what) for name, what in changed.items()]
    planned = []
    for dataset, names in wanted.items():
        old, given = stored.get(dataset), (entries or stored)[dataset]
        refused, entry = "", given
        if old:
            try:
                entry = merged_entry(old, given)
            except StudyError as error:
                refusals.append(error)
                refused, entry = _told_difference(old, given), old
        known, status = statuses.get(dataset, ((), np.zeros((0, 0, 0), dtype=np.uint8)))
        now = _status_now(entry, names, known, status, changed)
        runs = [not refused and (replace or name not in changed) for name in names]
        large = {
            name: why
            for (name, why) in (too_large or {}).get(dataset, {}).items()
            if runs[names.index(name)]
        }
        again = np.zeros((len(names), len(Status)), dtype=bool)
        for s, name in enumerate(names):
            again[s, [*retry.get(name, ()), *(() if name in large else _NOT_TRIED)]] = True
        todo = again[np.arange(len(names))[:, None, None], now]
        todo[np.invert(runs)] = False
        planned.append(PlannedDataset(entry, tuple(names), now, todo, old, known, refused, large))
    return Plan(tuple(planned), changed, frozenset(before), tuple(refusals), notes)


def _notes(old: StrategyEntry | None, new: StrategyEntry) -> tuple[str, ...]:
    known = new.formerly.get(old.fingerprint) if old else None
    recognised = [f"recognised: {known}"] if known else []
    unseen = [f"cannot look into {where}" for where in new.metadata.get("unseen", ())]
    return (*recognised, *unseen)


def _status_now(
    entry: SplitEntry,
    names: Sequence[str],
    known: Sequence[str],
    status: np.ndarray,
    changed: Mapping[str, str],
) -> np.ndarray:
    """Status of the wanted cells, of which the study may have no strategy or repeat yet."""
    now = np.zeros((len(names), entry.split.n_repeats, entry.split.n_folds), dtype=np.uint8)
    position = {name: s for s, name in enumerate(known)}
    for s, name in enumerate(names):
        if name in position and name not in changed:
            now[s, : status.shape[1]] = status[position[name]]
    return now


def _told_change(old: StrategyEntry, new: StrategyEntry) -> str:
    what = changed_parameters(old, new)
    return "; ".join(what[:3]) + ("; ..." if len(what) > 3 else "")


def _refused(name: str, what: str) -> StudyError:
    return StudyError(
        f"strategy {name!r} was run with other parameters ({what}); give it those back, or a new "
        "name, or pass overwrite_predictions=True to run it again"
    )


def _told_difference(old: SplitEntry, new: SplitEntry) -> str:
    if old.fingerprint != new.fingerprint:
        return f"data changed: {old.fingerprint[:12]} -> {new.fingerprint[:12]}"
    return f"split changed: {old.split.scheme} -> {new.split.scheme}"
