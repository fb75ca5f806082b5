"""Measure bias and coverage of the honest score of searches on tables with nothing to learn.

Features and classes are independent, and the classes are drawn like a fair coin, so that every
model is right half of the time on new rows. `mlaut.sharing.GridSearchCV` chooses among 100
candidates on 5 folds. The folds are not stratified: on a table without information, stratified
folds make every score too good or too bad, even that of a single candidate. The bias is in standard
errors of one candidate, the square root of 1 / 4n. It prints a table in Markdown, which
docs/intervals.md holds.

    OMP_NUM_THREADS=1 nice -n 10 python benchmarks/honest_score.py 100 > honest.md
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from mlaut.sharing import GridSearchCV

SEARCHES: dict[str, tuple[Any, dict[str, Any]]] = {
    "nearest neighbours": (
        KNeighborsClassifier(),
        {"n_neighbors": list(range(1, 51)), "p": [1, 2]},
    ),
    "decision tree": (
        DecisionTreeClassifier(random_state=0),
        {"max_depth": list(range(1, 11)), "min_samples_leaf": list(range(1, 11))},
    ),
    "support vector machine": (
        SVC(),
        {"C": np.logspace(-2, 3, 10).tolist(), "gamma": np.logspace(-3, 1, 10).tolist()},
    ),
}


def measured(name: str, n: int, tables: int) -> np.ndarray:
    """Return best score, honest score, and ends of its interval: shape (tables, 4)."""
    model, grid = SEARCHES[name]
    rows = []
    for table in range(tables):
        rng = np.random.default_rng([n, table])
        X, y = rng.normal(size=(n, 10)), rng.integers(0, 2, n)
        folds = KFold(5, shuffle=True, random_state=table)
        search = GridSearchCV(model, grid, cv=folds, refit=False).fit(X, y)
        rows.append((search.best_score_, search.honest_score_, *search.honest_interval_))
    return np.array(rows)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    tables = int(sys.argv[1])
    print("| candidates | n | tables | bias of the best score | of the honest score | coverage |")
    print("|---|---|---|---|---|---|")
    found = {}
    for name in SEARCHES:
        for n in (100, 200):
            rows = found[name, n] = measured(name, n, tables)
            rows = np.column_stack([(rows[:, :2] - 0.5) * np.sqrt(4 * n), rows[:, 2:]])
            found[name, n] = rows
    for (name, n), rows in [*found.items(), (("all", ""), np.concatenate([*found.values()]))]:
        bias, error = rows[:, :2].mean(axis=0), rows[:, 1].std(ddof=1) / np.sqrt(len(rows))
        covers = ((rows[:, 2] <= 0.5) & (rows[:, 3] >= 0.5)).mean()
        print(
            f"| {name} | {n} | {len(rows)} | {bias[0]:.2f} | {bias[1]:.2f} ± {error:.2f} "
            f"| {100 * covers:.1f} % |",
            flush=True,
        )
