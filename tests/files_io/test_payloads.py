"""Payloads: what is packed comes back, and invalid bytes are refused."""

import struct

import numpy as np
import pytest

from mlaut.files_io.outcomes.packs import LENGTH, pack, read_record, unpack

RECORD = {"dataset": "d", "fold": 1, "reason": "a line\nand ü"}
ARRAYS = {
    "predictions": np.array([2, 0, 1], dtype=np.int32),
    "probabilities": np.eye(3, dtype=np.float32),
}


def test_what_is_packed_comes_back():
    payload = pack(RECORD, ARRAYS)
    record, arrays = unpack(payload)
    assert record == read_record(payload) == RECORD
    assert list(arrays) == list(ARRAYS)
    for name, values in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], values, strict=True)
    assert unpack(pack(RECORD, {})) == (RECORD, {})


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ('{"p": ["|O", 1]}', "an array of type '|O'"),
        ('{"p": ["<i4", -1]}', "and shape"),
        ('{"p": ["<i4", true]}', "and shape"),
        ('{"p": ["<i4", 1]}', "bytes in place of"),
        ("{}", "bytes in place of"),
    ],
)
def test_an_invalid_layout_is_refused(layout, message):
    text = f'{{"record": {{}}, "arrays": {layout}}}'.encode()
    with pytest.raises(ValueError, match=message):
        unpack(LENGTH.pack(len(text)) + text + bytes(8))


@pytest.mark.parametrize("payload", [b"", b"\xff\xff\xff\xff", LENGTH.pack(2) + b"[]"])
def test_other_bytes_are_refused(payload):
    with pytest.raises((ValueError, KeyError, struct.error)):
        unpack(payload)
