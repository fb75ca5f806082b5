"""Compare CPU seconds of tuning with shared work and by scikit-learn's GridSearchCV.

All runs in one process, and needs the plug-in mlaut-sharing. By default searches are compared. For
each default strategy that shares work and each table, the preprocessing is done once. Then both
searches run on the result with the same folds and seeds and without the final fit; the score
tables, ranks and choices are compared.
Short searches take turns three times. Grids and folds are those of the strategies, with these
exceptions: trees and ensembles have three folds, ensembles are thinned out along what is *not*
shared, and on large tables more is left out (`THIN`, `THINNER`). ``--whole`` thins no grid.

With ``--cells``, whole cells of a study (preprocessing, search, final fit, predictions on a third
of the rows) of all default classifiers run with whole grids, with ``share_work`` and without.

With ``--sampled``, the time of these cells is estimated on datasets where plain searches of whole
grids are out of reach. Only the first of the five folds of a search is run: all candidates with
shared work, and without it a random sample of expensive candidates (`SAMPLES`), whose scores must
be equal. Seconds are multiplied to all candidates and folds; the final fit is added to both. The
standard error of the plain seconds is that of the sample.

    OMP_NUM_THREADS=1 python benchmarks/bench_sharing.py --results sharing.jsonl
    OMP_NUM_THREADS=1 python benchmarks/bench_sharing.py --results cells.jsonl --cells iris wine
    OMP_NUM_THREADS=1 python benchmarks/bench_sharing.py --results sampled.jsonl --sampled zoo car

Each measurement is written to the results file at once and is not repeated later. In the end the
file is printed as a Markdown table. With ``--within 300`` no measurement begins after 300 seconds;
``--within 0`` only prints.
"""

import argparse
import json
import statistics
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.neighbors import KNeighborsClassifier

from mlaut.data import collection, load_sklearn
from mlaut.data.splits.resampling import make_split
from mlaut.data.splits.targets import encode_target
from mlaut.estimators import DataShape, instantiate_default_estimators
from mlaut.experiments.cells.cell import run_cell
from mlaut.experiments.cells.cell_input import CellOptions, FoldTable, cell_seed
from mlaut.records import CLASSIFICATION, Cell, Dataset
from mlaut.sharing import GridSearchCV as SharingGridSearchCV

STRATEGIES = [
    "K_Neighbours",
    "SVC",
    "DecisionTreeClassifier",
    "PassiveAggressiveClassifier",
    "RandomForestClassifier",
    "BaggingClassifier",
    "GradientBoostingClassifier",
    "HistGradientBoostingClassifier",
    "Lacoste_AdaBoost",
    "K_Neighbours_Regressor",
    "SVR",
    "DecisionTreeRegressor",
    "RandomForestRegressor",
    "BaggingRegressor",
    "GradientBoostingRegressor",
    "HistGradientBoostingRegressor",
    "RidgeRegression",
    "Lasso",
    "LassoLars",
]
TABLES = [
    "wine",
    "breast_cancer",
    "digits",
    "haberman-survival",
    "congressional-voting",
    "sonar, 52 rows",
    "synthetic, 5000 rows",
    "diabetes",
    "auto-mpg",
    "servo",
    "concrete-strength",
    "zoo",
    "synthetic, 40 rows",
    "synthetic, 5000 numbers",
]
LARGE = 1000
ROUNDS, SHORT = 3, 3.0  # what takes less seconds is measured in turn three times: the medians
THIN = {
    "GradientBoosting": {"max_depth": [1, 3], "learning_rate": [0.1]},
    "HistGradientBoosting": {"max_leaf_nodes": [31], "learning_rate": [0.1]},
    "RandomForest": {"max_features": ["sqrt"]},
    "Bagging": {"max_features": [1.0], "max_samples": [1.0]},
    "Lacoste_AdaBoost": {"estimator__n_stumps": [21]},
}
THINNER = {
    "GradientBoosting": {"max_depth": [1], "learning_rate": [0.1]},
    "HistGradientBoosting": {"max_leaf_nodes": [7], "learning_rate": [0.1]},
    "RandomForest": {"max_features": ["sqrt"], "max_depth": [10]},
    "Bagging": {"max_features": [0.5], "max_samples": [0.5]},
    "DecisionTree": {"min_samples_leaf": [1, 5], "max_features": [None, "sqrt"]},
    "Lacoste_AdaBoost": {"estimator__n_stumps": [21], "n_estimators": [2, 4, 8, 16, 32, 64]},
}
THREE_FOLDS = ("DecisionTree", *THIN)
UP_TO_10000 = {"C": [0.01, 0.1, 1, 10, 100, 1000, 10_000]}
HARD = {"haberman-survival": {"SVC": UP_TO_10000}}  # beyond, fits last up to a minute for both
SAMPLES = {
    "GradientBoosting": 6,
    "HistGradientBoosting": 4,
    "RandomForest": 6,
    "Bagging": 4,
    "DecisionTree": 130,
    "SVC": 26,
}
NOISY = {name: {"C": [0.01, 0.1, 1, 10, 100], "gamma": [0.01, 0.1]} for name in ("SVC", "SVR")}


