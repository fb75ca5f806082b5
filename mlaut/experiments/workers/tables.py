"""Tables of a run in shared memory: read, checked and prepared once, and mapped by all workers.

The memory has no name in any folder, so a run that is killed leaves nothing behind. It is sealed,
and workers map it for reading only: no strategy can change the rows of another.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import pickle
import struct
import tempfile
import threading
from collections import OrderedDict

import numpy as np

from mlaut.errors import DataError, StudyError
from mlaut.experiments.cells.fold_models import Table
from mlaut.experiments.workers.batches import DatasetRef
from mlaut.files_io import FilesIO
from mlaut.records import Dataset

__all__ = ["SharedTables", "load", "load_table", "map_table", "share_table"]

_LENGTH = struct.Struct("<Q")  # of the description, with which the memory begins
_LINE = 64  # bytes of a line of the processor's cache; each array begins with one
_KEPT = 2**28  # bytes of tables that are kept for further batches, besides the newest
_SEALS = ("F_SEAL_SHRINK", "F_SEAL_GROW", "F_SEAL_WRITE", "F_SEAL_SEAL")


def load(ref: DatasetRef) -> Dataset:
    """Load a dataset, and check that it is the one that was split.

    Raises
    ------
    MlautError
        The dataset cannot be read, or has another fingerprint.
    """
    dataset = FilesIO(ref.database).load_dataset(ref.path)
    if dataset.fingerprint != ref.fingerprint:
        raise DataError(
            f"{ref.database}: dataset {ref.name!r} was changed while the study runs; "
            "restore it, or save the new one under another name"
        )
    return dataset


def load_table(ref: DatasetRef) -> Table:
    """Load a dataset as `load` does, and separate its features and labels."""
    return Table.of(load(ref), ref.classes)


class SharedTables:
    """Shared memory of the tables that a run used last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memory: OrderedDict[DatasetRef, int] = OrderedDict()

    def memory(self, ref: DatasetRef) -> int:
        """Return the descriptor of the shared memory of a dataset, which is loaded if needed.

        A later call may close it; who has mapped the memory keeps it.

        Raises
        ------
        MlautError
            The dataset cannot be read, or is not the one that was split.
        StudyError
            The memory of the machine does not suffice.
        """
        with self._lock:
            if ref not in self._memory:
                table = load_table(ref)
                try:
                    self._memory[ref] = share_table(table)
                except OSError as error:
                    raise StudyError(
                        f"dataset {ref.name!r}: no shared memory for its table "
                        f"({error.strerror}); free memory, or run on a machine that has more"
                    ) from error
            self._memory.move_to_end(ref)
            while len(self._memory) > 1 and sum(map(_size, self._memory.values())) > _KEPT:
                os.close(self._memory.popitem(last=False)[1])
            return self._memory[ref]

    def close(self) -> None:
        """Free the memory as soon as no worker maps it."""
        with self._lock:
            while self._memory:
                os.close(self._memory.popitem()[1])


def share_table(table: Table) -> int:
    """Return the descriptor of shared memory that holds a table and what its cells ask of it.

    Examples
    --------
    >>> import pandas as pd
    >>> memory = share_table(Table(pd.DataFrame({"x": [0.5, 1.5]}), np.array([0, 1]), (0, 1)))
    >>> table = map_table(memory)
    >>> table.numbers.tolist(), table.numbers.flags.writeable
    ([[0.5], [1.5]], False)
    >>> os.close(memory)
    """
    _ = table.numbers, table.names_of_one_type  # cached in the table, so that workers know them
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(table, protocol=5, buffer_callback=buffers.append)
    raw = [buffer.raw() for buffer in buffers]
    places: dict[tuple[int, int], int] = {}  # of address and size; arrays may be views of one
    end = 0
    for content in raw:
        if _key(content) not in places:
            places[_key(content)] = end
            end = _aligned(end + content.nbytes)
    layout = [(places[_key(content)], content.nbytes) for content in raw]
    description = pickle.dumps((pickled, layout))
    start = _aligned(_LENGTH.size + len(description))
    memory = _new_memory()
    try:
        os.truncate(memory, start + end)
        _write(memory, memoryview(_LENGTH.pack(len(description)) + description), 0)
        for content in raw:
            if (place := places.pop(_key(content), None)) is not None:
                _write(memory, content, start + place)
        _seal(memory)
    except BaseException:
        os.close(memory)
        raise
    return memory


def map_table(memory: int) -> Table:
    """Return the table in shared memory; its arrays lie there, and are read-only."""
    mapped = memoryview(mmap.mmap(memory, 0, prot=mmap.PROT_READ))
    (length,) = _LENGTH.unpack_from(mapped)
    pickled, layout = pickle.loads(mapped[_LENGTH.size : _LENGTH.size + length])
    arrays = mapped[_aligned(_LENGTH.size + length) :]
    table: Table = pickle.loads(pickled, buffers=[arrays[at : at + n] for at, n in layout])
    return table


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


def _write(memory: int, content: memoryview, place: int) -> None:
    while content:
        written = os.pwrite(memory, content, place)
        content, place = content[written:], place + written


def _seal(memory: int) -> None:
    """Let nobody change the memory from now on, where the system can do that."""
    if hasattr(fcntl, "F_ADD_SEALS") and hasattr(os, "memfd_create"):
        seals = [getattr(fcntl, name) for name in _SEALS]
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, sum(seals))


def _size(memory: int) -> int:
    return os.fstat(memory).st_size
