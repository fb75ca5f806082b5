"""The plan of a run: the requested cells, those of them to do, and the reason for each group."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain
from operator import methodcaller
from typing import Any

import numpy as np

from mlaut.errors import MlautError, StrategyError, StudyError, some_of
from mlaut.estimators import MlautEstimator
from mlaut.estimators.catalogue.registry import check_packages
from mlaut.estimators.looking import looked_at
from mlaut.estimators.searches.tuning import told_limits
from mlaut.estimators.strategy.scoring import DEFAULTS
from mlaut.experiments.options import RunOptions
from mlaut.experiments.plans.entries import (
    as_stored,
    described_change,
    metrics_of,
    strategy_entries,
)
from mlaut.experiments.plans.ledger import Ledger, count_cells
from mlaut.experiments.plans.run_options import parse_retry
from mlaut.experiments.plans.shards import Shard
from mlaut.files_io import FilesIO, SplitEntry, StrategyEntry, StudyStore
from mlaut.files_io.outcomes.reason_counts import rows_by_reason
from mlaut.files_io.outcomes.study_records import merged_entry, split_change
from mlaut.files_io.studies.study_reader import LEARNERS
from mlaut.files_io.tables.datasets import DatasetInfo
from mlaut.helpers.markup import Displayed, counted
from mlaut.identity.distributions import installed_version
from mlaut.records import Status, TooLarge

Group = tuple[SplitEntry, str, tuple[tuple[int, int], ...]]
"""Cells to do of one strategy on one dataset: dataset, strategy, and (repeat, fold) of each."""

Applied = Sequence[tuple[DatasetInfo, Sequence[MlautEstimator]]]
"""Datasets of a run, each with the strategies that run on it."""


@dataclass(frozen=True, eq=False)
class PlannedDataset:
    """Requested cells of one dataset.

    Attributes
    ----------
    entry : SplitEntry
        Dataset and split, with the repeats that the run requests.
    strategies : tuple of str, length S
        Names of the strategies that the run requests.
    status : ndarray of uint8, shape (S, R, F)
        Stored status of each cell before the run; missing if its outcome will be discarded.
    todo : ndarray of bool, shape (S, R, F)
        Whether the run will do each cell.
    stored : SplitEntry or None
        Dataset and split as the study stores them; None for a new dataset.
    known : tuple of str
        Strategies for which the study has arrays allocated on this dataset.
    refused : str
        Reason why nothing can run on the dataset: its content or its split differs from the
        stored one. Empty if it can run.
    size_reasons : mapping of str to TooLarge or str
        Strategies whose size limit the dataset exceeds, with the reason.
    share : ndarray of bool, shape (S, R, F) or ()
        Whether each cell belongs to this run, not to another shard. One of shape () is for all.
    """

    entry: SplitEntry
    strategies: tuple[str, ...]
    status: np.ndarray
    todo: np.ndarray
    stored: SplitEntry | None = None
    known: tuple[str, ...] = ()
    refused: str = ""
    size_reasons: Mapping[str, TooLarge | str] = field(default_factory=dict)
    share: np.ndarray = field(default_factory=lambda: np.array(True))

    @property
    def skipped(self) -> np.ndarray:
        """Cells that the run will store as skipped, without trying: bool, shape (S, R, F)."""
        large = np.array([name in self.size_reasons for name in self.strategies], dtype=bool)
        return (self.status == Status.MISSING) & large[:, None, None] & self.share

    def groups(self, among: Collection[str] | None = None) -> Iterator[Group]:
        """Yield each group of cells to do, of these strategies; default all."""
        for strategy, todo in zip(self.strategies, self.todo, strict=True):
            if todo.any() and (among is None or strategy in among):
                yield self.entry, strategy, tuple((int(r), int(f)) for r, f in np.argwhere(todo))


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Displayed):
    """Requested cells of a run, by dataset.

    Attributes
    ----------
    datasets : tuple of PlannedDataset
    changed : mapping of str to str
        Strategies that are stored with other parameters, with the differences.
    known : frozenset of str
        Names of the strategies that the study stores.
    refusals : tuple of MlautError
        Errors that the run will raise; each message says how to avoid it.
    notes : mapping of str to tuple of str
        Notes on strategies: one was recognised by an older identity, or a part of its code cannot
        be inspected, so that a change there would not be noticed.
    strategies : tuple of MlautEstimator
        Strategies that run on at least one dataset.
    entries : tuple of StrategyEntry
        The same strategies, as the study stores them.
    versions : str
        Versions of libraries that the results of the study will mix, in words; else empty.
    limits : str
        Strategies with cells to do whose search has a time limit (``tuning_timeout``, or a budget
        of seconds), and what goes on after it, in words; else empty.
    """

    datasets: tuple[PlannedDataset, ...]
    changed: Mapping[str, str] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    refusals: tuple[MlautError, ...] = ()
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    strategies: tuple[MlautEstimator, ...] = ()
    entries: tuple[StrategyEntry, ...] = ()
    versions: str = ""
    limits: str = ""

    @cached_property
    def before(self) -> Ledger:
        """Requested cells, done or not, by their status before the run."""
        return self._counted({p.entry.name: p.share for p in self.datasets})

    @cached_property
    def todo(self) -> Ledger:
        """Cells that the run will do, by their status before the run."""
        return self._counted({p.entry.name: p.todo for p in self.datasets})

    def _counted(self, where: Mapping[str, np.ndarray]) -> Ledger:
        statuses = {p.entry.name: (p.strategies, p.status) for p in self.datasets}
        return count_cells(statuses, where=where)

    @property
    def first_names(self) -> dict[str, str]:
        """First name of each strategy, from which seeds are derived."""
        return {entry.name: entry.first_name for entry in self.entries}

    @property
    def n_cells(self) -> int:
        """Number of requested cells, done or not."""
        return self.before.n_cells

    @property
    def n_todo(self) -> int:
        """Number of cells that the run will do."""
        return self.todo.n_cells

    @property
    def n_skipped(self) -> int:
        """Number of cells that the run will store as skipped, without trying them."""
        return sum(int(planned.skipped.sum()) for planned in self.datasets)

    def _lines(self) -> list[str]:
        refused = [f"refused: {refusal}" for refusal in self.refusals]
        notes = filter(None, (self.versions, self.limits))
        return [f"{counted(self.n_cells, 'cell')}, {self.n_todo} to do", *refused, *notes]

    def _rows(self) -> list[dict[str, Any]]:
        return self.why()

    def check(self) -> None:
        """Raise the first refusal, if there is any."""
        if self.refusals:
            raise self.refusals[0]

    def groups(self) -> Iterator[Group]:
        """Yield each group of cells to do."""
        for planned in self.datasets:
            yield from planned.groups()

    def why(self) -> list[dict[str, Any]]:
        """Return the reasons why cells will run or not.

        Returns
        -------
        list of dict
            One row per strategy and reason, in the order of the run: ``strategy``, ``because``,
            ``cells``, ``todo`` and ``datasets`` (the first three). The reasons are ``new
            strategy``, ``new dataset``, ``new repeats``, ``not run yet``, ``parameters changed:
            ...``, ``data changed: ...``, ``done``, ``tried again: timeout``, ``failed before:
            error (not tried again)``, ``skipped: ...``. A row without cells holds a note on the
            strategy itself (``notes``).
        """
        cells = [
            ({"strategy": strategy, "because": because}, planned.entry.name, numbers)
            for planned in self.datasets
            for s, strategy in enumerate(planned.strategies)
            for because, numbers in self._reasons(planned, s)
        ]
        order = {name: k for k, name in enumerate(self.before.strategies)}
        nothing = {"cells": 0, "todo": 0}
        for name in order:
            notes = self.notes.get(name, ())
            cells += [({"strategy": name, "because": note}, "", nothing) for note in notes]
        return sorted(rows_by_reason(cells), key=lambda row: order[row["strategy"]])

    def _reasons(self, planned: PlannedDataset, s: int) -> Iterator[tuple[str, dict[str, int]]]:
        """Yield reasons and their numbers of cells, for one strategy on one dataset."""
        strategy, status, todo = planned.strategies[s], planned.status[s], planned.todo[s]
        share = np.broadcast_to(planned.share, planned.todo.shape)[s]
        if planned.refused or strategy in self.changed:
            because = planned.refused or f"parameters changed: {self.changed[strategy]}"
            yield because + ("" if todo.any() else " (refused)"), _numbers(todo[share])
            return
        has_room = planned.stored is not None and strategy in planned.known
        stored = planned.stored.split.n_repeats if planned.stored and has_room else len(status)
        for value in np.unique(status[:stored][share[:stored]]).tolist():
            of_value = (status[:stored] == value) & share[:stored]
            numbers = _numbers(todo[:stored][of_value])
            if not numbers["todo"] and strategy in planned.size_reasons and value in _NOT_TRIED:
                reason = planned.size_reasons[strategy]
                rule = reason.rule if isinstance(reason, TooLarge) else reason
                because = f"{Status.SKIPPED.word}: {rule}"
            elif value == Status.MISSING:
                because = self._newness(planned, strategy)
            else:
                because = _reason(value, bool(numbers["todo"]))
            yield because, numbers
        if share[stored:].any():
            yield "new repeats", _numbers(todo[stored:][share[stored:]])

    def _newness(self, planned: PlannedDataset, strategy: str) -> str:
        if planned.stored is None:
            return "new dataset" if strategy in self.known else "new strategy"
        if strategy in planned.known:
            return "not run yet"
        return "new dataset for it" if strategy in self.known else "new strategy"


_NOT_TRIED = (Status.MISSING, Status.SKIPPED)


def _numbers(todo: np.ndarray) -> dict[str, int]:
    return {"cells": todo.size, "todo": int(todo.sum())}


def _reason(status: int, run: bool) -> str:
    word = Status(status).word
    if status == Status.DONE:
        return word
    if status == Status.RACED_OUT and not run:
        return f"{word} ('mlaut run --complete' runs it)"
    return f"tried again: {word}" if run else f"failed before: {word} (not tried again)"


def plan_run(
    study: StudyStore | None,
    input_io: FilesIO,
    splits: Mapping[str, SplitEntry],
    strategies: Sequence[MlautEstimator],
    options: RunOptions,
    metric: str = "",
) -> Plan:
    """Return the plan of a run: everything that the run needs to know; change nothing.

    Parameters
    ----------
    study : StudyStore or None
        The study; None if it does not exist yet.
    input_io : FilesIO
        Database of the datasets.
    splits : mapping of str to SplitEntry
        Datasets of the run with their present fingerprints and the requested splits, by name.
    strategies : sequence of MlautEstimator
    options : RunOptions
        Options of the run; the plan depends on ``retry``, ``overwrite_predictions``, ``limits``
        and ``shard``.
    metric : str
        Metric of the analysis that will be stored before the run; default that of the study.

    Raises
    ------
    StudyError, StrategyError, OptionalPackageError
        ``retry`` is invalid, a strategy or a dataset has no counterpart of its task, or a package
        is not installed. A contradiction to the stored study is among ``refusals`` of the plan.
    """
    metric = metric or next(iter(metrics_of(study)), "")
    strategies = as_stored(strategies, study, metric)
    entries = strategy_entries(strategies, study)
    requested = applicable(splits.values(), strategies)
    retry = parse_retry(options.retry, [strategy.name for strategy in strategies])
    infos = input_io.infos_of(splits[name].path for name in requested)
    limited = strategies if options.limits else ()
    plan = make_plan(
        study,
        requested,
        retry,
        splits=splits,
        entries=entries,
        replace_changed=options.overwrite_predictions,
        size_reasons=exceeded_size_limits(infos, splits, requested, limited, retry),
        searches=_other_searches(study, options),
    )
    if options.shard:
        plan = _share_of(replace(plan, entries=tuple(entries)), Shard.parse(options.shard))
    used, todo = {*chain.from_iterable(requested.values())}, {g[1] for g in plan.groups()}
    by_name = {strategy.name: strategy for strategy in strategies}
    suited = ([by_name[name] for name in names] for names in requested.values())
    applied = [*zip(infos, suited, strict=True)]
    now = {name: installed_version(name) for name in LEARNERS} if plan.n_todo else None
    return replace(
        plan,
        refusals=(*plan.refusals, *_without_weights(applied), *_not_taken(applied)),
        notes=_with_groups(_with_scores(plan.notes, strategies, metric), applied),
        strategies=tuple(strategy for strategy in strategies if strategy.name in used),
        entries=tuple(entry for entry in entries if entry.name in used),
        versions=study.mixed_versions(now) if study else "",
        limits=told_limits([s for s in strategies if s.name in todo], options.tuning_timeout),
    )


def _other_searches(study: StudyStore | None, options: RunOptions) -> str:
    """Return the searches of earlier runs that differ from the present one, in words."""
    runs = study.runs if study else ()
    stored = {(run["search"], run.get("budget")) for run in runs if run.get("search")}
    texts = (
        f"search={search!r}" + (f", budget={budget!r}" if budget else "")
        for search, budget in sorted(stored - {(options.search, options.budget)}, key=str)
    )
    told = " or ".join(texts)
    return f"; an earlier run had {told}" if told else ""


def _with_scores(
    notes: Mapping[str, tuple[str, ...]], strategies: Iterable[MlautEstimator], metric: str
) -> dict[str, tuple[str, ...]]:
    """Return the notes with the score by which each strategy tunes, where that can surprise."""
    texts = {}
    for tuned in strategies:
        chosen = getattr(tuned, "scoring", None) is not None
        if (chosen or metric not in ("", *DEFAULTS)) and (score := tuned.tunes_by()):
            contrast = "" if chosen else f", not by the study's {metric}"
            texts[tuned.name] = f"tunes by {score}{contrast}"
    return {name: (*own, *([texts[name]] if name in texts else [])) for name, own in notes.items()}


def _with_groups(
    notes: Mapping[str, tuple[str, ...]], applied: Applied
) -> dict[str, tuple[str, ...]]:
    """Return the notes with what becomes of folds in a strategy that need groups of rows."""
    without: dict[MlautEstimator, list[str]] = {}
    for info, strategies in applied:
        for strategy in strategies:
            lacking = without.setdefault(strategy, [])
            lacking += [] if "group" in info.roles else [info.name]
    texts = dict(notes)
    for strategy, lacking in without.items():
        if strategy.needs_groups():
            failing = f"; fails without a column of that role: {some_of(lacking)}"
            note = "its own folds get the role group" + failing * bool(lacking)
            texts[strategy.name] = (*texts.get(strategy.name, ()), note)
    return texts


def _share_of(plan: Plan, shard: Shard) -> Plan:
    wanted = {p.entry.name: (p.entry, p.strategies) for p in plan.datasets}
    shares = shard.cells(wanted, plan.first_names)
    datasets = (
        replace(planned, todo=planned.todo & share, share=share)
        for planned, share in zip(plan.datasets, shares.values(), strict=True)
    )
    return replace(plan, datasets=tuple(datasets))


def applicable(
    entries: Iterable[SplitEntry], strategies: Sequence[MlautEstimator]
) -> dict[str, list[str]]:
    """Return the names of the strategies that run on each dataset: those for its task.

    A strategy that was chosen by a collective word (``"all"``, a family) and suits no dataset is
    left out.

    Raises
    ------
    StrategyError
        A strategy that was named itself suits no dataset, or no strategy suits a dataset.
    OptionalPackageError
        A strategy needs a package that is not installed.
    """
    if not strategies:
        raise StrategyError("no strategy to run: name one or more, as in run('GaussianNaiveBayes')")
    entries = list(entries)
    tasks = sorted({entry.task for entry in entries})
    tasks_of = {strategy.name: strategy.tasks for strategy in strategies}
    suits_any = [strategy for strategy in strategies if set(tasks_of[strategy.name]) & set(tasks)]
    for strategy in strategies:
        if strategy not in suits_any and not strategy.chosen_by:
            raise StrategyError(
                f"strategy {strategy.name!r} is for {' and '.join(strategy.tasks)}, and the "
                f"datasets ({some_of([entry.name for entry in entries], 3)}) are for "
                f"{' and '.join(tasks)}; leave it out, or add datasets of its task"
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


def _without_weights(applied: Applied) -> Iterator[StrategyError]:
    """Yield an error for each dataset with weights and strategies that take none."""
    takes = cache(methodcaller("takes_weights"))
    for info, strategies in applied:
        unable = [s.name for s in strategies if "weight" in info.roles and not takes(s)]
        if unable:
            yield StrategyError(
                f"dataset {info.name!r} has weights, and fit takes no sample_weight in "
                f"{some_of(unable)}; leave {'them' if len(unable) > 1 else 'it'} out, or give "
                "the column of weights the role ignore"
            )


def _not_taken(applied: Applied) -> Iterator[StrategyError]:
    """Yield an error for each kind of features and of targets that strategies do not take."""
    of_features = cache(lambda s, sparse, unequal: s.way_with(sparse=sparse, unequal=unequal))
    of_targets = cache(lambda s, task, several: s.way_with_targets(task, several=several))
    refused: dict[tuple[Any, ...], tuple[str, dict[str, None]]] = {}
    for info, strategies in applied:
        kind, several = (info.sparse, info.shortest is not None), isinstance(info.target, list)
        targets = f"has {len(info.target)} targets" if several else "has one target"
        for strategy in strategies:
            told: dict[tuple[Any, ...], str] = {}
            if info.shape and (way := of_features(strategy, *kind)):
                told[*kind, way] = _words_of_features(info)
            if way := of_targets(strategy, info.task, several):
                told[several, way] = targets
            for key, words in told.items():
                _, names = refused.setdefault(key, (f"dataset {info.name!r} {words}", {}))
                names[strategy.name] = None
    for (*_, way), (subject, names) in refused.items():
        yield StrategyError(
            f"{subject}, which {some_of(names)} cannot take; {way}, or leave it out"
        )


def _words_of_features(info: DatasetInfo) -> str:
    if info.shortest is not None:
        return f"is series of {info.shortest} to {info.shape[-1]} points"
    return "is a sparse matrix" if info.sparse else f"is an array with rows of shape {info.shape}"


def exceeded_size_limits(
    infos: Sequence[DatasetInfo],
    splits: Mapping[str, SplitEntry],
    wanted: Mapping[str, Sequence[str]],
    strategies: Sequence[MlautEstimator],
    retry: Mapping[str, frozenset[Status]],
) -> dict[str, dict[str, TooLarge | str]]:
    """Return, by dataset, the strategies whose size limit its first training set exceeds, and why.

    Limits of strategies whose skipped cells are tried again are not checked.
    """
    limits = {s.name: s.too_large for s in strategies if Status.SKIPPED not in retry[s.name]}
    exceeded = {}
    for info, (dataset, names) in zip(infos, wanted.items(), strict=True):
        split = splits[dataset]
        shape = len(split.split.rows(0, 0)[0]), info.n_features, len(split.classes)
        reasons = {}
        for name in limits.keys() & {*names}:
            with looked_at(name):
                reasons[name] = limits[name](*shape)
        exceeded[dataset] = {name: reason for name, reason in reasons.items() if reason}
    return exceeded


def make_plan(
    study: StudyStore | None,
    wanted: Mapping[str, Sequence[str]],
    retry: Mapping[str, frozenset[Status]],
    *,
    splits: Mapping[str, SplitEntry] | None = None,
    entries: Sequence[StrategyEntry] = (),
    replace_changed: bool = False,
    size_reasons: Mapping[str, Mapping[str, TooLarge | str]] | None = None,
    searches: str = "",
) -> Plan:
    """Return the plan of a run: requested cells, minus done cells; change nothing.

    Parameters
    ----------
    study : StudyStore or None
        The study; None if it does not exist yet.
    wanted : mapping of str to sequence of str
        Names of the strategies to run on each dataset.
    retry : mapping
        Statuses to try again, by strategy, as `parse_retry` returns them.
    splits : mapping of str to SplitEntry, optional
        Present datasets, with the requested splits; default as they are stored.
    entries : sequence of StrategyEntry
        Present strategies, to compare with the stored ones; default no comparison.
    replace_changed : bool, default False
        Run strategies again that are stored with other parameters.
    size_reasons : mapping of str to mapping, optional
        For each dataset, the strategies whose size limit it exceeds, with the reason, as
        `plan_run` has them. A cell that was skipped before is run if its strategy
        is not among them.
    searches : str
        Searches of earlier runs, in words, for strategies that are refused since theirs differs.
    """
    stored = study.load_splits() if study else {}
    statuses = study.statuses([name for name in wanted if name in stored]) if study else {}
    before = {entry.name: entry for entry in study.strategies} if study else {}
    changed = {
        new.name: described_change(before[new.name], new)
        for new in entries
        if new.name in before and not before[new.name].is_same(new)
    }
    notes = {
        new.name: tuple(f"cannot inspect {where}" for where in new.metadata.get("unseen", ()))
        for new in entries
    }
    texts = {name: what + searches * ("Search" in what) for name, what in changed.items()}
    refusals = [] if replace_changed else [_refused(name, what) for name, what in texts.items()]
    planned = []
    for dataset, names in wanted.items():
        old, present = stored.get(dataset), (splits or stored)[dataset]
        refused, entry = "", present
        if old:
            try:
                entry = merged_entry(old, present)
            except StudyError as error:
                refusals.append(error)
                refused, entry = _describe_difference(old, present), old
        known, status = statuses.get(dataset, ((), np.zeros((0, 0, 0), dtype=np.uint8)))
        now = _status_now(entry, names, known, status, changed)
        runs = [not refused and (replace_changed or name not in changed) for name in names]
        reasons = (size_reasons or {}).get(dataset, {})
        large = {name: reasons[name] for name in reasons if runs[names.index(name)]}
        todo = _cells_to_do(names, now, retry, large)
        todo[np.invert(runs)] = False
        planned.append(PlannedDataset(entry, tuple(names), now, todo, old, known, refused, large))
    return Plan(tuple(planned), changed, frozenset(before), tuple(refusals), notes)


def _status_now(
    entry: SplitEntry,
    names: Sequence[str],
    known: Sequence[str],
    status: np.ndarray,
    changed: Mapping[str, str],
) -> np.ndarray:
    """Return the status of the requested cells; missing for strategies and repeats that are new."""
    now = np.zeros((len(names), entry.split.n_repeats, entry.split.n_folds), dtype=np.uint8)
    position = {name: s for s, name in enumerate(known)}
    for s, name in enumerate(names):
        if name in position and name not in changed:
            now[s, : status.shape[1]] = status[position[name]]
    return now


def _cells_to_do(
    names: Sequence[str],
    now: np.ndarray,
    retry: Mapping[str, frozenset[Status]],
    large: Mapping[str, TooLarge | str],
) -> np.ndarray:
    """Return which cells have a status that is run: never tried, or to be tried again."""
    run = np.zeros((len(names), len(Status)), dtype=bool)
    for s, name in enumerate(names):
        run[s, [*retry.get(name, ()), *(() if name in large else _NOT_TRIED)]] = True
    todo: np.ndarray = run[np.arange(len(names))[:, None, None], now]
    return todo


def _refused(name: str, what: str) -> StudyError:
    return StudyError(
        f"strategy {name!r} was run with other parameters ({what}); restore them, give it a new "
        "name, or pass overwrite_predictions=True to run it again"
    )


def _describe_difference(old: SplitEntry, new: SplitEntry) -> str:
    if old.fingerprint != new.fingerprint:
        return f"data changed: {old.fingerprint[:12]} -> {new.fingerprint[:12]}"
    return f"split changed: {split_change(old.split, new.split)}"