def load(name: str) -> Dataset:
    """Load or make a table by name."""
    if name == "synthetic, 5000 rows":
        X, y = make_classification(5000, 20, n_informative=6, n_classes=3, random_state=0)
        return _dataset(name, X, y, "Classification")
    if name.startswith("synthetic"):
        shape = (5000, 20) if "5000" in name else (40, 100)
        X, y = make_regression(*shape, n_informative=10, noise=20, random_state=0)
        return _dataset(name, X, y, "Regression")
    if name in ("wine", "breast_cancer", "digits", "diabetes"):
        return load_sklearn([name])[0]
    if name == "sonar, 52 rows":
        whole = collection("starter", names=["conn-bench-sonar-mines-rocks"])[0]
        return Dataset(name, whole.frame.iloc[::4], whole.target, whole.task)
    return collection("starter", names=[name])[0]


def _dataset(name: str, X: np.ndarray, y: np.ndarray, task: str) -> Dataset:
    import pandas as pd

    frame = pd.DataFrame(X).rename(columns=str).assign(target=y)
    return Dataset(name, frame, "target", task)


@dataclass(frozen=True)
class Measured:
    """One strategy on one table, with plain and with shared work."""

    strategy: str
    table: str
    rows: int
    columns: int
    candidates: int
    plain: float
    shared: float
    same: bool
    difference: float
    alone: int
    whole: bool
    sample: int = 0
    error: float = 0.0

    def line(self) -> str:
        """Return a row of a Markdown table."""
        told = f"{self.difference:.1g}" if self.same else f"{self.difference:.1g}, other choice"
        told += f" ({self.alone} alone)" if self.alone else ""
        size = f"{self.table} ({self.rows} x {self.columns})"
        n = f"{self.candidates}{'' if self.whole else '*'}"
        return (
            f"| {self.strategy} | {size} | {n} | {self.plain:.2f} | {self.shared:.2f} | "
            f"{self.plain / self.shared:.1f} | {told} |"
        )


# ---- searches


