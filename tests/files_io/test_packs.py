"""Packs: outcomes come back as they were, and invalid bytes are refused."""

import json

import numpy as np
import pytest

from mlaut.files_io.outcomes import packs, study_records
from mlaut.files_io.outcomes.journal import Journal, index_journal
from mlaut.files_io.outcomes.packs import checked_pack, pack, pack_outcomes, unpack, unpack_outcomes
from mlaut.files_io.outcomes.study_records import outcome_record
from mlaut.records import Cell, Outcome, Status

STRATEGY, REPEAT, FOLD, STATUS, TOLD, ROWS, CLASSES, TRACE = range(8)  # columns of a pack
USAGE = {"started": 1.5, "elapsed": 0.25, "peak_memory": 2**40 + 1}


def done(fold, strategy="tree", n=3, dataset="iris", **details):
    """A done cell of a classification; its probabilities tell its fold."""
    probabilities = np.full((n, 2), [fold / 10, 1 - fold / 10], dtype=np.float32)
    cell = Cell(dataset, strategy, 1, fold)
    return Outcome(
        cell,
        Status.DONE,
        np.arange(n, dtype=np.int32),
        probabilities,
        (0.0, 0.1, 0.2),
        2**32 - 1,
        details={**USAGE, "warnings": [], **details},
    )


def number(fold):
    cell, values = Cell("cpu", "tree", 0, fold), np.array([0.1, np.pi])
    return Outcome(cell, Status.DONE, values, seconds=(0.0, 0.1, 0.2), details=dict(USAGE))


def failed(fold, status=Status.TIMEOUT):
    details = {"traceback": "line\nand ü", "elapsed": 2.0}
    return Outcome(Cell("iris", "svc", 0, fold), status, reason="why", details=details)


def assert_same(outcomes, others):
    texts = [
        [json.dumps(outcome_record(one), sort_keys=True) for one in some]  # NaN equals NaN
        for some in (outcomes, others)
    ]
    assert texts[0] == texts[1]
    for one, other in zip(outcomes, others, strict=True):
        assert one.trace == other.trace
        for name in ("predictions", "probabilities"):
            values, again = getattr(one, name), getattr(other, name)
            assert (values is None) == (again is None)
            if values is not None:
                np.testing.assert_array_equal(values, again, strict=True)


def again(outcomes):
    return [one for payload in pack_outcomes(outcomes) for one in unpack_outcomes(payload)]


MIXED = [
    done(0),
    done(1, n=5),
    done(2, "svc", best_params={"C": [1, None]}),
    done(3, n=0),
    number(0),
    number(1),
    *map(failed, range(2)),
    Outcome(done(4).cell, Status.DONE, np.zeros(2, np.int32), seconds=(0.0, 1.0, 2.0), trace=b"ab"),
    done(5, warnings=["a text"]),
]


def test_what_is_packed_comes_back():
    assert_same(again(MIXED), MIXED)
    assert len(list(pack_outcomes(MIXED))) == 3  # each time that the dataset changes
    assert again([]) == []


@pytest.mark.parametrize("status", [status for status in Status if status != Status.DONE])
def test_every_status_comes_back(status):
    assert_same(again([failed(0, status)]), [failed(0, status)])


def test_numbers_that_a_cell_does_not_have_stay_away():
    (one,) = again([failed(0)])
    assert one.details == {"traceback": "line\nand ü", "elapsed": 2.0}
    assert np.isnan(one.seconds).all()


def test_a_pack_has_a_largest_size(monkeypatch):
    monkeypatch.setattr(packs, "_LARGEST", 2 * packs._size(done(0)))
    outcomes = [done(fold) for fold in range(5)]
    payloads = list(pack_outcomes(outcomes))
    assert [len(unpack_outcomes(payload)) for payload in payloads] == [2, 2, 1]
    assert_same(again(outcomes), outcomes)
    monkeypatch.setattr(packs, "_LARGEST", 1)
    assert len(list(pack_outcomes(outcomes))) == 5


