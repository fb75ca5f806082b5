"""One text that holds records and arrays of a page: compressed, and without a sign of HTML."""

import base64
import json
import zlib
from typing import Any

import numpy as np

_ALIGNED = 8  # bytes: an array of JavaScript begins at a multiple of the size of its numbers
_KINDS = {"f": "<f8", "u": "<u4", "b": "|u1"}  # kinds of numpy's arrays, and how each is stored


class Packer:
    """Collector of arrays, whose places in the text stand in records.

    Examples
    --------
    >>> packer = Packer()
    >>> packer.add(np.array([[0.5, np.nan]]))
    {'at': 0, 'n': 2, 'type': 'f8'}
    >>> "<" in packer.text({"names": ["</script>"]})
    False
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, values: np.ndarray) -> dict[str, Any]:
        """Append an array of float, unsigned int or bool, and return where it lies."""
        stored = np.ascontiguousarray(values, dtype=_KINDS[values.dtype.kind])
        place = {"at": self._size, "n": stored.size, "type": _KINDS[values.dtype.kind][1:]}
        self._append(stored.tobytes())
        return place

    def _append(self, part: bytes) -> None:
        padded = part + b" " * (-len(part) % _ALIGNED)
        self._parts.append(padded)
        self._size += len(padded)

    def text(self, records: Any) -> str:
        """Return the text: the length of the records, the records as JSON, and the arrays."""
        written = json.dumps(records, allow_nan=False).encode()
        written += b" " * (-len(written) % _ALIGNED)
        start = len(written).to_bytes(_ALIGNED, "little")
        return base64.b64encode(zlib.compress(b"".join([start, written, *self._parts]))).decode()
