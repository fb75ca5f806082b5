"""The Poisson binomial test of all pairs of strategies over many datasets, and its cycles.

Each dataset has a probability that the first of two fitted models is the better one. The test
combines these probabilities into a distribution of the number of datasets on which the first is
better. Lacoste, Laviolette & Marchand (2012), section 5.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import Pair, PositivePrior, Share, checked
from mlaut.analysis.common.result_types import Estimate, Pairwise, TestResult
from mlaut.analysis.methods.lacoste.bayesian_bootstrap import bootstrap_prob_better
from mlaut.analysis.methods.lacoste.poisson_binomial import (
    checked_probabilities,
    poisson_binomial_probability,
    poisson_binomial_share,
)
from mlaut.analysis.methods.lacoste.risk import joint_errors, prob_better_classifier
from mlaut.analysis.pairwise.decisions import non_transitive_cycles
from mlaut.analysis.pairwise.pairs import Pairs
from mlaut.analysis.pairwise.runner import pair_test
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

BETTER = "P(row better)"
_SOURCE = "Lacoste, Laviolette & Marchand 2012, section 5"
_NAME = "Poisson binomial test"
_QUESTION = "none is tested: which strategy gives the better model on most datasets of the context?"


def _one_dataset(table: np.ndarray, prior: float) -> np.ndarray:
    """Return P(row better) for all pairs, shape (K, K)."""
    if np.isin(table, (0, 1)).all():
        only = joint_errors(table)
        return prob_better_classifier(only, only.T, prior)[0]
    better = np.full((len(table), len(table)), 0.5)
    for i in range(len(table) - 1):  # one strategy against all later ones, to bound the memory
        first, second = bootstrap_prob_better(table[i] - table[i + 1 :], prior)
        better[i, i + 1 :], better[i + 1 :, i] = first, second
    return better


def probabilities_by_dataset(results: Results, prior: float = 1.0) -> np.ndarray:
    """Return P(row better) of the models of each dataset: shape (K, K, N)."""
    losses = _PointLosses(results)  # read one dataset at a time, to bound the memory
    return np.stack([_one_dataset(losses[name], prior) for name in losses], axis=-1)


def has_point_losses(results: Results) -> bool:
    """Return whether every cell has the losses of its test points, and they are 0 and 1."""
    known = results.load_block is not None and results.variances is not None
    return (
        known
        and results.metric.zero_one
        and bool(results.standard_errors.notna().all(axis=None))  # no cell was filled in
    )


@pair_test(name=_NAME, null=_QUESTION, source=_SOURCE, applies=has_point_losses)
def poisson_binomial_test(results: Results, *, prior: PositivePrior = 1.0) -> Pairwise:
    """Compute the Poisson binomial test of all pairs of strategies of a study.

    Scenario (c); see `poisson_binomial_from_probabilities`. The probability of each dataset is that
    of its test points: losses of 0 and 1 are counted (Theorem 4.1), others are weighted by the
    Bayesian bootstrap, which has the same result for losses of 0 and 1.

    Parameters
    ----------
    results : Results
        Results of a study, with a metric that is an average over test points.
    prior : float, default 1
        Weight of the prior on each dataset and of the prior over datasets.

    Returns
    -------
    Pairwise

    Raises
    ------
    AnalysisError
        The metric is an aggregate, or the results come from a table, which has no test points.
    MissingCellsError
        Cells are missing.

    Examples
    --------
    >>> from mlaut.analysis.results.results import Results
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [0.1, 0.2], "B": [0.2, 0.3]}, index=["iris", "wine"])
    >>> poisson_binomial_test(Results.from_table(table, greater_is_better=False))
    Traceback (most recent call last):
    mlaut.errors.AnalysisError: these results come from a table, which has no single test points
    """
    results.complete(strategies=2)
    notes = [*results.notes_text()]
    if results.expected.shape[2] > 1:
        notes.append("the models of all folds of a dataset count as one model: approximate")
    if results.expected.shape[1] > 1:
        notes.append("losses of a test point are averaged over the repeats")
    better = probabilities_by_dataset(results, prior)
    return poisson_binomial_pairs(
        better, results.strategies, results.metric.loss_name, prior=prior, notes=notes
    )


def lacoste_probabilities(results: Results) -> np.ndarray | None:
    """Return P(row better) of the models of the only dataset: shape (K, K), or None."""
    return probabilities_by_dataset(results)[..., 0] if has_point_losses(results) else None


class _PointLosses(Mapping[str, np.ndarray]):
    """Loss of each strategy on each tested point, averaged over the repeats, by dataset.

    The losses of a dataset are read from the study when they are needed, and are not kept.
    """

    def __init__(self, results: Results) -> None:
        self._results = results

    def __getitem__(self, dataset: str) -> np.ndarray:
        points = self._results.points(dataset)
        tested = ~np.isnan(points).any(axis=0)
        rows = tested.any(axis=0)
        weight = tested[:, rows] / tested[:, rows].sum(axis=0)
        return np.einsum("krm,rm->km", np.nan_to_num(points[:, :, rows]), weight)

    def __iter__(self) -> Iterator[str]:
        return iter(self._results.datasets)

    def __len__(self) -> int:
        return len(self._results.datasets)


@checked
def error_counts(
    results: Results, first: str, second: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count on each dataset of a study the test points that only one of two strategies gets wrong.

    Parameters
    ----------
    results : Results
        Results of a study with one repeat, and a metric of zeros and ones.
    first, second : str
        Names of the two strategies.

    Returns
    -------
    only_first_wrong, only_second_wrong, n : ndarray of int, shape (N,)
        Numbers of test points that only the first and only the second gets wrong, and of all test
        points: the input of `prob_better_classifier`.

    Raises
    ------
    AnalysisError
        There are several repeats, the losses are not 0 and 1, or there are no test points.
    MissingCellsError
        Cells are missing.
    """
    results = results.select(strategies=[first, second])
    results.complete(strategies=2)
    if results.expected.shape[1] > 1:
        raise AnalysisError(
            f"there are {results.expected.shape[1]} repeats, and a test point counts once: "
            "poisson_binomial_test takes their mean losses"
        )
    losses = list(_PointLosses(results).values())
    only = np.array([joint_errors(table) for table in losses])
    return only[:, 0, 1], only[:, 1, 0], np.array([table.shape[1] for table in losses])


