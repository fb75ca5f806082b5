"""The arrays of one dataset in a study file."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Sequence
from typing import Any

import h5py
import numpy as np

from mlaut.files_io.study_records import SplitEntry, prediction_type
from mlaut.records import CLASSIFICATION, Block, Cell, Outcome, Status

__all__ = ["StudyArrays", "get_json", "put_json"]

_CELL_ARRAYS = {"status": "u1", "checksum": "<u4", "seed": "<u4"}


class StudyArrays:
    """The arrays of one dataset, opened; S strategies, R repeats, F folds.

    Parameters
    ----------
    group : h5py.Group
    entry : SplitEntry
    """

    def __init__(self, group: h5py.Group, entry: SplitEntry) -> None:
        self.group = group
        self.entry = entry
        self.names: tuple[str, ...] = tuple(get_json(group, "strategies", []))
        self._position = {name: s for s, name in enumerate(self.names)}
        self._arrays: dict[str, h5py.Dataset] = {
            name: item for name, item in group.items() if isinstance(item, h5py.Dataset)
        }

    @classmethod
    def create(cls, group: h5py.Group, entry: SplitEntry, names: Sequence[str]) -> StudyArrays:
        """Make and allocate the arrays of a dataset, all cells missing."""
        split = entry.split
        cells = (len(names), split.n_repeats, split.n_folds)
        rows = (*cells[:2], split.n_rows)
        dtype, nothing = prediction_type(entry.task)
        group.attrs.update({"encoding-type": "mlaut-outcomes", "encoding-version": 1})
        put_json(group, "strategies", list(names))
        for name, cell_dtype in _CELL_ARRAYS.items():
            _allocate(group, name, cells, np.dtype(cell_dtype), 0)
        _allocate(group, "seconds", (*cells, 3), np.dtype("<f8"), np.nan)
        _allocate(group, "predictions", rows, dtype, nothing)
        if entry.task == CLASSIFICATION:
            shape = (*rows, len(entry.classes))
            _allocate(group, "probabilities", shape, np.dtype("<f4"), np.nan)
        return cls(group, entry)

    def copy_from(self, other: StudyArrays, stale: Collection[str] = ()) -> None:
        """Take over the outcomes of arrays with fewer strategies or repeats, but stale ones."""
        for name, old in other._arrays.items():
            if name in ("strategies", "details"):
                continue
            new = self._arrays[name]
            for s, strategy in enumerate(other.names):
                if strategy not in stale:
                    new[self._position[strategy], : old.shape[1]] = old[s]
        put_json(self.group, "details", get_json(other.group, "details", []))

    @property
    def status(self) -> np.ndarray:
        """Status of each cell: uint8, shape (S, R, F)."""
        return self._arrays["status"][...]

    def put(self, outcome: Outcome) -> None:
        """Write everything of an outcome but its status."""
        index = self._index(outcome.cell)
        self._arrays["seconds"][index] = outcome.seconds
        self._arrays["seed"][index] = outcome.seed
        if outcome.predictions is not None:
            self._put_rows("predictions", outcome.cell, outcome.predictions)
            if "probabilities" in self._arrays:
                nothing = np.float32(np.nan)
                probabilities = outcome.probabilities
                self._put_rows(
                    "probabilities",
                    outcome.cell,
                    nothing if probabilities is None else probabilities,
                )
        self._arrays["checksum"][index] = self._checksum(outcome.cell)

    def mark(self, cell: Cell, status: Status) -> None:
        """Write the status of a cell: from now on what it stored counts."""
        self._arrays["status"][self._index(cell)] = status

    def forget(self, strategies: Sequence[str], cells: np.ndarray) -> None:
        """Clear the cells where ``cells``, of shape (len(strategies), R, F), is True."""
        status = self.status
        for name, of_strategy in zip(strategies, cells, strict=True):
            status[self._position[name]][of_strategy] = Status.MISSING
        self._arrays["status"][...] = status

    def torn(self) -> np.ndarray:
        """Where a cell counts as done and its checksum does not hold: bool, shape (S, R, F)."""
        checksums = self._arrays["checksum"][...]
        torn = np.zeros(checksums.shape, dtype=bool)
        for s, repeat, fold in np.argwhere(self.status == Status.DONE):
            cell = Cell(self.entry.name, self.names[s], int(repeat), int(fold))
            torn[s, repeat, fold] = self._checksum(cell) != checksums[s, repeat, fold]
        return torn

    def block(self) -> Block:
        """Read everything; what is not done reads as nothing."""
        entry, folds = self.entry, self.entry.split.folds
        status = self.status
        done = status == Status.DONE
        tested = np.zeros((len(self.names), *folds.shape), dtype=bool)
        for repeat, of_repeat in enumerate(folds):
            rows = np.flatnonzero(of_repeat >= 0)
            tested[:, repeat, rows] = done[:, repeat, of_repeat[rows]]
        _, nothing = prediction_type(entry.task)
        predictions = np.where(tested, self._arrays["predictions"][...], nothing)
        probabilities = None
        if entry.task == CLASSIFICATION:
            probabilities = self._arrays["probabilities"][...]
            probabilities[~tested] = np.nan
        return Block(
            dataset=entry.name,
            task=entry.task,
            fingerprint=entry.fingerprint,
            strategies=self.names,
            classes=entry.classes,
            truth=entry.truth,
            split=entry.split,
            status=status,
            predictions=predictions.astype(self._arrays["predictions"].dtype),
            probabilities=probabilities,
            seconds=np.where(status[..., None] > 0, self._arrays["seconds"][...], np.nan),
        )

    def _index(self, cell: Cell) -> tuple[int, int, int]:
        return self._position[cell.strategy], cell.repeat, cell.fold

    def _put_rows(self, name: str, cell: Cell, values: Any) -> None:
        # A repeat is read, changed and written as a whole: HDF5 is slow at scattered rows.
        repeat = self._index(cell)[:2]
        rows = self._arrays[name][repeat]
        rows[self.entry.split.folds[cell.repeat] == cell.fold] = values
        self._arrays[name][repeat] = rows

    def _checksum(self, cell: Cell) -> int:
        index = self._index(cell)
        test = self.entry.split.folds[cell.repeat] == cell.fold
        crc = zlib.crc32(self._arrays["seconds"][index].tobytes())
        crc = zlib.crc32(self._arrays["seed"][index].tobytes(), crc)
        for name in ("predictions", "probabilities"):
            if name in self._arrays:
                crc = zlib.crc32(self._arrays[name][index[:2]][test].tobytes(), crc)
        return crc


def _allocate(
    group: h5py.Group, name: str, shape: tuple[int, ...], dtype: np.dtype, nothing: Any
) -> None:
    """Make an array whose room on the disk is taken at once, so that later only values change."""
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
    """Read plain JSON values; ``default`` where there are none."""
    return json.loads(group[name][...].tobytes()) if name in group else default
