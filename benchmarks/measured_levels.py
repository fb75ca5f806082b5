"""Measure the type I error of frequentist tests over datasets and the coverage of intervals.

The truth is known by construction. The script writes tables in Markdown, which
docs/measured-levels.md holds. It takes about three minutes on one core with 1,000 samples, the
default. measured_levels_more.py does the same for tests on cross-validation, Bayesian tests and
others.

    OMP_NUM_THREADS=1 python benchmarks/measured_levels.py 1000 > levels.md
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from mlaut.analysis import (
    Results,
    adjust_pairs,
    average_ranks,
    dataset_estimates,
    friedman_test,
    mean_estimates,
    nemenyi_test,
    sign_test,
    t_test,
    trinomial_test,
    wilcoxon_test,
)
from mlaut.analysis.methods.frequentist import (
    bonferroni_dunn_test,
    conover_test,
    kendalls_w,
    post_hoc_test,
    quade_test,
)
from mlaut.analysis.pairwise.effects import cohens_d, mean_difference, share_better
from mlaut.analysis.pairwise.signed_rank import SignedRanks, hodges_lehmann, rank_biserial

LEVELS = (0.01, 0.05, 0.10)
CONFIDENCES = (0.90, 0.95, 0.99)

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def normal(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    """Return losses that are normal about a level of each dataset."""
    return rng.normal(size=(size[0], 1)) + rng.normal(size=size)


def skewed(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    """Return exponential losses, whose differences are symmetric with heavy tails."""
    return rng.normal(size=(size[0], 1)) + rng.exponential(size=size)


def tied(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    """Return small whole numbers, like errors on small test sets, with many ties."""
    return rng.binomial(8, 0.3, size=size).astype(float)


def _results(values: np.ndarray) -> Results:
    columns = [f"s{i}" for i in range(values.shape[1])]
    return Results.from_table(pd.DataFrame(values, columns=columns), greater_is_better=False)


# ------------------------------------------------------------------ type I error

PAIR_TESTS: dict[str, Callable[[Results], float]] = {
    "paired t": lambda r: t_test(r).value("p_value", "s0", "s1"),
    "paired t, one-sided": lambda r: t_test(r, alternative="better").value("p_value", "s0", "s1"),
    "signed rank, wilcox": lambda r: wilcoxon_test(r).value("p_value", "s0", "s1"),
    "signed rank, pratt": lambda r: wilcoxon_test(r, zeros="pratt").value("p_value", "s0", "s1"),
    "signed rank, zsplit": lambda r: wilcoxon_test(r, zeros="zsplit").value("p_value", "s0", "s1"),
    "signed rank, normal": lambda r: wilcoxon_test(r, method="normal").value("p_value", "s0", "s1"),
    "sign, ties dropped": lambda r: sign_test(r).value("p_value", "s0", "s1"),
    "sign, ties split": lambda r: sign_test(r, ties="split").value("p_value", "s0", "s1"),
    "trinomial": lambda r: trinomial_test(r).value("p_value", "s0", "s1"),
}


def _smallest(pairs: object) -> float:
    """Return the smallest p-value of all pairs, since any rejection is a familywise error."""
    return float(pairs.to_frame()["p_value"].min())  # type: ignore[attr-defined]


ALL_TESTS: dict[str, Callable[[Results], float]] = {
    "Friedman F": lambda r: float(friedman_test(r).p_value or 1),
    "Friedman chi2": lambda r: float(friedman_test(r, statistic="chi2").p_value or 1),
    "Friedman F, ties not corrected": lambda r: float(friedman_test(r, ties=False).p_value or 1),
    "Quade": lambda r: float(quade_test(r).p_value or 1),
    "Nemenyi, any pair": lambda r: _smallest(nemenyi_test(r)),
    "Bonferroni-Dunn, any": lambda r: float(bonferroni_dunn_test(r, "s0").frame["p_value"].min()),
    "Friedman ranks, Holm, any pair": lambda r: _smallest(adjust_pairs(post_hoc_test(r), "holm")),
    "Friedman ranks, Shaffer, any pair": lambda r: _smallest(
        adjust_pairs(post_hoc_test(r), "shaffer")
    ),
    "Conover, Holm, any pair": lambda r: _smallest(adjust_pairs(conover_test(r), "holm")),
    "paired t, Holm, any pair": lambda r: _smallest(adjust_pairs(t_test(r), "holm")),
    "signed rank, Holm, any pair": lambda r: _smallest(adjust_pairs(wilcoxon_test(r), "holm")),
    "signed rank, Benjamini-Hochberg, any pair": lambda r: _smallest(
        adjust_pairs(wilcoxon_test(r), "benjamini-hochberg")
    ),
}


def type_one_errors(times: int, seed: int = 0) -> pd.DataFrame:
    """Return the share of null samples on which each test rejects at each level."""
    rows: dict[tuple[str, str, int], list[float]] = {}
    for tests, k in ((PAIR_TESTS, 2), (ALL_TESTS, 5)):
        for draw in (normal, skewed, tied):
            for n in (10, 30):
                rng = np.random.default_rng([seed, k, n])
                p: dict[str, list[float]] = {name: [] for name in tests}
                for _ in range(times):
                    results = _results(draw(rng, (n, k)))
                    for name, test in tests.items():
                        p[name].append(test(results))
                for name, values in p.items():
                    key = (name, f"{draw.__name__}, {k} strategies", n)
                    rows[key] = [float(np.mean(np.array(values) <= level)) for level in LEVELS]
    return _frame(rows, ["test", "losses", "datasets"], [f"{100 * x:g} %" for x in LEVELS])


# ---------------------------------------------------------------------- coverage


def _covers(low: np.ndarray, high: np.ndarray, truth: float) -> float:
    return float(np.mean((low <= truth) & (truth <= high)))


def _of_means(times: int, seed: int) -> Iterator[tuple[tuple[str, str, int], list[float]]]:
    """Yield coverages for the mean over unseen datasets, scenario (c); a column is a sample."""
    laws = {"normal": (0.2, lambda rng, size: rng.normal(0.2, 0.1, size)),
            "Beta(2, 8)": (0.2, lambda rng, size: rng.beta(2, 8, size)),
            "Beta(0.5, 4.5)": (0.1, lambda rng, size: rng.beta(0.5, 4.5, size))}  # fmt: skip
    for law, (truth, draw) in laws.items():
        for n in (5, 10, 30, 121):
            rng = np.random.default_rng([seed, n])
            parts = [_results(draw(rng, (n, 20))) for _ in range(-(-times // 20))]
            for method in ("normal", "t", "bootstrap"):
                found = []
                for confidence in CONFIDENCES:
                    frames = [
                        mean_estimates(part, method=method, confidence=confidence).frame
                        for part in (parts[:50] if method == "bootstrap" else parts)
                    ]
                    frame = pd.concat(frames)
                    found.append(_covers(frame["low"], frame["high"], truth))
                yield (f"mean loss, (c), {method}", law, n), found


def _of_datasets(times: int, seed: int) -> Iterator[tuple[tuple[str, str, int], list[float]]]:
    """Yield coverages for the error rate of a classifier, scenario (a); a dataset is a sample."""
    for rate in (0.02, 0.2):
        for n in (20, 100, 1000):
            rng = np.random.default_rng([seed, n])
            table = pd.DataFrame({"s0": rng.binomial(n, rate, times) / n})
            results = Results.from_table(table, metric="error", n_test=n)
            for method in ("normal", "t", "wilson", "jeffreys", "uniform"):
                found = []
                for confidence in CONFIDENCES:
                    frame = dataset_estimates(results, method=method, confidence=confidence).frame
                    found.append(_covers(frame["low"], frame["high"], rate))
                yield (f"error rate, (a), {method}", f"rate {rate:g}", n), found


def _of_seen_means(times: int, seed: int) -> Iterator[tuple[tuple[str, str, int], list[float]]]:
    """Yield coverages for the mean error rate of classifiers on ten datasets, scenario (a)."""
    rates = np.linspace(0.05, 0.4, 10)
    for n in (20, 100):
        rng = np.random.default_rng([seed, n])
        table = pd.DataFrame(rng.binomial(n, rates[:, None], (10, times)) / n)
        results = Results.from_table(table, metric="error", n_test=n)
        for method in ("normal", "t", "bounded"):
            found = []
            for confidence in CONFIDENCES:
                frame = mean_estimates(
                    results, scenario="(a)", method=method, confidence=confidence
                ).frame
                found.append(_covers(frame["low"], frame["high"], rates.mean()))
            yield (f"mean of 10 error rates, (a), {method}", "rates .05 to .4", n), found


def _of_effects(times: int, seed: int) -> Iterator[tuple[tuple[str, str, int], list[float]]]:
    """Yield coverages for effect sizes of normal differences with mean and d 0.5."""
    from scipy.special import ndtr

    def biserial(d: np.ndarray, confidence: float) -> object:
        return rank_biserial(d, SignedRanks.of(d), confidence)

    effects = {
        "mean difference": (mean_difference, 0.5),
        "Cohen's d (paired)": (cohens_d, 0.5),
        "Hodges-Lehmann shift": (hodges_lehmann, 0.5),
        "rank-biserial correlation": (biserial, 2 * ndtr(0.5 * np.sqrt(2)) - 1),
        "share better": (share_better, ndtr(-0.5)),
    }
    for n in (10, 30, 121):
        d = np.random.default_rng([seed, n]).normal(0.5, 1, (n, times))
        for name, (effect, truth) in effects.items():
            found = []
            for confidence in CONFIDENCES:
                part = effect(d, confidence)  # type: ignore[operator]
                found.append(_covers(part.low, part.high, truth))
            yield (name, "normal differences, d 0.5", n), found


def _of_ranks(times: int, seed: int) -> Iterator[tuple[tuple[str, str, int], list[float]]]:
    """Yield coverages for average rank and Kendall's W of five strategies a step of 0.3 apart."""
    shift = 0.3 * np.arange(5)

    def draw(rng: np.random.Generator, n: int) -> Results:
        return _results(shift + rng.normal(size=(n, 5)))

    many = draw(np.random.default_rng(1), 200_000)
    truth = average_ranks(many).frame.loc["s0", "average_rank"]
    w = kendalls_w(many).value
    for n in (10, 30, 121):
        rng = np.random.default_rng([seed, n])
        samples = [draw(rng, n) for _ in range(min(times, 2000))]
        for method in ("normal", "t", "bounded"):
            found = []
            for confidence in CONFIDENCES:
                rows = [
                    average_ranks(s, method=method, confidence=confidence).frame.loc["s0"]
                    for s in samples
                ]
                found.append(np.mean([row["low"] <= truth <= row["high"] for row in rows]))
            yield (f"average rank, (c), {method}", "5 strategies", n), found
        # W of N datasets estimates (1 + (N - 1) concordance) / N
        here = (1 + (n - 1) * w) / n
        found = []
        for confidence in CONFIDENCES:
            estimates = [kendalls_w(s, confidence=confidence) for s in samples]
            found.append(np.mean([one.low <= here <= one.high for one in estimates]))
        yield ("Kendall's W, jackknife", "5 strategies", n), found


