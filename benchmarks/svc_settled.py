"""Measure whether the dual gap settles all labels of a fold before the solver of an SVC stops.

Machines of two classes are fitted at three tolerances; the last is scikit-learn's. If g is the gap
between their primal and dual objective, no later decision differs by more than the root of 8 g,
apart from the bias. A fold is settled if all its decisions are larger.

    python benchmarks/svc_settled.py haberman-survival teaching breast-cancer
"""

import sys
import warnings

import numpy as np
from bench_sharing import load, prepared, training_part
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mlaut.estimators import as_strategies

TOLERANCES = 0.1, 0.01, 0.001
GAMMAS = 0.001, 0.01, 0.1, 1, 10
PENALTIES = 0.01, 0.1, 1, 10, 100, 1000, 10_000


def two_classes(table: str) -> tuple[np.ndarray, ...]:
    """Return the rows and classes of the first tuning fold: training rows, and test rows."""
    (strategy,) = as_strategies("SVC")
    X, y, base = prepared(strategy, training_part(load(table)))
    chosen = np.isin(y, np.unique(y)[:2])
    X, y = X[chosen], y[chosen]
    train, test = next(base.cv.split(X, y))
    return X[train], np.where(y[train] == y.max(), 1.0, -1.0), X[test]


def gap_of(machine: SVC, kernel: np.ndarray, signs: np.ndarray) -> float:
    """Return the primal objective, with the best bias, minus the dual one."""
    weights = np.zeros(len(signs))
    weights[machine.support_] = machine.dual_coef_[0]
    decisions = kernel @ weights
    biases = [*(signs - decisions), *machine.intercept_]  # one of the kinks is the best
    slack = min(np.maximum(0, 1 - signs * (decisions + bias)).sum() for bias in biases)
    return max(0.0, weights @ decisions + machine.C * slack - np.abs(weights).sum())


def main() -> None:
    """Print a row for each table and C: over all gammas, steps, settled folds, bounds, labels."""
    warnings.simplefilter("ignore")
    columns = ("table", "C", "steps", "folds settled", "median bound", "median of least decision")
    print(f"| {' | '.join(columns)} | folds with other labels than at the end |")
    print("|---|---:|---|---|---|---:|---|")
    for table in sys.argv[1:]:
        train, signs, test = two_classes(table)
        kernels = [rbf_kernel(train, gamma=gamma) for gamma in GAMMAS]
        for C in PENALTIES:
            steps, bounds = np.empty((2, len(GAMMAS), len(TOLERANCES)))
            decisions = np.empty((len(GAMMAS), len(TOLERANCES), len(test)))
            for i, gamma in enumerate(GAMMAS):
                for j, tolerance in enumerate(TOLERANCES):
                    machine = SVC(C=C, gamma=gamma, tol=tolerance).fit(train, signs)
                    steps[i, j] = machine.n_iter_.sum()
                    bounds[i, j] = np.sqrt(8 * gap_of(machine, kernels[i], signs))
                    decisions[i, j] = machine.decision_function(test)
            least = np.abs(decisions).min(axis=2)
            other = ((decisions > 0) != (decisions[:, -1:] > 0)).any(axis=2)
            numbers = (
                " / ".join(f"{n:,.0f}" for n in steps.sum(axis=0)),
                " / ".join(f"{n}" for n in (least > bounds).sum(axis=0)),
                " / ".join(f"{n:.2g}" for n in np.median(bounds, axis=0)),
                f"{np.median(least[:, -1]):.2g}",
                " / ".join(f"{n}" for n in other.sum(axis=0)),
            )
            print(f"| {table} | {C:g} | {' | '.join(numbers)} |")


if __name__ == "__main__":
    main()
