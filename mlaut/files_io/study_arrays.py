"""The arrays of one dataset in a study file."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import h5py
import numpy as np

from mlaut.files_io.hdf5 import InPlace
from mlaut.files_io.study_records import USAGE, SplitEntry, prediction_type
from mlaut.files_io.untrusted import check_size, read_json, read_whole
from mlaut.records import CLASSIFICATION, Block, Cell, Outcome, Split, Status

__all__ = [
    "ArrayWriter",
    "StudyArrays",
    "array_layout",
    "get_json",
    "put_json",
    "tested_rows",
]

_CELL_ARRAYS: dict[str, tuple[str, tuple[int, ...], float]] = {
    "status": ("u1", (), 0),
    "checksum": ("<u4", (), 0),
    "seed": ("<u4", (), 0),
    "seconds": ("<f8", (3,), np.nan),
    "usage": ("<f8", (len(USAGE),), np.nan),
}
_HEAD = np.dtype([(name, *_CELL_ARRAYS[name][:2]) for name in ("seed", "seconds", "usage")])
_STATUS_BITS = 7  # lowest bits of a checksum, which hold the status
# Bytes of JSON: some kilobytes for each of 100,000 cells. In memory, objects take 20 times that.
_LARGEST_JSON = 2**28
_DONE = int(Status.DONE)


class StudyArrays:
    """Arrays of one dataset, open for reading; S strategies, R repeats, F folds.

    Parameters
    ----------
    group : h5py.Group
        Group of the arrays in the study file.
    entry : SplitEntry
        Identity, truth and split of the dataset.
    """

    def __init__(self, group: h5py.Group, entry: SplitEntry) -> None:
        self.group = group
        self.entry = entry
        self.names: tuple[str, ...] = tuple(get_json(group, "strategies", []))
        if not all(isinstance(name, str) for name in self.names):
            raise ValueError(f"a strategy of dataset {entry.name!r} has no name")

    @classmethod
    def create(cls, group: h5py.Group, entry: SplitEntry, names: Sequence[str]) -> StudyArrays:
        """Create and allocate the arrays of a dataset, with all cells missing."""
        group.attrs.update({"encoding-type": "mlaut-outcomes", "encoding-version": 1})
        put_json(group, "strategies", list(names))
        for name, (shape, dtype, nothing) in array_layout(entry, len(names)).items():
            _allocate(group, name, shape, dtype, nothing)
        return cls(group, entry)

    def copy_from(self, other: StudyArrays, stale: Collection[str] = ()) -> None:
        """Copy the outcomes of arrays with fewer strategies or repeats, except stale strategies."""
        kept = [s for s, name in enumerate(other.names) if name not in stale]
        position = {name: s for s, name in enumerate(self.names)}
        at = [position[other.names[s]] for s in kept]
        for name, (shape, dtype, nothing) in array_layout(self.entry, len(self.names)).items():
            old = other._read(name)
            values = np.full(shape, nothing, dtype=dtype)
            values[at, : old.shape[1]] = old[kept]
            self.group[name][...] = values  # in one call, as each call of HDF5 takes 0.1 ms
        put_json(self.group, "details", other.ragged())

    def ragged(self) -> list[dict[str, Any]]:
        """Return the records of cells that hold what the arrays cannot."""
        return get_json(self.group, "details", [])

    def status(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the status of each cell, and whether it contradicts the checksum.

        Returns
        -------
        status : ndarray of uint8, shape (S, R, F)
            Status; missing for torn cells.
        torn : ndarray of bool, shape (S, R, F)
            Whether the status differs from the one in the checksum.
        """
        status = self._read("status")
        torn = (status != Status.MISSING) & (status != self._read("checksum") & _STATUS_BITS)
        return np.where(torn, np.uint8(Status.MISSING), status), torn

    def numbers(self) -> dict[str, np.ndarray]:
        """Return seed (S, R, F), seconds and usage (S, R, F, 3) of each cell."""
        return {name: self._read(name) for name in ("seed", "seconds", "usage")}

    def _read(self, name: str) -> np.ndarray:
        return self._array(name)[...]

    def _array(self, name: str) -> h5py.Dataset:
        """Return an array; raise ValueError if it has another shape or type than expected."""
        item, (shape, dtype, _) = check_size(self.group[name]), self._layout[name]
        if (item.shape, item.dtype) != (shape, dtype):
            raise ValueError(
                f"{name} of dataset {self.entry.name!r} is {item.dtype} {item.shape}, "
                f"and must be {dtype} {shape}"
            )
        return item

    @cached_property
    def _layout(self) -> dict[str, tuple[tuple[int, ...], np.dtype, Any]]:
        return array_layout(self.entry, len(self.names))

    def block(self) -> tuple[Block, np.ndarray]:
        """Read all arrays; cells that are not done or torn have empty values.

        Returns
        -------
        block : Block
        torn : ndarray of bool, shape (S, R, F)
            Whether a cell has a status and its checksum does not match.
        """
        entry, folds = self.entry, self.entry.split.folds
        status, torn = self.status()
        numbers = self.numbers()
        rows: dict[str, np.ndarray] = {
            name: self._read(name)
            for name in ("predictions", "probabilities")
            if name in self._layout
        }
        stored = self._read("checksum")
        torn |= (status > 0) & (_checksums(entry.split, status, numbers, rows) != stored)
        status[torn] = Status.MISSING
        empty = ~tested_rows(folds, status == Status.DONE)
        rows["predictions"][empty] = prediction_type(entry.task)[1]
        if "probabilities" in rows:
            rows["probabilities"][empty] = np.nan
        numbers["seconds"][status == Status.MISSING] = np.nan
        block = Block(
            dataset=entry.name,
            task=entry.task,
            fingerprint=entry.fingerprint,
            strategies=self.names,
            classes=entry.classes,
            truth=entry.truth,
            split=entry.split,
            status=status,
            predictions=rows["predictions"],
            probabilities=rows.get("probabilities"),
            seconds=numbers["seconds"],
        )
        return block, torn


