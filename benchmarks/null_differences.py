"""Compute the accuracy differences on datasets on which neither learner is better.

As in Bouckaert (2003), section 4, there are 1,000 datasets of 300 rows with ten independent fair
binary attributes and an independent fair class. Naive Bayes is compared with an unpruned tree by
stratified 10 x 10-fold cross-validation. The script takes about six minutes on one core; its result
is stored in tests/analysis/data.

    python benchmarks/null_differences.py null_differences.npz
"""

import sys

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier


def differences(seed: int, folds: int = 10, runs: int = 10) -> np.ndarray:
    """Return by how many of the 30 test rows of each fold naive Bayes is more often right."""
    rng = np.random.default_rng(seed)
    rows = (rng.random((300, 10)) < 0.5).astype(np.float32)
    labels = (rng.random(300) < 0.5).astype(int)
    table = np.zeros((folds, runs), dtype=np.int8)
    for run in range(runs):
        splitter = StratifiedKFold(folds, shuffle=True, random_state=int(rng.integers(2**31)))
        for fold, (train, test) in enumerate(splitter.split(rows, labels)):
            bayes = BernoulliNB().fit(rows[train], labels[train])
            tree = DecisionTreeClassifier(min_samples_leaf=2, random_state=0)
            tree.fit(rows[train], labels[train])
            right = [(m.predict(rows[test]) == labels[test]).sum() for m in (bayes, tree)]
            table[fold, run] = int(right[0]) - int(right[1])
    return table


if __name__ == "__main__":
    np.savez_compressed(sys.argv[1], correct=np.array([differences(s) for s in range(1000)]))
