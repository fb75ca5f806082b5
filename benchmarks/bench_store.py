"""What a large study costs when nothing is left to do: open it again, its status, its losses.

A study of 100,000 done cells is made of made-up predictions, without a fit. Then, each several
times, in turn with a study of one cell: the run that finds nothing to do, the status, the losses of
every cell by accuracy and by log loss. The least of the rounds is told, wall and CPU seconds.

    OMP_NUM_THREADS=1 python benchmarks/bench_store.py [--datasets 100] [--strategies 100]
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

from mlaut import Data, Orchestrator
from mlaut.analysis import Results
from mlaut.estimators import as_strategies
from mlaut.experiments import study_status
from mlaut.experiments.entries import strategy_entries
from mlaut.files_io import SplitEntry, Study
from mlaut.records import CLASSIFICATION, Cell, Dataset, Outcome, Status

N_ROWS, N_CLASSES = 150, 3


def datasets(n: int) -> Iterator[Dataset]:
    """Return tables of four columns and three classes."""
    for number in range(n):
        generator = np.random.default_rng(number)
        frame = pd.DataFrame(generator.normal(size=(N_ROWS, 4)), columns=list("abcd"))
        frame["class"] = np.arange(N_ROWS) % N_CLASSES
        yield Dataset(f"table {number}", frame, "class", CLASSIFICATION)


def outcomes(entry: SplitEntry, names: Iterable[str]) -> Iterator[Outcome]:
    """Return an outcome of every cell of a dataset."""
    generator = np.random.default_rng(0)
    for name in names:
        for repeat in range(entry.split.n_repeats):
            for fold in range(entry.split.n_folds):
                n_test = len(entry.split.rows(repeat, fold)[1])
                given = generator.dirichlet([1] * N_CLASSES, n_test).astype(np.float32)
                predicted = given.argmax(axis=1).astype(np.int32)
                cell = Cell(entry.name, name, repeat, fold)
                yield Outcome(cell, Status.DONE, predicted, given, (0.0, 1e-3, 1e-4))


class Finished:
    """A study of which every cell is done, and the call that made it."""

    def __init__(self, folder: Path, n_datasets: int, n_strategies: int, scheme: str) -> None:
        self.input_io = Data().open_hdf5(folder / f"input-{n_datasets}.h5", mode="a")
        self.out_io = Data().open_hdf5(folder / f"study-{n_datasets}.h5", mode="a")
        paths = self.input_io.save_datasets(datasets(n_datasets), "tables")
        Data().split_datasets(
            hdf5_in=self.input_io, hdf5_out=self.out_io, dataset_paths=paths, scheme=scheme
        )
        self.strategies = {f"bayes {i}": GaussianNB(priors=None) for i in range(n_strategies)}
        study = Study(self.out_io.path)
        study.allocate(strategy_entries(as_strategies(self.strategies)))
        with study.writing() as writer:
            for entry in study.load_splits().values():
                writer.write(*outcomes(entry, self.strategies))

    def run(self) -> int:
        """Find nothing to do."""
        summary = Orchestrator(self.input_io, self.out_io).run(self.strategies, verbose=0)
        assert summary.complete
        assert not summary.counts
        return summary.n_cells

    def status(self) -> int:
        """Count the cells."""
        return study_status(self.out_io.path).total[Status.DONE]

    def losses(self, metric: str) -> Any:
        """Score every cell."""
        return Results.from_study(self.out_io.path, metric)


def least(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, tuple[float, float]]:
    """Return the least wall and CPU seconds of each call, the calls taken in turn."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            wall, cpu = time.perf_counter(), time.process_time()
            call()
            taken[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    return {name: tuple(np.min(seconds, axis=0)) for name, seconds in taken.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=100)
    parser.add_argument("--strategies", type=int, default=100)
    parser.add_argument("--scheme", default="kfold(10)")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small = Finished(Path(folder), 1, 1, "holdout")
        begun = time.perf_counter()
        large = Finished(Path(folder), given.datasets, given.strategies, given.scheme)
        size = large.out_io.path.stat().st_size
        print(
            f"{large.status()} cells of {given.datasets} datasets and {given.strategies} "
            f"strategies, {size / 2**20:.0f} MiB, written in {time.perf_counter() - begun:.0f} s"
        )
        calls: dict[str, Callable[[], Any]] = {}
        for kind, study in (("one cell", small), ("all", large)):
            calls |= {
                f"run, {kind}": study.run,
                f"status, {kind}": study.status,
                f"accuracy, {kind}": lambda study=study: study.losses("accuracy"),
                f"log loss, {kind}": lambda study=study: study.losses("log_loss"),
            }
        for name, (wall, cpu) in least(calls, given.rounds).items():
            print(f"  {name:20s} {wall:6.3f} s wall, {cpu:6.3f} s CPU")
