"""Messages of workers: outcomes come back as they were, and nothing else does."""

from dataclasses import replace

import numpy as np
import pytest

from mlaut.experiments.cells import messages
from mlaut.experiments.cells.messages import (
    GarbledError,
    Inbox,
    check_outcome,
    decode_outcomes,
    encode_outcome,
    encode_outcomes,
    frame,
    largest_outcome,
)
from mlaut.files_io.outcomes.packs import pack_outcomes
from mlaut.records import Cell, Outcome, Status

CELL = Cell("d", "s", 1, 2)
DONE = Outcome(
    CELL,
    Status.DONE,
    np.array([0, 2, 1], np.int32),
    np.eye(3, dtype=np.float32),
    (0.0, 0.5, 0.25),
    seed=7,
    details={"warnings": ["w"], "started": 1.5, "elapsed": 0.75, "peak_memory": 3},
)


def decode(content, n_test=3, n_classes=3):
    (outcome,) = decode_outcomes(content)
    return check_outcome(outcome, CELL, 7, n_test, n_classes)


def changed(**fields):
    return encode_outcome(replace(DONE, **fields))


def test_an_outcome_comes_back_as_it_was():
    back = decode(encode_outcome(DONE))
    np.testing.assert_array_equal(back.predictions, DONE.predictions)
    np.testing.assert_array_equal(back.probabilities, DONE.probabilities)
    assert (back.predictions.dtype, back.probabilities.dtype) == (np.int32, np.float32)
    assert (back.cell, back.status, back.seconds, back.seed) == (CELL, Status.DONE, DONE.seconds, 7)
    assert back.details == DONE.details
    failed = Outcome(CELL, Status.ERROR, seed=7, reason="no luck")
    back = decode(encode_outcome(failed))
    assert (back.status, back.reason, back.predictions) == (Status.ERROR, "no luck", None)
    assert np.isnan(back.seconds).all()


def test_outcomes_together_are_as_many_as_expected_and_none_is_too_large(monkeypatch):
    long = replace(DONE, reason="long " * 2000)
    (together,) = encode_outcomes([DONE, long])
    assert [o.reason for o in decode_outcomes(together, 2)] == ["", long.reason]
    assert len(check_outcome(long, CELL, 7, 3, 3).reason) == 2**12
    with pytest.raises(GarbledError, match="something else"):
        decode_outcomes(together)
    monkeypatch.setattr(messages, "_BYTES_OF_TEXT", len(together) - 1)
    assert [*encode_outcomes([DONE, long])] == [encode_outcome(DONE), encode_outcome(long)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (changed(cell=Cell("d", "s", 1, 1)), "another cell"),
        (changed(cell=Cell("e", "s", 1, 2)), "another cell"),
        (changed(seed=8), "another cell"),
        (changed(status=Status.CRASHED), "something else"),
        (changed(status=Status.MISSING), "something else"),
        (changed(seconds=(0.0, 1.0, np.inf)), "something else"),
        (changed(details={"elapsed": np.inf}), "something else"),
        (changed(details={"elapsed": 0.5}), "times that its cell did not take"),
        (changed(status=Status.ERROR), "do not fit"),
        (b"".join(pack_outcomes([DONE, DONE])), "something else"),
        (encode_outcome(DONE) + b"more", "something else"),
        (encode_outcome(DONE)[:-1], "something else"),
        (b"", "something else"),
        (b"\xff\xff\xff\xff", "something else"),
        (b"\x00\x00\x02\x00" + b"[" * 2**17, "something else"),
    ],
)
def test_what_is_no_outcome_of_the_cell_is_refused(content, message):
    with pytest.raises(GarbledError, match=message):
        decode(content)


@pytest.mark.parametrize(
    ("predictions", "probabilities"),
    [
        (np.array([0, 1], np.int32), None),
        (np.array([0, 1, 3], np.int32), None),
        (np.array([0, 1, -1], np.int32), None),
        (np.array([0.0, 1.0, 2.0]), None),
        (None, None),
        (DONE.predictions, np.full((3, 3), 7.5, np.float32)),
        (DONE.predictions, np.full((3, 2), 0.5, np.float32)),
    ],
)
def test_arrays_that_do_not_fit_the_cell_are_refused(predictions, probabilities):
    outcome = Outcome(CELL, Status.DONE, predictions, probabilities, (0.0, 0.0, 0.0), seed=7)
    with pytest.raises(GarbledError, match="do not fit its cell"):
        decode(encode_outcome(outcome))


def test_numbers_of_a_regression_must_be_finite():
    numbers = Outcome(CELL, Status.DONE, np.array([1.5, -2.0]), None, (0.0, 0.0, 0.0), seed=7)
    np.testing.assert_array_equal(decode(encode_outcome(numbers), 2, 0).predictions, [1.5, -2.0])
    numbers.predictions[0] = np.inf
    with pytest.raises(GarbledError, match="do not fit"):
        decode(encode_outcome(numbers), 2, 0)


def test_messages_are_put_together_from_pieces():
    content = encode_outcome(DONE)
    sent = frame(b"o", content) + frame(b"l", b"")
    inbox, got = Inbox(), []
    for start in range(0, len(sent), 7):
        got += inbox.messages(sent[start : start + 7], largest_outcome(3, 3))
    assert got == [(b"o", content), (b"l", b"")]
    assert not inbox.partial


SENT = frame(b"o", b"abc", b"secret")


@pytest.mark.parametrize(
    "sent",
    [
        b"x" * 20,
        b"M" + SENT[1:],
        SENT[:-1] + b"x",
        SENT.replace(b">o", b">d"),
        frame(b"o", b"abc", b"another secret"),
        frame(b"o", b"a" * 11, b"secret"),
    ],
    ids=["noise", "another mark", "other content", "another kind", "another sender", "too long"],
)
def test_bytes_that_are_no_message_are_refused(sent):
    assert list(Inbox(b"secret").messages(SENT, 10)) == [(b"o", b"abc")]
    with pytest.raises(GarbledError, match="wrote into the pipe"):
        list(Inbox(b"secret").messages(sent, 10))