def grid_of(strategy: Any, dataset: Dataset, whole: bool) -> dict[str, list[Any]]:
    """Return the grid that is searched, with no more neighbours than a fold has rows."""
    grid, n_rows = dict(strategy.param_grid), len(dataset.frame)
    if not whole:
        changes = dict(THIN)
        if n_rows > LARGE:
            changes = {**THINNER, **(NOISY if n_rows > 2 * LARGE else {})}
        changes |= HARD.get(dataset.name, {})
        for stem, values in changes.items():
            grid |= values if strategy.name.startswith(stem) else {}
    return {k: [v for v in vs if k != "n_neighbors" or v <= n_rows // 2] for k, vs in grid.items()}


def prepared(strategy: Any, dataset: Dataset) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return the rows and targets that a strategy's search gets, and the search."""
    y = dataset.labels.to_numpy()
    n_classes = len(set(y.tolist())) if dataset.task == CLASSIFICATION else 0
    shape = DataShape(len(y), dataset.features.shape[1], n_classes)
    model = strategy.assemble(shape, random_state=0)
    X = model[0].fit_transform(dataset.features, y)
    base = model[-1]
    if hasattr(base, "regressor"):
        return X, (y - y.mean()) / y.std(), base.regressor
    return X, y, base


def timed(kind: type, base: Any, grid: Any, folds: Any, X: Any, y: Any) -> tuple[Any, float]:
    """Search without the final fit; return the search and the CPU seconds."""
    new = kind(clone(base.estimator), grid, cv=folds, scoring=base.scoring, refit=False)
    begun = time.process_time()
    return new.fit(X, y), time.process_time() - begun


def search(strategy: Any, dataset: Dataset, whole: bool) -> Measured:
    """Run both searches on a prepared table."""
    X, y, base = prepared(strategy, dataset)
    grid, folds = grid_of(strategy, dataset, whole), clone(base.cv)
    if strategy.name.startswith(THREE_FOLDS):
        folds.set_params(n_splits=3)
    seconds = {GridSearchCV: [], SharingGridSearchCV: []}
    for _ in range(ROUNDS):
        found = []
        for kind, times in seconds.items():
            one, taken = timed(kind, base, grid, folds, X, y)
            found.append(one)
            times.append(taken)
        if seconds[GridSearchCV][0] > SHORT:
            break
    plain, sharing = (one.cv_results_ for one in found)
    splits = [key for key in plain if key.startswith("split")]
    gaps = [np.abs(plain[key] - sharing[key]) for key in splits]
    return Measured(
        strategy.name,
        dataset.name,
        *np.shape(X),
        len(plain["params"]),
        *map(statistics.median, seconds.values()),
        same=found[0].best_params_ == found[1].best_params_
        and np.array_equal(plain["rank_test_score"], sharing["rank_test_score"]),
        difference=float(np.nanmax(gaps)) if np.isfinite(gaps).any() else 0.0,
        alone=found[1].sharing_["plain"],
        whole=all(len(grid[k]) == len(v) for k, v in strategy.param_grid.items()),
    )


# ---- cells


def cell(strategy: Any, dataset: Dataset) -> Measured:
    """Run a cell of a study with plain and with shared work."""
    truth, classes = encode_target(dataset.labels, dataset.task)
    split = make_split(truth, dataset.task, key=dataset.name)
    key, rows = Cell(dataset.name, strategy.name), split.rows(0, 0)
    table = FoldTable.of(dataset, classes)
    outcomes, seconds = [], []
    for share in (False, True):
        new = clone(strategy).set_params(share_work=share)
        begun = time.process_time()
        outcome = run_cell(key, lambda new=new: new, table, rows, cell_seed(0, key), CellOptions())
        seconds.append(time.process_time() - begun)
        outcomes.append(outcome)
    plain, sharing = (outcome.details for outcome in outcomes)
    return Measured(
        strategy.name,
        dataset.name,
        len(rows[0]),
        dataset.features.shape[1],
        sharing.get("candidates", 1),
        *seconds,
        same=plain.get("best_params") == sharing.get("best_params")
        and np.array_equal(*(outcome.predictions for outcome in outcomes)),
        difference=abs((plain.get("tuning_score") or 0) - (sharing.get("tuning_score") or 0)),
        alone=0,
        whole=True,
    )


# ---- samples of cells


def sampled(strategy: Any, dataset: Dataset) -> Measured:
    """Search one fold, plain for a sample of the candidates, and multiply the seconds."""
    X, y, base = prepared(strategy, training_part(dataset))
    folds = list(base.cv.split(X, y))
    points = list(ParameterGrid(strategy.param_grid))
    picked = sample_of(strategy, dataset.name, len(points))
    few = [{name: [value] for name, value in points[i].items()} for i in picked]
    plain, plain_seconds = timed(GridSearchCV, base, few, folds[:1], X, y)
    shared, shared_seconds = timed(SharingGridSearchCV, base, strategy.param_grid, folds[:1], X, y)
    best = clone(base.estimator).set_params(**shared.best_params_)
    begun = time.process_time()
    best.fit(X, y)
    final = time.process_time() - begun
    got = shared.cv_results_["mean_test_score"][picked]
    difference = np.abs(got - plain.cv_results_["mean_test_score"]).max()
    times = plain.cv_results_["mean_fit_time"] + plain.cv_results_["mean_score_time"]
    factor = len(folds) * len(points) / len(picked)
    left_out = 1 - len(picked) / len(points)
    spread = times.std(ddof=1) / times.mean() * np.sqrt(left_out / len(picked))
    return Measured(
        strategy.name,
        dataset.name,
        len(X),
        dataset.features.shape[1],
        len(points),
        plain_seconds * factor + final,
        shared_seconds * len(folds) + final,
        same=bool(difference == 0),
        difference=float(difference),
        alone=shared.sharing_["plain"],
        whole=True,
        sample=len(picked),
        error=float(spread * plain_seconds * factor),
    )


def training_part(dataset: Dataset) -> Dataset:
    """Return the rows that a cell of a study trains on."""
    truth, _ = encode_target(dataset.labels, dataset.task)
    rows, _ = make_split(truth, dataset.task, key=dataset.name).rows(0, 0)
    return Dataset(dataset.name, dataset.frame.iloc[rows], dataset.target, dataset.task)


def sample_of(strategy: Any, table: str, n: int) -> np.ndarray:
    """Draw the candidates that are searched without sharing; each table has its own draw."""
    sizes = [size for stem, size in SAMPLES.items() if strategy.name.startswith(stem)]
    random = np.random.default_rng(crc32(table.encode()))
    return np.sort(random.permutation(n)[: min([n, *sizes])])


# ---- all


def stored(path: Path) -> list[Measured]:
    """Return the stored measurements."""
    if not path.exists():
        return []
    return [Measured(**json.loads(line)) for line in path.read_text().splitlines()]


def measure(asked: argparse.Namespace) -> None:
    """Measure what is not stored yet."""
    done = {(m.strategy, m.table) for m in stored(asked.results)}
    strategies = instantiate_default_estimators(asked.strategies)
    for kind in (GridSearchCV, SharingGridSearchCV):  # imports what the first use would
        kind(KNeighborsClassifier(), {"n_neighbors": [1, 2]}).fit([[0.0], [1.0]] * 99, [0, 1] * 99)
    begun = time.monotonic()
    for name in asked.sampled or asked.cells or asked.tables:
        dataset = load(name)
        for strategy in strategies:
            if dataset.task not in strategy.tasks or (strategy.name, name) in done:
                continue
            if asked.sampled and not strategy.param_grid:
                continue
            if time.monotonic() - begun > asked.within:
                return
            with asked.results.open("a") as file:
                file.write(json.dumps(vars(one_of(asked, strategy, dataset))) + "\n")


def one_of(asked: argparse.Namespace, strategy: Any, dataset: Dataset) -> Measured:
    """Measure one strategy on one table in the requested way."""
    if asked.sampled:
        return sampled(strategy, dataset)
    return cell(strategy, dataset) if asked.cells else search(strategy, dataset, asked.whole)


def show(measured: list[Measured], by_table: bool) -> None:
    """Print the table, and for cells the sums."""
    print("| strategy | table | candidates | plain s | shared s | ratio | largest difference |")
    print("|---|---|---:|---:|---:|---:|---|")
    for one in sorted(measured, key=lambda m: (m.strategy, m.rows)):
        print(one.line())
    for name in dict.fromkeys(m.table for m in measured) if by_table else ():
        show_sum(name, [m for m in measured if m.table == name])
    show_sum("all", measured)


def show_sum(name: str, measured: list[Measured]) -> None:
    """Print sums of seconds."""
    plain, shared = (sum(getattr(m, kind) for m in measured) for kind in ("plain", "shared"))
    same = sum(m.same for m in measured)
    print(
        f"{name}: {plain:.1f} s plain, {shared:.1f} s shared, ratio {plain / shared:.2f}; "
        f"the same choice in {same} of {len(measured)}"
    )


def show_samples(measured: list[Measured]) -> None:
    """Print the estimates from samples, by strategy and by dataset, small ones first."""
    measured = sorted(measured, key=lambda m: m.rows)
    for name in ("strategy", "table"):
        print(f"| {name} | cells | plain s | standard error | shared s | ratio | equal scores |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        for one in dict.fromkeys(getattr(m, name) for m in measured):
            print(sample_line(one, [m for m in measured if getattr(m, name) == one]))
        print(sample_line("all", measured), "\n")


def sample_line(name: str, measured: list[Measured]) -> str:
    """Return a row of sums."""
    plain, shared = (sum(getattr(m, kind) for m in measured) for kind in ("plain", "shared"))
    error = sum(m.error**2 for m in measured) ** 0.5
    n_scores, n_equal = sum(m.sample for m in measured), sum(m.sample for m in measured if m.same)
    return (
        f"| {name} | {len(measured)} | {plain:,.1f} | {error:,.1f} | {shared:,.1f} | "
        f"{plain / shared:.1f} | {n_equal:,} of {n_scores:,} |"
    )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, required=True, help="file of measurements")
    parser.add_argument("--strategies", nargs="+")
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--cells", nargs="+", metavar="DATASET", help="whole cells, of the starter")
    parser.add_argument("--sampled", nargs="+", metavar="DATASET", help="samples of such cells")
    parser.add_argument("--whole", action="store_true", help="grids as the strategies have them")
    parser.add_argument("--within", type=float, default=np.inf, metavar="SECONDS")
    asked = parser.parse_args()
    cells = bool(asked.cells or asked.sampled)
    asked.strategies = asked.strategies or (["Classification"] if cells else STRATEGIES)
    warnings.simplefilter("ignore")
    measure(asked)
    if asked.sampled:
        show_samples(stored(asked.results))
    else:
        show(stored(asked.results), bool(asked.cells))


if __name__ == "__main__":
    main()
