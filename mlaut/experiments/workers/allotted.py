"""What a job of a batch system, or a container, may use: cores and memory."""

import contextlib
import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")
_VMSTAT = Path("/proc/vmstat")
_UNLIMITED = 2**60  # bytes: what version 1 shows for no limit is larger


def allotted_cores() -> int | None:
    """Return the cores of the Slurm job, where it has asked for some; None otherwise."""
    with contextlib.suppress(KeyError, ValueError):
        return max(1, int(os.environ["SLURM_CPUS_PER_TASK"]))
    return None


def allotted_memory() -> tuple[int, str] | None:
    """Return the bytes that the job or the container may use, and who limits them; None without.

    A job of Slurm has a limit even where no control group enforces it: Slurm then measures.
    """
    limits = [
        *_of_slurm(),
        *((size, "the container or its control group") for size in _of_groups()),
    ]
    return min(limits, default=None)


def _of_slurm() -> Iterator[tuple[int, str]]:
    """Yield the limit of the job; Slurm counts in MiB, and 0 stands for all memory."""
    with contextlib.suppress(KeyError, ValueError):
        if size := int(os.environ["SLURM_MEM_PER_NODE"]):
            yield size * 2**20, "the Slurm job"
    with contextlib.suppress(KeyError, ValueError):
        size = int(os.environ["SLURM_MEM_PER_CPU"]) * int(os.environ["SLURM_CPUS_ON_NODE"])
        if size:
            yield size * 2**20, "the Slurm job"


def _of_groups() -> Iterator[int]:
    """Yield the limits of the control groups of this process and of those above."""
    for file in _files_of_groups("memory.max", "memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            size = int(file.read_text())
            if size < _UNLIMITED:
                yield size


def oom_kills() -> int:
    """Return how many processes the kernel has killed for lack of memory; 0 if unknown.

    Those of the control group of this process, and only where it has none all of the machine: the
    job of somebody else may have lacked memory at the time when a strategy was killed.
    """
    # Before each batch: the files above that of the own group are not even named.
    for file in chain(_files_of_groups("memory.events", "memory.oom_control"), [_VMSTAT]):
        with contextlib.suppress(KeyError, OSError, ValueError):
            counts = dict(line.split() for line in file.read_text().splitlines())
            return int(counts["oom_kill"])
    return 0


def _files_of_groups(name: str, name_of_version_1: str) -> Iterator[Path]:
    """Yield the paths of a file in the control group of this process and in those above."""
    with contextlib.suppress(OSError):
        for line in _OWN_GROUPS.read_text().splitlines():
            number, kinds, own = line.split(":", 2)
            if number != "0" and "memory" not in kinds.split(","):
                continue
            top = _CGROUPS if number == "0" else _CGROUPS / "memory"
            group, file = top / own.lstrip("/"), name if number == "0" else name_of_version_1
            yield group / file
            yield from (above / file for above in group.parents if above.is_relative_to(top))
