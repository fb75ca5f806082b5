"""Batches: every cell once, and as many together as their pace allows."""

from dataclasses import replace

import numpy as np

from mlaut.experiments.cells.cell_input import CellOptions
from mlaut.experiments.workers import batches
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


def test_a_large_batch_is_not_sent_ahead_and_comes_next():
    large = replace(group(100), shared=b"", strategy=bytes(2**17))
    queue = BatchQueue([large], seconds=0.1)
    queue.saw(ended(queue.next(), 0.01))
    assert queue.next_ahead() is None
    assert queue.next().cells[0] == (0, 1)


def test_many_workers_wait_for_one_cell_of_each_unknown_strategy(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(batches.time, "monotonic", lambda: now[0])
    queue = BatchQueue([group(100), group(100, strategy="t"), group(9, "e")], 5.0, n_open=2)
    first, second = queue.next(), queue.next()
    assert [(b.name, b.cells) for b in (first, second)] == [("s", ((0, 0),)), ("t", ((0, 0),))]
    assert queue.next() is None  # two groups are open, and nothing is known of either
    queue.saw(ended(second, 0.1))
    assert [(b.name, len(b.cells)) for b in (queue.next(), queue.next())] == [("t", 50), ("t", 49)]
    assert (queue.next().dataset.name, queue.next()) == ("e", None)
    now[0] += 5  # the cells take longer than a batch: each is one of its own
    assert queue.next().cells == ((0, 1),)
    assert queue.next().cells == ((0, 2),)


def test_a_part_brings_the_folds_that_it_needs():
    part = group(2, repeats=3).part([(1, 0), (2, 1)])
    assert sorted(part.folds) == [1, 2]
    assert [(cell.repeat, cell.fold) for cell in part.keys] == [(1, 0), (2, 1)]


def test_a_batch_knows_the_number_of_test_rows_of_each_cell():
    batch = group(2)
    batch.folds[0][:] = [0, 1, 1, -1]
    assert batch.test_sizes == [1, 2]
    assert [batch.key(place) for place in range(2)] == list(batch.keys)


def load(queue, n_workers=1):
    return [
        (batch.dataset.name, batch.name, len(batch.cells)) for batch in queue.next_load(n_workers)
    ]


def test_a_load_has_batches_of_several_groups_until_it_lasts_long_enough(monkeypatch):
    monkeypatch.setattr(batches, "_FAR", 1)  # nothing is known of the end
    groups = [group(4), group(100, dataset="e"), group(9, strategy="t"), group(50, dataset="f")]
    queue = BatchQueue(groups, seconds=1.0, n_open=4)
    first = queue.next_load(1)
    assert [len(batch.cells) for batch in first] == [1]  # its duration is unknown
    queue.saw(ended(first[0], 0.05))
    queue.saw(ended(group(1, dataset="e"), 0.05))
    assert load(queue) == [("d", "s", 3), ("e", "s", 17)]
    assert load(queue) == [("e", "s", 20)]
    queue.saw(ended(group(1, dataset="f"), 0.01))
    assert [load(queue) for _ in range(4)][-1] == [("e", "s", 3)]  # before the unknown one
    assert load(queue) == [("d", "t", 1)]
    assert load(queue) == [("f", "s", 50)]
    assert load(queue) == []


def test_a_load_of_a_strategy_that_may_be_slower_here_has_a_quarter_of_the_cells(monkeypatch):
    monkeypatch.setattr(batches, "_FAR", 1)
    queue = BatchQueue([group(1), group(100, dataset="e"), group(9, dataset="f")], 1.0, n_open=3)
    queue.saw(ended(queue.next_load(1)[0], 0.01))
    assert load(queue) == [("e", "s", 25)]
    queue.saw(ended(group(100, dataset="e"), 0.001))
    assert load(queue) == [("e", "s", 75), ("f", "s", 9)]


def test_loads_become_shorter_when_little_is_left():
    queue = BatchQueue([group(101)], seconds=1.0, n_open=2)
    queue.saw(ended(queue.next_load(10)[0], 0.1))
    sizes = []
    while (found := load(queue, n_workers=4)) != []:
        sizes.append(found[0][2])
    assert sizes[:2] == [10, 10]  # a second
    assert sizes == sorted(sizes, reverse=True)
    assert (min(sizes[:-1]), sum(sizes)) == (2, 100)  # a quarter of a second at the least


def test_a_batch_that_came_to_nothing_is_a_load_of_its_own():
    queue = BatchQueue([group(3)], n_open=2)
    (batch,) = queue.next_load(2)
    queue.again(batch)
    assert queue.next_load(2) == [batch]
