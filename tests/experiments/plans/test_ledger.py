"""The ledger: counts of cells by dataset, strategy and status, whole or in part."""

import numpy as np
import pytest

from mlaut.experiments.plans.ledger import alike, count_cells, counts_text
from mlaut.files_io.outcomes.reason_counts import rows_by_reason
from mlaut.records import Status

STATUSES = {
    "one": (("A", "B"), np.array([[[1, 3], [0, 1]], [[6, 6], [6, 6]]], dtype=np.uint8)),
    "two": (("B",), np.array([[[1, 2, 2]]], dtype=np.uint8)),
}


def test_cells_are_counted_by_dataset_strategy_and_status():
    ledger = count_cells(STATUSES, strategies=["C", "B"])
    assert (ledger.datasets, ledger.strategies) == (("one", "two"), ("C", "B", "A"))
    assert ledger.cells.shape == (2, 3, len(Status))
    assert ledger.cells.sum(axis=2).tolist() == [[0, 4, 4], [0, 3, 0]]
    assert (ledger.n_cells, ledger.n_done, ledger.n_failed, ledger.complete) == (11, 3, 3, False)
    assert ledger.of_strategy("B") == {Status.DONE: 1, Status.ERROR: 2, Status.SKIPPED: 4}
    assert str(ledger) == "1 missing, 3 done, 2 error, 1 timeout, 4 skipped"
    assert ledger.rows()[1:] == [
        {"strategy": "B", "missing": 0, "done": 1, "error": 2, "timeout": 0, "skipped": 4},
        {"strategy": "A", "missing": 1, "done": 2, "error": 0, "timeout": 1, "skipped": 0},
    ]


def test_some_of_the_cells_are_counted():
    where = {name: status == Status.DONE for name, (_, status) in STATUSES.items()}
    where["one"][0, 1, 1] = False
    ledger = count_cells(STATUSES, where=where)
    assert ledger.total == {Status.DONE: 2}
    assert ledger.complete


@pytest.mark.parametrize("statuses", [{}, {"none": ((), np.zeros((0, 2, 3), dtype=np.uint8))}])
def test_nothing_is_not_complete(statuses):
    ledger = count_cells(statuses)
    assert (ledger.n_cells, ledger.complete, ledger.rows(), str(ledger)) == (0, False, [], "")


def test_rows_add_up_and_name_three_datasets():
    found = [({"why": why}, name, {"cells": 2, "todo": 1}) for name in "abcd" for why in ("x", "y")]
    rows = rows_by_reason([*found[:-1], ({"why": "note"}, "", {"cells": 0, "todo": 0})])
    assert rows == [
        {"why": "x", "cells": 8, "todo": 4, "datasets": "a, b, c and 1 more"},
        {"why": "y", "cells": 6, "todo": 3, "datasets": "a, b, c"},
        {"why": "note", "cells": 0, "todo": 0, "datasets": ""},
    ]


def test_a_status_without_cells_is_not_named():
    assert counts_text({Status.TIMEOUT: 0, Status.DONE: 2}) == "2 done"


def test_reasons_that_differ_in_numbers_alone_are_one():
    reasons = [("a", "k=-1 of 2.5e-3", 1), ("b", "k=3 of 7", 2), ("a", "k=4 of 7", 4)]
    others = [("a", "k=5 of 7", 8), ("a", "k=4 of 7", 16), ("a", "k of 7", 32)]
    assert alike(reasons + others) == [
        ("a", "k=-1 of 2.5e-3 (and 2 reasons that differ in numbers)", 29),
        ("b", "k=3 of 7", 2),
        ("a", "k of 7", 32),
    ]
    one_more = [("a", "1 row", 1), ("a", "2 row", 1)]
    assert alike(one_more) == [("a", "1 row (and 1 reason that differs in numbers)", 2)]
