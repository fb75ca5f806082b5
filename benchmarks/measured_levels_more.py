"""Measure type I errors and coverages that benchmarks/measured_levels.py leaves to this file.

These are tests on cross-validation and resampling, Bayesian tests and those of Lacoste, Laviolette
and Marchand, tests on a single test set, and intervals for scenario (b), for risks and for shares.
A Bayesian test "rejects" at level alpha if one of its probabilities exceeds 1 - alpha / 2; it
promises no type I error, so the table shows the observed one. The script writes two tables in
Markdown for docs/measured-levels.md. It takes about six minutes on one core with 1,000 samples, the
default.

    OMP_NUM_THREADS=1 python benchmarks/measured_levels_more.py 1000 > more_levels.md
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from measured_levels import (
    CONFIDENCES,
    LEVELS,
    _covers,
    _frame,
    _markdown,
    _results,
    normal,
    skewed,
    tied,
)
from null_differences import differences
from scipy.special import ndtri
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier

from mlaut.analysis import Results, dataset_estimates
from mlaut.analysis.methods.bayes import (
    correlated_t_probabilities,
    sign_probabilities,
    signed_rank_probabilities,
)
from mlaut.analysis.methods.cross_validation import CV_TESTS, cv_interval, cv_p_values
from mlaut.analysis.methods.frequentist import mcnemar_p, ranksum_test
from mlaut.analysis.methods.lacoste import (
    bootstrap_prob_better,
    langford_bounds,
    poisson_binomial_share,
    prob_better_classifier,
    risk_posterior,
)
from mlaut.records import CLASSIFICATION, Block, Split, Status

sys.path.append(str(Path(__file__).parents[1] / "examples" / "studies" / "lacoste2012"))
from contexts import CONTEXT_TESTS, MULTIPLE, SINGLE, Context

STORED = (
    Path(__file__).parents[1] / "tests" / "analysis" / "data" / "bouckaert_null_differences.npz"
)
Row = tuple[tuple[str, str, object], list[float]]


def _rates(p: np.ndarray) -> list[float]:
    return [float((p <= level).mean()) for level in LEVELS]


def _two_sided(probabilities: np.ndarray) -> np.ndarray:
    """Return p-values that match probabilities (..., first better, [equivalent,] second better)."""
    return 2 * (1 - np.maximum(probabilities[..., 0], probabilities[..., -1]))


# ------------------------------------------------------------- cross-validation


def of_folds(times: int) -> Iterator[Row]:
    """Yield rates for naive Bayes against an unpruned tree on data with nothing to learn."""
    with np.load(STORED) as stored:
        full = stored["correct"][:times] / 30
    halves = np.array([differences(seed, folds=2, runs=5) for seed in range(times)]) / 150
    where = "tree, naive Bayes"
    for test in CV_TESTS.values():
        if test.resampling:
            continue
        x, scheme = (halves, "5 x 2") if test.name.startswith("5x2cv") else (full, "10 x 10")
        if test.calibrated:
            yield (f"{test.name}, df calibrated", where, scheme), _rates(cv_p_values(x, test.name))
        p = cv_p_values(x, test.name, "default")
        yield (f"{test.name}, df default", where, scheme), _rates(p)
    bayes = _two_sided(correlated_t_probabilities(full))
    yield ("Bayesian correlated t", where, "10 x 10"), _rates(bayes)
    random = np.array([random_splits(seed) for seed in range(max(times * 3 // 10, 2))])
    for n in (10, 100):
        splits = random[:, :n]
        for name, ratio in (("resampling", None), ("corrected resampling", 1 / 9)):
            for df in ("calibrated", "default"):
                p = cv_p_values(splits, name, df, ratio)
                yield (f"{name}, df {df}", where, f"{n} splits"), _rates(p)


def random_splits(seed: int) -> np.ndarray:
    """Return differences on 100 random splits of a null dataset that test a tenth of the rows."""
    rng = np.random.default_rng([7, seed])
    rows = (rng.random((300, 10)) < 0.5).astype(np.float32)
    labels = (rng.random(300) < 0.5).astype(int)
    splitter = StratifiedShuffleSplit(100, test_size=30, random_state=seed)
    learners = BernoulliNB(), DecisionTreeClassifier(min_samples_leaf=2, random_state=0)
    right = [
        [(m.fit(rows[a], labels[a]).predict(rows[b]) == labels[b]).mean() for m in learners]
        for a, b in splitter.split(rows, labels)
    ]
    return np.diff(np.array(right), axis=1)[:, 0]


# ---------------------------------------------------------------- over datasets


def of_datasets(times: int, seed: int) -> Iterator[Row]:
    """Yield rates of Bayesian tests over datasets, and of the rank-sum test on paired losses."""
    for draw in (normal, skewed, tied):
        for n in (10, 30):
            rng = np.random.default_rng([seed, n])
            tables = [draw(rng, (n, 2)) for _ in range(times)]
            d = np.stack([table[:, 0] - table[:, 1] for table in tables], axis=1)
            sampled = signed_rank_probabilities(d, n_samples=4000)[0]
            unpaired = [
                ranksum_test(_results(t)).value("p_value", "s0", "s1") for t in tables[:400]
            ]
            where = f"{draw.__name__}, 2 strategies"
            yield ("Bayesian sign", where, n), _rates(_two_sided(sign_probabilities(d)[0]))
            yield ("Bayesian signed rank", where, n), _rates(_two_sided(sampled))
            yield ("rank-sum (unpaired)", where, n), _rates(np.array(unpaired))


def of_hierarchies(times: int, seed: int) -> Iterator[Row]:
    """Yield rates of the hierarchical test if the datasets' differences are symmetric about 0."""
    from mlaut_extras import hierarchical_probabilities

    for n, spread in ((10, 0.0), (10, 2.0)):
        rng = np.random.default_rng([seed, n])
        p = []
        for _ in range(times):
            mean = spread * rng.standard_normal(n) + rng.standard_normal(n)
            found = hierarchical_probabilities(mean, np.ones(n), np.full(n, 99.0))[0]
            p.append(_two_sided(np.asarray(found)))
        where = f"deviations {spread:g} between, 1 within"
        yield ("Bayesian hierarchical", where, n), _rates(np.array(p))


