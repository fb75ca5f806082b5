"""Messages of worker processes: outcomes as JSON and arrays, in frames with a checksum.

The code of a strategy runs in the process that sends its outcome, and can write to every open
pipe. So nothing from a worker is unpickled, every length is checked before it is used, and an
outcome is accepted only for the cell that is running.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from mlaut.files_io.packs import pack_outcomes, unpack_outcomes
from mlaut.files_io.payloads import pack, unpack
from mlaut.files_io.study_records import (
    USAGE,
    outcome_arrays,
    outcome_record,
    prediction_type,
    record_outcome,
)
from mlaut.files_io.traces import MOST_INCUMBENTS, unpack_trace
from mlaut.records import CLASSIFICATION, REGRESSION, Cell, Outcome, Status, not_distributions

__all__ = [
    "SPOILT",
    "GarbledError",
    "Inbox",
    "decode_outcome",
    "decode_outcomes",
    "encode_outcome",
    "encode_outcomes",
    "frame",
    "largest_outcome",
]

SPOILT = "wrote into the pipe of its worker process"

_MARK = b"mlaut>"
_OUTCOMES = b"p"  # kind of the messages of a block of outcomes: packs
_HEAD = struct.Struct("<6scII")  # mark, kind, length and CRC-32 of the content
_BYTES_OF_TEXT = 2**24  # parameters, warnings and a traceback; usually a thousandth of this
_LONGEST_REASON = 2**12  # characters; `run_cell` writes at most 500
# Statuses that a cell itself can report.
_IN_PYTHON = (Status.DONE, Status.ERROR, Status.MEMORY, Status.DIVERGED)


class GarbledError(Exception):
    """Error: the bytes from a worker process are no valid message."""


# ---------------------------------------------------------------------- frames


def frame(kind: bytes, content: bytes) -> bytes:
    """Return the bytes of a message.

    Parameters
    ----------
    kind : bytes of length 1
        Kind of the message (`mlaut.experiments.workers.worker`).
    content : bytes
    """
    return _HEAD.pack(_MARK, kind, len(content), zlib.crc32(kind + content)) + content


class Inbox:
    """Reader that assembles the messages of one process from the pieces that arrive."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    @property
    def partial(self) -> bool:
        """Whether a message has arrived only in part."""
        return bool(self._bytes)

    def messages(self, piece: bytes, largest: int) -> Iterator[tuple[bytes, bytes]]:
        """Yield kind and content of each message that is complete with this piece.

        Raises
        ------
        GarbledError
            The bytes are no message, or a message is longer than ``largest`` bytes.
        """
        self._bytes += piece
        while len(self._bytes) >= _HEAD.size:
            mark, kind, length, checksum = _HEAD.unpack_from(self._bytes)
            if mark != _MARK or length > largest:
                raise GarbledError(SPOILT)
            if len(self._bytes) < _HEAD.size + length:
                return
            content = bytes(self._bytes[_HEAD.size : _HEAD.size + length])
            del self._bytes[: _HEAD.size + length]
            if zlib.crc32(kind + content) != checksum:
                raise GarbledError(SPOILT)
            yield kind, content


# -------------------------------------------------------------------- outcomes


def largest_outcome(n_test: int, n_classes: int) -> int:
    """Return the largest number of bytes that the outcome of a cell may have."""
    return n_test * (8 + 4 * n_classes) * (1 + MOST_INCUMBENTS) + _BYTES_OF_TEXT


def encode_outcome(outcome: Outcome) -> bytes:
    """Return an outcome as bytes; reading them runs no code."""
    return pack(outcome_record(outcome), outcome_arrays(outcome))


def decode_outcome(content: bytes, cell: Cell, seed: int, n_test: int, n_classes: int) -> Outcome:
    """Return the outcome of a cell from its bytes.

    Parameters
    ----------
    content : bytes
        Bytes that `encode_outcome` returned; the code of a strategy may have changed them.
    cell : Cell
        Cell that is running.
    seed : int
        Seed of the cell.
    n_test : int
        Number of test rows of the cell.
    n_classes : int
        Number of classes of its dataset; 0 for regression.

    Raises
    ------
    GarbledError
        The bytes are not an outcome of this cell.
    """
    try:
        record, arrays = unpack(content)
        outcome = record_outcome(record, arrays)
        if (outcome.cell, outcome.seed) != (cell, seed):
            raise GarbledError("sent the outcome of another cell")
        _check_numbers(outcome)
        if outcome.trace:
            unpack_trace(outcome.trace)
    except GarbledError:
        raise
    except Exception as error:  # invalid bytes may raise anything
        raise GarbledError("sent something else than an outcome") from error
    _check_arrays(outcome, n_test, n_classes)
    return replace(outcome, reason=str(outcome.reason)[:_LONGEST_REASON])


def encode_outcomes(outcomes: Iterable[Outcome]) -> bytes:
    """Return outcomes as one block of bytes, which takes less time to send than as objects.

    Examples
    --------
    >>> outcome = Outcome(Cell("iris", "SVC"), Status.ERROR, reason="no")
    >>> (same,) = decode_outcomes(encode_outcomes([outcome]))
    >>> same.cell, same.status, same.reason
    (Cell(dataset='iris', strategy='SVC', repeat=0, fold=0), <Status.ERROR: 2>, 'no')
    """
    return b"".join(frame(_OUTCOMES, payload) for payload in pack_outcomes(outcomes))


def decode_outcomes(content: bytes) -> list[Outcome]:
    """Return the outcomes in a block that `encode_outcomes` returned.

    Raises
    ------
    GarbledError
        The block is damaged.
    """
    packs, inbox = [], Inbox()
    for _, payload in inbox.messages(content, len(content)):
        try:
            packs.append(unpack_outcomes(payload))
        except Exception as error:  # invalid bytes may raise anything
            raise GarbledError("something else than outcomes") from error
    if inbox.partial:
        raise GarbledError("a part is missing")
    return list(chain.from_iterable(packs))


def _check_numbers(outcome: Outcome) -> None:
    """Raise an error for a status or for times that no cell reports."""
    usage = [outcome.details[name] for name in USAGE if name in outcome.details]
    numbers = [*outcome.seconds, *usage]
    if outcome.status not in _IN_PYTHON or len(outcome.seconds) != 3:
        raise ValueError(outcome.status)
    if not all(isinstance(number, int | float) for number in numbers):
        raise TypeError(numbers)
    if not all(math.isfinite(number) for number in usage):
        raise ValueError(usage)


def _check_arrays(outcome: Outcome, n_test: int, n_classes: int) -> None:
    """Raise a GarbledError for arrays that do not fit the cell or hold invalid values."""
    predicted, probabilities = outcome.predictions, outcome.probabilities
    if outcome.status is Status.DONE and predicted is not None:
        dtype = prediction_type(CLASSIFICATION if n_classes else REGRESSION)[0]
        fits = (predicted.dtype, predicted.shape) == (dtype, (n_test,))
        low, high = (0, n_classes - 1) if n_classes else (-np.inf, np.inf)
        fits = fits and bool(np.isfinite(predicted).all())
        fits = fits and bool(((low <= predicted) & (predicted <= high)).all())
    else:
        fits = outcome.status is not Status.DONE and predicted is None and probabilities is None
    if fits and probabilities is not None:
        expected = np.dtype("<f4"), (n_test, n_classes)
        fits = (probabilities.dtype, probabilities.shape) == expected
        fits = fits and not not_distributions(probabilities).any()
    if not fits:
        raise GarbledError("sent arrays that do not fit its cell")
