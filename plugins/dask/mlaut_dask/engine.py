"""Engine that runs cells on a Dask cluster.

Dask sends batches and returns outcomes. It has no time limits for a task, and a cell that kills
its process would kill the Dask worker. So each Dask worker runs cells in guarded processes of its
own, as many as it has threads (`mlaut_dask.worker`). A Dask task is a load: as
many batches as last a few seconds. A dataset and its split are sent once to each worker; many loads
are submitted together, and the outcomes of all that have ended are fetched together.
"""

import contextlib
import pickle
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Set
from concurrent.futures import CancelledError
from dataclasses import replace
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import numpy as np

from mlaut.errors import MlautError, StudyError
from mlaut.experiments import RunOptions
from mlaut.plugins import (
    Batch,
    DatasetRef,
    GarbledError,
    SlurmOptions,
    failed_outcome,
    hide,
    limited,
    load_table,
    parse_seconds,
)
from mlaut.records import Cell, Outcome, Status
from mlaut_dask.blocks import decode_outcomes
from mlaut_dask.loads import LoadQueue
from mlaut_dask.slurm import slurm_cluster
from mlaut_dask.worker import Errand, run_guarded, versions

# Duration of a load: a constant, plus a part per thread of the cluster, so that the scheduler and
# this process handle at most 125 tasks a second: each costs them one or two milliseconds.
_LOAD_SECONDS = 0.5
_LOAD_SECONDS_A_THREAD = 0.008
_OPEN = 100  # groups of cells at the same time: some for each strategy of a usual study
_AT_ONCE = 1000  # loads submitted between two looks for ended ones: so many may end meanwhile
_LOOK_SECONDS = 0.02  # pause between looks at a cluster that is not there
_PAUSES = (0.02, 0.2)  # between looks for ended loads, in durations of a load: longer and longer
_COUNT_SECONDS = 2.0  # pause between counts of the workers' threads
_ASKING_SECONDS = 6.0  # a worker that has nothing to do leaves an adaptive cluster after three
_ANSWER_SECONDS = 30.0  # longest wait for an answer of the scheduler
_OF_A_QUEUE = 7 * 86400.0  # seconds: jobs may wait that long
_LOST_IN_VAIN = 10  # workers lost since a cell ended before a run may be given up
_SAFE = ("tls", "wss", "inproc")  # kinds of addresses that only the run's own processes can use
_LOSSES_BORNE = 3  # losses of its worker after which a cell is stored as crashed
_ENDED = ("finished", "error", "cancelled")
_LOST = ("cancelled", "lost", "error")
_NOT_THERE = (OSError, TimeoutError, CancelledError)


class DaskEngine:
    """Engine that runs cells on a Dask cluster.

    Workers may join and leave during a run; a batch whose worker is lost runs again on another.
    If the scheduler is lost, the run waits for it, and stops after ``patience`` seconds; so it does
    if workers are lost again and again before a cell ends. All ended cells are stored, and the same
    call resumes. An address that others can reach must be of ``tls://``, or the run warns.

    Parameters
    ----------
    scheduler : str, distributed.Client, cluster or None
        Address of the scheduler, for example ``"tls://10.0.0.1:8786"``, a client, or a cluster
        object (``LocalCluster``, ``SLURMCluster``, ``KubeCluster``). None takes the scheduler of
        Dask's configuration (``DASK_SCHEDULER_ADDRESS``).
    patience : float, default 300
        Seconds without a scheduler, without a worker, or with so many lost workers that no cell
        ended, after which the run stops.

    Raises
    ------
    StudyError
        No scheduler is named.
    """

    elsewhere = True
    timeout: float | None = None
    threads: int = 1
    n_jobs: int | None = None  # cells at a time; None: one per thread of the workers

    def __init__(self, scheduler: Any = None, patience: float = 300.0) -> None:
        import dask

        self.scheduler = scheduler or dask.config.get("scheduler-address", None)
        if self.scheduler is None:
            raise StudyError(
                "engine 'dask': no scheduler; pass scheduler='tls://host:8786' or a Client, "
                "or set DASK_SCHEDULER_ADDRESS"
            )
        self.patience = patience

    @classmethod
    @contextlib.contextmanager
    def on_slurm(cls, options: SlurmOptions, study: Path) -> Iterator[Self]:
        """Yield an engine whose workers come as jobs of Slurm; they end with the block."""
        with slurm_cluster(options, study) as cluster:
            yield cls(cluster, patience=_OF_A_QUEUE)

    def of(self, options: RunOptions) -> Self:
        """Return this engine with the time limit, the cells at a time and the threads of a run.

        Raises
        ------
        StudyError
            ``n_jobs`` counts cores that are left free, which are those of this machine.
        """
        n_jobs = 1 if options.n_jobs is None else options.n_jobs
        if n_jobs < -1:
            raise StudyError(
                f"engine 'dask' cannot keep n_jobs={n_jobs}: use -1 for every thread of the "
                "workers, or a number of cells"
            )
        seconds, most = parse_seconds(options.timeout), None if n_jobs == -1 else n_jobs
        return limited(self, timeout=seconds, threads=options.threads, n_jobs=most)

    def run(self, groups: Iterable[Batch | None]) -> Generator[list[Outcome], None, None]:
        """Run all cells of each group, and yield their outcomes as they end.

        Raises
        ------
        StudyError
            No scheduler or no worker is available, or the workers cannot run the cells.
        """
        with contextlib.closing(_Dispatch(self)) as run:
            run.begin(groups)
            while run.goes_on():
                yield run.ended()


