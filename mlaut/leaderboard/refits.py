"""Fit cells of an entry again: the only part of judging that runs code of an entry.

What is measured is plain JSON, so that another process, which runs no code of the entry and has
what this one must not have, can judge it.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mlaut.analysis import Results
from mlaut.bundles import open_bundle
from mlaut.bundles.extending import datasets_io, strategies_of_bundle
from mlaut.bundles.manifest import DATASETS
from mlaut.data.splits.targets import encode_target
from mlaut.errors import MlautError
from mlaut.estimators import MlautEstimator
from mlaut.experiments import Orchestrator
from mlaut.experiments.engines.engine import make_engine
from mlaut.experiments.options import RunOptions
from mlaut.experiments.runs.refit import fitted_again, usable_strategies
from mlaut.files_io import FilesIO, SplitEntry, StudyStore
from mlaut.leaderboard.board import Board
from mlaut.records import Block, Cell, Dataset, Outcome, Split, Status

COPIES = 4  # of a dataset, with its rows in other orders: five scores are compared
# What a row may differ by and still be the same prediction: sums in another order move numbers by
# far less, and a claim gains little by so much.
_PROBABILITY, _DEVIATIONS = 0.02, 0.01
_FIRST = 4  # cells, or datasets, of the first portion; each is twice the one before


def refit_entry(
    board: Board,
    place: str | os.PathLike[str],
    seed: str,
    *,
    trusted: bool = False,
    engine: str = "local",
    n_jobs: int | None = -1,
    copies: int = COPIES,
) -> dict[str, Any]:
    """Fit cells of an entry again, in an order that nobody could know before, until time is over.

    First, cells as they are, then copies of whole datasets: with the rows in another order, so that
    every random choice is drawn anew, and with the labels shuffled, so that nothing can be learned.

    Parameters
    ----------
    board : Board
    place : path-like
        Folder of the entry.
    seed : str
        Text that was fixed after the entry. It and the digest of the entry draw the order.
    trusted : bool, default False
        Whether to run the Python file of the entry, which can do anything that this process can.
    engine, n_jobs
        Where cells are fitted, as for ``Orchestrator.run``.
    copies : int, default 4
        Copies of a dataset with the rows in other orders.

    Returns
    -------
    dict
        Plain JSON values: ``digest``, ``seed``, ``cells`` (`compared` of each), ``copies`` by
        dataset, and ``error``, a reason why cells were not fitted again.
    """
    begun = time.monotonic()
    bundle = open_bundle(place, limit=board.limit)
    found: dict[str, Any] = {"digest": bundle.digest, "seed": seed, "cells": [], "copies": {}}
    study = StudyStore(bundle.study)
    with tempfile.TemporaryDirectory() as folder:
        io = datasets_io(board.bundle, board.study, Path(folder, DATASETS))
        try:
            given = strategies_of_bundle(bundle, trusted)
            usable = usable_strategies(study, given)[0]
        except MlautError as error:
            return {**found, "error": str(error)}
        limit = None if engine == "inline" else 60 * board.minutes
        options = RunOptions(engine=engine, n_jobs=n_jobs, timeout=limit)
        for some in _portions(drawn(study, bundle.digest, seed), begun + 30 * board.minutes):
            again = fitted_again(study, io, usable, some, make_engine(options))
            blocks = {name: study.block(name) for name in {cell.dataset for cell in some}}
            found["cells"] += [compared(blocks[one.cell.dataset], one) for one in again]
        names = list(dict.fromkeys(cell.dataset for cell in drawn(study, bundle.digest, seed)))
        for some in _portions(names, begun + 60 * board.minutes):
            copied = _Copied(board, study, io, usable, [seed, bundle.digest], copies)
            found["copies"] |= copied.measured(some, {"engine": engine, "n_jobs": n_jobs})
    return {**found, "error": ""}


def drawn(study: StudyStore, digest: str, seed: str) -> list[Cell]:
    """Return the done cells of a study in an order that a digest and a seed draw."""
    cells = [
        Cell(dataset, known[s], repeat, fold)
        for dataset, (known, status) in study.statuses().items()
        for s, repeat, fold in np.argwhere(status == Status.DONE).tolist()
    ]
    order = _generator(digest, seed, "cells").permutation(len(cells))
    return [cells[i] for i in order]


def _generator(*texts: str) -> np.random.Generator:
    key = hashlib.sha256("\0".join(texts).encode()).digest()
    return np.random.default_rng(int.from_bytes(key, "big"))


def _portions(items: Sequence[Any], until: float) -> Iterator[Sequence[Any]]:
    """Yield growing portions of items, the first in any case, until a time is over."""
    start, size = 0, _FIRST
    while start < len(items) and (start == 0 or time.monotonic() < until):
        yield items[start : start + size]
        start, size = start + size, 2 * size


def compared(block: Block, outcome: Outcome) -> dict[str, Any]:
    """Return how the claimed predictions of a cell differ from those of a fit.

    Returns
    -------
    dict
        ``cell``, ``rows`` of the test set; ``differ``: rows with another prediction; ``better``
        and ``worse``: those with the claim nearer to the truth, and farther from it;
        ``claimed`` and ``measured`` seconds; ``failed``: the reason if the fit failed.
    """
    cell = outcome.cell
    s, test = block.strategies.index(cell.strategy), block.split.folds[cell.repeat] == cell.fold
    claimed, truth = block.predictions[s, cell.repeat, test], block.truth[test]
    found = {
        "cell": [cell.dataset, cell.repeat, cell.fold],
        "rows": len(truth),
        "claimed": float(np.nansum(block.seconds[s, cell.repeat, cell.fold])),
    }
    again = outcome.predictions
    if again is None:
        none = {"differ": len(truth), "better": 0, "worse": 0, "measured": 0.0}
        return {**found, **none, "failed": f"{outcome.status.word}: {outcome.reason}"}
    if block.classes:
        losses = [(values != truth).astype(float) for values in (claimed, again)]
        differs = claimed != again
        if block.probabilities is not None and outcome.probabilities is not None:
            both = block.probabilities[s, cell.repeat, test], outcome.probabilities
            differs |= np.abs(both[0] - both[1]).max(axis=1) > _PROBABILITY
            rows = np.arange(len(truth))
            losses = [loss - p[rows, truth] for loss, p in zip(losses, both, strict=True)]
    else:
        losses = [np.abs(values - truth) for values in (claimed, again)]
        differs = np.abs(claimed - again) > _DEVIATIONS * block.truth.std()
    gain = np.where(differs, losses[1] - losses[0], 0.0)
    return {
        **found,
        "differ": int(differs.sum()),
        "better": int((gain > 0).sum()),
        "worse": int((gain < 0).sum()),
        "measured": float(sum(outcome.seconds)),
        "failed": "",
    }


class _Copied:
    """Copies of datasets, on which the strategy of an entry is run anew."""

    def __init__(
        self,
        board: Board,
        study: StudyStore,
        io: FilesIO,
        strategies: Sequence[MlautEstimator],
        key: Sequence[str],
        copies: int,
    ) -> None:
        self._study, self._io, self._strategies = study, io, strategies
        self._metric = board.chosen.analysis.metric
        self._key, self._copies = key, copies

    def measured(self, names: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
        """Return what copies of some datasets give, by dataset.

        Each has the loss ``claimed`` on its first repeat, the losses ``fresh`` of the copies with
        rows in other orders, the least mean ``seconds`` of a cell of them, and for the copy with
        shuffled labels how often the shuffled fits predict the true label (``remembered``), beside
        the claimed predictions (``known``) and the best constant (``constant``).
        """
        with tempfile.TemporaryDirectory() as folder:
            io, store = FilesIO(Path(folder, DATASETS), "a"), StudyStore(Path(folder, "copies.h5"))
            made = {name: self._copies_of(name, io) for name in names}
            store.save_splits(entry for entries, _ in made.values() for entry in entries)
            number = int(_generator(*self._key, "seed").integers(2**31))
            run = Orchestrator(io, FilesIO(store.path, "a"), seed=number)
            run.run(list(self._strategies), verbose=0, **options)
            return {
                name: self._of(name, [store.block(entry.name) for entry in entries], truth)
                for name, (entries, truth) in made.items()
            }

    def _copies_of(self, name: str, io: FilesIO) -> tuple[list[SplitEntry], np.ndarray]:
        """Return the entries of the copies of a dataset, the last with shuffled labels; its truth.

        Rows that have a time stay in their order, which strategies may use.
        """
        entry = self._study.load_split(name)
        dataset, rng = self._io.load_dataset(entry.path), _generator(*self._key, name)
        split = replace(entry.split, folds=entry.split.folds[:1])
        made = []
        for number in range(self._copies + 1):
            frame = dataset.frame
            order = (
                np.arange(len(frame)) if "time" in dataset.roles else rng.permutation(len(frame))
            )
            frame = frame.iloc[order].reset_index(drop=True)
            if number == self._copies:
                last = entry.truth[order]
                labels = frame[dataset.target].iloc[rng.permutation(len(frame))]
                frame = frame.assign(**{dataset.target: labels.to_numpy()})
            copy = Dataset(
                f"copy {number} of {name}", frame, dataset.target, dataset.task, roles=dataset.roles
            )
            (path,) = io.save_datasets([copy])
            stored = io.load_dataset(path)
            truth, classes = encode_target(stored.labels, stored.task)
            weights = None if entry.weights is None else entry.weights[order]
            folds = Split(split.folds[:, order], split.scheme, split.seed)
            made.append(
                SplitEntry(
                    copy.name, path, entry.task, stored.fingerprint, classes, truth, folds, weights
                )
            )
        return made, last

    def _of(self, name: str, blocks: Sequence[Block], truth: np.ndarray) -> dict[str, Any]:
        *fresh, shuffled = blocks
        own = self._study.block(name)
        seconds = [np.nanmean(one.seconds[0, 0].sum(axis=-1)) for one in fresh]
        tested = shuffled.split.folds[0] >= 0
        both = [
            (own.predictions[0, 0], own.truth, own.split.folds[0] >= 0),
            (shuffled.predictions[0, 0], truth, tested),
        ]
        known, remembered = (_agreement(a[rows], b[rows], own.classes) for a, b, rows in both)
        middle = np.bincount(truth[tested]).argmax() if own.classes else truth[tested].mean()
        return {
            "claimed": self._loss(own),
            "fresh": [self._loss(one) for one in fresh],
            "seconds": float(np.nanmin(seconds)) if seconds else 0.0,
            "known": known,
            "remembered": remembered,
            "constant": _agreement(np.full(tested.sum(), middle), truth[tested], own.classes),
        }

    def _loss(self, block: Block) -> float | None:
        losses = Results.from_blocks([block], self._metric).cell_losses[0, 0, 0]
        loss = float(losses.mean())  # NaN where a cell failed
        return None if np.isnan(loss) else loss


def _agreement(predicted: np.ndarray, truth: np.ndarray, classes: Sequence[Any]) -> float:
    """Return the share of right labels, or the explained share of the variance."""
    if classes:
        return float((predicted == truth).mean())
    error, whole = ((predicted - truth) ** 2).sum(), ((truth - truth.mean()) ** 2).sum()
    return float(1 - error / whole) if whole and np.isfinite(error) else 0.0
