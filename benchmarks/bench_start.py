"""What the beginning and the end of a study take, each time in a fresh process.

Printed are medians and the smallest of the rounds, in seconds of wall time and of the CPU time of
all processes, of

- ten cells of naive Bayes on iris: a script with `mlaut.Study`, from the end of its import of
  scikit-learn to the end of the run, and all of `mlaut run`, less that import;
- commands that read little, beside the imports that they cannot do without;
- reports of a small study (3 strategies on the 25 datasets of the starter collection) on the screen
  and as a page, and the page of a table of 100 datasets x 100 strategies;
- 480 cells (8 tables x 6 learners x 10 folds) from the end of the import of scikit-learn: a loop of
  `cross_validate` that computes the accuracy and keeps nothing, and a study, with two workers,
  which stores its datasets and all predictions. The ratios are of the same round.

Modules are compiled, as after an installation. Wall times mean something on a quiet machine alone;
the load is printed before and after.

    OMP_NUM_THREADS=1 python benchmarks/bench_start.py [--rounds 5] [--jobs 2]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from cpu import cpu_seconds

FOLDS = 10
STUDY = """
[study]
output = "study.h5"
[data]
input = "input.h5"
collection = "starter"
datasets = ["iris"]
[split]
scheme = "kfold(10)"
[strategies]
names = ["GaussianNaiveBayes"]
[run]
n_jobs = 1
"""
SMALL = """
[study]
output = "small.h5"
[data]
input = "small.input.h5"
collection = "starter"
task = "Classification"
[split]
scheme = "holdout"
[strategies]
names = ["BaselineClassifier", "GaussianNaiveBayes", "BernoulliNaiveBayes"]
"""
COMMANDS = {
    "Python, NumPy, h5py, click": ["-c", "import click, h5py, numpy"],
    "`mlaut --help`": ["-m", "mlaut", "--help"],
    "`mlaut list strategies`": ["-m", "mlaut", "list", "strategies"],
    "`mlaut status`": ["-m", "mlaut", "status", "study.h5"],
    "import of scikit-learn": ["-c", "import sklearn.naive_bayes"],
    "`mlaut run`, ten cells": ["-m", "mlaut", "run", "-q", "study.toml"],
    "`mlaut report`, a small study": ["-m", "mlaut", "report", "small.h5"],
    "its page": ["-m", "mlaut", "report", "small.h5", "-o", "small.html"],
    "the page of a table of 100 x 100": [
        *("-m", "mlaut", "report", "table.csv", "--metric", "accuracy", "-o", "table.html")
    ],
}


def tables() -> list[Any]:
    """Return eight tables of numbers, as DataFrames with the column `target`."""
    from sklearn import datasets

    loaded = [datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer]
    frames = [load(as_frame=True).frame for load in (*loaded, datasets.load_digits)]
    for seed in range(4):
        X, y = datasets.make_classification(400 + 200 * seed, 10 + 5 * seed, random_state=seed)
        import pandas as pd

        frames.append(pd.DataFrame(X).add_prefix("x").assign(target=y))
    return frames


def learners() -> dict[str, Any]:
    """Return six learners."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    return {
        "majority": DummyClassifier(),
        "bayes": GaussianNB(),
        "discriminant": LinearDiscriminantAnalysis(),
        "neighbours": KNeighborsClassifier(),
        "tree": DecisionTreeClassifier(random_state=0),
        "forest": RandomForestClassifier(65, random_state=0),
    }


