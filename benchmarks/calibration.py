"""Measure the degrees of freedom at which tests on cross-validation hold their level.

As in Bouckaert (2003), section 4, naive Bayes is compared with a tree on 1,000 datasets of 300 rows
with ten fair binary attributes and an independent fair class, by stratified 10 x 10-fold
cross-validation. All 200,000 cells run through the orchestrator, like those of any study: half an
hour on two cores. After an interruption the same command continues; ``--datasets`` may grow.

    OMP_NUM_THREADS=1 python benchmarks/calibration.py null.h5 --datasets 1000
"""

import argparse
import sys
from pathlib import Path

from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier

from mlaut.analysis import Results
from mlaut.analysis.methods.cross_validation import cv_differences
from mlaut.estimators import Generic_Estimator

sys.path.append(str(Path(__file__).parents[1] / "examples" / "studies" / "bouckaert2003"))
from measures import calibrate, rejection_rates
from simulated import simulate_study

STRATEGIES = [
    Generic_Estimator(BernoulliNB(), name="naive Bayes", preprocessing=None),
    Generic_Estimator(
        DecisionTreeClassifier(min_samples_leaf=2), name="unpruned tree", preprocessing=None
    ),
]

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study")
    parser.add_argument("--datasets", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    print(simulate_study(given.study, STRATEGIES, n_datasets=given.datasets, n_jobs=given.jobs))
    differences = cv_differences(Results.from_study(given.study, "accuracy"))
    print(f"mean difference {differences.mean():.4f}, {differences.shape} test sets")
    calibration = calibrate(differences)
    print(calibration, calibration.sentence(), sep="\n")
    for df in (10, "default"):
        print(rejection_rates(differences, ["use all data", "corrected repeated k-fold"], df=df))
