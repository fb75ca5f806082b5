"""Measure a plan of a million cells, which is made, stored, resumed and summarised.

    python benchmarks/bench_plan.py [--datasets 100 --strategies 100 --repeats 10 --folds 10]

Cells are not fitted: an engine takes all of them, as batches, and returns outcomes for the first
ten thousand. For each step it prints the CPU seconds, the peak of resident memory so far, and the
number of Python objects that are left.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

from mlaut import Data, Orchestrator
from mlaut.errors import RunInterrupted
from mlaut.experiments import study_status
from mlaut.experiments.following.status import unfinished
from mlaut.experiments.workers.batches import BatchQueue
from mlaut.files_io import StrategyEntry, StudyStore
from mlaut.records import Dataset, Outcome, Split, Status

N_ROWS = 100


class TakesAll:
    """Engine that returns a number of outcomes, and is then stopped by its user.

    Parameters
    ----------
    cells : int
        Number of outcomes; with None the engine takes every batch and returns nothing.
    """

    def __init__(self, cells: int | None) -> None:
        self.cells = cells
        self.taken = 0

    def of(self, _):
        """Return this engine, which has no limits."""
        return self

    def run(self, groups) -> Iterator[list[Outcome]]:
        """Take batches."""
        queue = BatchQueue(groups)
        while (batch := queue.next()) is not None:
            self.taken += len(batch.cells)
            if self.cells is not None:
                outcomes = [_outcome(batch, cell) for cell in batch.keys]
                queue.saw(outcomes)
                yield outcomes
                if self.taken >= self.cells:
                    break
            else:
                queue.saw([Outcome(batch.keys[0], Status.DONE, details={"elapsed": 1e-4})])
        raise KeyboardInterrupt


def _outcome(batch, cell) -> Outcome:
    test = Split(batch.folds[cell.repeat][None]).rows(0, cell.fold)[1]
    predictions = np.zeros(len(test), dtype=np.int32)
    probabilities = np.full((len(test), 2), 0.5, dtype=np.float32)
    details = {"elapsed": 1e-3}
    return Outcome(cell, Status.DONE, predictions, probabilities, (0, 1e-3, 1e-3), 1, "", details)


@contextlib.contextmanager
def measured(step: str) -> Iterator[None]:
    """Print the CPU time and the memory of a step."""
    gc.collect()
    objects, begun, wall = len(gc.get_objects()), time.process_time(), time.perf_counter()
    yield
    cpu, wall = time.process_time() - begun, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    gc.collect()
    more = len(gc.get_objects()) - objects
    print(f"| {step} | {cpu:.2f} | {wall:.2f} | {peak:.0f} | {more:+d} |")


def make(folder: Path, n_datasets: int, repeats: int, folds: int) -> tuple[Orchestrator, Path]:
    """Make datasets and their splits."""
    generator = np.random.default_rng(0)
    data = Data()
    input_io = data.open_hdf5(folder / "input.h5", mode="a")
    frames = [
        pd.DataFrame({"x": generator.normal(size=N_ROWS), "y": np.arange(N_ROWS) % 2})
        for _ in range(n_datasets)
    ]
    input_io.save_datasets(
        [Dataset(f"d{i:03}", frame, "y", "Classification") for i, frame in enumerate(frames)], "all"
    )
    out_io = data.open_hdf5(folder / "study.h5", mode="a")
    scheme = f"repeated_kfold({folds}, {repeats})"
    data.split_datasets(input_io, out_io, input_io.list_datasets("all")[1], scheme=scheme)
    return Orchestrator(input_io, out_io), out_io.path


def main() -> None:
    """Read the command line, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("datasets", 100), ("strategies", 100), ("repeats", 10), ("folds", 10)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    strategies = {
        f"s{i:03}": GaussianNB(var_smoothing=1e-9 * (i + 1)) for i in range(given.strategies)
    }
    print("| step | CPU s | wall s | peak MiB | objects |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="mlaut-plan-") as name:
        with measured("datasets and splits"):
            orchestrator, path = make(Path(name), given.datasets, given.repeats, given.folds)
        with measured("plan made"):
            plan = orchestrator.plan(strategies)
        cells = plan.n_cells
        del plan
        with measured("room made, every cell on its way"), contextlib.suppress(RunInterrupted):
            orchestrator.run(strategies, engine=TakesAll(None), verbose=0)
        size = path.stat().st_size
        with measured("resumed, 10,000 cells stored"), contextlib.suppress(RunInterrupted):
            orchestrator.run(strategies, engine=TakesAll(10_000), verbose=0)
        with measured("status"):
            status = study_status(path)
        with measured("status --why"):
            unfinished(path)
        with measured("plan --why"):
            orchestrator.plan(strategies).why()
        with measured("room made for one strategy more"):
            StudyStore(path).allocate([StrategyEntry("one more", "its identity")])
        print(f"\n{cells} cells, {status.total[Status.DONE]} done, {size / 1e6:.0f} MB on disk")


if __name__ == "__main__":
    main()
