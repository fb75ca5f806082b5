"""Measure how busy one client keeps a Dask cluster of many workers with short cells.

A real cluster of distributed runs on loopback: a scheduler in one process, and workers with
``--threads`` threads in four others. A cell there is a sleep, so that two cores suffice for a
thousand of them. Everything else is real: the study is planned, its batches are sent, and the
outcomes come back, are checked, and are stored. It prints the share of the run in which the threads
slept, and the CPU time of the client, the scheduler and the workers for a cell. One second divided
by the time of the client is the number of cells per second that one client can feed. It takes some
minutes, and needs the plug-in in plugins/dask.

    OMP_NUM_THREADS=1 python benchmarks/bench_dask.py [--threads 1000] [--milliseconds 100]
"""

import argparse
import importlib
import multiprocessing
import pickle
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from mlaut_dask import engine as dask_engine
from mlaut_dask.blocks import encode_outcomes
from sklearn.dummy import DummyClassifier

from mlaut import Data, Orchestrator
from mlaut.experiments.cells.cell_input import cell_seed
from mlaut.files_io import StudyStore
from mlaut.records import Outcome, Status

SECONDS = 0.1  # of a cell
N_ROWS, N_FOLDS, N_REPEATS, N_WORKERS = 60, 10, 20, 3
N_PROCESSES = 4  # of workers: one with a thousand threads would wait for its own lock


def serve_scheduler(told: Any) -> None:
    """Run a scheduler until the parent ends; send its address."""
    import asyncio

    import dask

    dask.config.set({"logging": {"distributed": "error"}})
    from distributed import Scheduler

    async def serve() -> None:
        async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
            told.send(scheduler.address)
            await tell_cpu_time(told)

    asyncio.run(serve())


def serve_workers(address: str, n_threads: int, seconds: float, told: Any) -> None:
    """Run workers with ``n_threads`` threads in all until the parent ends."""
    import asyncio

    import dask

    dask.config.set({"logging": {"distributed": "error"}})
    from distributed import Worker

    importable().SECONDS = seconds
    # Dask looks at every thread a hundred times a second, which a worker does for its own only.
    dask.config.set({"distributed.worker.profile.enabled": False})

    async def serve() -> None:
        threads = n_threads // N_WORKERS
        workers = [
            Worker(address, nthreads=threads, dashboard=False, memory_limit=0)
            for _ in range(N_WORKERS)
        ]
        await asyncio.gather(*workers)
        told.send(address)
        await tell_cpu_time(told)

    asyncio.run(serve())


def importable() -> Any:
    """Return this file as a module, so that all processes find its functions by name."""
    return importlib.import_module(Path(__file__).stem)


async def tell_cpu_time(told: Any) -> None:
    """Send the CPU time of this process whenever it is asked for."""
    import asyncio

    while True:
        await asyncio.sleep(0.5)
        if told.poll():
            told.recv()
            told.send(time.process_time())


