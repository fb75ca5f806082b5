"""Messages of worker processes: outcomes as packs, in frames with a keyed checksum.

The code of a strategy runs in the process that sends its outcome, and can write to every open
pipe. So nothing from a worker is unpickled, every length is checked before it is used, and an
outcome is accepted only for the cell that is running, in a frame whose checksum proves that its
sender knows the secret of this process. No strategy runs in a process that has the secret.
"""

import hashlib
import hmac
import math
import struct
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from mlaut.files_io.outcomes.packs import pack_outcomes, unpack_outcomes
from mlaut.files_io.outcomes.study_records import USAGE, prediction_type
from mlaut.files_io.outcomes.traces import MOST_INCUMBENTS, unpack_trace
from mlaut.records import CLASSIFICATION, REGRESSION, Cell, Outcome, Status, not_distributions

CLOCK = struct.Struct("<dd")  # the beginning of a cell: time, and CPU seconds used before
LOADING = 0.0  # sent in place of a time: loading the strategy, which counts for the first cell
# Kinds of messages: the outcome of a cell, the exit status of a copy that died, the notice that the
# process takes no further cell.
ENDED, DIED, LEAVES = b"o", b"d", b"l"
STATUS = struct.Struct("<i")
SECRET = 32  # bytes that a process gets first; each frame proves that its sender knows them
SPOILT = "wrote into the pipe of its worker process"

_NO_OUTCOME = "sent something else than an outcome"
_MARK = b"mlaut>"
_HEAD = struct.Struct("<6scI8s")  # mark, kind, length of the content, checksum
_BYTES_OF_TEXT = 2**24  # parameters, warnings and a traceback; usually a thousandth of this
_PATIENCE = 1e-3  # seconds by which sums of times may exceed what they are part of
_LONGEST_REASON = 2**12  # characters; `run_cell` writes at most 500
# Statuses that a cell itself can report.
_IN_PYTHON = (Status.DONE, Status.ERROR, Status.MEMORY, Status.DIVERGED)


class GarbledError(Exception):
    """Error: the bytes from a worker process are no valid message."""


# ---------------------------------------------------------------------- frames


def frame(kind: bytes, content: bytes, secret: bytes | bytearray = b"") -> bytes:
    """Return the bytes of a message.

    Parameters
    ----------
    kind : bytes of length 1
        Kind of the message.
    content : bytes
    secret : bytes or bytearray, default b""
        Secret with which the receiver knows the sender.
    """
    return _HEAD.pack(_MARK, kind, len(content), _checksum(kind, content, secret)) + content


def _checksum(kind: bytes, content: bytes, secret: bytes | bytearray) -> bytes:
    keyed = hashlib.blake2b(kind, key=secret, digest_size=8)
    keyed.update(content)
    return keyed.digest()


class Inbox:
    """Reader that assembles the messages of one process, which has the same secret."""

    def __init__(self, secret: bytes = b"") -> None:
        self._secret, self._bytes = secret, bytearray()

    @property
    def partial(self) -> bool:
        """Return whether a message has arrived only in part."""
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
            if not hmac.compare_digest(_checksum(kind, content, self._secret), checksum):
                raise GarbledError(SPOILT)
            yield kind, content


# -------------------------------------------------------------------- outcomes


def largest_outcome(n_test: int, n_classes: int, n_targets: int = 0) -> int:
    """Return the largest number of bytes that the outcome of a cell may have."""
    return n_test * (8 * (n_targets or 1) + 4 * n_classes) * (1 + MOST_INCUMBENTS) + _BYTES_OF_TEXT


def encode_outcome(outcome: Outcome) -> bytes:
    """Return an outcome as bytes; reading them runs no code."""
    (content,) = pack_outcomes([outcome])
    return content


def encode_outcomes(outcomes: Iterable[Outcome]) -> Iterator[bytes]:
    """Yield outcomes of short cells together, in contents that a receiver takes for one."""
    for content in pack_outcomes(outcomes):
        if len(content) <= _BYTES_OF_TEXT:
            yield content
        else:
            yield from map(encode_outcome, unpack_outcomes(content))