class ArrayWriter:
    """Arrays of one dataset, open for writing in place.

    Parameters
    ----------
    file : InPlace
    arrays : StudyArrays
        Arrays of the dataset in the same file.
    """

    def __init__(self, file: InPlace, arrays: StudyArrays) -> None:
        self.entry = arrays.entry
        self.names = arrays.names
        self._position = {name: s for s, name in enumerate(arrays.names)}
        self._layout = array_layout(arrays.entry, len(arrays.names))
        self._arrays = {name: file.array(arrays.group[name]) for name in self._layout}

    def put(self, outcome: Outcome) -> None:
        """Write an outcome; the status is written last, and makes the other values valid."""
        index = self.index(outcome.cell)
        head, rows = _head(outcome), self._rows(outcome)
        self._arrays["status"].write(index, Status.MISSING)
        for name in _HEAD.names or ():
            self._arrays[name].write(index, head[name])
        test = self.entry.split.folds[outcome.cell.repeat] == outcome.cell.fold
        for name, values in rows.items():
            # The rows of a fold are scattered, so a repeat is read, changed and written as a whole.
            of_repeat = self._arrays[name].read(*index[:2])
            of_repeat[test] = values
            self._arrays[name].write(index[:2], of_repeat)
        self._arrays["checksum"].write(index, _checksum(outcome, head, rows))
        self._arrays["status"].write(index, outcome.status)

    def has(self, outcome: Outcome) -> bool:
        """Return whether the stored status and checksum of a cell equal those of an outcome."""
        index = self.index(outcome.cell)
        expected = _checksum(outcome, _head(outcome), self._rows(outcome))
        stored = (int(self._arrays[name].read(*index)) for name in ("status", "checksum"))
        return tuple(stored) == (outcome.status, expected)

    def index(self, cell: Cell) -> tuple[int, int, int]:
        """Return the position of a cell in the arrays: strategy, repeat, fold."""
        return self._position[cell.strategy], cell.repeat, cell.fold

    def forget(self, strategies: Sequence[str], cells: np.ndarray) -> None:
        """Clear the cells where ``cells``, of shape (len(strategies), R, F), is True."""
        for name, of_strategy in zip(strategies, cells, strict=True):
            for array in ("status", "checksum"):
                stored = self._arrays[array].read(self._position[name])
                stored[of_strategy] = 0
                self._arrays[array].write((self._position[name],), stored)

    def _rows(self, outcome: Outcome) -> dict[str, np.ndarray]:
        """Return predictions and probabilities of the test rows, in the stored types."""
        if outcome.predictions is None:
            return {}
        given = {"predictions": outcome.predictions, "probabilities": outcome.probabilities}
        rows = {}
        for name in (name for name in given if name in self._layout):
            shape, dtype, nothing = self._layout[name]
            values = nothing if given[name] is None else given[name]
            of_test = (len(outcome.predictions), *shape[3:])
            rows[name] = np.broadcast_to(np.asarray(values, dtype=dtype), of_test)
        return rows


def _head(outcome: Outcome) -> np.ndarray:
    """Return seed, seconds and usage of an outcome in the stored types."""
    head = np.zeros((), dtype=_HEAD)
    head["seed"], head["seconds"] = outcome.seed, outcome.seconds
    head["usage"] = [outcome.details.get(key, np.nan) for key in USAGE]
    return head