class Started:
    """Process of the cluster, which reports its CPU time."""

    def __init__(self, serve: Any, *arguments: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self._told, there = context.Pipe()
        self._process = context.Process(target=serve, args=(*arguments, there), daemon=True)
        self._process.start()
        self.address = self._told.recv()

    def cpu_time(self) -> float:
        """Return the CPU time of the process in seconds."""
        self._told.send(None)
        return float(self._told.recv())

    def end(self) -> None:
        """End the process."""
        self._process.terminate()


def sleep_through(load: bytes, tables: Any) -> bytes:
    """Sleep as long as the cells of a load; on the workers, this replaces `run_guarded`."""
    batches, _ = pickle.loads(load)
    begun = time.time()
    time.sleep(SECONDS * sum(len(batch.cells) for batch in batches))
    outcomes: list[Outcome] = []
    for batch, (_, packed) in zip(batches, tables, strict=True):
        folds = pickle.loads(packed)
        sizes = {repeat: np.bincount(folds[repeat]).tolist() for repeat, _ in batch.cells}
        predicted = {n: np.zeros(n, np.int32) for of in sizes.values() for n in of}
        sure = {n: np.tile(np.float32([1, 0]), (n, 1)) for n in predicted}
        for cell in batch.keys:
            n_test = sizes[cell.repeat][cell.fold]
            details = {
                "warnings": [],
                "peak_memory": 2**27,
                "started": begun + len(outcomes) * SECONDS,
                "elapsed": SECONDS,
            }
            outcomes.append(
                Outcome(
                    cell,
                    Status.DONE,
                    predicted[n_test],
                    sure[n_test],
                    (0.0, SECONDS, 0.0),
                    cell_seed(batch.seed, cell),
                    details=details,
                )
            )
    return encode_outcomes(outcomes)


def empty_study(folder: Path, n_datasets: int) -> tuple[Any, Any, list[str]]:
    """Make a database of small tables, and a study that has their splits."""
    data = Data()
    input_io = data.open_hdf5(folder / "input.h5", mode="a")
    rng = np.random.default_rng(0)
    for place in range(n_datasets):
        table = pd.DataFrame(rng.normal(size=(N_ROWS, 4)), columns=list("abcd"))
        about = {"class_name": "y", "dataset_name": f"d{place}", "task": "Classification"}
        input_io.save_pandas_dataset(table.assign(y=np.arange(N_ROWS) % 2), "/t", about)
    names, paths = input_io.list_datasets("t")
    out_io = data.open_hdf5(folder / "study.h5", mode="a")
    scheme = f"repeated_kfold({N_FOLDS}, {N_REPEATS})"
    data.split_datasets(hdf5_in=input_io, hdf5_out=out_io, dataset_paths=paths, scheme=scheme)
    return input_io, out_io, names


def used_by(scheduler: Started, workers: Sequence[Started]) -> list[float]:
    """Return the CPU seconds of the client, the scheduler and the workers."""
    return [time.process_time(), scheduler.cpu_time(), sum(one.cpu_time() for one in workers)]


def measure(n_threads: int, seconds: float, n_cells: int) -> None:
    """Run a study on the cluster, and print how busy it was."""
    scheduler = Started(serve_scheduler)
    share = n_threads // N_PROCESSES
    workers = [
        Started(serve_workers, scheduler.address, share, seconds) for _ in range(N_PROCESSES)
    ]
    n_datasets = 10
    n_strategies = max(1, n_cells // (n_datasets * N_FOLDS * N_REPEATS))
    with tempfile.TemporaryDirectory() as folder:
        input_io, out_io, names = empty_study(Path(folder), n_datasets)
        dask_engine.run_guarded = importable().sleep_through
        strategies = {f"s{i}": DummyClassifier(random_state=i) for i in range(n_strategies)}
        before = used_by(scheduler, workers)
        orchestrator = Orchestrator(input_io, out_io, names, "t")
        engine = dask_engine.DaskEngine(scheduler.address)
        summary = orchestrator.run(strategies, engine=engine, verbose=0)
        after = used_by(scheduler, workers)
        details = [
            cell for _, cells in StudyStore(out_io.path).all_details(names) for cell in cells
        ]
        begun = min(cell["started"] for cell in details)
        ended = max(cell["started"] + cell["elapsed"] for cell in details)
    n, took = summary.n_done, ended - begun
    used = [1e6 * (b - a) / n for a, b in zip(before, after, strict=True)]
    print(
        f"{n} cells of {1e3 * seconds:g} ms on {n_threads} threads: busy "
        f"{n * seconds / (took * n_threads):.0%} of {took:.1f} s, {n / took:.0f} cells a second; "
        "CPU a cell: client {:.0f} us, scheduler {:.0f} us, workers {:.0f} us".format(*used)
    )
    for process in (*workers, scheduler):
        process.end()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1000)
    parser.add_argument("--milliseconds", type=float, default=100)
    parser.add_argument("--cells", type=int, default=400_000)
    given = parser.parse_args()
    measure(given.threads, given.milliseconds / 1e3, given.cells)
