"""Batches: every cell once, and as many together as their pace allows."""

from dataclasses import replace

import numpy as np

from mlaut.experiments.cells.cell_input import CellOptions
from mlaut.experiments.workers.batches import Batch, BatchQueue, DatasetRef
from mlaut.records import Outcome, Status


def group(n_cells, dataset="d", strategy="s", repeats=1):
    ref = DatasetRef("in.h5", "/" + dataset, dataset, "f", ())
    cells = tuple((repeat, fold) for repeat in range(repeats) for fold in range(n_cells))
    folds = {repeat: np.full(4, repeat, np.int16) for repeat in range(repeats)}
    return Batch(ref, strategy, b"", cells, folds, 0, CellOptions())


def ended(batch, elapsed):
    return [Outcome(cell, Status.DONE, details={"elapsed": elapsed}) for cell in batch.keys]


def test_batches_grow_with_the_pace_that_is_seen():
    queue = BatchQueue([group(100)], seconds=0.1)
    first = queue.next()
    assert len(first.cells) == 1
    queue.saw(ended(first, 0.01))
    second = queue.next()
    assert len(second.cells) == 10
    queue.saw(ended(second, 9.0))
    sizes = []
    while (batch := queue.next()) is not None:
        sizes.append(len(batch.cells))
    assert sizes == [1] * 89


def test_a_strategy_that_is_known_elsewhere_begins_with_some_cells():
    queue = BatchQueue([group(5), group(100, dataset="e"), group(9, strategy="t")], seconds=0.1)
    queue.saw(ended(queue.next(), 0.005))
    assert [len(queue.next().cells) for _ in range(3)] == [4, 5, 5]
    queue.saw(ended(group(100, dataset="e"), 0.001))
    assert [len(queue.next().cells) for _ in range(2)] == [90, 1]


def test_what_came_to_nothing_comes_first():
    queue = BatchQueue([group(3)])
    batch = queue.next()
    queue.again(batch)
    assert queue.next() is batch
    assert [queue.next().cells for _ in range(2)] == [((0, 1),), ((0, 2),)]
    assert queue.next() is None


def test_only_short_cells_that_share_a_process_are_sent_ahead():
    queue = BatchQueue([replace(group(100), shared=b""), group(9, strategy="t")], seconds=0.1)
    assert queue.next_ahead() is None  # nothing is known of its cells
    first = queue.next()
    queue.saw(ended(first, 0.01))
    ahead = queue.next_ahead()
    assert ahead.cells == tuple((0, fold) for fold in range(1, 11))
    queue.saw(ended(ahead, 9.0))
    assert queue.next_ahead() is None  # its cells are long now
    while queue.next().name == "s":
        pass
    queue.saw(ended(group(9, strategy="t"), 0.01))
    assert queue.next_ahead() is None  # it does not share its process


def test_short_cells_of_one_dataset_share_a_message_and_others_do_not():
    def known(n_folds, name, dataset="d", **changes):
        return replace(group(n_folds, dataset, name), **{"shared": b"", **changes})

    others = [
        known(4, "t"),
        known(5, "u", strategy=bytes(2**15)),
        known(1, "v", strategy=bytes(2**15)),  # the message would be too large
        known(1, "w", shared=None),
        known(1, "s"),
        known(1, "s", dataset="e"),
    ]
    queue = BatchQueue([known(3, "s"), *others], seconds=0.1)
    assert len(queue.with_more(queue.next())) == 1  # nothing is known of its cells
    for strategy in "stuvw":
        queue.saw(ended(group(1, strategy=strategy), 0.01))
    messages = [[(b.name, len(b.cells)) for b in queue.with_more(queue.next())] for _ in range(6)]
    assert messages == [
        [("s", 2), ("t", 4), ("u", 4)],
        [("u", 1)],
        [("v", 1)],
        [("w", 1)],
        [("s", 1)],
        [("s", 1)],
    ]


def test_a_large_batch_is_not_sent_ahead_and_comes_next():
    large = replace(group(100), shared=b"", strategy=bytes(2**17))
    queue = BatchQueue([large], seconds=0.1)
    queue.saw(ended(queue.next(), 0.01))
    assert queue.next_ahead() is None
    assert queue.next().cells[0] == (0, 1)


def test_a_part_brings_the_folds_that_it_needs():
    part = group(2, repeats=3).part([(1, 0), (2, 1)])
    assert sorted(part.folds) == [1, 2]
    assert [(cell.repeat, cell.fold) for cell in part.keys] == [(1, 0), (2, 1)]


def test_a_batch_knows_the_number_of_test_rows_of_each_cell():
    batch = group(2)
    batch.folds[0][:] = [0, 1, 1, -1]
    assert batch.test_sizes == [1, 2]
    assert [batch.key(place) for place in range(2)] == list(batch.keys)
