"""Cells on a cluster of Dask workers, each guarded inside its worker.

Dask moves batches and brings back outcomes; it knows neither time limits nor cells that take their
process with them. So each Dask worker runs cells in guarded processes of its own, as many as it has
threads, and a batch is one Dask task (`mlaut.experiments.dask_worker`). A dataset travels once to
each worker.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Generator, Iterable
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlaut.errors import MlautError, StudyError
from mlaut.experiments.batches import Batch, BatchQueue, DatasetRef
from mlaut.experiments.dask_worker import Errand, run_guarded, versions
from mlaut.experiments.worker import load
from mlaut.files_io import FilesIO
from mlaut.optional import need
from mlaut.records import Outcome, Status

__all__ = ["DaskEngine"]

_BATCH_SECONDS = 0.5
_BATCH_SECONDS_A_THREAD = 0.01
_LOOK_SECONDS = 0.02
_COUNT_SECONDS = 2.0
_ANSWER_SECONDS = 30.0
_LOSSES_BORNE = 3
_ENDED = ("finished", "error", "cancelled")
_NOT_THERE = (OSError, TimeoutError, CancelledError)


class DaskEngine:
    """Runs cells on a Dask cluster.

    Workers may come and go; a batch whose worker is lost runs again on another. Where the scheduler
    is lost, the run waits for it to come back, and at last stops: what has ended is stored, and the
    same call goes on.

    Parameters
    ----------
    scheduler : str, distributed.Client, cluster or None
        Address of the scheduler, for example ``"tcp://10.0.0.1:8786"``, a client, or what a client
        can be made of (``LocalCluster``, ``SLURMCluster``, ``KubeCluster``). None takes the one
        that Dask is configured with (``DASK_SCHEDULER_ADDRESS``).
    timeout : float, optional
        Seconds that a cell may take.
    threads : int, default 1
        Threads inside each cell.
    n_jobs : int, optional
        Most cells at a time; default as many as the workers have threads.
    patience : float, default 300
        Seconds without a scheduler, or without a worker, after which the run stops.

    Raises
    ------
    OptionalPackageError
        Dask is not installed.
    StudyError
        No scheduler is named.
    """

    def __init__(
        self,
        scheduler: Any = None,
        timeout: float | None = None,
        threads: int = 1,
        n_jobs: int | None = None,
        patience: float = 300.0,
    ) -> None:
        need("distributed", extra="cluster", purpose="engine='dask'")
        import dask

        self.scheduler = scheduler or dask.config.get("scheduler-address", None)
        if self.scheduler is None:
            raise StudyError(
                "engine 'dask': no scheduler; give scheduler='tcp://host:8786' or a Client, "
                "or set DASK_SCHEDULER_ADDRESS"
            )
        self.timeout = timeout
        self.threads = threads
        self.n_jobs = n_jobs
        self.patience = patience

    def run(self, groups: Iterable[Batch]) -> Generator[list[Outcome], None, None]:
        """Run all cells of each group and give their outcomes as they end.

        Raises
        ------
        StudyError
            No scheduler or no worker is there, or the workers cannot run the cells.
        """
        with contextlib.closing(_Run(self)) as run:
            run.begin(groups)
            while run.goes_on():
                outcomes = run.ended()
                if outcomes:
                    yield outcomes


class _Run:
    """One run on a cluster: the client, what is on its way, and the datasets that were sent."""

    def __init__(self, engine: DaskEngine) -> None:
        from distributed import Client

        self._engine = engine
        self._errand = Errand(uuid.uuid4().hex, engine.timeout, engine.threads, versions())
        self._running: dict[Any, Batch] = {}
        self._sent: dict[DatasetRef, tuple[DatasetRef, Any]] = {}
        self._losses: Counter[tuple[Any, ...]] = Counter()
        self._n_threads, self._counted, self._answered = 0, 0.0, time.monotonic()
        self._own = not isinstance(engine.scheduler, Client)
        self._client = self._connected() if self._own else engine.scheduler

    def begin(self, groups: Iterable[Batch]) -> None:
        """Wait for workers; only then is it known how long a batch is to take."""
        while not self._n_threads:
            self._look_after_cluster()
            time.sleep(_LOOK_SECONDS)
        seconds = _BATCH_SECONDS + _BATCH_SECONDS_A_THREAD * self._n_threads
        self._queue = BatchQueue(groups, seconds)

    # ------------------------------------------------------------------ batches

    def goes_on(self) -> bool:
        """Submit what the cluster can take; say whether anything is on its way."""
        self._look_after_cluster()
        most = self._engine.n_jobs or 2 * max(1, self._n_threads)
        while len(self._running) < most and (batch := self._queue.next()) is not None:
            try:
                self._submit(batch)
            except _NOT_THERE:
                self._queue.again(batch)
                time.sleep(_LOOK_SECONDS)
                return True
        return bool(self._running)

    def ended(self) -> list[Outcome]:
        """Return the outcomes of the batches that have ended; wait a moment if there are none."""
        ended = [future for future in self._running if future.status in _ENDED]
        if not ended:
            time.sleep(_LOOK_SECONDS)
        return [outcome for future in ended for outcome in self._outcomes(future)]

    def _submit(self, batch: Batch) -> None:
        ref, content = self._content(batch.dataset)
        if batch.options.models is not None:
            batch.options.models.mkdir(parents=True, exist_ok=True)  # which tells a shared folder
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on the size of a task, of which the split is the most
            future = self._client.submit(
                run_guarded, replace(batch, dataset=ref), content, self._errand, pure=False
            )
        self._running[future] = batch

    def _outcomes(self, future: Any) -> list[Outcome]:
        try:
            if future.status == "finished":
                outcomes: list[Outcome] = future.result(timeout=_ANSWER_SECONDS)
            else:
                outcomes = self._after_loss(self._running[future], future)
        except _NOT_THERE:
            return []  # lost after it had ended: it runs again, or the scheduler is lost
        del self._running[future]
        self._queue.saw(outcomes)
        return outcomes

    def _after_loss(self, batch: Batch, future: Any) -> list[Outcome]:
        """Run a batch again whose workers have died, cell by cell, and give up at last."""
        from distributed import KilledWorker

        if future.status == "cancelled":  # its dataset was lost with a worker
            self._queue.again(batch)
            return []
        error = future.exception(timeout=_ANSWER_SECONDS)
        if isinstance(error, MlautError):
            raise error
        if not isinstance(error, KilledWorker):
            raise StudyError(
                f"the workers of the cluster cannot run cells: {_told(error)}; see that they have "
                "what is installed here, the modules of the strategies, and room on their disks"
            ) from error
        if len(batch.cells) > 1:
            for cell in batch.cells:
                self._queue.again(batch.part([cell]))
            return []
        self._losses[batch.keys] += 1
        if self._losses[batch.keys] < _LOSSES_BORNE:
            self._queue.again(batch)
            return []
        reason = f"the Dask workers that ran it died, time and again: {_told(error)}"
        return [Outcome(cell, Status.CRASHED, reason=reason) for cell in batch.keys]

    # ------------------------------------------------------------------ datasets

    def _content(self, ref: DatasetRef) -> tuple[DatasetRef, Any]:
        """Return a dataset as the workers know it, sent at its first use."""
        if ref not in self._sent or self._sent[ref][1].status in ("cancelled", "lost", "error"):
            used = {batch.dataset for batch in self._running.values()}
            self._sent = {known: sent for known, sent in self._sent.items() if known in used}
            there, content = _alone(ref)
            self._sent[ref] = there, self._client.scatter(content, hash=False)
        return self._sent[ref]

    # ------------------------------------------------------------------- cluster

    def _connected(self) -> Any:
        from distributed import Client

        address = self._engine.scheduler
        try:
            patience = min(_ANSWER_SECONDS, self._engine.patience)
            return Client(address, timeout=patience, set_as_default=False)
        except (OSError, TypeError, ValueError) as error:
            raise StudyError(
                f"scheduler {address}: no answer ({_told(error)}); "
                "start it with 'dask scheduler', and check address and port"
            ) from error

    def _look_after_cluster(self) -> None:
        """Count the threads of the workers now and then; wait for a scheduler that is lost."""
        if self._client.status != "running":
            self._find_again()
        if time.monotonic() - self._counted > _COUNT_SECONDS:
            with contextlib.suppress(*_NOT_THERE):
                self._n_threads = sum(self._client.nthreads().values())
            self._counted = time.monotonic()
        if self._n_threads:
            self._answered = time.monotonic()
        elif time.monotonic() - self._answered > self._engine.patience:
            raise StudyError(
                f"the cluster has had no worker for {self._engine.patience:g} s; start workers and "
                "make the same call again to go on"
            )

    def _find_again(self) -> None:
        for future in list(self._running):
            self._queue.again(self._running.pop(future))
        self._sent = {}
        until = time.monotonic() + self._engine.patience
        while self._client.status != "running":
            if time.monotonic() > until:
                raise StudyError(
                    f"the scheduler was lost and did not come back in {self._engine.patience:g} s; "
                    "make the same call again to go on"
                )
            time.sleep(_LOOK_SECONDS)
            if self._client.status == "closed" and self._own:
                with contextlib.suppress(StudyError):
                    self._client = self._connected()

    def close(self) -> None:
        """End what still runs, and leave the cluster as it was."""
        with contextlib.suppress(Exception):
            if self._client.status == "running":
                self._client.cancel(list(self._running))
        self._running, self._sent = {}, {}
        if self._own:
            self._client.close(timeout=2)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _alone(ref: DatasetRef) -> tuple[DatasetRef, bytes]:
    """Return a dataset as a database of its own."""
    with tempfile.TemporaryDirectory(prefix="mlaut-") as folder:
        database = FilesIO(Path(folder, "dataset.h5"), mode="a")
        (path,) = database.save_datasets([load(ref)])
        return replace(ref, database="", path=path), database.path.read_bytes()
