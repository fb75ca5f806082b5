"""Measure what a study costs beyond its fits, compared with a plain loop and with joblib.

The same fits (fit, predict, predict_proba on the same rows, with the same predictions) run in three
ways: one after the other in this process; by joblib's loky; and as a study, in guarded processes,
with everything stored. Loky's processes and the study's workers are started anew each time. Work
that a process does once (the server that workers are forked from) is printed as the first study.
The ways take turns in each round. It prints the medians of the rounds, of wall time and of the CPU
time of all processes, which other programs on the machine hardly change.

    OMP_NUM_THREADS=1 python benchmarks/bench_overhead.py [--cells 4000] [--rounds 3] [--jobs 2]
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from cpu import cpu_seconds
from joblib.externals.loky import get_reusable_executor
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from mlaut import Data, Orchestrator
from mlaut.data import load_sklearn
from mlaut.experiments.engines.engine import cores
from mlaut.files_io import StudyStore
from mlaut.records import Dataset

NUMBERS = load_sklearn(["iris", "wine", "breast_cancer"])


def fitted(estimator: Any, X: Any, y: np.ndarray, rows: tuple[np.ndarray, np.ndarray]) -> Any:
    """Do the work of a cell, and nothing else; a pipeline encodes each row once."""
    train, test = rows
    model, known, tested = clone(estimator), X.iloc[train], X.iloc[test]
    if isinstance(model, Pipeline):
        encoder, model = model[0], model[1]
        known, tested = encoder.fit_transform(known), encoder.transform(tested)
    model.fit(known, y[train])
    return model.predict(tested), model.predict_proba(tested)


def mixed_table(n_rows: int) -> Dataset:
    """Return a table of seven numbers, four texts and two categories, with gaps in each kind."""
    rng = np.random.default_rng(n_rows)
    table = pd.DataFrame(rng.normal(size=(n_rows, 7)).round(3)).add_prefix("number")
    for i, n_values in enumerate((3, 5, 8, 40)):
        table[f"text{i}"] = [f"value {k}" for k in rng.integers(n_values, size=n_rows)]
    for i in range(2):
        table[f"category{i}"] = pd.Categorical(rng.choice(["low", "middle", "high"], n_rows))
    target = np.where(table["number0"] + (table["text0"] == "value 1") > 0.5, "yes", "no")
    table = table.mask(rng.random(table.shape) < 0.05)
    return Dataset(f"mixed{n_rows}", table.assign(y=target), "y", "Classification")


def by_hand(estimator: Any) -> Any:
    """Return the pipeline that encodes mixed tables as a study does."""
    encoder = OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        min_frequency=2,
        max_categories=50,
        sparse_output=False,
    )
    numbers = make_column_selector(dtype_include="number")
    others = make_column_selector(dtype_exclude="number")
    median = SimpleImputer(strategy="median", keep_empty_features=True)
    return make_pipeline(make_column_transformer((median, numbers), (encoder, others)), estimator)


class Work:
    """One estimator on every fold of every repeat of some datasets.

    The loop runs ``by_hand(estimator)`` on mixed tables.
    """

    def __init__(
        self,
        folder: Path,
        estimator: Any,
        n_cells: int,
        n_jobs: int,
        tables: Sequence[Dataset] = NUMBERS,
    ) -> None:
        self.estimator, self.folder, self.n_jobs = estimator, folder, n_jobs
        self.plain = estimator if tables is NUMBERS else by_hand(estimator)
        data = Data()
        self.input_io = data.open_hdf5(folder / "input.h5", mode="a")
        self.input_io.save_datasets(tables, "tables")
        self.names, self.paths = self.input_io.list_datasets("tables")
        self.scheme = f"repeated_kfold(10, {max(1, n_cells // 10 // len(tables))})"
        self.study = 0
        entries = self.empty_study().load_splits()
        self.cells = []
        for name in self.names:
            dataset = self.input_io.load_dataset(entries[name].path)
            X, y = dataset.features, dataset.labels.to_numpy()
            self.cells += [(name, X, y, rows) for rows in entries[name].split]

    def empty_study(self) -> StudyStore:
        """Make a study that has the splits and nothing else."""
        self.study += 1
        out_io = Data().open_hdf5(self.folder / f"study-{self.study}.h5", mode="a")
        Data().split_datasets(
            hdf5_in=self.input_io, hdf5_out=out_io, dataset_paths=self.paths, scheme=self.scheme
        )
        self.out_io = out_io
        return StudyStore(out_io.path)

    def loop(self) -> list[Any]:
        """Run the fits one after the other."""
        return [fitted(self.plain, X, y, rows) for _, X, y, rows in self.cells]

    def loky(self) -> list[Any]:
        """Run the fits in joblib's processes."""
        tasks = (joblib.delayed(fitted)(self.plain, *cell[1:]) for cell in self.cells)
        given = list(joblib.Parallel(n_jobs=self.n_jobs)(tasks))
        get_reusable_executor().shutdown(wait=True)
        return given

    def run(self) -> list[Any]:
        """Run the fits as a study."""
        orchestrator = Orchestrator(self.input_io, self.out_io, self.names, "tables")
        summary = orchestrator.run({"it": self.estimator}, n_jobs=self.n_jobs, verbose=0)
        assert summary.n_done == len(self.cells), summary
        return []

    def agrees(self, given: list[Any]) -> bool:
        """Return whether the study holds the predictions of the loop, to the last bit."""
        blocks = {block.dataset: block for block in StudyStore(self.out_io.path).blocks()}
        places: dict[str, int] = {}
        for (name, _, _, (_, test)), (labels, probabilities) in zip(self.cells, given, strict=True):
            block, place = blocks[name], places.get(name, 0)
            places[name] = place + 1
            repeat = place // block.split.n_folds
            stored = np.asarray(block.classes)[block.predictions[0, repeat, test]]
            assert block.probabilities is not None
            same = block.probabilities[0, repeat, test] == probabilities.astype(np.float32)
            if not (stored == labels).all() or not same.all():
                return False
        return True


