"""Synthetic contexts, and the right and wrong claims, ROC curves and areas of tests on them.

A context is a distribution of datasets for which the better strategy is known: on each dataset, the
joint error probabilities of two classifiers are drawn from a mixture of Dirichlet distributions,
and a study observes counts of errors.

Lacoste, Laviolette & Marchand (2012), section 6.3. For each drawn study, a test names the better
strategy with a confidence. It claims that this strategy is better if the confidence exceeds a
threshold.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from table_tests import sign_tail, signed_rank_tail

from mlaut.analysis.common.arguments import Prior, Seed, checked, shown
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.methods.lacoste.poisson_binomial import poisson_binomial_probability
from mlaut.analysis.methods.lacoste.risk import checked_counts, prob_better_classifier
from mlaut.analysis.pairwise.signed_rank import SignedRanks
from mlaut.errors import AnalysisError, nearest


@dataclass(frozen=True, eq=False)
class Draws:
    """Counts of errors of two strategies, A and B, on datasets drawn from a context.

    Attributes
    ----------
    only_a, only_b : ndarray of int64, shape (M, N)
        Numbers of test points that only A, or only B, gets wrong, for M repetitions of a study of N
        datasets.
    n : ndarray of int64, shape (M, N)
        Numbers of test points.
    a_is_better : ndarray of bool, shape (M,)
        Whether A is the better strategy in truth. A and B swap places at random between
        repetitions.
    """

    only_a: np.ndarray
    only_b: np.ndarray
    n: np.ndarray
    a_is_better: np.ndarray


@dataclass(frozen=True, eq=False)
class Context:
    """Mixture of Dirichlet distributions of (only A errs, only B errs, both or neither).

    Attributes
    ----------
    name : str
    alphas : ndarray of float, shape (C, 3)
        Positive parameters of the components.
    weights : ndarray of float, shape (C,)
        Probabilities of the components.
    sizes : ndarray of int, shape (C,)
        Default number of test points of a dataset of each component.

    Examples
    --------
    >>> round(BIMODAL.share, 4), BIMODAL.a_is_better
    (0.6635, True)
    """

    name: str
    alphas: np.ndarray
    weights: np.ndarray
    sizes: np.ndarray

    def __post_init__(self) -> None:
        a, w, n = self.alphas, self.weights, self.sizes
        if a.ndim != 2 or a.shape[1] != 3 or not (np.isfinite(a) & (a > 0)).all():
            raise AnalysisError(f"context {self.name!r}: alphas must be positive, shape (C, 3)")
        if w.shape != (len(a),) or not (w >= 0).all() or not np.isclose(w.sum(), 1):
            raise AnalysisError(f"context {self.name!r}: weights must be C probabilities")
        if n.shape != (len(a),) or not (n >= 1).all():
            raise AnalysisError(f"context {self.name!r}: sizes must be C numbers of test points")

    @property
    def share(self) -> float:
        """Probability that A's classifier is better on a dataset of the context (exact)."""
        from scipy.special import betainc

        return float(self.weights @ betainc(self.alphas[:, 0], self.alphas[:, 1], 0.5))

    @property
    def a_is_better(self) -> bool:
        """Return whether A is better within the context (equation 2)."""
        return self.share > 0.5

    def draw(
        self,
        n_repetitions: int,
        n_datasets: int,
        n_points: int | None = None,
        seed: int | np.random.SeedSequence = 0,
    ) -> Draws:
        """Draw studies from the context.

        Parameters
        ----------
        n_repetitions, n_datasets : int
            Number of studies, and number of datasets of each study.
        n_points : int, optional
            Number of test points of every dataset; default the number of its component.
        seed : int or SeedSequence, default 0
            Seed of the draws.

        Returns
        -------
        Draws
        """
        rng = np.random.default_rng(seed)
        shape = (n_repetitions, n_datasets)
        which = rng.choice(len(self.weights), p=self.weights, size=shape)
        a, b, rest = np.moveaxis(rng.standard_gamma(self.alphas[which]), -1, 0)
        n = np.full(shape, n_points) if n_points else self.sizes[which]
        only_a = rng.binomial(n, a / (a + b + rest))
        only_b = rng.binomial(n - only_a, b / (b + rest))
        swapped = rng.random(n_repetitions) < 0.5
        return Draws(
            only_a=np.where(swapped[:, None], only_b, only_a),
            only_b=np.where(swapped[:, None], only_a, only_b),
            n=n,
            a_is_better=swapped != self.a_is_better,
        )


