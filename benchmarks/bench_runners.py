"""Time a study by MLaut, a loop of cross_validate, joblib, sktime's orchestrator, and benchopt.

Four strategies run on four tables of scikit-learn with three times ten folds: 480 cells, on the
same rows. MLaut stores each prediction, probability and time, in guarded processes. The loop,
joblib and sktime keep results in memory; benchopt writes scores to a file. The ways take turns; the
first round, in which packages are loaded, does not count. It prints the CPU seconds of all
processes, the ratio to the loop in the same round, and the mean accuracy, which must be the same.

The packages need their own environment; if sktime or benchopt is missing, its way is left out:

    python -m venv peers && peers/bin/pip install -e . "sktime<1.3" benchopt
    OMP_NUM_THREADS=1 peers/bin/python benchmarks/bench_runners.py [--rounds 3] [--jobs 2]
"""

import argparse
import contextlib
import io
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from cpu import cpu_seconds
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from mlaut import Data, Orchestrator
from mlaut.analysis import Results
from mlaut.data import load_sklearn
from mlaut.files_io import StudyStore

STRATEGIES = {
    "bayes": GaussianNB(),
    "neighbours": KNeighborsClassifier(),
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(30, random_state=0),
}
TABLES = load_sklearn(["iris", "wine", "breast_cancer", "digits"])
N_REPEATS = 3

# The parts of a benchmark of benchopt: it imports them from files.
BENCHOPT = {
    "objective.py": """
import joblib
from benchopt import BaseObjective
from sklearn.metrics import accuracy_score

class Stored:
    def __init__(self, folds):
        self.folds = folds
    def split(self, *_):
        yield from self.folds
    def get_n_splits(self, *_):
        return len(self.folds)

class Objective(BaseObjective):
    name = "accuracy"
    min_benchopt_version = "1.5"
    sampling_strategy = "run_once"
    def set_data(self, X, y, folds):
        self.X, self.y, self.cv = X, y, Stored(folds)
    def get_objective(self):
        self.known, self.tested, self.labels, self.truth = self.get_split(self.X, self.y)
        return {"X": self.known, "y": self.labels}
    def evaluate_result(self, model):
        accuracy = accuracy_score(self.truth, model.predict(self.tested))
        return {"value": 1 - accuracy, "accuracy": accuracy}
    def get_one_result(self):
        return {"model": None}
""",
    "datasets/table.py": """
from pathlib import Path
import joblib
from benchopt import BaseDataset

class Dataset(BaseDataset):
    name = "table"
    parameters = {"key": KEYS}
    def get_data(self):
        return joblib.load(Path(__file__).parent.parent / "tables")[self.key]
""",
    "solvers/strategy.py": """
from pathlib import Path
import joblib
from benchopt import BaseSolver
from sklearn.base import clone

class Solver(BaseSolver):
    name = "strategy"
    parameters = {"key": STRATEGIES}
    sampling_strategy = "run_once"
    def set_objective(self, X, y):
        self.X, self.y = X, y
        self.model = clone(joblib.load(Path(__file__).parent.parent / "strategies")[self.key])
    def run(self, _):
        self.model.fit(self.X, self.y)
    def get_result(self):
        return {"model": self.model}
""",
}


class Folds:
    """Stored folds in the form of scikit-learn and sktime; tables are told apart by their rows."""

    def __init__(self, of_tables: dict[int, list[Any]]) -> None:
        self.of_tables = of_tables

    def split(self, X: Any, *_: Any) -> Iterator[Any]:
        """Yield the rows of each fold of a table."""
        yield from self.of_tables[len(X)]


