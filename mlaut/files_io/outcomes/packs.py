"""Payloads and packs: outcomes as bytes, in the journal and on their way from a worker.

A payload is a JSON object with a record and the layout of its arrays, preceded by its length, and
followed by the bytes of the arrays in the order of the layout. A pack is the payload of outcomes of
one dataset, in the journal and on their way over a cluster.

A pack holds the numbers of its outcomes as columns, and their arrays one behind the other, so
that a cell costs no JSON object of its own. What has no column (reasons, warnings, parameters)
is stored once for all cells that share it. A pack names its columns, so that a version which stores
other numbers of each cell reads it. Reading a payload runs no code.
"""

import itertools
import json
import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mlaut.files_io.outcomes.study_records import OF_OUTCOME, UNNAMED, USAGE, check_types, usage_of
from mlaut.files_io.safe_files.untrusted import read_json
from mlaut.records import Cell, Outcome, Status

LENGTH = struct.Struct("<I")  # of the JSON object
# Of classes, seeds, probabilities, numbers, and traces.
_TYPES = ("<i4", "<u4", "<f4", "<f8", "|u1")

_LARGEST = 2**24  # bytes of a pack of several outcomes: damage to a journal costs no more
_OVERHEAD = 2**8  # bytes of an outcome without its arrays, and without texts
_STATUSES = tuple(Status)
_IN_COLUMNS = {*OF_OUTCOME} - {"reason"}
_SECONDS = 3  # of tuning, fitting and predicting: the first numbers of each cell


def pack(record: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return a record and its arrays as a payload.

    Examples
    --------
    >>> unpack(pack({"fold": 1}, {"predictions": np.array([2, 0], dtype=np.int32)}))
    ({'fold': 1}, {'predictions': array([2, 0], dtype=int32)})
    """
    layout = {name: [array.dtype.str, *array.shape] for name, array in arrays.items()}
    text = json.dumps({"record": record, "arrays": layout}).encode()
    return b"".join([LENGTH.pack(len(text)), text, *(a.tobytes() for a in arrays.values())])


def read_record(payload: bytes) -> dict[str, Any]:
    """Return the record of a payload, without its arrays."""
    return dict(_object(payload)["record"])


def unpack(payload: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the record and the arrays of a payload.

    Raises
    ------
    ValueError, TypeError, KeyError, RecursionError, struct.error
        The bytes are no payload: they may come from an untrusted source.
    """
    content = _object(payload)
    start = LENGTH.size + LENGTH.unpack_from(payload)[0]
    arrays = {}
    for name, (dtype, *shape) in content["arrays"].items():
        if dtype not in _TYPES or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError(f"an array of type {dtype!r} and shape {shape!r}")
        values = np.frombuffer(payload, dtype, math.prod(shape), start).reshape(shape)
        arrays[name] = values
        start += values.nbytes
    if start != len(payload):
        raise ValueError(f"{len(payload)} bytes in place of {start}")
    return dict(content["record"]), arrays


def _object(payload: bytes) -> dict[str, Any]:
    (size,) = LENGTH.unpack_from(payload)
    return dict(read_json(payload[LENGTH.size : LENGTH.size + size]))


# ----------------------------------------------------------------------- packs


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
                yield _packed(dataset, together)
                together, size = [], 0
            together.append(outcome)
            size += _size(outcome)
        yield _packed(dataset, together)


def _size(outcome: Outcome) -> int:
    arrays = (outcome.predictions, outcome.probabilities)
    return _OVERHEAD + len(outcome.trace) + sum(a.nbytes for a in arrays if a is not None)


def _packed(dataset: str, outcomes: Sequence[Outcome]) -> bytes:
    strategies: dict[str, int] = {}
    shared: list[dict[str, Any]] = []
    cells = np.empty((len(outcomes), 8), dtype="<i4")  # a size is -1 where there is no array
    for row, outcome in zip(cells, outcomes, strict=True):
        details = {"reason": outcome.reason, **outcome.details}
        texts = {name: value for name, value in details.items() if name not in USAGE}
        if not shared or texts != shared[-1]:
            shared.append(texts)
        cell, predicted = outcome.cell, outcome.predictions
        probabilities = None if predicted is None else outcome.probabilities
        row[:] = (
            strategies.setdefault(cell.strategy, len(strategies)),
            cell.repeat,
            cell.fold,
            outcome.status,
            len(shared) - 1,
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
            [outcome.probabilities for outcome in outcomes if outcome.predictions is not None]
        ),
        "traces": np.frombuffer(b"".join(outcome.trace for outcome in outcomes), np.uint8),
    }
    names: dict[str, Any] = {"strategies": list(strategies), "fields": USAGE}
    for outcome in outcomes:
        if outcome.predictions is not None and outcome.predictions.ndim > 1:
            names["targets"] = outcome.predictions.shape[1]
    # "told": what cells have in words, each text once; journals in the world have this key
    return pack({"dataset": dataset, **names, "told": shared}, arrays)


