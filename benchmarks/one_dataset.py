"""Measure how often the verdicts on one dataset are wrong, and what they show.

A large table is the population. A sample of 100, 300 or 1,000 of its rows is compared as a study of
one dataset is: five learners, two of which differ in their seed alone, so that neither is better.
For each split the script counts the samples in which the main test calls one of these two worse
than the other (or a pair wrongly ordered, by the mean error on other rows of the population, where
its sign is sure), and the pairs of known order that it shows. Beside it stand the 5x2cv F test, the
t-test that ignores what folds share, and the Bayesian correlated t-test with probability 0.95, each
with and without Holm's correction.

    OMP_NUM_THREADS=1 nice -n 15 python benchmarks/one_dataset.py run 1200 DRAWS  # seconds
    OMP_NUM_THREADS=1 nice -n 15 python benchmarks/one_dataset.py run 700 OTHERS "holdout(1/3)"
    python benchmarks/one_dataset.py tables DRAWS benchmarks/results

The tables are those of `error_intervals.py` for classification. Rounds continue after stored ones.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import error_intervals
import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mlaut.analysis import Results
from mlaut.analysis.deciding.one_dataset import FIVE_BY_TWO, REGION, OneDataset
from mlaut.analysis.methods.cross_validation import cv_p_values
from mlaut.analysis.pairwise import adjust
from mlaut.data.splits.resampling import make_split
from mlaut.records import CLASSIFICATION, Block, Status

SPLITS = ("kfold(10)", "repeated_kfold(10, 3)", "repeated_kfold(2, 5)", "holdout(1/3)")
SIZES = (100, 300, 1000)
METRICS = ("accuracy", "log_loss")
TESTED = 1500  # other rows of the population, for the true error


def learners(seed: int) -> dict[str, Any]:
    """Return the learners; the two bags differ in their seed alone."""
    tree = DecisionTreeClassifier(max_features="sqrt", min_samples_leaf=3)
    bags = {f"bag {i}": BaggingClassifier(tree, 8, random_state=2 * seed + i) for i in (0, 1)}
    others = {"linear": LogisticRegression(max_iter=300), "neighbours": KNeighborsClassifier(7)}
    scaled = {name: make_pipeline(StandardScaler(), one) for name, one in others.items()}
    return {**bags, **scaled, "Bayes": GaussianNB(), "constant": DummyClassifier()}


def block_of(X: np.ndarray, y: np.ndarray, scheme: str, seed: int) -> Block:
    """Return the predictions of the learners on a split of a sample."""
    classes, truth = np.unique(y, return_inverse=True)
    split = make_split(truth.astype(np.int32), CLASSIFICATION, scheme, seed=seed)
    models = learners(seed)
    shape = (len(models), split.n_repeats, len(y))
    probabilities = np.full((*shape, len(classes)), np.nan, np.float32)
    for place, model in enumerate(models.values()):
        for number, (train, test) in enumerate(split):
            fitted = model.fit(X[train], truth[train])
            shares = np.zeros((len(test), len(classes)))
            shares[:, fitted.classes_] = np.clip(fitted.predict_proba(X[test]), 1e-3, None)
            shares /= shares.sum(axis=1, keepdims=True)
            probabilities[place, number // split.n_folds, test] = shares
    tested = ~np.isnan(probabilities[..., 0])
    labels = np.where(tested, np.nan_to_num(probabilities).argmax(axis=-1), -1).astype(np.int32)
    status = np.full((*shape[:2], split.n_folds), Status.DONE, dtype=np.uint8)
    seconds = np.full((*status.shape, 3), np.nan)
    about = ("sample", CLASSIFICATION, "", tuple(models), tuple(classes), truth.astype(np.int32))
    return Block(*about, split, status, labels, probabilities, seconds)


def truth_of(X: np.ndarray, y: np.ndarray, others: Any, seed: int) -> dict[str, np.ndarray]:
    """Return losses of the learners on other rows, each trained on nine tenths of the sample."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(y))[: int(0.9 * len(y))]
    classes = np.unique(y[rows])
    lost: dict[str, list[float]] = {name: [] for name in METRICS}
    far, marks = others
    place = np.searchsorted(classes, marks).clip(0, len(classes) - 1)
    known = classes[place] == marks
    for model in learners(seed).values():
        shares = np.clip(model.fit(X[rows], y[rows]).predict_proba(far), 1e-3, None)
        shares /= shares.sum(axis=1, keepdims=True)
        lost["accuracy"].append(float((classes[shares.argmax(axis=1)] != marks).mean()))
        own = np.where(known, shares[np.arange(len(marks)), place], 1e-3)
        lost["log_loss"].append(float(-np.log(own).mean()))
    return {name: np.array(values) for name, values in lost.items()}


