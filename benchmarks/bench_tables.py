"""What a study of a large table costs beyond its fits: CPU time, and memory of its workers.

The same cells (fit, predict and predict_proba on four folds, of an estimator that learns nothing
and of naive Bayes) run one after the other in a process that holds the table, and as a study with
four workers. The memory is the proportional set size (PSS), which counts a shared page once. What
a bare cell needs is the peak of a process that runs the loop, without the table.

About 2 minutes of CPU time, and 4 GB of memory and of disk:

    OMP_NUM_THREADS=1 python benchmarks/bench_tables.py [--tables 1000000x50 50000x1000]
"""

import argparse
import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from bench_overhead import cpu_seconds, fitted
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from mlaut import Data, Orchestrator
from mlaut.files_io import Study
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


def peak_while(function: Callable[[], Any]) -> int:
    """Return the peak PSS of the processes that descend from this one while a function runs."""
    peak, over = 0, threading.Event()

    def look() -> None:
        nonlocal peak
        while not over.wait(_LOOK_SECONDS):
            peak = max(peak, pss(descendants()))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        function()
    finally:
        over.set()
        looking.join()
    return peak


class Table:
    """A stored table with a split, whose cells run in two ways."""

    def __init__(self, folder: Path, n_rows: int, n_columns: int) -> None:
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(n_rows, n_columns))).add_prefix("x")
        self.size = frame.to_numpy().nbytes
        frame["y"] = np.where(frame["x0"] > 0, "yes", "no")
        self.folder, self.n_studies = folder, 0
        self.input = Data().open_hdf5(folder / "input.h5", mode="a")
        self.input.save_datasets([Dataset("large", frame, "y", "Classification")])

    def loop(self) -> None:
        """Run the cells one after the other in this process."""
        dataset = self.input.load_dataset("large")
        self.cells(dataset.features, dataset.labels.to_numpy())

    def cells(self, X: pd.DataFrame, y: np.ndarray) -> float:
        """Run the bare cells; return their CPU seconds."""
        begun = time.process_time()
        for estimator in ESTIMATORS.values():
            for rows in self.split:
                fitted(estimator, X, y, rows)
        return time.process_time() - begun

    def bare(self) -> float:
        """Return the CPU seconds of the bare cells, the table being loaded."""
        dataset = self.input.load_dataset("large")
        return self.cells(dataset.features, dataset.labels.to_numpy())

    def prepare(self) -> None:
        """Make a study that has the split and nothing else."""
        self.n_studies += 1
        self.out = Data().open_hdf5(self.folder / f"study-{self.n_studies}.h5", mode="a")
        Data().split_datasets(hdf5_in=self.input, hdf5_out=self.out, scheme="kfold(4)")
        self.split = list(Study(self.out.path).load_splits()["large"].split)

    def study(self) -> None:
        """Run the cells as a study."""
        orchestrator = Orchestrator(self.input, self.out, ["large"], "/")
        summary = orchestrator.run(ESTIMATORS, n_jobs=WORKERS, verbose=0)
        assert summary.n_done == len(self.split) * len(ESTIMATORS), summary


def measure(n_rows: int, n_columns: int, rounds: int) -> None:
    """Print the ratios of one table."""
    with tempfile.TemporaryDirectory() as folder:
        table = Table(Path(folder), n_rows, n_columns)
        ratios = []
        table.prepare()
        table.study()  # starts the server that workers are forked from
        for _ in range(rounds):
            bare = table.bare()
            table.prepare()
            begun = cpu_seconds()
            table.study()
            ratios.append((cpu_seconds() - begun, bare))
        table.prepare()
        workers = peak_while(table.study)
        process = multiprocessing.get_context("fork").Process(target=table.loop)

        def alone() -> None:
            process.start()
            process.join()

        server = pss(descendants())
        one = peak_while(alone) - server - table.size
    for used, bare in ratios:
        print(
            f"{n_rows} x {n_columns}: study {used:.2f} s CPU, bare cells {bare:.2f} s: "
            f"{used / bare:.2f}"
        )
    mib = 2**20
    print(
        f"  PSS of {WORKERS} workers and their server {workers / mib:.0f} MiB; table "
        f"{table.size / mib:.0f} MiB + {WORKERS} bare cells of {one / mib:.0f} MiB = "
        f"{(table.size + WORKERS * one) / mib:.0f} MiB",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=["1000000x50", "50000x1000"])
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args()
    for table in asked.tables:
        measure(*map(int, table.split("x")), asked.rounds)
