"""Fits of cells of an entry: the only part of judging that has code of the entry run.

The process that draws cells, copies datasets and compares never loads the entry (`packing`); the
cells run in guarded processes.

The measurements are plain JSON. So another process can judge them that runs no code of the entry
and has rights that this process must not have.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from mlaut_exchange import DATASETS, datasets_io, open_bundle

from mlaut.analysis import Results
from mlaut.errors import MlautError
from mlaut.experiments import RunOptions
from mlaut.files_io import FilesIO, SplitEntry, StudyStore
from mlaut.plugins import (
    CellOptions,
    Engine,
    dataset_fingerprint,
    fitted_again,
    make_batches,
    make_engine,
)
from mlaut.records import Block, Cell, Dataset, Outcome, Status
from mlaut_boards.board import Board
from mlaut_boards.packing import packed_strategy

COPIES = 4  # of a dataset, with its rows in other orders: five scores are compared
# Greatest share of rows with another prediction: other processors, numbers of threads and versions
# of libraries move ties only.
SHARE = 0.01
# What a row may differ by and still be the same prediction: sums in another order move numbers by
# far less, and a claim gains little by so much.
_PROBABILITY, _DEVIATIONS = 0.02, 0.01
_FIRST = 4  # cells that are fitted first (or datasets); then 8, 16, ..., until the answer is clear


def refit_entry(
    board: Board,
    place: str | os.PathLike[str],
    seed: str,
    *,
    trusted: bool = False,
    n_jobs: int | None = -1,
) -> dict[str, Any]:
    """Fit cells of an entry again until time is over, in an order that nobody could know before.

    Unchanged cells come first, then copies of whole datasets. Copies have the rows in another
    order, so that every random choice is drawn anew, or shuffled labels, so that nothing can be
    learned.

    Parameters
    ----------
    board : Board
    place : path-like
        Folder of the entry.
    seed : str
        Text that was fixed after the entry. This text and the digest of the entry seed the order.
    trusted : bool, default False
        Whether to run the Python file of the entry, which has the rights of this process.
    n_jobs
        The same as for ``Orchestrator.run``.

    Returns
    -------
    dict
        Plain JSON values: ``digest``, ``seed``, ``cells`` (result of `compared` for each),
        ``copies`` by dataset, and ``error``, the reason why cells were not fitted again.
    """
    begun = time.monotonic()
    bundle = open_bundle(place, limit=board.limit)
    metric = board.chosen.analysis.metric
    fits: dict[str, Any] = {"digest": bundle.digest, "seed": seed, "cells": [], "copies": {}}
    study = StudyStore(bundle.study)
    with tempfile.TemporaryDirectory() as folder:
        io = datasets_io(board.bundle, board.study, Path(folder, DATASETS))
        try:
            strategy = {
                study.strategies[0].name: packed_strategy(
                    bundle.folder, limit=board.limit, trusted=trusted, seconds=60 * board.minutes
                )
            }
            engine = make_engine(RunOptions(n_jobs=n_jobs, timeout=60 * board.minutes))
        except MlautError as error:
            return {**fits, "error": str(error)}
        cells = drawn(study, bundle.digest, seed)
        for portion in _portions(cells, begun + 30 * board.minutes):
            again = fitted_again(study, io, strategy, portion, engine)
            fits["cells"] += [compared(study.block(new.cell.dataset), new) for new in again]
        if others_of(fits["cells"]):
            return {**fits, "error": ""}  # copies of another strategy would tell nothing
        names = list(dict.fromkeys(cell.dataset for cell in cells))
        for portion in _portions(names, begun + 60 * board.minutes):
            entries, key = [study.load_split(name) for name in portion], (bundle.digest, seed)
            for name, blocks in _run_copies(entries, io, study, strategy, key, engine).items():
                fits["copies"][name] = _measured(study.block(name), blocks, metric)
    return {**fits, "error": ""}


def drawn(study: StudyStore, digest: str, seed: str) -> list[Cell]:
    """Return the done cells of a study in a random order, seeded by a digest and a text."""
    cells = [*study.cells(Status.DONE)]
    order = _generator(digest, seed, "cells").permutation(len(cells))
    return [cells[i] for i in order]


def _generator(*texts: str) -> np.random.Generator:
    key = hashlib.sha256("\0".join(texts).encode()).digest()
    return np.random.default_rng(int.from_bytes(key, "big"))


def others_of(cells: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether so many rows differ that the predictions are those of another strategy."""
    return sum(cell["differ"] for cell in cells) > SHARE * sum(cell["rows"] for cell in cells)


def _portions(items: Sequence[Any], until: float) -> Iterator[Sequence[Any]]:
    """Yield growing portions of items, the first in any case, until a time is over."""
    start, size = 0, _FIRST
    while start < len(items) and (start == 0 or time.monotonic() < until):
        yield items[start : start + size]
        start, size = start + size, 2 * size


