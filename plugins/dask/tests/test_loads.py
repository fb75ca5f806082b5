"""Loads: batches that together last as long as one worker should be busy."""

from mlaut_dask import loads
from mlaut_dask.loads import LoadQueue
from test_batches import ended, group


def test_many_workers_wait_for_one_cell_of_each_unknown_strategy(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(loads.time, "monotonic", lambda: now[0])
    queue = LoadQueue([group(100), group(100, strategy="t"), group(9, "e")], 5.0, 2)
    first, second = queue.next(), queue.next()
    assert [(b.name, b.cells) for b in (first, second)] == [("s", ((0, 0),)), ("t", ((0, 0),))]
    assert queue.next() is None  # two groups are open, and nothing is known of either
    queue.saw(ended(second, 0.1))
    assert [(b.name, len(b.cells)) for b in (queue.next(), queue.next())] == [("t", 50), ("t", 49)]
    assert (queue.next().dataset.name, queue.next()) == ("e", None)
    now[0] += 5  # the cells take longer than a batch: each is one of its own
    assert queue.next().cells == ((0, 1),)
    assert queue.next().cells == ((0, 2),)


def load(queue, n_workers=1):
    return [
        (batch.dataset.name, batch.name, len(batch.cells)) for batch in queue.next_load(n_workers)
    ]


def test_a_load_has_batches_of_several_groups_until_it_lasts_long_enough(monkeypatch):
    monkeypatch.setattr(loads, "_FAR", 1)  # nothing is known of the end
    groups = [group(4), group(100, dataset="e"), group(9, strategy="t"), group(50, dataset="f")]
    queue = LoadQueue(groups, 1.0, 4)
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
    monkeypatch.setattr(loads, "_FAR", 1)
    queue = LoadQueue([group(1), group(100, dataset="e"), group(9, dataset="f")], 1.0, 3)
    queue.saw(ended(queue.next_load(1)[0], 0.01))
    assert load(queue) == [("e", "s", 25)]
    queue.saw(ended(group(100, dataset="e"), 0.001))
    assert load(queue) == [("e", "s", 75), ("f", "s", 9)]


def test_loads_become_shorter_when_little_is_left():
    queue = LoadQueue([group(101)], 1.0, 2)
    queue.saw(ended(queue.next_load(10)[0], 0.1))
    sizes = []
    while (found := load(queue, n_workers=4)) != []:
        sizes.append(found[0][2])
    assert sizes[:2] == [10, 10]  # a second
    assert sizes == sorted(sizes, reverse=True)
    assert (min(sizes[:-1]), sum(sizes)) == (2, 100)  # a quarter of a second at the least


def test_a_batch_that_came_to_nothing_is_a_load_of_its_own():
    queue = LoadQueue([group(3)], 0.1, 2)
    (batch,) = queue.next_load(2)
    queue.again(batch)
    assert queue.next_load(2) == [batch]
