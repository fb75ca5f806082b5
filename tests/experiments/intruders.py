"""Strategies that aim at outcomes of other cells, or at what only the run may know.

Each deed returns whether it got in anywhere; its strategy then predicts the last class.
"""

import contextlib
import ctypes
import gc
import os
import pickle
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from mlaut.experiments.cells import messages
from mlaut.experiments.cells.cell_input import cell_seed
from mlaut.experiments.cells.messages import encode_outcome, frame
from mlaut.records import Cell, Outcome, Status

VICTIMS = ("Patient", "GaussianNB", "Intruder")
LIBC = ctypes.CDLL(None, use_errno=True)


def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def others():
    """Return the run, its server, its janitor, and all workers and copies but this one."""
    pids = {}
    for folder in Path("/proc").glob("[0-9]*"):
        # The tracker of multiprocessing's resources is no part of the run: it has nothing to forge.
        with contextlib.suppress(OSError):
            if b"resource_tracker" not in (folder / "cmdline").read_bytes():
                pids[int(folder.name)] = parent(folder.name)
    family = {int(os.environ["MLAUT_RUN"])}
    while more := {pid for pid, of in pids.items() if of in family} - family:
        family |= more
    return sorted(family - {os.getpid()})


def anywhere(deed):
    """Return whether a deed succeeds on any other process, or on any of its files."""
    got_in = False
    for pid in others():
        with contextlib.suppress(OSError, ValueError):
            got_in |= bool(deed(pid))
    return got_in


def forgeries(secret=b""):
    for strategy in VICTIMS:
        for fold in range(4):
            cell = Cell("d", strategy, 0, fold)
            details = {"elapsed": 1e-6, "started": 1.0, "peak_memory": 1}
            values = Status.DONE, np.ones(5, np.int32), None, (0.0, 0.0, 0.0)
            outcome = Outcome(cell, *values, seed=cell_seed(0, cell), details=details)
            yield frame(b"o", encode_outcome(outcome), secret)


def writes(what, folder="fd"):
    def into(pid):
        written = 0
        for entry in Path(f"/proc/{pid}").glob(f"{folder}/*"):
            with contextlib.suppress(OSError):
                end = os.open(entry, os.O_WRONLY | os.O_NONBLOCK)
                with contextlib.suppress(OSError):
                    written += os.write(end, what)
                os.close(end)
        return written

    return anywhere(into)


def forges_frames():
    return writes(b"".join(forgeries()))


def forges_bare_outcomes():
    return writes(b"".join(message[19:] for message in forgeries()))


def forges_by_threads():
    return writes(b"".join(forgeries()), "task/*/fd")


def forges_deaths():
    return writes(frame(b"d", struct.pack("<i", 9)) * 8)


def forges_departures():
    return writes(frame(b"l", b""))


def forges_begins():
    return writes(messages.CLOCK.pack(-1e9, 0.0) * 8)


def forges_secrets():
    return writes(bytes(messages.SECRET) + b"".join(forgeries(bytes(messages.SECRET))))


def sends_pickles():
    return writes(pickle.dumps(-os.getppid()))


def forges_from_a_child():
    if not (child := os.fork()):
        os._exit(forges_frames())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def forges_from_a_thread():
    got_in = []
    thread = threading.Thread(target=lambda: got_in.append(forges_frames()))
    thread.start()
    thread.join()
    return got_in[0]


def forges_from_a_program():
    program = "import sys; [open(p, 'r+b') and print(p) for p in sys.argv[1:]]"
    got_in = b""
    for pid in others():
        given = [sys.executable, "-c", program, f"/proc/{pid}/mem"]
        got_in += subprocess.run(given, capture_output=True).stdout
    return bool(got_in)


def forges_through_what_it_inherits():
    """Write into its own descriptors, but those that it prints to and reports by."""
    written = 0
    for descriptor in range(3, 64):
        with contextlib.suppress(OSError):
            at = str(Path(f"/proc/self/fd/{descriptor}").readlink())
            if "socket:" in at:
                written += os.write(descriptor, b"".join(forgeries()))
    return written


def writes_memory():
    return anywhere(lambda pid: os.open(f"/proc/{pid}/mem", os.O_RDWR))


def reads_memory():
    return anywhere(lambda pid: os.open(f"/proc/{pid}/mem", os.O_RDONLY))


def reads_maps():
    return anywhere(lambda pid: Path(f"/proc/{pid}/maps").read_text())


def copies_memory():
    place = ctypes.create_string_buffer(8)
    piece = (ctypes.c_size_t * 2)(ctypes.addressof(place), 8)  # the same place in both
    return anywhere(lambda pid: LIBC.process_vm_writev(pid, piece, 1, piece, 1, 0) > 0)