@checked
def poisson_binomial_from_probabilities(
    p: ArrayLike,
    strategies: Pair = ("A", "B"),
    prior: PositivePrior = 1.0,
    confidence: Share = 0.95,
    metric: str = "",
) -> TestResult:
    """Compute the Poisson binomial test of two strategies over the datasets of a context.

    Scenario (c): the conclusion is about further datasets of the context from which the datasets
    were drawn. There is no null hypothesis. The result is the probability that the first strategy
    yields the better model on most datasets of the context, and the same for the second.

    Parameters
    ----------
    p : array_like of float, shape (N,)
        Probability that the first strategy's model is the better one on each dataset, from
        `prob_better_classifier` or `bootstrap_prob_better`.
    strategies : pair of str
        Names of the two strategies in the result.
    prior : float, default 1
        Both parameters of the Beta prior of the share of datasets on which the first is better.
    confidence : float, default 0.95
        Probability of the credible interval of that share.
    metric : str
        Name of the loss in the result.

    Returns
    -------
    TestResult
        Result with two ``probabilities``; the effect is the share of datasets on which the first
        strategy is better.

    Raises
    ------
    AnalysisError
        A value is missing or not a probability.

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), section 5. The paper decides at a probability of 0.85,
    and at a confidence of 0.90 for the sign test and the signed rank test.

    Examples
    --------
    >>> result = poisson_binomial_from_probabilities([0.9, 0.8, 0.3], ["svm", "ann"])
    >>> {name: round(value, 5) for name, value in result.probabilities.items()}
    {'P(svm better)': 0.66225, 'P(ann better)': 0.33775}
    """
    p = checked_probabilities(p)
    if p.ndim != 1:
        raise AnalysisError(f"p has shape {p.shape}; give one probability for each dataset")
    first, second = strategies
    better, worse = poisson_binomial_probability(p, prior)
    mean, low, high = poisson_binomial_share(p, prior, confidence)
    share = Estimate(
        name=f"share of datasets on which {first} is better",
        value=float(mean),
        low=float(low),
        high=float(high),
        confidence=confidence,
        method="posterior of the share",
        n=p.size,
    )
    return TestResult(
        name=_NAME,
        strategies=(first, second),
        metric=metric,
        null=_QUESTION,
        source=_SOURCE,
        statistic=float(p.sum()),
        statistic_name="expected wins",
        probabilities={f"P({first} better)": float(better), f"P({second} better)": float(worse)},
        effects=(share,),
        n=p.size,
        ties=int((p == 0.5).sum()),
        notes=() if p.size > 1 else ("one dataset says little of a context",),
    )


def poisson_binomial_pairs(
    better: np.ndarray,
    strategies: tuple[str, ...],
    metric: str = "",
    *,
    prior: float = 1.0,
    notes: Sequence[str] = (),
) -> Pairwise:
    """Return the Poisson binomial test of all pairs from P(row better) of each dataset, (K, K, N).

    The notes name cycles (section 5.1 of the paper): each strategy is better than the next one, and
    the last better than the first.
    """
    pairs = Pairs.of(strategies)
    p = better[pairs.first, pairs.second]
    n, wins = p.shape[-1], p.sum(axis=-1)
    share = (wins + prior) / (n + 2 * prior)
    tables = {
        "statistic": pairs.square(wins, n - wins),
        BETTER: pairs.square(*poisson_binomial_probability(p, prior)),
        "share of datasets": pairs.square(share, 1 - share),
    }
    cycles = [f"no order: {cycle}" for cycle in non_transitive_cycles(tables[BETTER])]
    cycles[3:] = [f"{len(cycles) - 3} further cycles"] * (len(cycles) > 3)
    return Pairwise(
        name=_NAME,
        strategies=pairs.strategies,
        tables=tables,
        statistic_name="expected wins",
        effects={"share of datasets": "posterior mean"},
        null=_QUESTION,
        source=_SOURCE,
        metric=metric,
        n=n,
        notes=(*notes, *cycles),
    )
