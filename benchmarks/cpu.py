"""CPU time of a process and all that descend from it; this module imports nothing else."""

import contextlib
import os
from pathlib import Path


def cpu_seconds() -> float:
    """CPU seconds of this process and of all that descend from it, from Linux's /proc."""
    used = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            used[int(folder.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    family = {os.getpid()}
    while more := {pid for pid, (parent, _) in used.items() if parent in family} - family:
        family |= more
    return sum(used[pid][1] for pid in family) / os.sysconf("SC_CLK_TCK")
