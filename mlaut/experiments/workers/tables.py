"""Tables of a run in shared memory: read, checked and prepared once, and mapped by all workers.

The memory has no name in any folder, so a run that is killed leaves nothing behind. It is sealed,
and workers map it for reading only: no strategy can change the rows of another. Labels stay in the
process that runs the study; a batch gets those of the training rows of its cells.

An array that is too large for memory lies in such a file on the disk (`files_io.tables.arrays`):
the rest of its table is written behind it, and workers map the whole.
"""

import contextlib
import fcntl
import mmap
import os
import pickle
import struct
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from mlaut.data.splits.targets import positions
from mlaut.errors import DataError, StudyError
from mlaut.experiments.cells.cell_input import FoldTable
from mlaut.experiments.workers.batches import Batch, DatasetRef
from mlaut.files_io import FilesIO
from mlaut.files_io.safe_files.hdf5_output import write_all
from mlaut.records import Cell, Dataset

_LENGTH = struct.Struct("<Q")  # of the description, with which the memory ends
_LINE = 64  # bytes of a line of the processor's cache; each array begins with one
_KEPT = 2**28  # bytes of tables that are kept for further batches, besides the newest
_MOST_KEPT = 32  # tables, each of which takes a descriptor: a process may often have 1,024, or 256
_SEALS = ("F_SEAL_SHRINK", "F_SEAL_GROW", "F_SEAL_WRITE", "F_SEAL_SEAL")


_database = lru_cache(maxsize=1)(FilesIO)  # opening one checks it, as reading a dataset does


def load(ref: DatasetRef) -> Dataset:
    """Load a dataset, and check that it is the one that was split.

    Raises
    ------
    MlautError
        The dataset cannot be read, or has another fingerprint.
    """
    dataset = _database(ref.database).load_dataset(ref.path, shared=True)
    if dataset.fingerprint != ref.fingerprint:
        raise DataError(
            f"{ref.database}: dataset {ref.name!r} was changed while the study runs; "
            "restore it, or save the new one under another name"
        )
    return dataset


def load_table(ref: DatasetRef) -> FoldTable:
    """Load a dataset as `load` does, and separate its features and labels."""
    return FoldTable.of(load(ref), ref.classes)


LoadTable = Callable[[DatasetRef], FoldTable]


class Lent(NamedTuple):
    """Descriptors of what a worker gets for a batch.

    Attributes
    ----------
    table : int
        Shared memory of the table, which has no labels.
    labels : int
        Memory of the labels of the training rows, cell by cell, as `TrainingLabels` reads them.
    places : mapping of (int, int) to int
        First byte of the labels of each pair of repeat and fold.
    kind : str
        Type of these labels: positions of classes, or numbers; in several columns as ``(2,)<f8``.
    """

    table: int
    labels: int
    places: dict[tuple[int, int], int]
    kind: str


class SharedTables:
    """Shared memory of the tables that a run used last, and their labels."""

    def __init__(self, load: LoadTable | None = None) -> None:
        self._load = load or load_table
        self._lock = threading.Lock()
        self._kept: OrderedDict[DatasetRef, tuple[int, np.ndarray]] = OrderedDict()

    @contextlib.contextmanager
    def lent(self, batches: Sequence[Batch]) -> Iterator[Lent]:
        """Yield what a worker gets for batches of one dataset.

        Raises
        ------
        MlautError
            The dataset cannot be read, or is not the one that was split.
        StudyError
            The memory of the machine does not suffice.
        """
        dataset = batches[0].dataset
        table, labels = self._of(dataset)
        with contextlib.ExitStack() as stack:
            stack.callback(os.close, table)
            trains = {cell: batch.trains for batch in batches for cell in batch.cells}
            parts = [labels[of_batch(*cell)] for cell, of_batch in trains.items()]
            places = np.cumsum([0, *(part.nbytes for part in parts)]).tolist()
            with _no_memory_in_one_line(dataset):
                memory = _new_memory()
                stack.callback(os.close, memory)
                for part, place in zip(parts, places, strict=False):
                    write_all(memory, part.reshape(-1).view(np.uint8).data, place)
            # of several targets, numpy reads the number of columns in the type
            kind = f"{labels.shape[1:]}{labels.dtype.str}".removeprefix("()")
            yield Lent(table, memory, dict(zip(trains, places, strict=False)), kind)

    def _of(self, ref: DatasetRef) -> tuple[int, np.ndarray]:
        """Return a new descriptor of the memory of a dataset, and its labels as they are sent.

        The caller closes it. Another thread may have the dataset dropped at any time.
        """
        with self._lock:
            if ref not in self._kept:
                table = self._load(ref)
                with _no_memory_in_one_line(ref):
                    memory = share_table(replace(table, labels=table.labels[:0]))
                self._kept[ref] = memory, _as_sent(table)
                while len(self._kept) > 1 and (self._size > _KEPT or len(self._kept) > _MOST_KEPT):
                    os.close(self._kept.popitem(last=False)[1][0])
            self._kept.move_to_end(ref)
            memory, labels = self._kept[ref]
            with _no_memory_in_one_line(ref):
                return os.dup(memory), labels

    @property
    def _size(self) -> int:
        return sum(os.fstat(memory).st_size for memory, _ in self._kept.values())

    def close(self) -> None:
        """Free the memory as soon as no worker maps it."""
        with self._lock:
            while self._kept:
                os.close(self._kept.popitem()[1][0])