def in_this_process(way: str, n_jobs: int, folder: Path) -> None:
    """Do the work of one way in this process, which is fresh, and print what it took."""
    if way == "ten":
        from sklearn.datasets import load_iris
        from sklearn.naive_bayes import GaussianNB

        frames, models = [load_iris(as_frame=True).frame], {"bayes": GaussianNB()}
    else:
        from sklearn.model_selection import cross_validate

        frames, models = tables(), learners()
    begun, used = time.perf_counter(), cpu_seconds()
    if way == "loop":
        for frame in frames:
            X, y = frame.drop(columns="target"), frame["target"].to_numpy()
            for model in models.values():
                cross_validate(model, X, y, cv=FOLDS, scoring="accuracy")
    else:
        from mlaut import Study

        study = Study(folder / "study.h5")
        study.add_datasets({f"table{i}": frame for i, frame in enumerate(frames)})
        done = study.run(models, split=f"kfold({FOLDS})", n_jobs=n_jobs, verbose=0)
        assert done.n_done == len(frames) * len(models) * FOLDS, done
    print(json.dumps([time.perf_counter() - begun, cpu_seconds() - used]))


def of_way(way: str, n_jobs: int) -> list[float]:
    """Return the wall and CPU seconds of one way in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--way", way, "--jobs", str(n_jobs)]
        told = subprocess.run([*command, "--folder", folder], check=True, stdout=subprocess.PIPE)
    seconds: list[float] = json.loads(told.stdout)
    return seconds


def of_command(arguments: list[str], folder: Path) -> list[float]:
    """Return the wall and CPU seconds of a command; those of workers and their server are left out.

    A study is run from its beginning.
    """
    if "run" in arguments:
        for name in ("study.h5", "input.h5"):
            (folder / name).unlink(missing_ok=True)
    begun, before = time.perf_counter(), os.times()
    command = [sys.executable, *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)
    after = os.times()
    used = after.children_user + after.children_system
    return [time.perf_counter() - begun, used - before.children_user - before.children_system]


def main(rounds: int, n_jobs: int) -> None:
    """Print a table of all ways."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    names = {"script, ten cells": "ten", "480 cells, loop": "loop", "480 cells, study": "study"}
    taken: dict[str, list[list[float]]] = {name: [] for name in (*COMMANDS, *names)}
    print("load", os.getloadavg())
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        (folder / "study.toml").write_text(STUDY)
        (folder / "small.toml").write_text(SMALL)
        columns = [f"strategy {i}" for i in range(100)]
        skill, random = np.linspace(0, 1, 100), np.random.default_rng(0)
        scores = 0.5 + 0.1 * (skill + random.normal(size=(100, 100)) + random.normal(size=(100, 1)))
        rows = [",".join(map(str, row)) for row in scores.clip(0, 1).round(4)]
        lines = [f"dataset {i},{row}" for i, row in enumerate(rows)]
        (folder / "table.csv").write_text("\n".join([",".join(["dataset", *columns]), *lines]))
        subprocess.run(
            [sys.executable, "-m", "mlaut", "run", "-q", "small.toml"], check=True, cwd=folder
        )
        for arguments in reversed(COMMANDS.values()):
            of_command(arguments, folder)  # compiles the modules
        for _ in range(rounds):
            for name, arguments in COMMANDS.items():
                taken[name].append(of_command(arguments, folder))
            for name, way in names.items():
                taken[name].append(of_way(way, n_jobs))
    print("load", os.getloadavg())
    seconds = {name: np.array(values) for name, values in taken.items()}
    less = seconds["`mlaut run`, ten cells"] - seconds["import of scikit-learn"]
    seconds["`mlaut run`, ten cells, less the import"] = less
    print("| in a fresh process | wall | CPU |\n|---|---|---|")
    for name, values in seconds.items():
        cells = [f"{np.median(of):.3f} ({of.min():.3f})" for of in values.T]
        print(f"| {name} | {' | '.join(cells)} |")
    ratios = (seconds["480 cells, study"] / seconds["480 cells, loop"]).T
    cells = [f"{np.median(of):.2f} ({of.min():.2f} to {of.max():.2f})" for of in ratios]
    print(f"| 480 cells, study / loop | {' | '.join(cells)} |")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--way", choices=["ten", "loop", "study"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        in_this_process(given.way, given.jobs, given.folder)
    else:
        main(given.rounds, given.jobs)
