"""Measure what a study of a large table costs beyond its fits: CPU time, memory of its workers.

The same cells (fit, predict and predict_proba on four folds, of an estimator that learns nothing
and of naive Bayes) run as a study with four workers, and bare, in four processes that share the
loaded table and run two cells each. (One process would be no fair measure: on a virtual machine,
four processes that fill memory at the same time take up to twice the CPU time of one, most of it in
the kernel.) The memory is the proportional set size (PSS), which counts a shared page once. Study
and bare cells take turns. It prints medians of the rounds, the ratio with its smallest and largest
value, and the CPU time of the bare cells in one process.

It needs about two minutes of CPU time, 4 GB of memory and 1 GB of disk:

    OMP_NUM_THREADS=1 python benchmarks/bench_tables.py [--tables 1000000x50 50000x1000]
"""

import argparse
import contextlib
import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from bench_overhead import fitted
from cpu import cpu_seconds
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from mlaut import Data, Orchestrator
from mlaut.files_io import StudyStore
from mlaut.records import Dataset

WORKERS = 4
ESTIMATORS = {"nothing": DummyClassifier(), "naive Bayes": GaussianNB()}
_LOOK_SECONDS = 0.05


def pss(pids: set[int]) -> int:
    """Return the proportional set size of processes in bytes."""
    total = 0
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += 1024 * int(text.partition("\nPss:")[2].split(maxsplit=1)[0])
    return total


def descendants() -> set[int]:
    """Return the processes that descend from this one."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
    family = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return family - {os.getpid()}


@contextlib.contextmanager
def looked_at() -> Iterator[dict[str, float]]:
    """Yield the CPU seconds and the peak PSS of all processes of a block, without the observer."""
    found = {"cpu": 0.0, "pss": 0.0}
    over, server = threading.Event(), pss(descendants())
    begun, spent = cpu_seconds(), 0.0

    def look() -> None:
        nonlocal spent
        while not over.wait(_LOOK_SECONDS):
            found["pss"] = max(found["pss"], pss(descendants()) - server)
        spent = time.thread_time()

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield found
    finally:
        over.set()
        looking.join()
        found["cpu"] = cpu_seconds() - begun - spent


class Table:
    """A stored table with a split, whose cells run in two ways."""

    n_studies = 0

    def __init__(self, folder: Path, n_rows: int, n_columns: int) -> None:
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(n_rows, n_columns))).add_prefix("x")
        self.size = frame.to_numpy().nbytes
        frame["y"] = np.where(frame["x0"] > 0, "yes", "no")
        self.input = Data().open_hdf5(folder / f"{n_rows}.h5", mode="a")
        self.input.save_datasets([Dataset("table", frame, "y", "Classification")])
        self.folder = folder
        self.new_study()
        self.split = list(StudyStore(self.out.path).load_splits()["table"].split)

    def new_study(self) -> None:
        """Make a study that has the split and nothing else."""
        self.n_studies += 1
        path = self.folder / f"{self.size}-{self.n_studies}.h5"
        self.out = Data().open_hdf5(path, mode="a")
        Data().split_datasets(hdf5_in=self.input, hdf5_out=self.out, scheme="kfold(4)")

    def bare(self, n_processes: int, cpu: Any) -> None:
        """Run the cells in processes that share the table, which is loaded before the time."""
        dataset = self.input.load_dataset("table")
        X, y = dataset.features, dataset.labels.to_numpy()
        del dataset
        context = multiprocessing.get_context("fork")
        processes = [
            context.Process(target=self.cells, args=(X, y, self.split[k::n_processes], cpu))
            for k in range(n_processes)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()

    @staticmethod
    def cells(X: Any, y: np.ndarray, folds: list[Any], cpu: Any) -> None:
        """Run the cells of some folds one after the other, and add their CPU time."""
        begun = time.process_time()
        for estimator in ESTIMATORS.values():
            for rows in folds:
                fitted(estimator, X, y, rows)
        with cpu.get_lock():
            cpu.value += time.process_time() - begun

    def study(self) -> None:
        """Run the cells as a study."""
        orchestrator = Orchestrator(self.input, self.out, ["table"], "/")
        summary = orchestrator.run(ESTIMATORS, n_jobs=WORKERS, verbose=0)
        assert summary.n_done == len(self.split) * len(ESTIMATORS), summary


def of_bare_cells(table: Table, n_processes: int) -> tuple[float, float]:
    """Return the CPU seconds and the peak bytes of the bare cells in ``n_processes`` processes."""
    context = multiprocessing.get_context("fork")
    cpu = context.Value("d")
    process = context.Process(target=table.bare, args=[n_processes, cpu])
    with looked_at() as found:
        process.start()
        process.join()
    return cpu.value, found["pss"]


def one_round(table: Table) -> tuple[float, ...]:
    """Return CPU seconds and peak bytes of the study, bare cells, and these in one process."""
    table.new_study()
    with looked_at() as study:
        table.study()
    return (study["cpu"], study["pss"], *of_bare_cells(table, WORKERS), *of_bare_cells(table, 1))


def measure(n_rows: int, n_columns: int, rounds: int) -> None:
    """Print the ratio and the memory of one table."""
    with tempfile.TemporaryDirectory() as folder:
        Table(Path(folder), 100, 2).study()  # starts the server that workers are forked from
        table = Table(Path(folder), n_rows, n_columns)
        found = np.array([one_round(table) for _ in range(rounds)])
    study, workers, bare, beside, alone, _ = np.median(found, axis=0)
    ratios = found[:, 0] / found[:, 2]
    mib = 2**20
    print(
        f"{n_rows} x {n_columns}: study {study:.2f} s CPU, bare cells in {WORKERS} processes "
        f"{bare:.2f} s: {np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f}); "
        f"bare cells in one process {alone:.2f} s\n"
        f"  PSS of {WORKERS} workers {workers / mib:.0f} MiB; of the bare cells {beside / mib:.0f} "
        f"MiB; the table has {table.size / mib:.0f} MiB",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=["1000000x50", "50000x1000"])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for asked in given.tables:
        measure(*map(int, asked.split("x")), given.rounds)