def decode_outcomes(content: bytes, most: int = 1) -> list[Outcome]:
    """Return the outcomes in some bytes, which `check_outcome` has not checked yet.

    Raises
    ------
    GarbledError
        The bytes are no outcomes, or more than ``most``.
    """
    try:
        outcomes = unpack_outcomes(content)
    except Exception as error:  # invalid bytes may raise anything
        raise GarbledError(_NO_OUTCOME) from error
    if not 1 <= len(outcomes) <= most:
        raise GarbledError(_NO_OUTCOME)
    return outcomes


def check_outcome(
    outcome: Outcome,
    cell: Cell,
    seed: int,
    n_test: int,
    n_classes: int,
    longest: float = math.inf,
    n_targets: int = 0,
) -> Outcome:
    """Return the outcome of a cell that a worker has sent, with a reason that is not too long.

    Parameters
    ----------
    outcome : Outcome
        One of `decode_outcomes`; the code of a strategy may have changed it.
    cell : Cell
        Cell that is running.
    seed : int
        Seed of the cell.
    n_test : int
        Number of test rows of the cell.
    n_classes : int
        Number of classes of its dataset; 0 for regression.
    longest : float, optional
        Seconds since the cell began, by the clock of the process that receives.
    n_targets : int, default 0
        Number of targets of the dataset, if it has several; else 0.

    Raises
    ------
    GarbledError
        It is not an outcome of this cell, or it states impossible times.
    """
    if (outcome.cell, outcome.seed) != (cell, seed):
        raise GarbledError("sent the outcome of another cell")
    try:
        _check_numbers(outcome)
        if outcome.trace:
            unpack_trace(outcome.trace)
    except Exception as error:  # invalid bytes may raise anything
        raise GarbledError(_NO_OUTCOME) from error
    _check_arrays(outcome, n_test, n_classes, n_targets)
    _check_times(outcome, longest)
    if len(outcome.reason) <= _LONGEST_REASON:
        return outcome
    return replace(outcome, reason=outcome.reason[:_LONGEST_REASON])


def _check_numbers(outcome: Outcome) -> None:
    """Raise an error for a status or for times that no cell reports."""
    usage = [outcome.details[name] for name in USAGE if name in outcome.details]
    if outcome.status not in _IN_PYTHON or any(map(math.isinf, [*outcome.seconds, *usage])):
        raise ValueError(outcome)


def _check_times(outcome: Outcome, longest: float) -> None:
    """Raise a GarbledError for impossible times; a cell that is done states all of them."""
    missing = -1.0 if outcome.status is Status.DONE else 0.0
    elapsed = outcome.details.get("elapsed", math.inf)
    parts = [missing if math.isnan(part) else part for part in outcome.seconds]
    if min(elapsed, *parts) < 0 or elapsed > longest or sum(parts) > elapsed + _PATIENCE:
        raise GarbledError("sent times that its cell did not take")


def _check_arrays(outcome: Outcome, n_test: int, n_classes: int, n_targets: int) -> None:
    """Raise a GarbledError for arrays that do not fit the cell or hold invalid values."""
    predicted, probabilities = outcome.predictions, outcome.probabilities
    if outcome.status is Status.DONE and predicted is not None:
        dtype = prediction_type(CLASSIFICATION if n_classes else REGRESSION)[0]
        shape = (n_test, n_targets) if n_targets else (n_test,)
        fits = (predicted.dtype, predicted.shape) == (dtype, shape)
        greatest = 1 if n_targets else n_classes - 1
        low, high = (0, greatest) if n_classes else (-np.inf, np.inf)
        fits = fits and bool(np.isfinite(predicted).all())
        fits = fits and bool(((low <= predicted) & (predicted <= high)).all())
    else:
        fits = outcome.status is not Status.DONE and predicted is None and probabilities is None
    if fits and probabilities is not None:
        expected = np.dtype("<f4"), (n_test, n_classes)
        fits = (probabilities.dtype, probabilities.shape) == expected
        fits = fits and not not_distributions(probabilities, n_targets > 0).any()
    if not fits:
        raise GarbledError("sent arrays that do not fit its cell")