NEITHER = Context("neither", np.array([[100.0, 100, 800]]), np.ones(1), np.array([1001]))
LOPSIDED = Context(
    "lopsided",
    np.array([[100.0, 140, 9760], [1400, 1000, 7600]]),
    np.ones(2) / 2,
    np.full(2, 10_001),
)


def of_contexts(times: int, seed: int) -> Iterator[Row]:
    """Yield rates of tests in contexts in which each strategy is better on half of the datasets."""
    for context in (NEITHER, LOPSIDED):
        for n, points in ((10, 100), (10, 10_001), (30, 100), (30, 10_001)):
            draws = context.draw(10 * times, n, points, seed)
            for name, test in CONTEXT_TESTS.items():
                confidence = test(draws)[1]
                scale = 2 if name == "poisson binomial" else 1
                where = f"context {context.name}, {points} test points"
                yield (f"{name} (Lacoste)", where, n), _rates(scale * (1 - confidence))


# ---------------------------------------------------------------- on a test set


def of_test_sets(times: int, seed: int) -> Iterator[Row]:
    """Yield rates for two classifiers of the same risk, and two regressors of the same loss."""
    for n in (50, 200, 1000):
        rng = np.random.default_rng([seed, n])
        h, g, _ = rng.multinomial(n, [0.1, 0.1, 0.8], size=20 * times).T
        for method in ("mid-p", "exact", "corrected", "uncorrected"):
            yield (
                (f"McNemar, {method}", "each alone errs on 10 %", n),
                _rates(mcnemar_p(h, g, method)),
            )
        p = _two_sided(np.stack(prob_better_classifier(h, g), axis=-1))
        yield ("Theorem 4.1", "each alone errs on 10 %", n), _rates(p)
    laws: dict[str, Callable] = {
        "normal": lambda rng, size: rng.normal(size=size),
        "skewed": lambda rng, size: rng.exponential(size=size) - 1,
    }
    for law, draw in laws.items():
        for n in (20, 100):
            d = draw(np.random.default_rng([seed, n]), (times, n))
            p = _two_sided(np.stack(bootstrap_prob_better(d), axis=-1))
            yield ("Bayesian bootstrap", f"{law} loss differences", n), _rates(p)


# ------------------------------------------------------------------- coverages