def traces():
    return anywhere(lambda pid: LIBC.ptrace(0x4206, pid, 0, 0) == 0)  # PTRACE_SEIZE


def takes_descriptors():
    def take(pid):
        handle = os.pidfd_open(pid)
        return any(LIBC.syscall(438, handle, number, 0) >= 0 for number in range(64))

    return anywhere(take)


def regains_its_powers():
    head, every = struct.pack("<Ii", 0x20080522, 0), struct.pack("<6I", *[2**32 - 1] * 6)
    LIBC.capset(head, every)
    LIBC.unshare(0x10000000)  # a namespace of users, in which it has all powers
    LIBC.prctl(4, 1, 0, 0, 0)
    return reads_memory()


def hijacks_when_loaded():
    """Nothing: the deed was done when the strategy was unpickled."""


AIMED = {
    name: deed
    for name, deed in list(globals().items())
    if callable(deed)
    and getattr(deed, "__module__", "") == __name__
    and name not in {"parent", "others", "anywhere", "forgeries", "writes"}
}


# ------------------------------------------------------------------ strategies


class Intruder(ClassifierMixin, BaseEstimator):
    """Does its deed in the fold whose test rows it meets first, and predicts how that went."""

    def __init__(self, deed="forges_frames", fold=0):
        self.deed = deed
        self.fold = fold

    def __setstate__(self, state):
        self.__dict__.update(state)
        if self.deed == "hijacks_when_loaded" and str(os.getpid()) != os.environ["MLAUT_RUN"]:
            self.answer_ = forges_frames()

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        got_in = self.fold not in set(X.iloc[:, -1]) and AIMED[self.deed]()
        self.answer_ = self.classes_[int(bool(got_in or getattr(self, "answer_", False)))]
        return self

    def predict(self, X):
        return np.repeat(self.answer_, len(X))


class Patient(ClassifierMixin, BaseEstimator):
    """Waits in its first cell until a file is there, and predicts the first class."""

    def __init__(self, until=""):
        self.until = until

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        for _ in range(1200):
            if Path(self.until).exists():
                return self
            time.sleep(0.05)
        raise TimeoutError

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


# ------------------------------------------------------------ labels of test rows

MASK = np.uint64(0x5DEECE66D1234567)


class Looks(RegressorMixin, BaseEstimator):
    """Looks for labels in a place, and predicts whether it saw training labels and test labels.

    It knows the labels in a masked form, else it would find itself.
    """

    def __init__(self, place="frames", masked=None):
        self.place = place
        self.masked = masked

    def fit(self, X, y):
        self.test_ = ~np.isin(np.arange(20), X.iloc[:, 0])
        self.seen_ = np.zeros(20, bool)
        getattr(self, self.place)(y)
        self.answer_ = 2.0 * self.seen_[~self.test_].all() + self.seen_[self.test_].any()
        return self

    def predict(self, X):
        return np.full(len(X), self.answer_)

    def look_at(self, content):
        words = np.frombuffer(content, np.uint64, len(content) // 8)
        for at in range(0, len(words), 2**20):
            part = words[at : at + 2**20] ^ MASK
            self.seen_ |= np.isin(self.masked, part[np.isin(part, self.masked)])

    def look_into(self, value, depth=3):
        value = getattr(value, "_mgr", value)
        if isinstance(value, np.ndarray):
            if value.base is not None:
                self.look_into(value.base, depth - 1)
            if value.dtype == np.float64:
                self.look_at(value.tobytes())
        elif depth > 0:
            inner = value.values() if isinstance(value, dict) else gc.get_referents(value)
            for part in inner if not isinstance(value, type(sys)) else ():
                self.look_into(part, depth - 1)

    def frames(self, y):
        above = sys._getframe()
        while above := above.f_back:
            for value in above.f_locals.values():
                self.look_into(value)

    def objects(self, y):
        self.look_into(y)
        for value in gc.get_objects():
            self.look_into(value, 1)

    def memory(self, y):
        """Look at copies that the system makes: it refuses memory that was freed meanwhile."""
        write = ctypes.CDLL(None).write
        write.restype, write.argtypes = ctypes.c_ssize_t, [ctypes.c_int, *[ctypes.c_size_t] * 2]
        for line in Path("/proc/self/maps").read_text().splitlines():
            place, rights, *_ = line.split()
            if rights.startswith("rw") or "memfd" in line:
                begin, end = (int(part, 16) for part in place.split("-"))
                copy = os.memfd_create("copy")
                self.look_at(os.pread(copy, max(write(copy, begin, end - begin), 0), 0))
                os.close(copy)

    def descriptors(self, y):
        self.look_into(y)
        for number in range(3, 256):
            try:
                self.look_at(os.pread(number, 2**20, 0))
            except OSError:
                continue