def coverages(times: int, seed: int = 0) -> pd.DataFrame:
    """Return the share of samples whose interval holds the truth, at each confidence."""
    rows: dict[tuple[str, str, int], list[float]] = {}
    for part in (_of_means, _of_datasets, _of_seen_means, _of_effects, _of_ranks):
        rows |= dict(part(times, seed))
    return _frame(rows, ["interval", "truth", "n"], [f"{100 * x:g} %" for x in CONFIDENCES])


def _frame(rows: dict, names: list[str], columns: list[str]) -> pd.DataFrame:
    index = pd.MultiIndex.from_tuples(rows, names=names)
    return pd.DataFrame(list(rows.values()), index=index, columns=columns)


def _markdown(frame: pd.DataFrame) -> str:
    """Return tables with a row for each test and a column for each setting."""
    cells = (100 * frame).map(lambda x: f"{x:.1f}").agg(" / ".join, axis=1)
    tables: dict[tuple, dict[str, pd.Series]] = {}
    for name, part in cells.groupby(level=0, sort=False):
        settings = part.droplevel(0)
        tables.setdefault(tuple(settings.index), {})[str(name)] = settings
    kind = f"{frame.index.names[0]} ({' / '.join(frame.columns)})"
    written = []
    for settings, rows in tables.items():
        head = [kind, *(f"{setting}, n = {n}" for setting, n in settings)]
        lines = [head, ["---"] * len(head), *([name, *row] for name, row in rows.items())]
        written.append("\n".join("| " + " | ".join(line) + " |" for line in lines))
    return "\n\n".join(written)


if __name__ == "__main__":
    n_times = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(_markdown(type_one_errors(n_times)), _markdown(coverages(n_times)), sep="\n\n")
