"""Measure which interval of a mean loss over few datasets covers the truth and stays in its range.

Losses of a metric with a range are skewed near its ends. The script draws from several such
distributions, for 2 to 25 datasets. It measures the coverage and the width of the intervals of
`mlaut.analysis.mean_estimates`, and of possible others. It writes two tables in Markdown, which
docs/measured-levels.md holds, and takes about a minute on one core.

    OMP_NUM_THREADS=1 python benchmarks/bounded_intervals.py 20000 > bounded.md
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from scipy.special import expit, logit, stdtrit

from mlaut.analysis.estimates.intervals import mean_ends

CONFIDENCE = 0.95
DATASETS = (2, 3, 5, 10, 25)
Ends = tuple[np.ndarray, np.ndarray]
Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def _two_groups(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    """Return losses of which four of five datasets are easy, and the fifth is hard."""
    return np.where(rng.random(size) < 0.8, rng.beta(2, 38, size), rng.beta(12, 8, size))


# name: (true mean, draw)
IN_A_RANGE: dict[str, tuple[float, Draw]] = {
    "Beta(20, 30)": (0.4, lambda rng, size: rng.beta(20, 30, size)),
    "Beta(2, 8)": (0.2, lambda rng, size: rng.beta(2, 8, size)),
    "Beta(0.5, 4.5)": (0.1, lambda rng, size: rng.beta(0.5, 4.5, size)),
    "Beta(0.3, 9)": (0.3 / 9.3, lambda rng, size: rng.beta(0.3, 9, size)),
    "Beta(0.3, 0.3)": (0.5, lambda rng, size: rng.beta(0.3, 0.3, size)),
    "two groups": (0.8 * 0.05 + 0.2 * 0.6, _two_groups),
    "errors of 20": (0.05, lambda rng, size: rng.binomial(20, rng.beta(1, 19, size)) / 20),
    "zeros and ones": (0.1, lambda rng, size: (rng.random(size) < 0.1).astype(float)),
}
ABOVE_ZERO: dict[str, tuple[float, Draw]] = {
    "exponential": (1.0, lambda rng, size: rng.exponential(1, size)),
    "lognormal(0, 1)": (float(np.exp(0.5)), lambda rng, size: rng.lognormal(0, 1, size)),
    "gamma(0.3)": (0.3, lambda rng, size: rng.gamma(0.3, 1, size)),
}


def _of_the_package(method: str, bounds: tuple[float, float]) -> Callable[[np.ndarray], Ends]:
    def ends(x: np.ndarray) -> Ends:
        n = x.shape[1]
        error = x.std(axis=1, ddof=1) / np.sqrt(n)
        return mean_ends(x.mean(axis=1), error, method, n - 1, CONFIDENCE, bounds, n)

    return ends


def on_the_logit_scale(x: np.ndarray) -> Ends:
    """Return the interval of Student's t about the logit of the mean, by the delta method."""
    n, mean = x.shape[1], x.mean(axis=1)
    error = x.std(axis=1, ddof=1) / np.sqrt(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        half = stdtrit(n - 1, 0.5 + CONFIDENCE / 2) * error / (mean * (1 - mean))
        low, high = expit(logit(mean) - half), expit(logit(mean) + half)
    return np.where(error > 0, low, mean), np.where(error > 0, high, mean)


def on_the_log_scale(x: np.ndarray) -> Ends:
    """Return the interval of Student's t about the logarithm of the mean, by the delta method."""
    n, mean = x.shape[1], x.mean(axis=1)
    half = stdtrit(n - 1, 0.5 + CONFIDENCE / 2) * x.std(axis=1, ddof=1) / np.sqrt(n) / mean
    factor = np.exp(np.minimum(half, 100))
    return mean / factor, mean * factor


def by_betting(x: np.ndarray) -> Ends:
    """Return the hedged-capital interval, valid for any law (Waudby-Smith & Ramdas 2024)."""
    truths = np.linspace(0, 1, 201)
    times, n = x.shape
    alpha = 1 - CONFIDENCE
    total, squares = np.full(times, 0.5), np.full(times, 0.25)
    spread = squares.copy()
    gains = np.zeros((2, times, len(truths)))
    for i in range(n):
        stake = np.sqrt(2 * np.log(2 / alpha) / (n * spread))[:, None]
        with np.errstate(divide="ignore"):
            stakes = np.minimum(stake, 0.5 / truths), np.minimum(stake, 0.5 / (1 - truths))
        away = x[:, i : i + 1] - truths
        gains += np.log1p(stakes[0] * away), np.log1p(-stakes[1] * away)
        total = total + x[:, i]
        squares = squares + (x[:, i] - total / (i + 2)) ** 2
        spread = squares / (i + 2)
    held = gains.max(axis=0) + np.log(0.5) < np.log(1 / alpha)
    step = truths[1] / 2
    low, high = truths[held.argmax(axis=1)], truths[-1 - held[:, ::-1].argmax(axis=1)]
    return low - step, high + step


def bayesian_bootstrap(x: np.ndarray) -> Ends:
    """Return the quantiles of means with Dirichlet weights."""
    weights = np.random.default_rng(0).dirichlet(np.ones(x.shape[1]), 500)
    low, high = np.quantile(x @ weights.T, [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2], axis=1)
    return low, high


RANGE, HALF = (0.0, 1.0), (0.0, np.inf)
METHODS_IN_A_RANGE = {
    "normal, cut at the ends": _of_the_package("normal", RANGE),
    "t, cut at the ends": _of_the_package("t", RANGE),
    "**bounded**": _of_the_package("bounded", RANGE),
    "t of the logit": on_the_logit_scale,
    "betting": by_betting,
    "Bayesian bootstrap": bayesian_bootstrap,
}
METHODS_ABOVE_ZERO = {
    "normal, cut at 0": _of_the_package("normal", HALF),
    "t, cut at 0": _of_the_package("t", HALF),
    "**bounded**": _of_the_package("bounded", HALF),
    "t of the logarithm": on_the_log_scale,
}
SLOW = {"betting", "Bayesian bootstrap"}  # measured with a tenth of the samples


def measured(
    laws: dict[str, tuple[float, Draw]],
    methods: dict[str, Callable[[np.ndarray], Ends]],
    bounds: tuple[float, float],
    times: int,
) -> str:
    """Return rows by method and law: coverage in percent and median width by number of datasets."""
    lines = [
        ["losses", "interval (coverage, median width)", *(f"n = {n}" for n in DATASETS)],
        ["---"] * (2 + len(DATASETS)),
    ]
    for law, (truth, draw) in laws.items():
        rows: dict[str, list[str]] = {name: [] for name in methods}
        for n in DATASETS:
            x = draw(np.random.default_rng([0, n]), (times, n))
            for name, method in methods.items():
                low, high = method(x[: times // 10] if name in SLOW else x)
                slack = 1e-12  # a mean can differ from the truth by rounding
                covered = np.mean((low <= truth + slack) & (truth - slack <= high))
                width = np.median(np.minimum(high, bounds[1]) - np.maximum(low, bounds[0]))
                rows[name].append(f"{100 * covered:.1f}, {width:.2g}")
        lines += [[law, name, *cells] for name, cells in rows.items()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    n_times = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    print(measured(IN_A_RANGE, METHODS_IN_A_RANGE, RANGE, n_times), end="\n\n")
    print(measured(ABOVE_ZERO, METHODS_ABOVE_ZERO, HALF, n_times))