def seconds(function: Callable[[], Any]) -> tuple[float, float]:
    """Return the wall and CPU seconds of one call."""
    begun, used = time.perf_counter(), cpu_seconds()
    function()
    return time.perf_counter() - begun, cpu_seconds() - used


def measure(
    name: str,
    estimator: Any,
    n_cells: int,
    rounds: int,
    n_jobs: int,
    tables: Sequence[Dataset] = NUMBERS,
) -> None:
    """Print the times of each way, and their ratios."""
    with tempfile.TemporaryDirectory() as folder:
        work = Work(Path(folder), estimator, n_cells, n_jobs, tables)
        work.loop()
        first = seconds(work.run)[0]
        taken = []
        for _ in range(rounds):
            work.empty_study()
            taken.append([seconds(way) for way in (work.loop, work.loky, work.run)])
        assert work.agrees(work.loop())
    wall, cpu = np.moveaxis(np.array(taken), 2, 0)
    n = len(work.cells)
    middle = np.median(wall, axis=0)
    print(
        f"{name}: {n} cells of {1e3 * np.median(cpu[:, 0]) / n:.2f} ms CPU, {n_jobs} processes\n"
        f"  wall: plain loop {middle[0]:.2f} s, loky {middle[1]:.2f} s, study {middle[2]:.2f} s "
        f"(first study {first:.2f} s)\n"
        f"  study / ideal: {_ratio(n_jobs * wall[:, 2], wall[:, 0])} wall, "
        f"{_ratio(cpu[:, 2], cpu[:, 0])} CPU\n"
        f"  study / loky: {_ratio(wall[:, 2], wall[:, 1])} wall, "
        f"{_ratio(cpu[:, 2], cpu[:, 1])} CPU\n"
        f"  beyond the fits: {1e3 * np.median(cpu[:, 2] - cpu[:, 0]) / n:.2f} ms CPU a cell",
        flush=True,
    )


def many_strategies(n_strategies: int, n_jobs: int) -> None:
    """Print the time of a cell in a study of many strategies that learn nothing."""
    with tempfile.TemporaryDirectory() as folder:
        work = Work(Path(folder), DummyClassifier(), 30, n_jobs)
        work.run()
        work.empty_study()
        strategies = {f"s{i}": DummyClassifier(random_state=i) for i in range(n_strategies)}
        orchestrator = Orchestrator(work.input_io, work.out_io, work.names, "tables")
        used = cpu_seconds()
        summary = orchestrator.run(strategies, n_jobs=n_jobs, verbose=0)
        used = cpu_seconds() - used
    print(f"{n_strategies} strategies: {1e3 * used / summary.n_done:.2f} ms CPU a cell", flush=True)


def _ratio(one: np.ndarray, other: np.ndarray) -> str:
    ratios = one / other
    return f"{np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f})"


def forest_of(milliseconds: float, tables: Sequence[Dataset] = NUMBERS) -> RandomForestClassifier:
    """Return a forest whose cells take about ``milliseconds`` on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        work = Work(Path(folder), RandomForestClassifier(10, random_state=0), 30, 1, tables)
        work.loop()
        each = 1e3 * seconds(work.loop)[1] / len(work.cells) / 10
    return RandomForestClassifier(max(1, round(milliseconds / each)), random_state=0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=cores())
    given = parser.parse_args()
    mixed = [mixed_table(n_rows) for n_rows in (300, 600, 1000)]
    measure("empty", DummyClassifier(), given.cells, given.rounds, given.jobs)
    measure("short", GaussianNB(), given.cells, given.rounds, given.jobs)
    measure("20 ms", forest_of(20), given.cells // 4, given.rounds, given.jobs)
    many_strategies(20, given.jobs)
    n_cells = given.cells // 4
    measure("mixed", forest_of(20, mixed), n_cells, given.rounds, given.jobs, mixed)
    measure("100 ms", forest_of(100), given.cells // 16, given.rounds, given.jobs)