def _checksum(outcome: Outcome, head: np.ndarray, rows: Mapping[str, np.ndarray]) -> int:
    """Compute the checksum of an outcome from its stored values, as `_checksums` does."""
    checksum = zlib.crc32(head.tobytes())
    for values in rows.values():
        checksum = zlib.crc32(values.tobytes(), checksum)
    return checksum & ~_STATUS_BITS | outcome.status


def array_layout(
    entry: SplitEntry, n_strategies: int
) -> dict[str, tuple[tuple[int, ...], np.dtype, Any]]:
    """Return shape, dtype and empty value of each array of a dataset."""
    split = entry.split
    cells = (n_strategies, split.n_repeats, split.n_folds)
    rows = (n_strategies, split.n_repeats, split.n_rows)
    layout: dict[str, tuple[tuple[int, ...], np.dtype, Any]] = {
        name: ((*cells, *shape), np.dtype(dtype), nothing)
        for name, (dtype, shape, nothing) in _CELL_ARRAYS.items()
    }
    layout["predictions"] = (rows, *prediction_type(entry.task))
    if entry.task == CLASSIFICATION:
        layout["probabilities"] = ((*rows, len(entry.classes)), np.dtype("<f4"), np.nan)
    return layout


def tested_rows(folds: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return whether each row is tested in one of the cells (S, R, F): bool, shape (S, R, row)."""
    tested = np.zeros((len(cells), *folds.shape), dtype=bool)
    for repeat, of_repeat in enumerate(folds):
        rows = np.flatnonzero(of_repeat >= 0)
        tested[:, repeat, rows] = cells[:, repeat, of_repeat[rows]]
    return tested


def _checksums(
    split: Split,
    status: np.ndarray,
    numbers: Mapping[str, np.ndarray],
    rows: Mapping[str, np.ndarray],
) -> np.ndarray:
    """Compute the checksum of each cell from its stored values: uint32, shape (S, R, F).

    It is the crc32 of seed, seconds, usage and, for a done cell, predictions and probabilities of
    its test rows; the status replaces its lowest three bits. It is 0 for a missing cell.
    """
    heads = np.empty(status.shape, dtype=_HEAD)
    for name, values in numbers.items():
        heads[name] = values
    found = np.zeros(status.shape, dtype=np.uint32)
    for repeat, folds in enumerate(split.folds):
        order = np.argsort(folds, kind="stable")
        ends = np.searchsorted(folds[order], np.arange(status.shape[2] + 1))
        by_fold = [array[:, repeat].take(order, axis=1) for array in rows.values()]
        for s, words in enumerate(status[:, repeat].tolist()):
            head = memoryview(heads[s, repeat].tobytes())
            parts = [_cut(array[s], ends) for array in by_fold]
            for fold, word in enumerate(words):
                if word:
                    crc = zlib.crc32(head[fold * _HEAD.itemsize : (fold + 1) * _HEAD.itemsize])
                    for part in parts if word == _DONE else ():
                        crc = zlib.crc32(part[fold], crc)
                    found[s, repeat, fold] = crc
    return np.where(status > 0, found & ~np.uint32(_STATUS_BITS) | status, 0).astype(np.uint32)


def _cut(array: np.ndarray, ends: np.ndarray) -> list[memoryview]:
    """Return the bytes of each fold, from rows that are sorted by fold."""
    content, width = memoryview(array.tobytes()), array.nbytes // max(1, len(array))
    return [content[a * width : b * width] for a, b in pairwise(ends.tolist())]


def _allocate(
    group: h5py.Group, name: str, shape: tuple[int, ...], dtype: np.dtype, nothing: Any
) -> None:
    """Create an array whose disk space is allocated at once, so that later only values change."""
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    creation.set_fill_value(np.array(nothing, dtype=dtype))
    h5py.h5d.create(
        group.id,
        name.encode(),
        h5py.h5t.py_create(dtype, logical=True),
        h5py.h5s.create_simple(shape),
        dcpl=creation,
    )


def put_json(group: h5py.Group, name: str, value: Any) -> None:
    """Store plain JSON values as compressed UTF-8 bytes; only while a file is rebuilt."""
    if name in group:
        del group[name]
    text = np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
    item = group.create_dataset(name, data=text, compression="gzip", chunks=True)
    item.attrs.update({"encoding-type": "json", "encoding-version": 1})


def get_json(group: h5py.Group, name: str, default: Any) -> Any:
    """Return stored plain JSON values; ``default`` if there are none."""
    if name not in group:
        return default
    item = group[name]
    if item.size > _LARGEST_JSON:
        raise ValueError(f"{item.name} has {item.size:,} bytes of JSON, which nothing needs")
    return read_json(read_whole(item).tobytes())
