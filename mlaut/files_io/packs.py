"""Packs: outcomes of one dataset as one payload, in the journal and on their way over a cluster.

A pack holds the numbers of its outcomes as columns, and their arrays one behind the other, so
that a cell costs no JSON object of its own. What has no column (reasons, warnings, parameters)
is stored once for all cells that share it. Reading a pack runs no code.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mlaut.files_io.payloads import pack, unpack
from mlaut.files_io.study_records import OF_OUTCOME, USAGE
from mlaut.records import Cell, Outcome, Status

__all__ = ["check_pack", "is_pack", "pack_outcomes", "unpack_outcomes"]

_LARGEST = 2**24  # bytes of a pack of several outcomes: damage to a journal costs no more
_OVERHEAD = 2**8  # bytes of an outcome without its arrays, and without texts
_STATUSES = tuple(Status)
_IN_COLUMNS = {*OF_OUTCOME, *USAGE} - {"reason"}
_SECONDS = 3
_WIDTH = _SECONDS + len(USAGE)  # numbers of a cell
# Columns of the whole numbers of a cell; sizes are -1 where there is no such array.
_STRATEGY, _REPEAT, _FOLD, _STATUS, _TOLD, _ROWS, _CLASSES, _TRACE = range(8)


def pack_outcomes(outcomes: Iterable[Outcome]) -> Iterator[bytes]:
    """Yield outcomes as packs, in their order.

    Examples
    --------
    >>> outcome = Outcome(Cell("iris", "SVC"), Status.ERROR, reason="no")
    >>> (payload,) = pack_outcomes([outcome])
    >>> (same,) = unpack_outcomes(payload)
    >>> same.cell, same.status, same.reason
    (Cell(dataset='iris', strategy='SVC', repeat=0, fold=0), <Status.ERROR: 2>, 'no')
    """
    for dataset, group in itertools.groupby(outcomes, key=lambda outcome: outcome.cell.dataset):
        together: list[Outcome] = []
        size = 0
        for outcome in group:
            if together and size + _size(outcome) > _LARGEST:
                yield _pack(dataset, together)
                together, size = [], 0
            together.append(outcome)
            size += _size(outcome)
        yield _pack(dataset, together)


def _size(outcome: Outcome) -> int:
    arrays = (outcome.predictions, outcome.probabilities)
    return _OVERHEAD + len(outcome.trace) + sum(a.nbytes for a in arrays if a is not None)


def _pack(dataset: str, outcomes: Sequence[Outcome]) -> bytes:
    strategies: dict[str, int] = {}
    told: list[dict[str, Any]] = []
    cells = np.full((len(outcomes), 8), -1, dtype="<i4")
    for row, outcome in zip(cells, outcomes, strict=True):
        details = {"reason": outcome.reason, **outcome.details}
        texts = {name: value for name, value in details.items() if name not in USAGE}
        if not told or texts != told[-1]:
            told.append(texts)
        cell, predicted = outcome.cell, outcome.predictions
        probabilities = None if predicted is None else outcome.probabilities
        row[:] = (
            strategies.setdefault(cell.strategy, len(strategies)),
            cell.repeat,
            cell.fold,
            outcome.status,
            len(told) - 1,
            -1 if predicted is None else len(predicted),
            -1 if probabilities is None else probabilities.shape[1],
            len(outcome.trace),
        )
    numbers = [
        (*outcome.seconds, *(outcome.details.get(name, np.nan) for name in USAGE))
        for outcome in outcomes
    ]
    arrays = {
        "cells": cells,
        "seeds": np.array([outcome.seed for outcome in outcomes], dtype="<u4"),
        "numbers": np.array(numbers, dtype="<f8"),
        "predictions": _joined([outcome.predictions for outcome in outcomes]),
        "probabilities": _joined(
            [of.probabilities for of in outcomes if of.predictions is not None]
        ),
        "traces": np.frombuffer(b"".join(outcome.trace for outcome in outcomes), np.uint8),
    }
    return pack({"dataset": dataset, "strategies": list(strategies), "told": told}, arrays)


def _joined(arrays: Sequence[np.ndarray | None]) -> np.ndarray:
    """Return the values of arrays in a row, in a type that a payload may have."""
    some = [array.ravel() for array in arrays if array is not None]
    values = np.concatenate(some) if some else np.empty(0, dtype="<f4")
    if values.dtype == np.float32:
        return values.astype("<f4", copy=False)
    return values.astype("<f8" if values.dtype.kind == "f" else "<i4", copy=False)


def is_pack(record: Mapping[str, Any]) -> bool:
    """Return whether the record of a payload is that of a pack."""
    return "told" in record


def check_pack(payload: bytes) -> None:
    """Check that the parts of a pack fit each other.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError, RecursionError, struct.error
        They do not: the bytes may come from an untrusted source.
    """
    _opened(payload)


def _opened(payload: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    record, arrays = unpack(payload)
    cells, numbers, seeds = arrays["cells"], arrays["numbers"], arrays["seeds"]
    n = len(cells)
    texts = [record["dataset"], *record["strategies"], *(told["reason"] for told in record["told"])]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a name or a reason is no text")
    if any(_IN_COLUMNS & told.keys() for told in record["told"]):
        raise ValueError("a text in the place of a column")
    shapes = (cells.shape, numbers.shape, seeds.shape)
    kinds = (cells.dtype.kind, numbers.dtype.kind, seeds.dtype.kind)
    if shapes != ((n, 8), (n, _WIDTH), (n,)) or kinds != ("i", "f", "u"):
        raise ValueError(f"columns of shapes {shapes}")
    least = np.array([0, 0, 0, 0, 0, -1, -1, 0])
    below = np.array([len(record["strategies"]), 2**31, 2**31, len(Status), len(record["told"])])
    if (cells < least).any() or (cells[:, :5] >= below).any():
        raise ValueError("a cell of unknown strategy or status")
    rows, classes = cells[:, _ROWS].astype(np.int64), cells[:, _CLASSES].astype(np.int64)
    lengths = {
        "predictions": rows[rows > 0].sum(),
        "probabilities": (rows * classes)[(rows > 0) & (classes > 0)].sum(),
        "traces": cells[:, _TRACE].sum(dtype=np.int64),
    }
    if any(arrays[name].shape != (length,) for name, length in lengths.items()):
        raise ValueError("arrays that do not fit the cells")
    return record, arrays


def unpack_outcomes(payload: bytes) -> list[Outcome]:
    """Return the outcomes of a pack.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError, RecursionError, struct.error
        The bytes are no pack: they may come from an untrusted source.
    """
    record, arrays = _opened(payload)
    dataset, strategies, told = (record[name] for name in ("dataset", "strategies", "told"))
    details = [{name: of[name] for name in of if name != "reason"} for of in told]
    traces = arrays["traces"].tobytes()
    outcomes, at, of_classes, of_trace = [], 0, 0, 0
    rows = zip(
        arrays["cells"].tolist(), arrays["numbers"].tolist(), arrays["seeds"].tolist(), strict=True
    )
    for (s, repeat, fold, status, text, n, n_classes, length), numbers, seed in rows:
        predictions = probabilities = None
        if n >= 0:
            predictions = arrays["predictions"][at : at + n]
            at += n
            if n_classes >= 0:
                end = of_classes + n * n_classes
                probabilities = arrays["probabilities"][of_classes:end].reshape(n, n_classes)
                of_classes = end
        usage = {k: v for k, v in zip(USAGE, numbers[_SECONDS:], strict=True) if v == v}
        if math.isfinite(usage.get("peak_memory", np.nan)):
            usage["peak_memory"] = int(usage["peak_memory"])
        outcomes.append(
            Outcome(
                Cell(dataset, strategies[s], repeat, fold),
                _STATUSES[status],
                predictions,
                probabilities,
                tuple(numbers[:_SECONDS]),
                seed,
                told[text]["reason"],
                {**details[text], **usage},
                traces[of_trace : of_trace + length] if length else b"",
            )
        )
        of_trace += length
    return outcomes