def compared(block: Block, outcome: Outcome) -> dict[str, Any]:
    """Return numbers on how the claimed predictions of a cell differ from those of a fit.

    Returns
    -------
    dict
        ``dataset``, ``repeat`` and ``fold``; ``rows``, their number in the test set; ``differ``,
        the number of rows with another prediction; ``better`` and ``worse``, the numbers of these
        rows whose claim is nearer to the truth, and farther from it; ``claimed`` and ``measured``
        seconds; ``failed``, the reason if the fit failed.
    """
    cell = outcome.cell
    s, test = block.strategies.index(cell.strategy), block.split.folds[cell.repeat] == cell.fold
    claimed, truth = block.predictions[s, cell.repeat, test], block.truth[test]
    about = {
        "dataset": cell.dataset,
        "repeat": cell.repeat,
        "fold": cell.fold,
        "rows": len(truth),
        "claimed": float(np.nansum(block.seconds[s, cell.repeat, cell.fold])),
    }
    again = outcome.predictions
    if again is None:
        none = {"differ": len(truth), "better": 0, "worse": 0, "measured": 0.0}
        return {**about, **none, "failed": f"{outcome.status.word}: {outcome.reason}"}
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
        **about,
        "differ": int(differs.sum()),
        "better": int((gain > 0).sum()),
        "worse": int((gain < 0).sum()),
        "measured": float(sum(outcome.seconds)),
        "failed": "",
    }


def _copied(
    entry: SplitEntry, io: FilesIO, key: Sequence[str]
) -> Iterator[tuple[Dataset, SplitEntry]]:
    """Yield copies of a dataset with the rows in other orders, the last with shuffled labels.

    The entry of a copy has the original labels as its truth. Rows that have a time keep their
    order, because strategies may use it.
    """
    dataset, rng = io.load_dataset(entry.path), _generator(*key, entry.name)
    for number in range(COPIES + 1):
        order = rng.permutation(len(dataset.frame))
        if "time" in dataset.roles:
            order.sort()
        frame = dataset.frame.iloc[order].reset_index(drop=True)
        if number == COPIES:
            labels = frame[dataset.targets].iloc[rng.permutation(len(frame))]
            frame = frame.assign(**labels.set_index(frame.index))
        name = f"copy {number} of {entry.name}"
        print_ = dataset_fingerprint(frame, dataset.target, dataset.task, dataset.roles)
        copy = replace(dataset, name=name, frame=frame, metadata={}, fingerprint=print_)
        split = replace(entry.split, folds=entry.split.folds[:1, order])
        weights = None if entry.weights is None else entry.weights[order]
        named = replace(entry, name=name, path=f"/{name}", fingerprint=copy.fingerprint)
        yield copy, replace(named, truth=entry.truth[order], split=split, weights=weights)


def _run_copies(
    entries: Sequence[SplitEntry],
    io: FilesIO,
    study: StudyStore,
    strategy: Mapping[str, bytes],
    key: Sequence[str],
    engine: Engine,
) -> dict[str, list[Block]]:
    """Return the predictions of a strategy on copies of datasets, by the name of the dataset."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = {entry.name: list(_copied(entry, io, key)) for entry in entries}
        copied, store = FilesIO(Path(folder, DATASETS), "a"), StudyStore(Path(folder, "copies.h5"))
        copied.save_datasets([copy for group in pairs.values() for copy, _ in group])
        splits = [entry for group in pairs.values() for _, entry in group]
        store.save_splits(splits)
        store.allocate(study.strategies)
        (name,) = strategy
        groups = (
            (one, name, tuple((0, fold) for fold in range(one.split.n_folds))) for one in splits
        )
        seed = int(_generator(*key, "seed").integers(2**31))
        batches = make_batches(groups, strategy, copied.path, seed, CellOptions())
        with store.writing() as writer, contextlib.closing(engine.run(batches)) as outcomes:
            for ended in outcomes:
                writer.write(*ended)
        return {
            name: [store.block(copy.name) for copy, _ in group] for name, group in pairs.items()
        }


def _measured(own: Block, blocks: Sequence[Block], metric: str) -> dict[str, Any]:
    """Return the measurements on the copies of a dataset.

    ``claimed`` is the loss of the entry on the first repeat, and ``fresh`` are the losses on copies
    with rows in other orders. ``seconds`` is the least mean time of a cell of these.
    ``remembered`` is the share of true labels that are predicted after a fit to shuffled labels,
    ``known`` that of the claim, and ``constant`` that of the best constant.
    """
    *fresh, shuffled = blocks
    tested = own.truth[own.split.folds[0] >= 0]
    middle = np.bincount(tested).argmax() if own.classes else tested.mean()
    return {
        "claimed": _loss(own, metric),
        "fresh": [_loss(block, metric) for block in fresh],
        "seconds": min(float(block.seconds[0, 0].sum(axis=-1).mean()) for block in fresh),
        "known": _agreement(own, own.predictions[0, 0]),
        "remembered": _agreement(shuffled, shuffled.predictions[0, 0]),
        "constant": _agreement(own, np.full(len(own.truth), middle)),
    }


def _loss(block: Block, metric: str) -> float | None:
    loss = float(Results.from_blocks([block], metric).cell_losses[0, 0, 0].mean())
    return loss if np.isfinite(loss) else None  # NaN where a cell failed


def _agreement(block: Block, predicted: np.ndarray) -> float:
    """Return the share of right labels on the tested rows, or the explained share of variance."""
    tested = block.split.folds[0] >= 0
    truth, guess = block.truth[tested], predicted[tested]
    if block.classes:
        return float((guess == truth).mean())
    share = 1 - ((guess - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()
    return float(share) if np.isfinite(share) else 0.0