class Runners:
    """Ways to run the study; each method returns the mean accuracy over all cells."""

    def __init__(self, folder: Path, n_jobs: int) -> None:
        self.folder, self.n_jobs, self.n_studies = folder, n_jobs, 0
        self.input = Data().open_hdf5(folder / "input.h5", mode="a")
        self.input.save_datasets(TABLES, "tables")
        splits = StudyStore(self.new_study().path).load_splits()
        self.folds = Folds({len(t.frame): [*splits[t.name].split] for t in TABLES})
        self.tables = {t.name: (t.features, t.labels.to_numpy()) for t in TABLES}

    def new_study(self) -> Any:
        """Make a study that has the splits and nothing else."""
        self.n_studies += 1
        out = Data().open_hdf5(self.folder / f"study-{self.n_studies}.h5", mode="a")
        Data().split_datasets(self.input, out, scheme=f"repeated_kfold(10, {N_REPEATS})")
        return out

    def mlaut(self) -> float:
        """Run the study with MLaut."""
        out = self.new_study()
        Orchestrator(self.input, out).run(STRATEGIES, n_jobs=self.n_jobs, verbose=0)
        return 1 - float(Results.from_study(out.path, metric="error").losses.to_numpy().mean())

    def loop(self, n_jobs: int | None = None) -> float:
        """Run the study in a loop of cross_validate."""
        found = [
            cross_validate(
                model, X, y, cv=self.folds.of_tables[len(X)], scoring="accuracy", n_jobs=n_jobs
            )
            for X, y in self.tables.values()
            for model in STRATEGIES.values()
        ]
        return float(np.mean([each["test_score"] for each in found]))

    def joblib(self) -> float:
        """Run the study with cross_validate in joblib's processes."""
        return self.loop(self.n_jobs)

    def sktime(self) -> float:
        """Run the study with the orchestrator of sktime, which keeps the predictions in memory."""
        from sktime.benchmarking.data import RAMDataset
        from sktime.benchmarking.orchestration import Orchestrator as SktimeOrchestrator
        from sktime.benchmarking.results import RAMResults
        from sktime.benchmarking.strategies import TSCStrategy
        from sktime.benchmarking.tasks import TSCTask

        tables = [
            RAMDataset(X.assign(target=y.astype(str)), name) for name, (X, y) in self.tables.items()
        ]
        results = RAMResults()
        SktimeOrchestrator(
            datasets=tables,
            tasks=[TSCTask(target="target") for _ in tables],
            strategies=[TSCStrategy(model, name=name) for name, model in STRATEGIES.items()],
            cv=self.folds,
            results=results,
        ).fit_predict(save_fitted_strategies=False)
        stored = [
            one
            for fold in range(10 * N_REPEATS)
            for one in results.load_predictions(cv_fold=fold, train_or_test="test")
        ]
        return float(np.mean([accuracy_score(one.y_true, one.y_pred) for one in stored]))

    def benchopt(self) -> float:
        """Run the study with benchopt, without its cache."""
        from benchopt import run_benchmark

        place = self.folder / "benchopt"
        for name, text in BENCHOPT.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            text = text.replace("KEYS", repr([*self.tables]))
            (place / name).write_text(text.replace("STRATEGIES", repr([*STRATEGIES])))
        joblib.dump(STRATEGIES, place / "strategies")
        tables = {
            name: {"X": X.to_numpy(), "y": y, "folds": self.folds.of_tables[len(X)]}
            for name, (X, y) in self.tables.items()
        }
        joblib.dump(tables, place / "tables")
        run_benchmark(
            str(place),
            n_repetitions=10 * N_REPEATS,
            max_runs=1,
            plot_result=False,
            display=False,
            show_progress=False,
            no_cache=True,
            output_file="scores",
        )
        scores = max(place.rglob("*.parquet"), key=lambda path: path.stat().st_mtime)
        found = pd.read_parquet(scores)["objective_accuracy"]
        assert len(found) == len(self.tables) * len(STRATEGIES) * 10 * N_REPEATS, len(found)
        return float(found.mean())


def measured(way: Callable[[], float]) -> tuple[float, float]:
    """Return the CPU seconds of all processes, and the mean accuracy."""
    used = cpu_seconds()
    with contextlib.redirect_stdout(io.StringIO()):
        accuracy = way()
    return cpu_seconds() - used, accuracy


def main(rounds: int, n_jobs: int) -> None:
    """Print a table of all ways."""
    with tempfile.TemporaryDirectory() as folder:
        runners = Runners(Path(folder), n_jobs)
        ways = {"loop of cross_validate": runners.loop, "cross_validate, joblib": runners.joblib}
        ways["MLaut"] = runners.mlaut
        peers = {"sktime": runners.sktime, "benchopt": runners.benchopt}
        ways |= {package: way for package, way in peers.items() if find_spec(package)}
        taken: dict[str, list[float]] = {name: [] for name in ways}
        accuracies = {}
        for i in range(rounds + 1):
            for name, way in ways.items():
                used, accuracies[name] = measured(way)
                print(f"round {i}, {name}: {used:.2f} s CPU", flush=True)
                if i:
                    taken[name].append(used)
    first = np.array(taken["loop of cross_validate"])
    print(
        f"| {len(TABLES) * len(STRATEGIES) * 10 * N_REPEATS} cells | CPU | to the loop | accuracy |"
    )
    print("|---|---|---|---|")
    for name, used in taken.items():
        ratio = np.array(used) / first
        print(
            f"| {name} | {np.median(used):.1f} s | {np.median(ratio):.2f} "
            f"({ratio.min():.2f} to {ratio.max():.2f}) | {accuracies[name]:.6f} |"
        )


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    warnings.simplefilter("ignore")  # of the peers
    given = parser.parse_args()
    main(given.rounds, given.jobs)
