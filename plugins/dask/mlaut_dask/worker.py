"""Code of a Dask worker: store datasets, and run batches of their cells in guarded processes.

Each run has its own processes on a worker, at most as many as the worker has threads. They end
with the worker, when Dask cancels their task (as when the process that runs the study dies), and
when the run has not used them for a few seconds.
"""

import contextlib
import hashlib
import os
import pickle
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path

from mlaut.errors import StudyError
from mlaut.plugins import (
    BatchQueue,
    DatasetRef,
    FoldTable,
    Team,
    describe_environment,
    run_batches,
)
from mlaut_dask.blocks import encode_outcomes

_VERSIONS_THAT_MATTER = ("mlaut", "numpy", "scipy", "pandas", "scikit-learn")
_IDLE_SECONDS = 5.0  # after which the unused processes of a run are ended


@dataclass(frozen=True)
class Errand:
    """Settings that all batches of a run share.

    Attributes
    ----------
    run : str
        Unique identifier of the run.
    timeout : float or None
        Time limit of a cell in seconds of wall time, or `CpuSeconds`.
    threads : int
        Number of threads that a cell may use.
    versions : mapping of str to str
        Versions that a worker must have.
    """

    run: str
    timeout: float | None
    threads: int
    versions: Mapping[str, str]


def run_guarded(load: bytes, tables: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Run some batches on this worker, and return their outcomes as one block of bytes.

    Parameters
    ----------
    load : bytes
        Pickle of the batches, without folds, and of their `Errand`.
    tables : sequence of (bytes, bytes)
        Pickled `FoldTable` of the dataset of each batch, and the pickled fold of each of its rows,
        by repeat.

    Raises
    ------
    StudyError
        The versions differ from those where the run was started, so results could differ too; or
        the worker does not see the folder of the models.
    """
    batches, errand = pickle.loads(load)
    _check_here(errand.versions, batches[0].options.models)
    batches = [
        replace(batch, dataset=_kept(batch.dataset, content), folds=pickle.loads(folds))
        for batch, (content, folds) in zip(batches, tables, strict=True)
    ]
    with _team(errand) as team:
        parts = run_batches(BatchQueue(batches), team, 1, errand.timeout, _asked_of_dask())
        return encode_outcomes(chain.from_iterable(parts))


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Return the versions on which the result of a cell may depend."""
    about = describe_environment()
    python = ".".join(about["python"].split(".")[:2])
    packages = about["versions"]
    return {"python": python} | {name: packages.get(name, "") for name in _VERSIONS_THAT_MATTER}


def _check_here(required: Mapping[str, str], models: Path | None) -> None:
    from distributed import get_worker

    for name, version in required.items():
        if (here := versions().get(name, "")) != version:
            raise StudyError(
                f"worker {get_worker().address} has {name} {here or '(none)'}, and the run "
                f"{version or '(none)'}: results would depend on where a cell runs; install the "
                "same in both places"
            )
    if models is not None and not models.is_dir():
        raise StudyError(
            f"worker {get_worker().address} does not see {models}: models are saved by the "
            "workers; put the study in a folder that all machines share, or save none"
        )


# ------------------------------------------------------------------- processes


class _Crew:
    """Processes of one run on this worker, and the number of tasks that use them."""

    def __init__(self, threads: int) -> None:
        self.team = Team(threads, _table)
        self.users = 0
        self.leaving: threading.Timer | None = None


_crews: dict[str, _Crew] = {}
_lock = threading.Lock()


@contextlib.contextmanager
def _team(errand: Errand) -> Iterator[Team]:
    """Yield the processes of a run; they are ended when no task has used them for a while."""
    with _lock:
        if errand.run not in _crews:
            _crews[errand.run] = _Crew(errand.threads)
        crew = _crews[errand.run]
        crew.users += 1
        if crew.leaving is not None:
            crew.leaving.cancel()
    try:
        yield crew.team
    finally:
        with _lock:
            crew.users -= 1
            if not crew.users:
                crew.leaving = threading.Timer(_IDLE_SECONDS, _close, (errand.run, crew))
                crew.leaving.daemon = True
                crew.leaving.start()


def _close(run: str, crew: _Crew) -> None:
    with _lock:
        if not crew.users and _crews.get(run) is crew:
            del _crews[run]
            crew.team.close()


def _asked_of_dask() -> Callable[[], bool]:
    """Return a function that returns whether Dask still wants the task of this thread."""
    from distributed import get_worker
    from distributed.worker import thread_state

    tasks, key = get_worker().state.tasks, thread_state.key

    def wanted() -> bool:
        task = tasks.get(key)
        return task is not None and task.state != "cancelled"

    return wanted


# --------------------------------------------------------------------- dataset


def _kept(ref: DatasetRef, content: bytes) -> DatasetRef:
    """Write a pickled table to a file, once for all tasks of this worker; return its reference."""
    from distributed import get_worker

    digest = hashlib.sha256(repr(ref).encode()).hexdigest()
    path = Path(get_worker().local_directory, f"mlaut-{digest[:32]}")
    with _lock:
        if not path.exists():
            written = path.with_suffix(f".{os.getpid()}")
            written.write_bytes(content)
            written.replace(path)
    return replace(ref, database=str(path))


def _table(ref: DatasetRef) -> FoldTable:
    table: FoldTable = pickle.loads(Path(ref.database).read_bytes())
    return table