def claims_of(block: Block, metric: str) -> dict[str, np.ndarray]:
    """Return for each way to test the pairs its claims: 1 first better, -1 second, 0 none."""
    results = Results.from_blocks([block], metric)
    one = OneDataset.of(results)
    if one.problem:
        return {}
    tests, sign = one.tests("joint", 0.0), -np.sign(one.gaps.value)
    pairs = one.pairs
    p = {one.test: next(iter(tests.values())).to_frame()["p_value"].to_numpy()}
    p[f"{one.test}, Holm"] = one.tests("holm", 0.0)[one.test].to_frame()["p_value"].to_numpy()
    for key in (FIVE_BY_TWO, "k-fold", "use all data"):
        if key in tests:
            p[f"{key}, Holm"] = tests[key].to_frame()["p_value"].to_numpy()
    if block.split.n_folds > 1:
        cells = results.cell_losses[0]
        apart = cells[pairs.first] - cells[pairs.second]
        naive = cv_p_values(np.swapaxes(apart, 1, 2)[..., :1], "k-fold", df="default")
        p["uncorrected t, Holm"] = np.asarray(adjust(naive, "holm"))
        p["uncorrected t, no correction"] = naive
    region = tests[REGION].to_frame()["P(row better)"].to_numpy()
    sure = np.where(region > 0.95, 1, np.where(region < 0.05, -1, 0))
    claimed = {name: np.where(values <= 0.05, sign, 0) for name, values in p.items()}
    return claimed | {"Bayesian correlated t, P > .95": sure}


def run(seconds: float, folder: Path, *splits: str) -> None:
    """Run rounds over the populations until the time is over; default all splits."""
    error_intervals.MOST_ROWS, end = 20_000, time.monotonic() + seconds
    folder.mkdir(parents=True, exist_ok=True)
    tables = [x for x in error_intervals.populations() if x[1] == error_intervals.CLASSES]
    for round_ in range(10_000):
        path = folder / f"{round_}.pkl"
        if path.exists():
            continue
        rows = []
        for place, (name, _, X, y) in enumerate(tables):
            n, seed = SIZES[(round_ + place) % len(SIZES)], 1000 * round_ + place
            order = np.random.default_rng(seed).permutation(len(y))
            sample, others = order[:n], order[n : n + TESTED]
            if time.monotonic() > end:
                return
            if np.unique(y[sample], return_counts=True)[1].min() < 3:
                continue
            own = X[sample], y[sample]
            true = truth_of(*own, (X[others], y[others]), seed)
            schemes = SPLITS if n < 1000 or round_ % 2 else (SPLITS[0], SPLITS[3])
            for scheme in splits or schemes:
                block = block_of(*own, scheme, seed)
                for metric in METRICS:
                    for test, claims in claims_of(block, metric).items():
                        about = {"table": name, "n": n, "split": scheme, "metric": metric}
                        rows.append({**about, "test": test, "claims": claims, "true": true[metric]})
        pd.DataFrame(rows).to_pickle(path)


def tables(folder: Path, output: Path) -> None:
    """Write the counts of all stored rounds."""
    frame = pd.concat([pd.read_pickle(path) for path in sorted(folder.glob("*.pkl"))])
    first, second = np.triu_indices(len(frame["true"].iloc[0]), 1)
    apart = np.stack(frame["true"])[:, first] - np.stack(frame["true"])[:, second]
    frame["apart"] = list(apart)
    key = ["table", "n", "metric"]
    sure = {}
    for group, part in frame.drop_duplicates([*key, "split", "test"]).groupby(key):
        values = np.unique(np.stack(frame.set_index(key).loc[[group], "apart"]), axis=0)
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 3 else np.inf
        mean = values.mean(axis=0)
        sure[group] = np.where(np.abs(mean) > 3 * error, -np.sign(mean), 0)
        del part
    order = np.stack([sure[tuple(row)] for row in frame[key].to_numpy()])
    order[:, 0] = 0  # the two bags: neither is better
    claims = np.stack(frame["claims"])
    frame["equal called worse"] = claims[:, 0] != 0
    frame["any wrong"] = frame["equal called worse"] | (claims * order < 0).any(axis=1)
    frame["shown"] = (claims * order > 0).sum(axis=1)
    frame["known"] = (order != 0).sum(axis=1)
    parts = [_row(key, part) for key, part in frame.groupby(["split", "test"])]
    parts += [_row(key, part) for key, part in frame.groupby(["split", "test", "metric", "n"])]
    table = pd.DataFrame(parts)
    table.to_csv(output / "one_dataset.csv", index=False)
    print(table.to_string())


def _row(key: tuple[Any, ...], part: pd.DataFrame) -> dict[str, Any]:
    """Return a row of the table, in percent: of samples, and of pairs whose order is known."""
    split, test, *rest = key
    metric, n = rest or ("both", "all")
    wrong = part[["equal called worse", "any wrong"]].mean() * 100
    known = max(int(part["known"].sum()), 1)
    return {
        "split": split,
        "test": test,
        "metric": metric,
        "rows": n,
        "samples": len(part),
        "one of two equals called worse": f"{wrong.iloc[0]:.1f}",
        "any pair wrongly ordered": f"{wrong.iloc[1]:.1f}",
        "pairs of known order that are shown": f"{100 * part['shown'].sum() / known:.0f}",
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1] == "run":
        run(float(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
    else:
        tables(Path(sys.argv[2]), Path(sys.argv[3]))