@contextlib.contextmanager
def _no_memory_in_one_line(ref: DatasetRef) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StudyError(
            f"dataset {ref.name!r}: no shared memory for its table "
            f"({error.strerror}); free memory, or run on a machine that has more"
        ) from error


def _as_sent(table: FoldTable) -> np.ndarray:
    """Return the labels of a table as they are sent: positions of classes in few bytes each."""
    if table.labels.ndim > 1 and table.classes:
        return table.labels.astype(np.uint8)
    if not table.classes:
        return np.ascontiguousarray(table.labels)
    kind = np.min_scalar_type(len(table.classes))
    return positions(table.labels, table.classes).astype(kind)


@dataclass(frozen=True)
class TrainingLabels:
    """Labels of the training rows of each cell of some batches, in a worker.

    Attributes
    ----------
    memory : int
        Descriptor of the memory that has them (`Lent.labels`).
    places : mapping of (int, int) to int
        First byte of each pair of repeat and fold.
    kind : str
        Type of these labels.
    classes : sequence
        Class labels; empty for regression.
    """

    memory: int
    places: Mapping[tuple[int, int], int]
    kind: str
    classes: Sequence[Any]

    def of_cell(self, cell: Cell, n_train: int) -> np.ndarray:
        """Return the labels of a cell, which no other cell of the process shares."""
        labels: np.ndarray = np.empty(n_train, self.kind)
        place = self.places[cell.repeat, cell.fold]
        os.preadv(self.memory, [labels.reshape(-1).view(np.uint8).data], place)
        if self.classes:
            labels = labels.astype(np.int64) if labels.ndim > 1 else np.array(self.classes)[labels]
        return labels

    def only_of(self, cell: Cell, n_train: int) -> np.ndarray:
        """Return the labels of a cell, and make those of others unreachable."""
        labels = self.of_cell(cell, n_train)
        self.close()
        return labels

    def close(self) -> None:
        """Free the memory in this process."""
        with contextlib.suppress(OSError):
            os.close(self.memory)


def share_table(table: FoldTable) -> int:
    """Return the descriptor of shared memory that holds a table and its cached properties.

    Examples
    --------
    >>> import pandas as pd
    >>> memory = share_table(FoldTable(pd.DataFrame({"x": [0.5, 1.5]}), np.array([0, 1]), (0, 1)))
    >>> table = map_table(memory)
    >>> table.numbers.tolist(), table.numbers.flags.writeable
    ([[0.5], [1.5]], False)
    >>> os.close(memory)
    """
    files = getattr(table.features, "handles", None)  # of an array that is mapped already
    if files:
        table = replace(table, features=np.asarray(table.features))
    _ = table.numbers, table.names_of_one_type  # cached in the table, so that workers know them
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(table, protocol=5, buffer_callback=buffers.append)
    raw = [buffer.raw() for buffer in buffers]
    places: dict[tuple[int, int], int] = {}  # of address and size; arrays may be views of one
    if files:
        places[table.features.ctypes.data, table.features.nbytes] = 0
    end = _aligned(table.features.nbytes) if files else 0
    memory = os.dup(files[0]) if files else _new_memory()
    try:
        for content in raw:
            if _key(content) not in places:
                places[_key(content)] = end
                write_all(memory, content, end)
                end = _aligned(end + content.nbytes)
        layout = [(places[_key(content)], content.nbytes) for content in raw]
        description = pickle.dumps((pickled, layout))
        write_all(memory, memoryview(description + _LENGTH.pack(len(description))), end)
        if files:
            os.dup2(files[1], memory, inheritable=False)  # workers get it for reading only
        else:
            _seal(memory)
    except BaseException:
        os.close(memory)
        raise
    return memory


def map_table(memory: int) -> FoldTable:
    """Return the table in shared memory; its arrays lie there, and are read-only."""
    mapped = memoryview(mmap.mmap(memory, 0, prot=mmap.PROT_READ))
    end = len(mapped) - _LENGTH.size
    (length,) = _LENGTH.unpack_from(mapped, end)
    pickled, layout = pickle.loads(mapped[end - length : end])
    buffers = [mapped[at : at + n] for at, n in layout]
    return pickle.loads(pickled, buffers=buffers)


def _key(content: memoryview) -> tuple[int, int]:
    address = np.frombuffer(content, np.uint8).ctypes.data if content.nbytes else 0
    return address, content.nbytes


def _aligned(place: int) -> int:
    return -(-place // _LINE) * _LINE


def _new_memory() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("mlaut-table", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with tempfile.TemporaryFile() as file:  # where the system has no such memory (macOS)
        return os.dup(file.fileno())


def _seal(memory: int) -> None:
    """Forbid all changes of the memory from now on, where the system can do that."""
    if hasattr(fcntl, "F_ADD_SEALS") and hasattr(os, "memfd_create"):
        seals = [getattr(fcntl, name) for name in _SEALS]
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, sum(seals))
