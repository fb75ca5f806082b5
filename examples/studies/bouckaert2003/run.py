"""Run naive Bayes, trees and nearest neighbours on simulated datasets, as in Bouckaert (2003).

Neither learner is better on ``null``; on the others a tree beats naive Bayes by more and more::

    OMP_NUM_THREADS=1 python run.py --jobs 2

Run it again after an interruption, or with other numbers of datasets: it goes on. `read.py` makes
the tables and figures.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from simulated import null_table, simulate_study
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from mlaut.estimators import Generic_Estimator

ESTIMATORS = {
    "naive Bayes": BernoulliNB(),
    "tree": DecisionTreeClassifier(min_samples_leaf=2),
    "nearest neighbour": KNeighborsClassifier(1),
    "pruned tree": DecisionTreeClassifier(min_samples_leaf=2, ccp_alpha=0.012),
}
ALL = tuple(ESTIMATORS)
TWO = ("naive Bayes", "tree")
KFOLD = "repeated_kfold(10, 10)"
UNSTRATIFIED = "kfold(10, stratify=False)"
HALVES = "repeated_kfold(2, 10)"
FEW, MANY = "repeated_holdout(0.1, 20)", "repeated_holdout(0.1, 100)"


def rule_table(generator: np.random.Generator, flipped: float = 0.5) -> pd.DataFrame:
    """Draw 300 rows whose class is that of x2 where x1 is set and that of x3 elsewhere.

    A tree can learn this and naive Bayes can not: it is right wherever x2 and x3 agree, and guesses
    elsewhere. ``flipped`` is the probability that a class is turned round: the larger, the less
    there is to learn, and nothing at 0.5.
    """
    table = null_table(generator)
    rule = np.where(table["x1"] == 1, table["x2"], table["x3"]) == 1
    table["class"] = np.where(rule ^ (generator.random(len(table)) < flipped), "a", "b")
    return table


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One study: some strategies on some simulated datasets under one scheme of splits."""

    name: str
    scheme: str
    n_datasets: int
    flipped: float = 0.5
    strategies: tuple[str, ...] = TWO

    def run(self, folder: Path, most: int, **options: Any) -> str:
        """Run what is not done yet and say how many cells are."""
        summary = simulate_study(
            folder / f"{self.name}.h5",
            [
                Generic_Estimator(ESTIMATORS[name], name=name, preprocessing=None)
                for name in self.strategies
            ],
            null_table if self.flipped == 0.5 else partial(rule_table, flipped=self.flipped),
            n_datasets=min(self.n_datasets, most),
            scheme=self.scheme,
            **options,
        )
        return f"{self.name}: {summary.n_cells} cells, {summary.n_done} done"


PLANS = (
    Plan(name="set1", scheme=KFOLD, n_datasets=200, strategies=ALL),
    Plan(name="set2", scheme=KFOLD, n_datasets=60, flipped=0.2),
    Plan(name="set3", scheme=KFOLD, n_datasets=60, flipped=0.15),
    Plan(name="set4", scheme=KFOLD, n_datasets=60, flipped=0.1),
    Plan(name="set1_halves", scheme=HALVES, n_datasets=200),
    Plan(name="set2_halves", scheme=HALVES, n_datasets=60, flipped=0.2),
    Plan(name="set3_halves", scheme=HALVES, n_datasets=60, flipped=0.15),
    Plan(name="set4_halves", scheme=HALVES, n_datasets=60, flipped=0.1),
    Plan(name="set2_splits", scheme=FEW, n_datasets=60, flipped=0.2),
    Plan(name="set3_splits", scheme=MANY, n_datasets=60, flipped=0.15),
    Plan(name="set4_splits", scheme=FEW, n_datasets=60, flipped=0.1),
    Plan(name="set1_splits", scheme=MANY, n_datasets=40),
    Plan(name="set1_unstratified", scheme=UNSTRATIFIED, n_datasets=50, strategies=ALL),
    Plan(name="again_halves", scheme="repeated_kfold(2, 50)", n_datasets=8, flipped=0.15),
    Plan(name="again", scheme="repeated_kfold(10, 100)", n_datasets=8, flipped=0.15),
)


def main(arguments: Sequence[str] | None = None, say: Callable[[str], object] = print) -> None:
    """Run every study, or those that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="studies to run; default all")
    parser.add_argument("--to", type=Path, default=Path(), help="folder of the studies")
    parser.add_argument("--datasets", type=int, default=10**6, help="run so many of each at most")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args(arguments)
    for plan in PLANS:
        if not given.names or plan.name in given.names:
            say(plan.run(given.to, given.datasets, n_jobs=given.jobs))


if __name__ == "__main__":
    main(sys.argv[1:])
