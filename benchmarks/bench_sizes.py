"""Measure the CPU time of whole cells by number of training rows, to set the size limits.

For each default strategy and number of rows, some groups of candidates that share their work are
drawn from the grid, fitted and scored on one fold, and scaled to all groups and folds. A line
through the logarithms of the last two sizes is extrapolated to a day on one core.

    OMP_NUM_THREADS=1 python benchmarks/bench_sizes.py --seconds 20
    OMP_NUM_THREADS=1 python benchmarks/bench_sizes.py --strategies SVC K_Neighbours
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
from mlaut_sharing.search.candidate_groups import groups_of
from mlaut_sharing.search.evaluation import CandidateGroup
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.model_selection import ParameterGrid

from mlaut.estimators import instantiate_default_estimators
from mlaut.records import CLASSIFICATION
from mlaut.sharing import GridSearchCV as SharingGridSearchCV

COLUMNS = 20
DAY = 24 * 3600
ROWS = [500, 1500, 4000, 12_000, 36_000]


def table(n_rows: int, task: str) -> tuple[np.ndarray, np.ndarray]:
    """Make rows with a tenth of the labels wrong, or a noisy number."""
    if task == CLASSIFICATION:
        return make_classification(n_rows, COLUMNS, n_informative=8, flip_y=0.1, random_state=0)
    X, y = make_regression(n_rows, COLUMNS, n_informative=8, noise=50, random_state=0)
    return X, (y - y.mean()) / y.std()


def groups_in(search: Any) -> list[CandidateGroup]:
    """Return the groups of candidates that share their work."""
    return groups_of(clone(search.estimator), list(ParameterGrid(search.param_grid)))


def seconds_of_cell(strategy: Any, n_rows: int, n_groups: int) -> float:
    """Estimate the CPU seconds of tuning on ``n_rows`` rows."""
    X, y = table(n_rows, strategy.tasks[0])
    model = strategy.assemble(random_state=0)
    X = model[0].fit_transform(X)
    search = getattr(model[-1], "regressor", model[-1])
    begun = time.process_time()
    if not hasattr(search, "param_grid"):
        search.fit(X, y)
        return time.process_time() - begun
    groups = groups_in(search)
    drawn = np.random.default_rng(0).permutation(len(groups))[:n_groups]
    cut = int(n_rows / search.cv.n_splits)
    fold = [(np.arange(cut, n_rows), np.arange(cut))]
    for group in drawn:
        points = [{k: [v] for k, v in c.params.items()} for c in groups[group].candidates]
        SharingGridSearchCV(search.estimator, points, cv=fold, refit=False).fit(X, y)
    return (time.process_time() - begun) * len(groups) / len(drawn) * search.cv.n_splits


def measure(strategy: Any, budget: float, n_groups: int) -> str:
    """Return a row of the table: seconds at each size until one takes too long to measure."""
    seen: list[tuple[int, float]] = []
    for n_rows in ROWS:
        begun = time.process_time()
        seen.append((n_rows, seconds_of_cell(strategy, n_rows, n_groups)))
        if len(seen) > 1 and time.process_time() - begun > budget / 3:
            break
    (before, early), (last, late) = seen[-2:]
    power = max(1.0, np.log(late / early) / np.log(last / before))
    rows = last * (DAY / late) ** (1 / power)
    told = ", ".join(f"{n}: {s:.3g}" for n, s in seen)
    return f"| {strategy.name} | {told} | {power:.1f} | {rows:.2g} |"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strategies", nargs="+", default=["all"])
    parser.add_argument("--seconds", type=float, default=20, help="of measuring, each strategy")
    parser.add_argument("--groups", type=int, default=4, help="of candidates, at each size")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| strategy | rows: seconds of a cell | power | rows that take a day |")
    print("|---|---|---:|---:|")
    for strategy in instantiate_default_estimators(asked.strategies):
        if strategy.metadata.package == "scikit-learn":
            print(measure(strategy, asked.seconds, asked.groups), flush=True)


if __name__ == "__main__":
    main()