def test_the_journal_yields_each_outcome_of_a_pack(tmp_path):
    journal = Journal(tmp_path / "journal", "0" * 32)
    journal.append(*pack_outcomes([done(0), done(1), failed(0)]))
    journal.append(*pack_outcomes([number(0), done(1, "svc"), done(0, n=4)]))
    journal.close()
    index = index_journal(journal.path, "0" * 32)
    assert {name: len(packs) for name, packs in index.packs.items()} == {"iris": 2, "cpu": 1}
    told = [(one.cell.strategy, one.cell.fold) for one in index.outcomes("iris")]
    assert told == [("tree", 0), ("tree", 1), ("svc", 0), ("svc", 1), ("tree", 0)]
    last = [
        (one.cell.fold, 0 if one.predictions is None else len(one.predictions))
        for one in index.last_outcomes("iris")
    ]
    assert sorted(last) == [(0, 0), (0, 4), (1, 3), (1, 3)]


def changed(**columns):
    """A pack of two cells whose parts are replaced."""
    (payload,) = pack_outcomes([done(0), done(1)])
    record, arrays = unpack(payload)
    record |= {name: value for name, value in columns.items() if name not in arrays}
    return pack(record, arrays | {k: v for k, v in columns.items() if k in arrays})


def cells(column, value):
    (payload,) = pack_outcomes([done(0), done(1)])
    found = unpack(payload)[1]["cells"].copy()
    found[1, column] = value
    return {"cells": found}


@pytest.mark.parametrize(
    "columns",
    [
        {"strategies": []},
        {"strategies": [3]},
        {"dataset": None},
        {"told": [{"reason": 3}]},
        {"told": [{}]},
        {"told": [3]},
        {"told": [{"reason": "", "dataset": "wine"}]},
        {"told": [{"reason": "", "elapsed": "long"}]},
        cells(STRATEGY, 1),
        cells(STRATEGY, -1),
        cells(REPEAT, -1),
        cells(FOLD, -1),
        cells(STATUS, len(Status)),
        cells(TOLD, 1),
        cells(ROWS, 2),
        cells(ROWS, -2),
        cells(CLASSES, 3),
        cells(TRACE, 1),
        cells(TRACE, -1),
        {"cells": np.zeros((2, 8))},
        {"cells": np.zeros((2, 7), dtype="<i4")},
        {"seeds": np.zeros(1, dtype="<u4")},
        {"numbers": np.zeros((2, 5))},
        {"predictions": np.zeros((2, 3), dtype="<i4")},
        {"traces": np.zeros(1, dtype="|u1")},
    ],
)
def test_parts_that_do_not_fit_are_refused(columns):
    checked_pack(changed())
    refused = (ValueError, TypeError, KeyError, IndexError)
    with pytest.raises(refused):
        checked_pack(changed(**columns))
    with pytest.raises(refused):
        unpack_outcomes(changed(**columns))


def test_predictions_of_several_targets_come_back_in_their_shape():
    two = np.array([[0, 1], [1, 1], [0, 0]], dtype=np.int32)
    (payload,) = pack_outcomes([Outcome(Cell("topics", "tree", 0, 0), Status.DONE, two)])
    (outcome,) = unpack_outcomes(payload)
    assert np.array_equal(outcome.predictions, two)
    record, arrays = unpack(payload)
    with pytest.raises(ValueError, match="-1 targets"):
        checked_pack(pack({**record, "targets": -1}, arrays))


def test_a_whole_number_more_comes_back_as_a_whole_number(monkeypatch):
    monkeypatch.setattr(study_records, "_WHOLE", {"peak_memory", "gpu_memory"})
    monkeypatch.setattr(packs, "USAGE", (*USAGE, "gpu_memory"))
    (found,) = again([done(0, gpu_memory=2**40 + 1)])
    assert [type(found.details[name]) for name in packs.USAGE] == [float, float, int, int]
    (damaged,) = again([done(0, gpu_memory=np.inf)])
    assert damaged.details["gpu_memory"] == np.inf
