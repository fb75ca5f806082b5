"""Evaluation of tests on a synthetic context: right and wrong claims, ROC curve, area under it.

Lacoste, Laviolette & Marchand (2012), section 6.3. For each drawn study, a test names the better
strategy with a confidence. It claims that this strategy is better if the confidence exceeds a
threshold.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import checked, shown
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.methods.lacoste.poisson_binomial import poisson_binomial_probability
from mlaut.analysis.methods.lacoste.risk import prob_better_classifier
from mlaut.analysis.methods.lacoste.synthetic_contexts import Context, Draws
from mlaut.analysis.methods.lacoste.table_tests import sign_tail, signed_rank_tail
from mlaut.analysis.pairwise.signed_rank import SignedRanks
from mlaut.errors import AnalysisError, nearest

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

    def claims_above(self, threshold: float) -> tuple[int, int]:
        """Return the numbers of right and wrong claims with more confidence than ``threshold``."""
        more = int(np.searchsorted(-self.thresholds, -threshold, side="left"))
        return (int(self.right[more - 1]), int(self.wrong[more - 1])) if more else (0, 0)

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
    seed: int = 0,
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
    >>> from mlaut.analysis.methods.lacoste.synthetic_contexts import BIMODAL
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
    seed: int = 0,
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
    >>> from mlaut.analysis.methods.lacoste.synthetic_contexts import SINGLE
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
