"""Traces of searches as bytes."""

import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest

from mlaut.files_io.outcomes.packs import pack, unpack
from mlaut.files_io.outcomes.traces import pack_trace, unpack_trace
from mlaut.records import Trace


def trace_of(n, folds=5, seed=0):
    source = np.random.default_rng(seed)
    params = tuple(
        {"C": float(i % 13), "gamma": i // 13, "how": [["a"], None][i % 2]} for i in range(n)
    )
    order = source.permutation(n).astype(np.int32)
    return Trace(
        search="grid",
        params=tuple(params[i] for i in order),
        scores=np.round(source.random((n, folds)), 2),
        seconds=source.random(n).astype(np.float32),
        shares=np.ones(n, np.float32),
        order=order,
        budget="50 evaluations",
        incumbents={3: (np.array([1, 0], "<i4"), np.array([[0.5, 0.5], [1, 0]], "<f4"))},
    )


@pytest.mark.parametrize("n", [0, 1, 169])
def test_a_trace_comes_back_from_its_bytes(n):
    trace = trace_of(n)
    again = unpack_trace(pack_trace(trace))
    assert (again.search, again.budget, again.clock) == ("grid", "50 evaluations", "cpu")
    assert again.params == trace.params
    for name in ("scores", "seconds", "shares", "order"):
        np.testing.assert_array_equal(getattr(again, name), getattr(trace, name))
    predictions, probabilities = again.incumbents[3]
    assert predictions.tolist() == [1, 0]
    assert probabilities.tolist() == [[0.5, 0.5], [1, 0]]


def test_parameters_of_the_same_value_and_another_type_stay_apart():
    params = ({"a": 1}, {"a": True}, {"a": 1.0}, {"b": 2})
    ones = np.ones(4)
    trace = Trace("grid", params, ones[:, None], ones, ones, np.arange(4))
    again = unpack_trace(pack_trace(trace)).params
    assert [(type(v), v) for p in again for v in p.values()] == [
        (int, 1), (bool, True), (float, 1.0), (int, 2)
    ]  # fmt: skip


def test_a_large_grid_takes_some_kilobytes():
    assert len(pack_trace(replace(trace_of(780), incumbents={}))) < 16_000


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nonsense",
        zlib.compress(b"nonsense"),
        zlib.compress(pack({"search": "grid"}, {})),
        pack_trace(trace_of(5))[:-8],
    ],
)
def test_bytes_that_are_no_trace_are_refused(content):
    with pytest.raises((ValueError, TypeError, KeyError, struct.error, zlib.error)):
        unpack_trace(content)


def test_a_trace_that_contradicts_itself_is_refused():
    record, arrays = unpack(zlib.decompress(pack_trace(trace_of(5))))
    arrays["rank"] = np.zeros(5, "<i4")
    with pytest.raises(ValueError, match="contradicts itself"):
        unpack_trace(zlib.compress(pack(record, arrays)))


def test_an_incumbent_without_probabilities_comes_back_without():
    trace = replace(trace_of(3), incumbents={1: (np.array([1.5, 0.5]), None)})
    (predictions, probabilities) = unpack_trace(pack_trace(trace)).incumbents[1]
    assert (predictions.tolist(), probabilities) == ([1.5, 0.5], None)


def test_a_trace_that_would_fill_the_memory_is_refused(monkeypatch):
    content = pack_trace(trace_of(169))
    monkeypatch.setattr("mlaut.files_io.outcomes.traces._LARGEST", 1000)
    with pytest.raises(ValueError, match="a trace of more than 1000 bytes"):
        unpack_trace(content)