def _joined(arrays: Sequence[np.ndarray | None]) -> np.ndarray:
    """Return the values of arrays in a row, in a type that a payload may have."""
    flat = [array.ravel() for array in arrays if array is not None]
    values = np.concatenate(flat) if flat else np.empty(0, dtype="<f4")
    if values.dtype == np.float32:
        return values.astype("<f4", copy=False)
    return values.astype("<f8" if values.dtype.kind == "f" else "<i4", copy=False)


def checked_pack(payload: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return record and arrays of a pack whose parts fit each other.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError, RecursionError, struct.error
        The parts do not fit: the bytes may come from an untrusted source.
    """
    record, arrays = unpack(payload)
    cells, numbers, seeds = arrays["cells"], arrays["numbers"], arrays["seeds"]
    n = len(cells)
    fields, shared = record.setdefault("fields", list(UNNAMED)), record["told"]
    reasons = (entry["reason"] for entry in shared)
    texts = [record["dataset"], *record["strategies"], *reasons, *fields]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a name or a reason is no text")
    in_columns = _IN_COLUMNS | set(fields)
    if len(in_columns) < len(_IN_COLUMNS) + len(fields) or any(
        in_columns & entry.keys() for entry in shared
    ):
        raise ValueError("two values in the place of one")
    for values in (*shared, dict.fromkeys(fields, 0.0)):
        check_types(values)
    shapes = (cells.shape, numbers.shape, seeds.shape)
    kinds = (cells.dtype.kind, numbers.dtype.kind, seeds.dtype.kind)
    if shapes != ((n, 8), (n, _SECONDS + len(fields)), (n,)) or kinds != ("i", "f", "u"):
        raise ValueError(f"columns of shapes {shapes}")
    targets = record.setdefault("targets", 0)
    if type(targets) is not int or not 0 <= targets < 2**31:
        raise ValueError(f"{targets!r} targets")
    below = (len(record["strategies"]), 2**31, 2**31, len(Status), len(shared))
    lengths = dict.fromkeys(("predictions", "probabilities", "traces"), 0)
    for *places, rows, classes, trace in cells.tolist():
        if not all(0 <= place < end for place, end in zip(places, below, strict=True)):
            raise ValueError("a cell of unknown strategy or status")
        if min(rows, classes) < -1 or trace < 0:
            raise ValueError("arrays of negative sizes")
        lengths["predictions"] += max(rows, 0) * (targets or 1)
        lengths["probabilities"] += max(rows, 0) * max(classes, 0)
        lengths["traces"] += trace
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
    record, arrays = checked_pack(payload)
    dataset, strategies, shared = (record[name] for name in ("dataset", "strategies", "told"))
    details = [{name: entry[name] for name in entry if name != "reason"} for entry in shared]
    traces = arrays["traces"].tobytes()
    outcomes, at, of_classes, of_trace = [], 0, 0, 0
    rows = zip(
        arrays["cells"].tolist(), arrays["numbers"].tolist(), arrays["seeds"].tolist(), strict=True
    )
    for (s, repeat, fold, status, text, n, n_classes, length), numbers, seed in rows:
        predictions = probabilities = None
        if n >= 0:
            end = at + n * (record["targets"] or 1)
            predictions = arrays["predictions"][at:end]
            if record["targets"]:
                predictions = predictions.reshape(n, record["targets"])
            at = end
            if n_classes >= 0:
                end = of_classes + n * n_classes
                probabilities = arrays["probabilities"][of_classes:end].reshape(n, n_classes)
                of_classes = end
        usage = usage_of(record["fields"], numbers[_SECONDS:])
        outcomes.append(
            Outcome(
                Cell(dataset, strategies[s], repeat, fold),
                _STATUSES[status],
                predictions,
                probabilities,
                tuple(numbers[:_SECONDS]),
                seed,
                shared[text]["reason"],
                {**details[text], **usage},
                traces[of_trace : of_trace + length] if length else b"",
            )
        )
        of_trace += length
    return outcomes
