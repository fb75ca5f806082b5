"""Payloads: an outcome as bytes, in the journal of a study and on its way from a worker.

A payload is a JSON object with a record and the layout of its arrays, preceded by its length, and
followed by the bytes of the arrays in the order of the layout. Reading it runs no code.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from mlaut.files_io.untrusted import read_json

__all__ = ["LENGTH", "Record", "pack", "read_record", "unpack"]

LENGTH = struct.Struct("<I")  # of the JSON object
# Of classes, seeds, probabilities, numbers, and traces.
_TYPES = ("<i4", "<u4", "<f4", "<f8", "|u1")

Record = tuple[dict[str, Any], dict[str, np.ndarray]]


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


def unpack(payload: bytes) -> Record:
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
