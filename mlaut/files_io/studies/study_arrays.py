"""The arrays of one dataset in a study file."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any

import h5py
import numpy as np

from mlaut.files_io.outcomes.study_records import DETAILS, LOGS, USAGE, SplitEntry, prediction_type
from mlaut.files_io.safe_files.hdf5 import InPlace
from mlaut.files_io.safe_files.seal import read_once
from mlaut.files_io.safe_files.texts import (
    append_log,
    get_attribute,
    get_labels,
    get_log,
    put_attributes,
    put_labels,
)
from mlaut.files_io.safe_files.untrusted import opened, type_of
from mlaut.records import CLASSIFICATION, Block, Cell, Outcome, Split, Status

VERSION = 2  # of the form of outcomes in HDF5
ROWS = ("predictions", "probabilities")  # arrays with a value for each row
_STATUS_BITS = 7  # lowest bits of a checksum; they hold the status, or 0 for 8 (diverged)
_DONE = int(Status.DONE)
PART = 2**24  # bytes of the rows of some strategies that are read at once
_PIECE = 2**16  # bytes of a piece of an array; HDF5 needs about 50 bytes for the place of each
_MOST_STRATEGIES = 16  # of a piece that leaves room for further ones
_BLOCK = 4096  # bytes of the disk that most file systems give at once
_LARGEST_PIECE = 2**30  # bytes; HDF5 allows 4 GiB

Layout = dict[str, tuple[tuple[int, ...], np.dtype, Any]]
"""Shape, dtype and empty value of each array of a dataset."""


def names_of(group: h5py.Group) -> tuple[str, ...]:
    """Return the names of the strategies that the arrays of a dataset have room for."""
    place = h5py.h5o.get_info(group.id).addr
    return read_once(group, place, lambda: _names_of(group), lambda names: 100 * len(names))


def _names_of(group: h5py.Group) -> tuple[str, ...]:
    names = tuple(get_labels(group, "strategies"))
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"a strategy of {group.name} has no name")
    return names


class StudyArrays:
    """Arrays of one dataset, open for reading; S strategies, R repeats, F folds.

    Parameters
    ----------
    group : h5py.Group
        Group of the arrays in the study file.
    entry : SplitEntry
        Identity, truth and split of the dataset.
    names : sequence of str, optional
        Names of the strategies, if they are known; default those that are stored.
    """

    def __init__(
        self, group: h5py.Group, entry: SplitEntry, names: Sequence[str] | None = None
    ) -> None:
        self.group = group
        self.entry = entry
        self.names = names_of(group) if names is None else tuple(names)
        self._journaled: dict[str, list[tuple[int, int, int, np.ndarray]]] = {}
        self._kept: dict[str, np.ndarray] | None = None

    def keeping(self) -> StudyArrays:
        """Return the arrays, which read small values once, for several that need them at a time."""
        self._kept = {}
        return self

    @classmethod
    def create(
        cls,
        group: h5py.Group,
        entry: SplitEntry,
        names: Sequence[str],
        fields: Sequence[str] | None = None,
    ) -> StudyArrays:
        """Create the arrays of a dataset, with all cells missing: none without strategies.

        ``fields`` names the numbers of each cell; default ``USAGE``.
        """
        put_attributes(group, {"encoding-type": "mlaut-outcomes", "encoding-version": VERSION})
        return cls(group, entry, ()).grow(entry, names, fields)

    def grow(
        self, entry: SplitEntry, names: Sequence[str], fields: Sequence[str] | None = None
    ) -> StudyArrays:
        """Make room for further strategies or repeats, whose cells are missing.

        The first strategies decide the size of pieces. A small array that cannot grow takes half of
        the file; it is moved once, to one that takes further strategies. Further repeats always
        need new arrays: HDF5 takes kilobytes for the places of one that grows in two directions.
        """
        known, about = "usage" in self.group, {"fields": ", ".join(fields or USAGE)}
        layout = array_layout(entry, len(names), len(fields or USAGE)) if names else {}
        layout = self._layout_of(entry, len(names)) if known else layout
        for name, (shape, dtype, _) in layout.items():
            item: Any = self.group[name] if known else ()
            if known and (
                item.shape == shape or (item.maxshape[0], item.shape[1]) == (None, shape[1])
            ):
                item.resize(shape)
                continue
            if known:
                del self.group[name]  # it stays until it is closed
            _allocate(self.group, name, shape, dtype, grows=known)
            for part in self.parts(PART) if known else ():
                values = item[part]
                self.group[name][part.start : part.start + len(values), : values.shape[1]] = values
            if name == "usage":
                put_attributes(self.group[name], item.attrs if known else about)
        if tuple(names) != self.names:
            put_labels(self.group, "strategies", names)
        return StudyArrays(self.group, entry, names)

    def clear(self, names: Collection[str]) -> None:
        """Clear all cells of some strategies."""
        at = [s for s, name in enumerate(self.names) if name in names]
        for s, array in product(at, ("status", "checksum")):
            self.group[array][s] = 0

    def copy_from(
        self, other: StudyArrays, plain: Callable[[Any], Any], called: Mapping[str, str | None]
    ) -> None:
        """Copy the outcomes of arrays of another file with the same repeats.

        ``plain`` is applied to each record that the arrays cannot hold. ``called`` has the name of
        each strategy here, None for those that are left out.
        """
        at = [s for s, name in enumerate(other.names) if called[name]]
        for name in self.layout if at else ():
            self._fill(name, other._read(name)[at])
        for log in LOGS:
            records = ({**r, "strategy": called[r["strategy"]]} for r in other.records(log))
            self.append_records(log, (plain(record) for record in records if record["strategy"]))

    def append_records(self, log: str, records: Iterable[Mapping[str, Any]]) -> None:
        """Store records of stored cells in a log: they hold what the arrays cannot."""
        records, texts = list(records), list[str]()
        stored = self._read("checksum") if records else np.empty(0)
        for record in records:
            at = self.names.index(record["strategy"]), record["repeat"], record["fold"]
            texts.append(json.dumps({**record, "checksum": int(stored[at])}))
        append_log(self.group, log, texts)

    def records(self, log: str = DETAILS) -> list[dict[str, Any]]:
        """Return the records of cells in a log.

        A record names the checksum of its cell: those of outcomes that were replaced since are left
        out.
        """
        records: list[dict[str, Any]] = get_log(self.group, log)
        if not records:
            return []
        stored, valid = self._read("checksum"), []
        position = {name: s for s, name in enumerate(self.names)}
        for record in records:
            s, at = position.get(record["strategy"]), (record["repeat"], record["fold"])
            inside = 0 <= at[0] < stored.shape[1] and 0 <= at[1] < stored.shape[2]
            if s is not None and inside and record["checksum"] == int(stored[(s, *at)]):
                valid.append(record)
        return valid

    def status(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the status of each cell, and whether it contradicts the checksum.

        Returns
        -------
        status : ndarray of uint8, shape (S, R, F)
            Status; missing for torn cells.
        torn : ndarray of bool, shape (S, R, F)
            Whether the status differs from the one in the checksum.
        """
        return _whole(self._read("status"), self._read("checksum"))

    def numbers(self, status: np.ndarray) -> dict[str, np.ndarray]:
        """Return seed, seconds and usage as `StudyStore.numbers`; 0 and NaN for missing cells."""
        missing = status == Status.MISSING
        numbers = {name: self._read(name) for name in ("seed", "seconds", "usage")}
        numbers["usage"] = self._usage(numbers["usage"], USAGE)
        for name, values in numbers.items():
            values[missing] = 0 if name == "seed" else np.nan
        return numbers

    def _usage(self, stored: np.ndarray, fields: Sequence[str]) -> np.ndarray:
        """Return some fields of a stored ``usage``; those that the file does not have are NaN."""
        usage = np.full((*stored.shape[:-1], len(fields)), np.nan)
        for k, name in enumerate(fields):
            if name in self.fields:
                usage[..., k] = stored[..., self.fields.index(name)]
        return usage

    def with_fields(
        self, values: dict[str, np.ndarray], fields: Sequence[str]
    ) -> dict[str, np.ndarray]:
        """Return values of `read` in the form of a study whose cells have these fields."""
        if list(fields) == self.fields:
            return values
        values = {**values, "usage": self._usage(values["usage"], fields)}
        return {**values, "checksum": _checksums(self.entry.split, values)}

    @cached_property
    def fields(self) -> list[str]:
        """Names of the numbers that ``usage`` holds in this file."""
        shape, names = self._stored_usage
        if not shape:
            return list(USAGE)
        if names is None:
            raise ValueError(
                f"usage of dataset {self.entry.name!r} has lost the names of its fields"
            )
        return str(names).split(", ")[: shape[-1]]

    @cached_property
    def _stored_usage(self) -> tuple[tuple[int, ...], Any]:
        """Shape of the stored ``usage``, and the text of its fields; empty if none is stored."""
        held = self.group.id  # identifiers take a quarter of the time of h5py's objects
        if b"usage" not in held:
            return (), None
        item = h5py.h5d.open(held, b"usage")
        return item.shape, get_attribute(item, b"fields")

    def _read(self, name: str, part: slice = slice(None)) -> np.ndarray:
        """Read an array; raise ValueError if it has another shape or type than expected."""
        if self._kept is not None and name in self._kept:
            return self._kept[name][part].copy()
        # The layout of the file needs the fields of its `usage`, which take as long as an array.
        layout = self.layout if name == "usage" else array_layout(self.entry, len(self.names))
        shape, dtype, _ = layout[name]
        if not self.names:
            return np.empty(shape, dtype)
        item = opened(self.group, name, plain=True)
        if (item.shape, item.dtype) != (shape, dtype):
            raise ValueError(
                f"{name} of dataset {self.entry.name!r} is {item.dtype} {item.shape}, "
                f"and must be {dtype} {shape}"
            )
        values = item.read(part)
        for s, repeat, start, new in self._journaled.get(name, ()):
            for at in (k for k, own in enumerate(range(len(self.names))[part]) if own == s):
                values[at, repeat, start : start + len(new)] = new
        if self._kept is not None and values.nbytes <= _PIECE and len(values) == len(self.names):
            self._kept[name] = values.copy()
        return values

    def empty(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Return zeros for some strategies, in the shapes of `read`: all cells are missing."""
        layout = self._layout_of(self.entry, len(names))
        return {name: np.zeros(shape, dtype) for name, (shape, dtype, _) in layout.items()}

    def array(self, _: h5py.Group, name: str) -> SimpleNamespace:
        """Return an array for an `ArrayWriter`: its values are read from it, not from the file."""
        writes = self._journaled.setdefault(name, [])
        return SimpleNamespace(
            write=lambda *values: writes.append(values),
            read=lambda s, repeat: self._read(name)[s, repeat],
        )

    def put(self, part: slice, values: Mapping[str, np.ndarray]) -> None:
        """Write values as `read` returns them; rows of strategies without any cell take no room."""
        used = np.flatnonzero(values["status"].any(axis=(1, 2))).tolist()
        for name, array in values.items():
            if len(used) == len(self.names):
                self._fill(name, array)
            elif name in ROWS:
                for s in used:
                    self.group[name][part.start + s] = array[s]
            else:
                self.group[name][part] = array

    def _fill(self, name: str, values: np.ndarray) -> None:
        item = h5py.h5d.open(self.group.id, name.encode())
        values = np.ascontiguousarray(values)
        item.write(h5py.h5s.ALL, h5py.h5s.ALL, values, type_of(values.dtype))

    @cached_property
    def layout(self) -> Layout:
        """Shape, dtype and empty value of each array of this file, as `array_layout`."""
        return self._layout_of(self.entry, len(self.names))

    def _layout_of(self, entry: SplitEntry, n_strategies: int) -> Layout:
        return array_layout(entry, n_strategies, *self._stored_usage[0][3:])

    def read(self, part: slice = slice(None)) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Read the arrays of some strategies as they are stored: rows are sorted by fold.

        Returns
        -------
        values : dict of str to ndarray
            Each array by its name; the status of a torn cell is missing.
        torn : ndarray of bool, shape (S, R, F)
            Whether a cell has a status and its checksum does not match.
        """
        values = {name: self._read(name, part) for name in self.layout}
        stored = values["checksum"]
        status, torn = _whole(values["status"], stored)
        values["status"] = status
        torn |= (status > 0) & (_checksums(self.entry.split, values) != stored)
        status[torn] = Status.MISSING
        return values, torn

    def block(self, part: slice = slice(None)) -> tuple[Block, np.ndarray]:
        """Read the arrays of some strategies as `read`, with rows in the order of the table.

        Cells that are not done, or torn, have empty values.
        """
        entry, folds = self.entry, self.entry.split.folds
        values, torn = self.read(part)
        status = values["status"]
        empty = ~tested_rows(folds, status == Status.DONE)
        for name in (name for name in ROWS if name in values):
            _in_order_of_table(values[name], folds)
            values[name][empty] = self.layout[name][2]
        values["seconds"][status == Status.MISSING] = np.nan
        block = Block(
            dataset=entry.name,
            task=entry.task,
            fingerprint=entry.fingerprint,
            strategies=self.names[part],
            classes=entry.classes,
            truth=entry.truth,
            split=entry.split,
            status=status,
            predictions=values["predictions"],
            probabilities=values.get("probabilities"),
            seconds=values["seconds"],
            weights=entry.weights,
            targets=entry.targets,
        )
        return block, torn

    def torn(self) -> np.ndarray:
        """Return whether the checksum of each cell does not match: bool, shape (S, R, F).

        It does not match either where it holds for the cell but for its status, which is missing.
        """
        torn = self.without_status()
        for part in self.parts(PART):
            torn[part] |= self.read(part)[1]
        return torn

    def without_status(self) -> np.ndarray:
        """Return whether each cell holds a whole outcome, and its status alone is missing.

        Other missing cells may hold anything: HDF5 does not clear the places that it gives them.
        """
        found = np.zeros(self.layout["status"][0], dtype=bool)
        for part in self.parts(PART):
            stored = self._read("checksum", part)
            candidates = (self._read("status", part) == Status.MISSING) & (stored > 0)
            if candidates.any():
                values = {name: self._read(name, part) for name in self.layout}
                values["status"] = np.where(candidates, _status_in(stored), Status.MISSING)
                found[part] = candidates & (_checksums(self.entry.split, values) == stored)
        return found

    def parts(self, n_bytes: int) -> Iterator[slice]:
        """Yield slices of strategies with at most ``n_bytes`` of rows, or with one strategy."""
        layout = array_layout(self.entry, 1, 0)
        size = sum(math.prod(layout[n][0]) * layout[n][1].itemsize for n in ROWS if n in layout)
        step = max(1, n_bytes // max(1, size))
        yield from (slice(start, start + step) for start in range(0, len(self.names), step))


def _whole(status: np.ndarray, checksum: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    agrees = (status == _status_in(checksum)) & (checksum > 0)
    torn = (status != Status.MISSING) & ~agrees
    return np.where(torn, np.uint8(Status.MISSING), status), torn


def _status_in(checksum: np.ndarray) -> np.ndarray:
    """Return the status of each cell that its checksum holds."""
    held = checksum & _STATUS_BITS
    return np.where(held > 0, held, Status.DIVERGED)


def _in_order_of_table(values: np.ndarray, folds: np.ndarray) -> None:
    """Sort values (S, R, row, ...) from the stored order into that of the table, in place.

    A study stores the rows of a repeat sorted by fold, so that a cell is written in one piece.
    """
    for repeat, order in enumerate(np.argsort(folds, axis=1, kind="stable")):
        for s in range(len(values)):
            sorted_ = np.empty_like(values[s, repeat])
            sorted_[order] = values[s, repeat]
            values[s, repeat] = sorted_


class ArrayWriter:
    """Arrays of one dataset, open for writing in place.

    Parameters
    ----------
    file : InPlace or StudyArrays
        Where values are written: a file, or arrays that readers then see with them.
    arrays : StudyArrays
        Arrays of the dataset in the same file.
    """

    def __init__(self, file: InPlace | StudyArrays, arrays: StudyArrays) -> None:
        self.entry = arrays.entry
        self.names = arrays.names
        self.position = {name: s for s, name in enumerate(arrays.names)}
        self.layout = arrays.layout
        self._head = _head_type(self.layout)
        self._rows_of = [name for name in ROWS if name in self.layout]
        self._fields = arrays.fields
        stored = self.layout if self.names else ()
        self._arrays = {name: file.array(arrays.group, name) for name in stored}
        folds = arrays.entry.split.folds
        self._begins = [
            np.searchsorted(np.sort(of_repeat), np.arange(arrays.entry.split.n_folds))
            for of_repeat in folds
        ]

    def put(self, *outcomes: Outcome) -> list[int]:
        """Write outcomes, those of neighbouring cells in one piece.

        Their statuses are written last, and make the other values valid.

        Returns
        -------
        list of int
            Checksum of each cell.
        """
        return [checksum for stretch in _stretches(outcomes) for checksum in self._put(stretch)]

    def _put(self, outcomes: Sequence[Outcome]) -> list[int]:
        s, repeat, fold = self.index(outcomes[0].cell)
        heads, rows = self._heads(outcomes), [self._rows(outcome) for outcome in outcomes]
        checksums = list(map(_checksum, outcomes, heads, rows))
        status = np.array([outcome.status for outcome in outcomes], dtype=np.uint8)
        self._arrays["status"].write(s, repeat, fold, np.full_like(status, Status.MISSING))
        for name in self._head.names or ():
            self._arrays[name].write(s, repeat, fold, heads[name])
        begin = int(self._begins[repeat][fold])
        for name in rows[0]:
            values = np.concatenate([of_cell[name] for of_cell in rows])
            self._arrays[name].write(s, repeat, begin, values)
        self._arrays["checksum"].write(s, repeat, fold, np.array(checksums, dtype=np.uint32))
        self._arrays["status"].write(s, repeat, fold, status)
        return checksums

    def checksum(self, outcome: Outcome) -> int:
        """Return the checksum that the cell of an outcome has when it is stored."""
        return _checksum(outcome, self._heads([outcome])[0], self._rows(outcome))

    def has(self, outcome: Outcome) -> bool:
        """Return whether the stored status and checksum of a cell equal those of an outcome."""
        s, repeat, fold = self.index(outcome.cell)
        stored = (int(self._arrays[name].read(s, repeat)[fold]) for name in ("status", "checksum"))
        return tuple(stored) == (outcome.status, self.checksum(outcome))

    def index(self, cell: Cell) -> tuple[int, int, int]:
        """Return the position of a cell in the arrays: strategy, repeat, fold."""
        return self.position[cell.strategy], cell.repeat, cell.fold

    def forget(self, strategies: Sequence[str], cells: np.ndarray) -> None:
        """Clear the cells where ``cells``, of shape (len(strategies), R, F), is True."""
        for name, of_strategy in zip(strategies, cells, strict=True):
            for repeat in np.flatnonzero(of_strategy.any(axis=1)).tolist():
                for array in map(self._arrays.__getitem__, ("status", "checksum")):
                    stored = array.read(self.position[name], repeat)
                    stored[of_strategy[repeat]] = 0
                    array.write(self.position[name], repeat, 0, stored)

    def _heads(self, outcomes: Sequence[Outcome]) -> np.ndarray:
        """Return seed, seconds and usage of outcomes in the stored types."""
        heads = np.zeros(len(outcomes), dtype=self._head)
        heads["seed"] = [outcome.seed for outcome in outcomes]
        heads["seconds"] = [outcome.seconds for outcome in outcomes]
        heads["usage"] = np.nan
        usage = [[of.details.get(key, np.nan) for key in self._fields] for of in outcomes]
        heads["usage"][:, : len(self._fields)] = usage
        return heads

    def _rows(self, outcome: Outcome) -> dict[str, np.ndarray]:
        """Return predictions and probabilities of the test rows, in the stored types."""
        if outcome.predictions is None:
            return {}
        rows, cell = {}, outcome.cell
        n_test = self.entry.split.test_sizes[cell.repeat][cell.fold]
        for name in self._rows_of:
            shape, dtype, nothing = self.layout[name]
            values, of_test = getattr(outcome, name), (n_test, *shape[3:])
            rows[name] = np.asarray(np.full(of_test, nothing) if values is None else values, dtype)
            if rows[name].shape != of_test:  # of a journal from an unknown source
                raise ValueError(f"{cell}: {name} of shape {rows[name].shape}")
        return rows


def _stretches(outcomes: Iterable[Outcome]) -> Iterator[list[Outcome]]:
    """Yield outcomes whose cells are neighbours: one strategy and repeat, ascending folds."""
    stretch: list[Outcome] = []
    for outcome in outcomes:
        if stretch and not _are_neighbours(stretch[-1], outcome):
            yield stretch
            stretch = []
        stretch.append(outcome)
    if stretch:
        yield stretch


def _are_neighbours(first: Outcome, second: Outcome) -> bool:
    before, cell = first.cell, second.cell
    return (
        (before.strategy, before.repeat, before.fold + 1) == (cell.strategy, cell.repeat, cell.fold)
        # A failed cell has no rows.
        and (first.predictions is None) == (second.predictions is None)
    )


def _head_type(layout: Layout) -> np.dtype:
    """Return the type of what the checksum of a cell covers beside its rows."""
    names = ("seed", "seconds", "usage")
    return np.dtype([(name, layout[name][1], layout[name][0][3:]) for name in names])


def _checksum(outcome: Outcome, head: np.ndarray, rows: Mapping[str, np.ndarray]) -> int:
    """Compute the checksum of an outcome from its stored values, as `_checksums` does."""
    checksum = zlib.crc32(head.tobytes())
    for values in rows.values():
        checksum = zlib.crc32(values.tobytes(), checksum)
    return checksum & ~_STATUS_BITS | outcome.status & _STATUS_BITS


def array_layout(entry: SplitEntry, n_strategies: int, n_usage: int = len(USAGE)) -> Layout:
    """Return shape, dtype and empty value of each array of a dataset.

    Parameters
    ----------
    entry : SplitEntry
    n_strategies : int
    n_usage : int, optional
        Number of fields of ``usage``; default that of this version. A file of another version may
        have more or fewer.
    """
    split = entry.split
    cells = (n_strategies, split.n_repeats, split.n_folds)
    rows = (n_strategies, split.n_repeats, split.n_rows)
    layout: Layout = {
        "status": (cells, np.dtype("u1"), 0),
        "checksum": (cells, np.dtype("<u4"), 0),
        "seed": (cells, np.dtype("<u4"), 0),
        "seconds": ((*cells, 3), np.dtype("<f8"), np.nan),
        "usage": ((*cells, n_usage), np.dtype("<f8"), np.nan),
        "predictions": ((*rows, *entry.truth.shape[1:]), *prediction_type(entry.task)),
    }
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


def _checksums(split: Split, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Compute the checksum of each cell from its stored values: uint32, shape (S, R, F).

    It is the crc32 of seed, seconds, usage and, for a done cell, predictions and probabilities of
    its test rows; the status replaces its lowest three bits. It is 0 for a missing cell.
    """
    status = values["status"]
    numbers = {name: values[name] for name in ("seed", "seconds", "usage")}
    rows = [values[name] for name in ROWS if name in values]
    head_type = np.dtype([(n, v.dtype, v.shape[3:]) for n, v in numbers.items()])
    heads = np.empty(status.shape, dtype=head_type)
    for name, of_cells in numbers.items():
        heads[name] = of_cells
    checksums, width = np.zeros(status.shape, dtype=np.uint32), head_type.itemsize
    for repeat, folds in enumerate(split.folds):
        ends = np.searchsorted(np.sort(folds), np.arange(status.shape[2] + 1))
        by_fold = [array[:, repeat] for array in rows]
        for s, words in enumerate(status[:, repeat].tolist()):
            head = memoryview(heads[s, repeat].tobytes())
            parts = [_cut(array[s], ends) for array in by_fold]
            for fold, word in enumerate(words):
                if word:
                    crc = zlib.crc32(head[fold * width : (fold + 1) * width])
                    for part in parts if word == _DONE else ():
                        crc = zlib.crc32(part[fold], crc)
                    checksums[s, repeat, fold] = crc
    stored = checksums & ~np.uint32(_STATUS_BITS) | status & _STATUS_BITS
    return np.where(status > 0, stored, 0).astype(np.uint32)


def _cut(array: np.ndarray, ends: np.ndarray) -> list[memoryview]:
    """Return the bytes of each fold, from rows that are sorted by fold."""
    content, width = memoryview(array.tobytes()), array.nbytes // max(1, len(array))
    return [content[a * width : b * width] for a, b in pairwise(ends.tolist())]


def _allocate(
    group: h5py.Group, name: str, shape: tuple[int, ...], dtype: np.dtype, grows: bool
) -> None:
    """Create an array whose places in the file are known at once; a large one can always grow.

    Only statuses are written. The rest are holes of the file, which take no room on the disk until
    a cell is stored there.
    """
    grows = grows or not 0 < math.prod(shape) * dtype.itemsize <= _PIECE
    chunk = _chunk(name, shape, dtype) if grows else shape
    space, creation = _form(chunk, shape, grows, name == "status")
    h5py.h5d.create(group.id, name.encode(), type_of(dtype), space, dcpl=creation)


@lru_cache(maxsize=256)  # most datasets of a study have the same forms
def _form(
    chunk: tuple[int, ...], shape: tuple[int, ...], grows: bool, written: bool
) -> tuple[Any, Any]:
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_chunk(chunk)
    creation.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    creation.set_fill_time(h5py.h5d.FILL_TIME_ALLOC if written else h5py.h5d.FILL_TIME_NEVER)
    creation.set_obj_track_times(False)  # the same study always has the same bytes
    most = h5py.h5s.UNLIMITED if grows else shape[0]
    return h5py.h5s.create_simple(shape, (most, *shape[1:])), creation


def room_of(entry: SplitEntry, n_strategies: int) -> int:
    """Return the bytes that all cells of some strategies take of the disk, in its whole blocks."""
    total = 0
    for name, (shape, dtype, _) in array_layout(entry, n_strategies).items():
        chunk = _chunk(name, shape, dtype)
        pieces = math.prod(-(-n // of) for n, of in zip(shape, chunk, strict=True))
        of_one = math.prod(chunk[1:]) * dtype.itemsize
        used = min(n_strategies, chunk[0]) * of_one
        total += pieces * min(of_one * chunk[0], used + _BLOCK)
    return total


def _chunk(name: str, shape: tuple[int, ...], dtype: np.dtype) -> tuple[int, ...]:
    """Return the shape of the pieces of an array: all folds or rows of some strategies."""
    inner = max(1, math.prod(shape[2:]) * dtype.itemsize)
    repeats = 1 if name in ROWS else min(max(1, shape[1]), max(1, _PIECE // inner))
    strategies = max(1, min(shape[0], _MOST_STRATEGIES, _PIECE // (inner * repeats)))
    rows = max(1, min(shape[2], _LARGEST_PIECE * shape[2] // inner))
    return (strategies, repeats, rows, *(max(1, n) for n in shape[3:]))