class _Sent(NamedTuple):
    """Dataset on the cluster: futures of its pickled table and of its folds, and its repeats."""

    content: Any
    folds: Any
    repeats: frozenset[int]


Load = list[Batch]


class _Dispatch:
    """One run on a cluster: the client, the submitted loads and the datasets that were sent."""

    def __init__(self, engine: DaskEngine) -> None:
        from distributed import Client

        hide()
        self._engine = engine
        self._errand = Errand(uuid.uuid4().hex, engine.timeout, engine.threads, versions())
        self._running: dict[Any, Load] = {}
        self._folds: dict[DatasetRef, dict[int, np.ndarray]] = {}
        self._sent: dict[DatasetRef, _Sent] = {}
        self._losses: Counter[Cell] = Counter()
        self._n_threads, self._counted, self._answered = 0, 0.0, time.monotonic()
        self._workers: set[str] = set()
        self._lost, self._progressed = 0, time.monotonic()
        self._asking: Any = None  # task without which an adaptive cluster starts no worker
        self._own = not isinstance(engine.scheduler, Client)
        self._client = self._connected() if self._own else engine.scheduler
        _warn_if_open(str(self._client.scheduler.address))

    def begin(self, groups: Iterable[Batch | None]) -> None:
        """Wait for workers, whose number of threads determines the duration of a load."""
        while not self._n_threads:
            self._look_after_cluster()
            time.sleep(_LOOK_SECONDS)
        seconds = _LOAD_SECONDS + _LOAD_SECONDS_A_THREAD * self._n_threads
        self._pauses = self._pause, _ = _PAUSES[0] * seconds, _PAUSES[1] * seconds
        self._queue = LoadQueue(self._noted(groups), seconds, _OPEN)

    def _noted(self, groups: Iterable[Batch | None]) -> Iterator[Batch | None]:
        """Yield groups, and note their folds: a batch of a group has only some of them."""
        for group in groups:
            if group is not None:
                self._folds.setdefault(group.dataset, {}).update(group.folds)
            yield group

    # -------------------------------------------------------------------- loads

    def goes_on(self) -> bool:
        """Submit loads up to the limit; return whether any is on the cluster."""
        self._look_after_cluster()
        most = self._engine.n_jobs or 2 * max(1, self._n_threads)
        loads: list[Load] = []
        while len(loads) < min(_AT_ONCE, most - len(self._running)) and (
            load := self._queue.next_load(self._engine.n_jobs or max(1, self._n_threads))
        ):
            loads.append(load)
        try:
            self._submit(loads)
        except _NOT_THERE:
            self._again(*loads)
            time.sleep(_LOOK_SECONDS)
            return True
        return bool(self._running)

    def _again(self, *loads: Load) -> None:
        for load in loads:
            for batch in load:
                self._queue.again(batch)

    def ended(self) -> list[Outcome]:
        """Pause briefly, and return the outcomes of the loads that have ended."""
        time.sleep(self._pause)
        ended = [future for future in self._running if future.status in _ENDED]
        if not ended:
            self._pause = min(1.5 * self._pause, self._pauses[1])
            return []
        self._pause = self._pauses[0]
        outcomes: list[Outcome] = []
        for future, content in zip(ended, self._gathered(ended), strict=True):
            with contextlib.suppress(*_NOT_THERE):
                outcomes += self._outcomes(future, content)
        self._queue.saw(outcomes)
        return outcomes

    def _gathered(self, ended: list[Any]) -> list[bytes | None]:
        """Fetch the results of loads at once: None for a load that has none, or has lost it."""
        finished = {k: future for k, future in enumerate(ended) if future.status == "finished"}
        gather, patience = self._client.gather, _ANSWER_SECONDS
        try:
            contents = self._client.sync(gather, finished, errors="skip", callback_timeout=patience)
        except _NOT_THERE:  # the scheduler is lost
            contents = {}
        return [contents.get(k) for k in range(len(ended))]

    def _submit(self, loads: list[Load]) -> None:
        """Submit loads; each task has its batches as bytes, which the scheduler does not open."""
        if not loads:
            return
        packed, tables = [], []
        for load in loads:
            sent = [self._sent_data(batch) for batch in load]
            batches = [
                replace(batch, dataset=replace(batch.dataset, database=""), folds={})
                for batch in load
            ]
            packed.append(pickle.dumps((batches, self._errand)))
            tables.append([(data.content, data.folds) for data in sent])
            models = load[0].options.models
            if models is not None:
                # A worker that does not see this folder has no access to the folder of the study.
                models.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Dask warns of the size of many loads
            futures = self._client.map(run_guarded, packed, tables, pure=False)
        self._running.update(zip(futures, loads, strict=True))

    def _outcomes(self, future: Any, content: bytes | None) -> list[Outcome]:
        if content is not None:
            outcomes = self._received(self._running[future], content)
        elif future.status in ("error", "cancelled"):
            outcomes = self._after_loss(self._running[future], future)
        else:
            return []  # its result was lost: Dask runs it again, or the scheduler is lost
        del self._running[future]
        return outcomes

    def _received(self, load: Load, content: bytes) -> list[Outcome]:
        """Return the outcomes that a worker sent; cells of its load without one are queued again.

        Raises
        ------
        StudyError
            The bytes are damaged, or hold outcomes of cells that the worker was not given.
        """
        try:
            outcomes = decode_outcomes(content)
        except GarbledError as error:
            raise StudyError(f"a worker of the cluster sent no outcomes: {error}") from error
        self._lost, self._progressed = 0, time.monotonic()
        seen = {outcome.cell for outcome in outcomes}
        expected = {cell for batch in load for cell in batch.keys}
        if len(seen) < len(outcomes) or not seen <= expected:
            raise StudyError("a worker of the cluster sent outcomes of cells that it was not given")
        for batch in load if seen < expected else ():
            missing = [
                at for at, cell in zip(batch.cells, batch.keys, strict=True) if cell not in seen
            ]
            self._again([batch.part(missing)] if missing else [])
        return outcomes

    def _after_loss(self, load: Load, future: Any) -> list[Outcome]:
        """Queue a lost load again, cell by cell; after three losses, a cell counts as crashed."""
        from distributed import KilledWorker

        if future.status == "cancelled":  # a dataset of it was lost with a worker
            self._again(load)
            return []
        error = future.exception(timeout=_ANSWER_SECONDS)
        if isinstance(error, MlautError):
            raise error
        if not isinstance(error, KilledWorker):
            raise StudyError(
                f"the workers of the cluster cannot run cells: {_text(error)}; install there "
                "what is installed here and the modules of the strategies, and free disk space"
            ) from error
        cells = [batch.part([cell]) for batch in load for cell in batch.cells]
        cell, *others = (batch.key(0) for batch in cells)
        if not others:
            self._losses[cell] += 1
        if others or self._losses[cell] < _LOSSES_BORNE:
            self._again(cells)
            return []
        reason = f"the Dask workers that ran the cell died repeatedly: {_text(error)}"
        return [failed_outcome(cell, Status.CRASHED, reason, cells[0].seed_of(cell))]

    # ------------------------------------------------------------------ datasets

    def _sent_data(self, batch: Batch) -> _Sent:
        """Return what was sent of the dataset of a batch; it is sent at its first use.

        The dataset is sent again if workers lost it, its folds if cells of further repeats were
        noted.
        """
        ref, entry = batch.dataset, self._sent.get(batch.dataset)
        if entry is None or {entry.content.status, entry.folds.status} & {*_LOST}:
            used = {batch.dataset for load in self._running.values() for batch in load}
            self._sent = {key: sent for key, sent in self._sent.items() if key in used}
            table = pickle.dumps(load_table(ref), protocol=5)
            entry = _Sent(self._scattered(table), None, frozenset())
        if entry.folds is None or not batch.folds.keys() <= entry.repeats:
            folds = self._scattered(pickle.dumps(self._folds[ref], protocol=5))
            entry = entry._replace(folds=folds, repeats=frozenset(self._folds[ref]))
        self._sent[ref] = entry
        return entry

    def _scattered(self, sent: bytes) -> Any:
        """Send a dataset, or its folds, to a worker."""
        try:
            return self._client.scatter(sent, hash=False)
        except _NOT_THERE:
            raise
        except Exception as error:  # of the worker
            raise StudyError(
                f"the workers of the cluster cannot take a dataset: {_text(error)}; free memory "
                "and disk space there, look into their logs, and make the same call again"
            ) from error

    # ------------------------------------------------------------------- cluster

    def _connected(self) -> Any:
        from distributed import Client

        address = self._engine.scheduler
        try:
            patience = min(_ANSWER_SECONDS, self._engine.patience)
            return Client(address, timeout=patience, set_as_default=False)
        except (OSError, TypeError, ValueError) as error:
            if "ssl_context" in str(error):
                raise StudyError(
                    f"scheduler {address}: needs certificates, and none are set: name files in "
                    "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, "
                    "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT and "
                    "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY (docs/cluster.md)"
                ) from error
            raise StudyError(
                f"scheduler {address}: no answer ({_text(error)}); "
                "start it with 'dask scheduler', and check address and port"
            ) from error

    def _look_after_cluster(self) -> None:
        """Count the threads of the workers from time to time; wait for a lost scheduler.

        Raises
        ------
        StudyError
            There has been no worker or no scheduler for ``patience`` seconds, or every worker was
            lost, and again those in its place, before a cell ended.
        """
        if self._client.status != "running":
            self._find_again()
        if time.monotonic() - self._counted > _COUNT_SECONDS:
            with contextlib.suppress(*_NOT_THERE):
                threads = self._client.nthreads()
                self._n_threads = sum(threads.values())
                self._lost += len(self._workers - threads.keys())
                self._check_new(threads.keys() - self._workers)
                self._workers = set(threads)
                if not threads and (self._asking is None or self._asking.done()):
                    self._asking = self._client.submit(time.sleep, _ASKING_SECONDS, pure=False)
            self._counted = time.monotonic()
        if self._n_threads:
            self._answered = time.monotonic()
        elif time.monotonic() - self._answered > self._engine.patience:
            raise StudyError(
                f"the cluster has had no worker for {self._engine.patience:g} s; start workers and "
                "make the same call again to go on"
            )
        seconds = time.monotonic() - self._progressed
        in_vain = self._lost >= max(_LOST_IN_VAIN, 2 * len(self._workers))
        if in_vain and seconds > self._engine.patience:
            raise StudyError(
                f"{self._lost} workers of the cluster were lost in {seconds:.0f} s, and no cell "
                "ended: they live shorter than a cell; find out what ends them (memory, time "
                "limits of jobs), and make the same call again to go on"
            )

    def _check_new(self, workers: Set[str]) -> None:
        """Raise `StudyError` if a worker lacks this package: a task would end it."""
        known = {"workers": [*workers], "on_error": "ignore"}
        found = self._client.run(find_spec, "mlaut_dask", **known) if workers else {}
        if lacking := [address for address, spec in found.items() if spec is None]:
            raise StudyError(
                f"worker {lacking[0]} has no mlaut_dask; start workers with the Python that runs "
                "the study, or install the same packages there"
            )

    def _find_again(self) -> None:
        self._again(*self._running.values())
        self._running, self._sent = {}, {}
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
        """Cancel the loads that still run, and close the client if it was made here."""
        with contextlib.suppress(Exception):
            if self._client.status == "running":
                self._client.cancel([*self._running, *filter(None, [self._asking])])
        self._running, self._sent = {}, {}
        if self._own:
            self._client.close(timeout=2)


def _warn_if_open(address: str) -> None:
    """Warn of a scheduler that others may reach: whoever does so can run code on the workers."""
    place = urlsplit(address)
    host = place.hostname or ""
    if place.scheme not in _SAFE and not (host == "localhost" or _is_loopback(host)):
        warnings.warn(
            f"scheduler {address}: whoever reaches it can run code on the workers and here; use "
            "tls:// with certificates, or 127.0.0.1 through a tunnel (docs/cluster.md)",
            stacklevel=2,
        )


def _is_loopback(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ip_address(host).is_loopback
    return False


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