@checked
def context_from_counts(
    only_first_wrong: ArrayLike,
    only_second_wrong: ArrayLike,
    n: ArrayLike,
    prior: Prior = 1.0,
    name: str = "estimated",
) -> Context:
    """Return a context that resembles the one from which a study's datasets were drawn.

    The context has one component for each dataset of the study: the posterior of the error
    probabilities on this dataset.

    Parameters
    ----------
    only_first_wrong, only_second_wrong : array_like of int, shape (N,)
        Numbers of test points of each dataset that only the first, or only the second, strategy
        gets wrong.
    n : array_like of int, shape (N,)
        Number of test points of each dataset.
    prior : float, default 1
        Number that is added to each of the three counts.
    name : str
        Name of the context.

    Returns
    -------
    Context

    Raises
    ------
    AnalysisError
        A number is not a count, or there are more errors than points.

    Notes
    -----
    The multimodal context of Lacoste, Laviolette & Marchand (2012), section 9.1, is made this way.

    Examples
    --------
    >>> context = context_from_counts([3, 5, 0], [8, 6, 2], [100, 80, 120])
    >>> round(context.share, 3)
    0.805
    """
    h, g, n = checked_counts(
        only_first_wrong=only_first_wrong, only_second_wrong=only_second_wrong, n=n
    )
    if h.ndim != 1 or h.size == 0 or (h + g > n).any() or (n < 1).any():
        raise AnalysisError("give one pair of counts for each dataset, together at most n, n >= 1")
    alphas = np.stack([h, g, n - h - g], axis=1) + prior
    return Context(name, alphas, np.full(h.size, 1 / h.size), n.astype(np.int64))


_TABLE_5 = """
11 14 1223  12 20 1232  10 16 4078  13 15 1228  31 17 320  22 22 148  27 35 154  14 18 112
17 25 286  24 17 151  149 240 5555  16 30 762  19 14 791  11 16 237  79 127 3834  15 20 1213
10 11 803  15 15 122  11 29 176  14 18 352  46 64 410  31 1019 2694
"""


def _fixed(name: str, alphas: str, weights: tuple[float, ...], size: int) -> Context:
    """Return a context from a text of parameters, three for each component."""
    table = np.array(alphas.split(), dtype=float).reshape(-1, 3)
    return Context(name, table, np.array(weights), np.full(len(table), size))


SINGLE = _fixed("single", "100 110 790", (1.0,), 1001)
"""Context of one Dirichlet distribution, symmetric differences (Lacoste et al. 2012, Figure 3)."""

BIMODAL = _fixed("bimodal", "100 140 9760  1400 1000 7600", (2 / 3, 1 / 3), 100_001)
"""Context in which one strategy is better on two thirds of the datasets, by a small difference.

On the other datasets it is worse, by a larger difference (section 6.4).
"""

MULTIPLE = _fixed("multiple", _TABLE_5, (1 / 22,) * 22, 1001)
"""Context of SVM against Parzen windows on 22 datasets.

Lacoste et al. 2012, Table 5; Figures 4 and 5.
"""


ContextTest = Callable[[Draws], tuple[np.ndarray, np.ndarray]]
"""Function of drawn counts that returns (answer, confidence), both of shape (M,).

The answer is +1 for A, -1 for B and 0 for neither.
"""

_BLOCK = 1 << 19  # datasets held in memory at a time


