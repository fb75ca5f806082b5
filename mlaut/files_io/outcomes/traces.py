"""Traces of searches as bytes: compressed columns, of some hundred bytes for a small grid."""

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from mlaut.files_io.outcomes.packs import pack, unpack
from mlaut.files_io.safe_files.plain_files import MEMORY
from mlaut.records import Trace

Cell = TypeVar("Cell")

MOST_INCUMBENTS = 20
"""Largest number of incumbents of a trace: those at budgets of 1, 2, 4, ..., a million."""

_ABOUT = {"search": str, "budget": str, "clock": str, "allowed": dict, "spent": dict}
_LARGEST = 2**28  # bytes of a trace: predictions of 20 candidates for a million rows


def pack_trace(trace: Trace) -> bytes:
    """Return a trace as bytes; reading them runs no code.

    Examples
    --------
    >>> some = np.ones(2, dtype=np.float32)
    >>> trace = Trace("grid", ({"C": 1}, {"C": 9}), np.eye(2), some, some, np.arange(2))
    >>> again = unpack_trace(pack_trace(trace))
    >>> again.params, again.scores.tolist()
    (({'C': 1}, {'C': 9}), [[1.0, 0.0], [0.0, 1.0]])
    """
    rank = np.argsort(trace.order)  # the table of a grid repeats itself and takes little room
    values, codes = _columns([trace.params[i] for i in rank])
    arrays = {
        "codes": codes,
        "scores": trace.scores[rank].astype("<f8"),
        "seconds": trace.seconds[rank].astype("<f4"),
        "shares": trace.shares[rank].astype("<f4"),
        "rank": rank.astype("<i4"),
    }
    for candidate, (predictions, probabilities) in trace.incumbents.items():
        arrays[f"predictions {candidate}"] = predictions
        if probabilities is not None:
            arrays[f"probabilities {candidate}"] = probabilities
    about = {name: getattr(trace, name) for name in _ABOUT}
    return zlib.compress(pack({**about, "values": values}, arrays), 6)


def _columns(params: Sequence[Mapping[str, Any]]) -> tuple[dict[str, list[Any]], np.ndarray]:
    """Return the different values of each parameter, and their numbers: -1 where it is not set."""
    names = list(dict.fromkeys(name for point in params for name in point))
    codes = np.full((len(names), len(params)), -1, dtype="<i4")
    values: dict[str, list[Any]] = {}
    for k, name in enumerate(names):
        numbers: dict[Any, int] = {}
        values[name] = []
        for i, point in enumerate(params):
            if name in point:
                value = point[name]
                plain = value is None or isinstance(value, bool | int | float | str)
                key = (type(value), value) if plain else json.dumps(value)
                if key not in numbers:
                    numbers[key] = len(numbers)
                    values[name].append(value)
                codes[k, i] = numbers[key]
    return values, codes


def unpack_trace(content: bytes) -> Trace:
    """Return the trace that bytes hold; they may come from an untrusted source.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError, RecursionError, zlib.error, struct.error
        The bytes are no trace.
    """
    return _read(_inflated(content, _LARGEST))


def unpack_traces(contents: Mapping[Cell, bytes]) -> dict[Cell, Trace]:
    """Return the traces that bytes hold, by cell; empty bytes hold none.

    Raises
    ------
    Exception
        As `unpack_trace`; also where all of them together need too much memory.
    """
    traces, left = {}, MEMORY // 4
    for cell, content in contents.items():
        if content:
            payload = _inflated(content, min(_LARGEST, left))
            left -= len(payload)
            traces[cell] = _read(payload)
    return traces


def _inflated(content: bytes, most: int) -> bytes:
    opened = zlib.decompressobj()
    payload = opened.decompress(content, most)
    if opened.unconsumed_tail:
        raise ValueError(f"a trace of more than {most} bytes")
    return payload


def _read(payload: bytes) -> Trace:
    record, arrays = unpack(payload)
    rank, codes, values = arrays["rank"], arrays["codes"], record["values"]
    about = {name: record[name] for name in _ABOUT}
    n = len(rank)
    consistent = (
        all(isinstance(about[name], kind) for name, kind in _ABOUT.items())
        and all(isinstance(x, float) for n in ("allowed", "spent") for x in about[n].values())
        and arrays["scores"].shape[:1] == arrays["seconds"].shape == arrays["shares"].shape == (n,)
        and arrays["scores"].ndim == 2
        and codes.shape == (len(values), n)
        and np.array_equal(np.sort(rank), np.arange(n))
    )
    if not consistent:
        raise ValueError("a trace that contradicts itself")
    order = np.empty(n, dtype=np.int32)
    order[rank] = np.arange(n)
    params = [
        {name: values[name][c] for name, c in zip(values, of_one, strict=True) if c >= 0}
        for of_one in codes.T.tolist()
    ]
    incumbents = {
        int(candidate): (predictions, arrays.get(f"probabilities {candidate}"))
        for name, predictions in arrays.items()
        for candidate in [name.removeprefix("predictions ")]
        if candidate != name
    }
    return Trace(
        **about,
        params=tuple(params[i] for i in order),
        scores=arrays["scores"][order],
        seconds=arrays["seconds"][order],
        shares=arrays["shares"][order],
        order=order,
        incumbents=incumbents,
    )
