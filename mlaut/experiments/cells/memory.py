"""Limits of memory and time of a cell; parsers of such limits."""

import contextlib
import errno
import os
import resource
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from mlaut.errors import StudyError
from mlaut.estimators.libraries.library import LIBRARIES, reports_lack_of_memory
from mlaut.estimators.searches.wanted import SECONDS

_PROC = Path("/proc/self")
_CLEAR_REFS = "/proc/self/clear_refs"
CPU_WAITS = 10
"""Ratio of wall time to CPU time at which a limit ends: enough for ten processes on one core."""
_TORCH_ON_CPU = "DefaultCPUAllocator: can't allocate memory"  # a RuntimeError without a frame


@contextlib.contextmanager
def limited_memory(limit: int | None) -> Iterator[None]:
    """Make allocations of more than ``limit`` additional bytes fail with ``MemoryError``.

    The data segment is limited, not the address space, because libraries reserve gigabytes of
    addresses that they never use. Each process that the code starts has the same limit of its own.
    """
    if limit is None:
        yield
        return
    check_memory_can_be_limited()
    if "pyarrow" in sys.modules:  # its pool reserves 1 GiB at its first use, which is no cell's
        sys.modules["pyarrow"].array([""])
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = _in_status("VmData") + limit
    allowed = allowed if hard == resource.RLIM_INFINITY else min(allowed, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def memory_can_be_limited() -> bool:
    """Return whether this system can limit the memory of a process: Linux can."""
    return bool(_in_status("VmData"))


def check_memory_can_be_limited() -> None:
    """Check that this system can limit the memory of a process.

    Raises
    ------
    StudyError
        The system is not Linux, the only one that can.
    """
    if not memory_can_be_limited():
        raise StudyError(
            "memory: this system cannot limit what a process allocates (Linux can); "
            "leave memory out, or run in a container that has a limit"
        )


class CpuSeconds(float):
    """Time limit of a cell in seconds of CPU time; a plain number is one of wall time.

    A cell that waits uses no CPU time, so it also ends after ten times the seconds of wall time.

    Examples
    --------
    >>> parse_seconds("10m cpu")
    CpuSeconds(600.0)
    """

    def __repr__(self) -> str:
        return f"CpuSeconds({float(self)!r})"


def check_cpu_can_be_measured() -> None:
    """Check that this system shows the CPU time of other processes.

    Raises
    ------
    StudyError
        The system is not Linux, where ``/proc`` shows it.
    """
    if not (_PROC / "stat").exists():
        raise StudyError(
            "timeout: this system does not show the CPU time of a cell (Linux does); limit the "
            "wall time, without 'cpu'"
        )


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of the children that it has waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def offer_to_be_killed() -> None:
    """Make the kernel kill this process before the writer of the study when memory runs out."""
    with contextlib.suppress(OSError):
        (_PROC / "oom_score_adj").write_text("500")


def lacked_memory(error: BaseException) -> bool:
    """Return whether an error reports that an allocation failed.

    The type of the error shows this. Libraries also raise general errors, whose text is then read;
    the text of an error that a strategy itself raises is not.

    Examples
    --------
    >>> lacked_memory(MemoryError()), lacked_memory(ValueError("out of memory"))
    (True, False)
    """
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    try:
        text = str(error)
    except Exception:  # the code of a strategy may raise anything
        return False
    raised_by = _raised_by(error)
    # Where all fits of a search failed, scikit-learn raises a ValueError with their tracebacks.
    if "sklearn" in raised_by:
        return any(map(_ends_for_memory, text.splitlines()))
    if LIBRARIES.keys().isdisjoint(raised_by):
        return _TORCH_ON_CPU in text
    named = f"{type(error).__name__}: {text}"
    return any(reports_lack_of_memory(package, named) for package in raised_by)


def _ends_for_memory(line: str) -> bool:
    """Return whether a line is the last one of a traceback of an allocation that failed."""
    kind = line.partition(":")[0]
    return kind.endswith("MemoryError") or reports_lack_of_memory(kind.partition(".")[0], line)


def _raised_by(error: BaseException) -> set[str]:
    """Return the packages that define the type of an error, and that raise it."""
    frames = [
        frame.f_globals.get("__name__") for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    return {str(name).partition(".")[0] for name in (type(error).__module__, *frames[-1:])}


_kept: list[int] = []  # the open file that resets the peak


def keep_reset_of_peak() -> bool:
    """Make `reset_peak_memory` work when this process is hidden; return whether that succeeded."""
    with contextlib.suppress(OSError):
        _kept[:] = [os.open(_CLEAR_REFS, os.O_WRONLY)]
    return bool(_kept)


def reset_peak_memory() -> None:
    """Reset the peak memory of this process, where the system can do that."""
    with contextlib.suppress(OSError):
        # A third of the time of a file object.
        handle = _kept[0] if _kept else os.open(_CLEAR_REFS, os.O_WRONLY)
        try:
            os.write(handle, b"5")
        finally:
            if not _kept:
                os.close(handle)


def peak_memory() -> int:
    """Return the peak resident bytes of this process since the last reset, or since its start."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def own_memory() -> int:
    """Return the resident bytes that this process shares with no other, or 0 if not reported.

    Tables in shared memory do not count.
    """
    return _in_status("RssAnon")


def _in_status(key: str) -> int:
    """Return the bytes in ``/proc/self/status`` under a key; 0 if they are not reported."""
    try:
        value = (_PROC / "status").read_text().partition(f"\n{key}:")[2]
    except OSError:
        return 0
    return int(value.split(maxsplit=1)[0]) * 1024 if value else 0


def parse_seconds(text: str | float | None, name: str = "timeout") -> float | None:
    """Return a time limit in seconds, from a number or a text with ``s``, ``m``, ``h`` or ``d``.

    A text that ends in ``cpu``, such as ``"10m cpu"``, is a limit of CPU time (`CpuSeconds`).

    Examples
    --------
    >>> parse_seconds("10m"), parse_seconds(1.5), parse_seconds(None)
    (600.0, 1.5, None)
    >>> parse_seconds("soon")
    Traceback (most recent call last):
    mlaut.errors.StudyError: timeout 'soon': not a time above 0; write for example 90, '10m' or '2h'
    """
    if text is None:
        return None
    number, cpu, rest = str(text).strip().lower().partition("cpu")
    if not cpu or rest:
        return _parse(text, name, "a time above 0", "90, '10m' or '2h'", SECONDS)
    kind, example = "a CPU time above 0", "'90 cpu' or '10m cpu'"
    return CpuSeconds(_parse(number, name, kind, example, SECONDS))


def parse_bytes(text: str | float | None) -> int | None:
    """Return a memory limit in bytes, from a number or a text with ``MB``, ``MiB``, ``GB``, ...

    Examples
    --------
    >>> parse_bytes("4GiB"), parse_bytes("500 MB"), parse_bytes(None)
    (4294967296, 500000000, None)
    """
    if text is None:
        return None
    return int(_parse(text, "memory", "a size above 0", "'500MB' or '4GiB'", _BYTES))


def parse_memory(text: str | float | None) -> int | None:
    """Return the memory limit of a cell in bytes; one that no cell can have or feel is refused.

    Examples
    --------
    >>> parse_memory("4GiB")
    4294967296
    >>> parse_memory("1B")
    Traceback (most recent call last):
    mlaut.errors.StudyError: memory '1B': no limit from 1 MiB to 1 EiB; write for example '4GiB'
    """
    size = parse_bytes(text)
    if size is not None and not 2**20 <= size <= 2**60:
        raise StudyError(f"memory {text!r}: no limit from 1 MiB to 1 EiB; write for example '4GiB'")
    return size


_BYTES = {"": 1.0, "b": 1.0} | {
    prefix + suffix: float(base**power)
    for power, prefix in enumerate("kmgt", start=1)
    for suffix, base in (("", 1000), ("b", 1000), ("ib", 1024))
}


def _parse(text: str | float, what: str, kind: str, example: str, units: dict[str, float]) -> float:
    number = str(text).strip().lower()
    unit = number.lstrip("0123456789.+-e ")
    try:
        value = float(number[: len(number) - len(unit)]) * units[unit]
    except (ValueError, KeyError):
        value = 0.0
    if not 0 < value < float("inf"):
        raise StudyError(f"{what} {text!r}: not {kind}; write for example {example}")
    return value