def _sign(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    wins = (draws.only_a < draws.only_b).sum(axis=1)
    losses = (draws.only_a > draws.only_b).sum(axis=1)
    return np.sign(wins - losses), 1 - sign_tail(wins, losses)


def _signed_rank(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    signed = SignedRanks.of(((draws.only_b - draws.only_a) / draws.n).T)
    plus, minus, n = signed.plus, signed.minus, (signed.ranks > 0).sum(axis=0)
    return np.sign(plus - minus), 1 - signed_rank_tail(np.minimum(plus, minus), n)


def _poisson_binomial(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    on_each = prob_better_classifier(draws.only_a, draws.only_b)[0]
    first, second = poisson_binomial_probability(on_each)
    return np.sign(first - second), np.maximum(first, second)


def _paired_t(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    from scipy.special import stdtr

    d = (draws.only_b - draws.only_a) / draws.n
    if d.shape[1] < 2:
        return np.zeros(len(d)), np.zeros(len(d))
    mean, error = d.mean(axis=1), d.std(axis=1, ddof=1) / np.sqrt(d.shape[1])
    t = np.divide(np.abs(mean), error, out=np.where(mean == 0, 0.0, np.inf), where=error > 0)
    return np.sign(mean), 1 - 2 * stdtr(d.shape[1] - 1, -t)


CONTEXT_TESTS: dict[str, ContextTest] = {
    "poisson binomial": _poisson_binomial,
    "sign": _sign,
    "signed rank": _signed_rank,
    "paired t": _paired_t,
}
"""Tests by name. Add a test of your own under a new name, or pass it to `judge_on_context`."""


@dataclass(frozen=True, eq=False)
class Roc:
    """ROC of a test: its right and wrong claims at every threshold of its confidence.

    Attributes
    ----------
    test, context : str
    thresholds : ndarray of float, descending
        Confidences that occurred.
    right, wrong : ndarray of int
        Numbers of right and wrong claims with a confidence of at least the threshold.
    n_repetitions : int
        Number of studies drawn. A study on which the test prefers neither strategy has no claim.
    """

    test: str
    context: str
    thresholds: np.ndarray
    right: np.ndarray
    wrong: np.ndarray
    n_repetitions: int

    def curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the shares of wrong and of right claims at each threshold, each from 0 to 1."""
        shares = [np.r_[0, c] / max(c[-1], 1) for c in (self.wrong, self.right)]
        return shares[0], shares[1]

    @property
    def auc(self) -> float:
        """Area under the curve: how often a right claim has more confidence than a wrong claim.

        It is 1 for a test that is never wrong, and 0 for a test that is never right.
        """
        if self.wrong[-1] == 0 or self.right[-1] == 0:
            return float(self.wrong[-1] == 0)
        wrong, right = self.curve()
        return float(np.trapezoid(right, wrong))

    @property
    def auc_error(self) -> float:
        """Monte Carlo standard error of the area (DeLong, DeLong & Clarke-Pearson 1988).

        It is 0.5, the largest possible value, if fewer than two claims are right or wrong.
        """
        counts = [np.diff(c, prepend=0) for c in (self.right, self.wrong)]
        if min(c.sum() for c in counts) < 2:
            return 0.5
        wrong, right = self.curve()
        surer = 1 - 0.5 * (wrong[1:] + wrong[:-1]), 0.5 * (right[1:] + right[:-1])
        parts = [_mean_variance(v, c) for v, c in zip(surer, counts, strict=True)]
        return float(np.sqrt(sum(parts)))


def _mean_variance(values: np.ndarray, counts: np.ndarray) -> float:
    """Return the variance of the mean of values that occurred ``counts`` times."""
    n = counts.sum()
    mean = (counts * values).sum() / n
    return float((counts * (values - mean) ** 2).sum() / (n - 1) / n)


@checked
def judge_on_context(
    context: Context,
    n_datasets: int,
    n_points: int | None = None,
    tests: Sequence[str] | Mapping[str, ContextTest] = tuple(CONTEXT_TESTS),
    n_repetitions: int = 100_000,
    seed: Seed = 0,
) -> dict[str, Roc]:
    """Draw studies from a context and count the right and the wrong claims of each test.

    Parameters
    ----------
    context : Context
    n_datasets : int
        Number of datasets of each study.
    n_points : int, optional
        Number of test points of each dataset; default the numbers of the context.
    tests : sequence of str, or mapping of str to ContextTest
        Names in `CONTEXT_TESTS`, or functions by name.
    n_repetitions : int, default 100000
        Number of studies to draw.
    seed : int, default 0
        Seed of the draws.

    Returns
    -------
    dict of str to Roc

    Raises
    ------
    AnalysisError
        A test is not known, a number is not positive, or neither strategy is better in the context.

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), section 6.3. The two strategies swap places at random.

    Examples
    --------
    >>> from contexts import BIMODAL
    >>> rocs = judge_on_context(BIMODAL, n_datasets=14, n_repetitions=2000)
    >>> rocs["signed rank"].auc < 0.5 < 0.8 < rocs["sign"].auc
    True
    """
    functions = _functions(tests)
    if min(n_datasets, n_repetitions, 1 if n_points is None else n_points) < 1:
        raise AnalysisError("n_datasets, n_points and n_repetitions must be at least 1")
    if np.isclose(context.share, 0.5, atol=1e-12, rtol=0):
        raise AnalysisError(
            f"neither strategy is better in context {context.name!r} (share 0.5): "
            "no claim is right; count claims by calling the test on Context.draw"
        )
    claims: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {name: [] for name in functions}
    for draws in _in_blocks(context, n_datasets, n_points, n_repetitions, seed):
        for name, function in functions.items():
            answer, confidence = function(draws)
            claimed = answer != 0
            claims[name].append((confidence[claimed], ((answer > 0) == draws.a_is_better)[claimed]))
    return {name: _roc(name, context, parts, n_repetitions) for name, parts in claims.items()}


def _functions(tests: Sequence[str] | Mapping[str, ContextTest]) -> dict[str, ContextTest]:
    if isinstance(tests, Mapping):
        for name, test in tests.items():
            if not callable(test):
                raise AnalysisError(f"test {name!r} = {shown(test)} is not a function")
        return dict(tests)
    for name in tests:
        if name not in CONTEXT_TESTS:
            hint = nearest(name, CONTEXT_TESTS)
            raise AnalysisError(f"test {name!r} is not known, only {sorted(CONTEXT_TESTS)}{hint}")
    return {name: CONTEXT_TESTS[name] for name in tests}


def _in_blocks(
    context: Context, n_datasets: int, n_points: int | None, n_repetitions: int, seed: int
) -> Iterator[Draws]:
    height = max(1, _BLOCK // n_datasets)
    starts = range(0, n_repetitions, height)
    for start, child in zip(starts, np.random.SeedSequence(seed).spawn(len(starts)), strict=True):
        yield context.draw(min(height, n_repetitions - start), n_datasets, n_points, child)


def _roc(
    name: str, context: Context, parts: list[tuple[np.ndarray, np.ndarray]], n_repetitions: int
) -> Roc:
    confidence, right = (np.concatenate(part) for part in zip(*parts, strict=True))
    if not confidence.size:
        raise AnalysisError(f"test {name!r} prefers neither strategy in any of the drawn studies")
    thresholds, place = np.unique(-confidence, return_inverse=True)
    counts = [np.bincount(place[rows], minlength=len(thresholds)) for rows in (right, ~right)]
    cumulated = [np.cumsum(c) for c in counts]
    return Roc(name, context.name, -thresholds, cumulated[0], cumulated[1], n_repetitions)


@checked
def auc_table(
    context: Context,
    n_datasets: int | Sequence[int],
    n_points: int | Sequence[int] | None = None,
    tests: Sequence[str] | Mapping[str, ContextTest] = tuple(CONTEXT_TESTS),
    n_repetitions: int = 100_000,
    seed: Seed = 0,
) -> ResultTable:
    """Compute the area under the ROC curve of each test, by numbers of datasets and test points.

    Parameters
    ----------
    context : Context
    n_datasets, n_points : int or sequence of int
        Numbers of datasets and of test points; all combinations are computed.
    tests, n_repetitions, seed
        As in `judge_on_context`.

    Returns
    -------
    ResultTable
        One row for each combination. Each test has a column with its area, and a column
        ``"error of ..."`` with the Monte Carlo standard error of the area.

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), Figures 3 to 5.

    Examples
    --------
    >>> from contexts import SINGLE
    >>> auc_table(SINGLE, [5, 21], tests=["sign"], n_repetitions=500).frame.index.tolist()
    [(5, 'of the context'), (21, 'of the context')]
    """
    rows, index = [], []
    for n in [n_datasets] if isinstance(n_datasets, int) else n_datasets:
        for m in [n_points] if n_points is None or isinstance(n_points, int) else n_points:
            rocs = judge_on_context(context, n, m, tests, n_repetitions, seed)
            areas = {name: roc.auc for name, roc in rocs.items()}
            index.append((n, "of the context" if m is None else m))
            rows.append(areas | {f"error of {name}": roc.auc_error for name, roc in rocs.items()})
    labels = pd.MultiIndex.from_tuples(index, names=["datasets", "test points"])
    return ResultTable(
        name=f"AUC on the context {context.name!r}",
        frame=pd.DataFrame(rows, index=labels),
        source="Lacoste, Laviolette & Marchand 2012, section 6",
        notes=(f"{n_repetitions} studies drawn for each row, seed {seed}",),
    )
