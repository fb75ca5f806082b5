"""A study in memory: the model with which the study on disk is compared."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mlaut.errors import StudyError
from mlaut.files_io.outcomes.study_records import (
    SplitEntry,
    StrategyEntry,
    check_outcome,
    extends,
    merged_entry,
    merged_strategies,
    outcome_record,
    prediction_type,
)
from mlaut.records import CLASSIFICATION, Block, Outcome

__all__ = ["MemoryStudy"]


class MemoryStudy:
    """Study of plain dictionaries, with the methods of `mlaut.files_io.StudyStore`.

    Examples
    --------
    >>> from mlaut.records import Cell, Split, Status
    >>> split = Split(np.array([[0, 1, 0]], dtype=np.int16), scheme="kfold(2)")
    >>> truth = np.array([0, 1, 1], dtype=np.int32)
    >>> study = MemoryStudy()
    >>> study.save_splits([SplitEntry("d", "/d", "Classification", "f", ("n", "y"), truth, split)])
    >>> study.allocate([StrategyEntry("s", "g")])
    >>> with study.writing() as writer:
    ...     writer.write(Outcome(Cell("d", "s", 0, 1), Status.DONE, np.array([1], dtype=np.int32)))
    >>> study.block("d").predictions.tolist()
    [[[-1, 1, -1]]]
    """

    def __init__(self) -> None:
        self._entries: dict[str, SplitEntry] = {}
        self._strategies: list[StrategyEntry] = []
        self._outcomes: dict[str, dict[str, dict[tuple[int, int], Outcome]]] = {}
        self._runs: list[dict[str, Any]] = []

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the datasets that have a split."""
        return tuple(self._entries)

    @property
    def strategies(self) -> tuple[StrategyEntry, ...]:
        """Strategies in the order in which they were added."""
        return tuple(self._strategies)

    @property
    def runs(self) -> tuple[dict[str, Any], ...]:
        """Records of the runs: machine, versions and arguments of each."""
        return tuple(self._runs)

    def save_splits(self, entries: Iterable[SplitEntry], replace: bool = False) -> None:
        """Store datasets and their splits; a known split is kept, or extended by repeats."""
        for entry in entries:
            known = self._entries.get(entry.name, entry)
            self._entries[entry.name] = merged_entry(known, entry, replace)
            of_dataset = self._outcomes.setdefault(entry.name, {})
            if not extends(known, self._entries[entry.name]):
                self._outcomes[entry.name] = {name: {} for name in of_dataset}

    def load_split(self, dataset: str) -> SplitEntry:
        """Return a dataset's identity, truth and split."""
        if dataset not in self._entries:
            raise StudyError(f"dataset {dataset!r}: this study has no split of it; split it first")
        return self._entries[dataset]

    def allocate(
        self,
        strategies: Sequence[StrategyEntry],
        datasets: Mapping[str, Sequence[str]] | None = None,
        replace: bool = False,
    ) -> None:
        """Allocate the cells of strategies on datasets (default: all of both)."""
        stored = {entry.name: entry for entry in self._strategies}
        self._strategies = merged_strategies(self._strategies, strategies, replace)
        for entry in self._strategies:
            if not stored.get(entry.name, entry).is_same(entry):
                for of_dataset in self._outcomes.values():
                    of_dataset.get(entry.name, {}).clear()
        names = [entry.name for entry in strategies]
        for dataset, wanted in (datasets or dict.fromkeys(self._entries, names)).items():
            self.load_split(dataset)
            for name in wanted:
                self._outcomes[dataset].setdefault(name, {})

    @contextlib.contextmanager
    def writing(self, run: Mapping[str, Any] | None = None) -> Iterator[MemoryStudy]:
        """Begin a run, and yield the writer of its outcomes, which is this study."""
        self._runs.append(dict(run or {}))
        yield self

    def write(self, *outcomes: Outcome) -> None:
        """Store outcomes."""
        for outcome in outcomes:
            cell = outcome.cell
            of_dataset = self._outcomes.get(cell.dataset, {})
            check_outcome(outcome, self.load_split(cell.dataset), tuple(of_dataset))
            of_dataset[cell.strategy][cell.repeat, cell.fold] = outcome

    def forget(self, dataset: str, strategies: Sequence[str], cells: np.ndarray) -> None:
        """Clear the cells where ``cells``, of shape (len(strategies), R, F), is True."""
        for s, repeat, fold in np.argwhere(cells):
            self._outcomes[dataset][strategies[s]].pop((int(repeat), int(fold)), None)

    def load_splits(self) -> dict[str, SplitEntry]:
        """Return the identity, truth and split of every dataset, by name."""
        return dict(self._entries)

    def status(self, dataset: str) -> np.ndarray:
        """Return the status of each cell of a dataset: uint8, shape (S, R, F)."""
        return self.block(dataset).status

    def statuses(
        self, datasets: Iterable[str] | None = None
    ) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
        """Return strategies (S) and status (S, R, F) of each dataset."""
        blocks = self.blocks(datasets)
        return {block.dataset: (block.strategies, block.status) for block in blocks}

    def blocks(self, datasets: Iterable[str] | None = None) -> Iterator[Block]:
        """Yield the `block` of each dataset (default: of all)."""
        for name in self._entries if datasets is None else datasets:
            yield self.block(name)

    def block(self, dataset: str) -> Block:
        """Return all numeric results of one dataset."""
        entry = self.load_split(dataset)
        names = tuple(self._outcomes[dataset])
        split, n_rows = entry.split, entry.split.n_rows
        cells = (len(names), split.n_repeats, split.n_folds)
        dtype, nothing = prediction_type(entry.task)
        status = np.zeros(cells, dtype=np.uint8)
        seconds = np.full((*cells, 3), np.nan)
        predictions = np.full((*cells[:2], n_rows), nothing, dtype=dtype)
        probabilities = None
        if entry.task == CLASSIFICATION:
            shape = (*cells[:2], n_rows, len(entry.classes))
            probabilities = np.full(shape, np.nan, dtype=np.float32)
        for s, name in enumerate(names):
            for (repeat, fold), outcome in self._outcomes[dataset][name].items():
                test = split.rows(repeat, fold)[1]
                status[s, repeat, fold] = outcome.status
                seconds[s, repeat, fold] = outcome.seconds
                if outcome.predictions is not None:
                    predictions[s, repeat, test] = outcome.predictions
                if outcome.probabilities is not None and probabilities is not None:
                    probabilities[s, repeat, test] = outcome.probabilities
        return Block(
            dataset=dataset,
            task=entry.task,
            fingerprint=entry.fingerprint,
            strategies=names,
            classes=entry.classes,
            truth=entry.truth,
            split=split,
            status=status,
            predictions=predictions,
            probabilities=probabilities,
            seconds=seconds,
        )

    def details(self, dataset: str) -> list[dict[str, Any]]:
        """Return the details of each cell that was tried: reason, chosen parameters, warnings."""
        return [
            outcome_record(outcome)
            for of_strategy in self._outcomes[dataset].values()
            for outcome in of_strategy.values()
        ]