def covered_folds() -> Iterator[Row]:
    """Yield coverages in scenario (b); the truth is 0 on each dataset and on the mean of ten."""
    with np.load(STORED) as stored:
        x = stored["correct"] / 30
    mean, error, _, _ = cv_interval(x)
    groups = (
        mean.reshape(-1, 10).mean(axis=1),
        np.sqrt((error.reshape(-1, 10) ** 2).sum(axis=1)) / 10,
    )
    single, means = [], []
    for confidence in CONFIDENCES:
        _, _, low, high = cv_interval(x, confidence)
        single.append(_covers(low, high, 0.0))
        half = ndtri(0.5 + confidence / 2) * groups[1]
        means.append(_covers(groups[0] - half, groups[0] + half, 0.0))
    yield ("corrected repeated k-fold, correlated t, (b)", "tree, naive Bayes", "10 x 10"), single
    yield ("mean over 10 datasets, (b)", "tree, naive Bayes", "10 x 10"), means


def covered_risks(times: int, seed: int) -> Iterator[Row]:
    """Yield coverages of one-sided bounds of the risk of a fitted classifier."""
    for rate in (0.02, 0.2):
        for n in (20, 100, 1000):
            errors = np.random.default_rng([seed, n]).binomial(n, rate, 20 * times)
            bayes = [
                float((risk_posterior(errors, n).upper_bound(1 - c) >= rate).mean())
                for c in CONFIDENCES
            ]
            langford = [
                float((langford_bounds(errors, n, 1 - c)[1] >= rate).mean()) for c in CONFIDENCES
            ]
            yield ("upper bound of the risk, equation 3", f"rate {rate:g}", n), bayes
            yield ("upper bound of the risk, Langford", f"rate {rate:g}", n), langford


def covered_shares(times: int, seed: int) -> Iterator[Row]:
    """Yield coverages for the share of datasets on which A is better (Poisson binomial)."""
    for context in (SINGLE, MULTIPLE):
        for n in (10, 30):
            draws = context.draw(times, n, 1001, seed)
            p = prob_better_classifier(draws.only_a, draws.only_b)[0]
            truth = np.where(
                draws.a_is_better == context.a_is_better, context.share, 1 - context.share
            )
            found = []
            for confidence in CONFIDENCES:
                _, low, high = poisson_binomial_share(p, confidence=confidence)
                found.append(float(np.mean((low <= truth) & (truth <= high))))
            yield ("share of datasets, Poisson binomial", f"context {context.name}", n), found


def covered_by_bootstrap(times: int, seed: int) -> Iterator[Row]:
    """Yield coverages of the bootstrap for a classifier's error rate; a strategy is a sample."""
    for rate in (0.02, 0.2):
        for n in (20, 100, 1000):
            rng = np.random.default_rng([seed, n])
            wrong = (rng.random((times, 1, n)) < rate).astype(int)
            block = Block(
                dataset="d",
                task=CLASSIFICATION,
                fingerprint="",
                strategies=tuple(f"s{i}" for i in range(times)),
                classes=("no", "yes"),
                truth=np.zeros(n, dtype=int),
                split=Split(np.zeros((1, n), dtype=np.int16), "by hand"),
                status=np.full((times, 1, 1), Status.DONE, dtype=np.uint8),
                predictions=wrong,
                probabilities=None,
                seconds=np.ones((times, 1, 1, 3)),
            )
            results = Results.from_blocks([block], "error")
            found = []
            for confidence in CONFIDENCES:
                frame = dataset_estimates(results, method="bootstrap", confidence=confidence).frame
                found.append(_covers(frame["low"], frame["high"], rate))
            yield ("error rate, (a), bootstrap", f"rate {rate:g}", n), found


def type_one_errors(times: int, seed: int = 0) -> dict:
    """Return all rates, by test, setting and size."""
    parts = (of_folds(times), of_datasets(times, seed), of_hierarchies(times // 20, seed),
             of_contexts(times, seed), of_test_sets(times, seed))  # fmt: skip
    return {key: row for part in parts for key, row in part}


def coverages(times: int, seed: int = 0) -> dict:
    """Return all coverages, by interval, truth and size."""
    parts = (covered_folds(), covered_risks(times, seed), covered_shares(times, seed),
             covered_by_bootstrap(min(times, 500), seed))  # fmt: skip
    return {key: row for part in parts for key, row in part}


if __name__ == "__main__":
    n_times = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    tables = (
        (type_one_errors(n_times), ["test", "setting", "n"], LEVELS),
        (coverages(n_times), ["interval", "truth", "n"], CONFIDENCES),
    )
    for rows, names, columns in tables:
        print(_markdown(_frame(rows, names, [f"{100 * x:g} %" for x in columns])), end="\n\n")
