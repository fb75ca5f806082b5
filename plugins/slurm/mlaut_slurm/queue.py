"""The jobs of a study in the queue of Slurm."""

import hashlib
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mlaut.errors import StudyError
from mlaut.plugins import Shard

_PATIENCE = 60  # seconds for an answer of the controller


@dataclass(frozen=True)
class QueuedTask:
    """Task of a job: its shard of so many (0 of 0 for the merge), state, and node or reason."""

    job: str
    shard: int
    count: int
    state: str
    where: str

    def __str__(self) -> str:
        on = "on " if self.where[:1].isalnum() else ""  # a reason is in parentheses
        return f"job {self.job} {self.state.lower()} {on}{self.where}".rstrip()


def job_name(output: Path) -> str:
    """Return how the names of the jobs of a study begin, as those of no other path do."""
    digest = hashlib.sha256(str(output.resolve()).encode()).hexdigest()[:8]
    return f"mlaut-{re.sub('[^A-Za-z0-9_.-]', '_', output.stem)}-{digest}"


def queued(output: Path) -> list[QueuedTask]:
    """Return the tasks of a study that wait or run."""
    text = asked("squeue", "-h", "-r", "-o", "%i|%j|%T|%R", f"--user={os.getuid()}")
    tasks = []
    for line in text.splitlines():
        job, called, state, where = line.strip().rsplit("|", 3)
        name, _, part = called.rpartition("-")
        if name == job_name(output) and state != "COMPLETING":
            count = int(part) if part.isdigit() else 0
            tasks.append(QueuedTask(job, count and int(job.partition("_")[2]), count, state, where))
    return tasks


def of_shards(tasks: Sequence[QueuedTask], output: Path) -> dict[Path, str]:
    """Return what these tasks do, in words, by the file of their shard."""
    return {Shard(x.shard, x.count).path(output): str(x) for x in tasks if x.shard}


def shards_in_queue(output: Path) -> dict[Path, str]:
    """Return what the tasks of a study do, as `of_shards`; none if it was never submitted.

    `mlaut status study.toml` asks it in the group ``mlaut.queues``.
    """
    return of_shards(queued(output), output) if scripts_folder(output).exists() else {}


def scripts_folder(output: Path) -> Path:
    """Return the folder of the scripts and logs of the jobs of a study, beside it."""
    return output.with_suffix(".slurm").resolve()


def cancel(output: Path) -> list[QueuedTask]:
    """Cancel the tasks of a study; those that run store what they have done. Return them."""
    tasks = queued(output)
    if tasks:
        asked("scancel", *(task.job for task in tasks))
    return tasks


def asked(*command: str) -> str:
    """Return what a command of Slurm prints.

    Raises
    ------
    StudyError
        There is no such command, or it failed; the message has its last line.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE)
    except FileNotFoundError as error:
        where = "call this where Slurm is, on a login node (mlaut submit --script needs none)"
        raise StudyError(f"there is no '{command[0]}' here: {where}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StudyError(f"{command[0]}: no answer ({error}); try again later") from error
    if done.returncode:
        raise StudyError(f"{command[0]} failed: {' '.join(done.stderr.split())[-300:]}")
    return done.stdout
