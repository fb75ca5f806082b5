"""What a job of a batch system, or a container, may use: cores and memory."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")
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
    """Yield the limits of the control groups of this process and of those above, both versions."""
    with contextlib.suppress(OSError):
        for line in _OWN_GROUPS.read_text().splitlines():
            number, kinds, own = line.split(":", 2)
            if number != "0" and "memory" not in kinds.split(","):
                continue
            top, name = _CGROUPS, "memory.max"
            if number != "0":
                top, name = _CGROUPS / "memory", "memory.limit_in_bytes"
            group = top / own.lstrip("/")
            for folder in (group, *group.parents):
                if folder.is_relative_to(top):
                    with contextlib.suppress(OSError, ValueError):
                        size = int((folder / name).read_text())
                        if size < _UNLIMITED:
                            yield size
