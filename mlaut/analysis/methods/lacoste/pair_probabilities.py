"""The Poisson binomial test of all pairs of strategies over many datasets, and its cycles.

Each dataset has a probability that the first of two fitted models is the better one. The test
combines these probabilities into a distribution of the number of datasets on which the first is
better. Lacoste, Laviolette & Marchand (2012), section 5.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import checked, mapping_of, names, where
from mlaut.analysis.common.display import Shown
from mlaut.analysis.common.result_types import Estimate, Pairwise, TestResult
from mlaut.analysis.methods.lacoste.bayesian_bootstrap import bootstrap_prob_better
from mlaut.analysis.methods.lacoste.poisson_binomial import (
    checked_prior,
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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairProbabilities(Shown):
    """Probabilities that the first model is better, for each dataset and pair of strategies.

    Attributes
    ----------
    strategies : tuple of str, length K
    datasets : tuple of str, length N
    better : ndarray of float, shape (K, K, N)
        Probability that the row strategy's model is better than the column strategy's; the diagonal
        is 0.5.
    n_points : ndarray of int, shape (N,)
        Number of test points of each dataset.
    metric : str
    method : str
        ``"Theorem 4.1"`` or ``"Bayesian bootstrap"``.
    notes : tuple of str
    """

    strategies: tuple[str, ...]
    datasets: tuple[str, ...]
    better: np.ndarray
    n_points: np.ndarray
    metric: str = ""
    method: str = ""
    notes: tuple[str, ...] = ()

    def title(self) -> str:  # noqa: D102 - inherited
        on = f", {self.metric}" if self.metric else ""
        return f"P(first model better) on each dataset{on} ({self.method}), scenario (a)"

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each dataset and one column for each pair."""
        upper = np.triu_indices(len(self.strategies), 1)
        pairs = [(self.strategies[i], self.strategies[j]) for i, j in zip(*upper, strict=True)]
        columns = pd.MultiIndex.from_tuples(pairs)
        return pd.DataFrame(self.better[upper].T, index=list(self.datasets), columns=columns)

    def sentence(self) -> str:  # noqa: D102 - inherited
        n = len(self.strategies) * (len(self.strategies) - 1) // 2
        return (
            f"{n} pairs of models on each of {len(self.datasets)} datasets: probabilities that the "
            "first is better, not corrected for the number of comparisons, scenario (a)."
        )


@checked
@where(losses=mapping_of(), strategies=names)
def probabilities_by_dataset(
    losses: Mapping[str, ArrayLike], strategies: Sequence[str], prior: float = 1.0, metric: str = ""
) -> PairProbabilities:
    """Compute the probability that the first model is better, for each dataset and each pair.

    Scenario (a). Losses of 0 and 1 are counted (Theorem 4.1). Other losses are weighted by the
    Bayesian bootstrap, which has the same result for losses of 0 and 1.

    Parameters
    ----------
    losses : mapping of str to array_like of float, shape (K, M)
        Losses by dataset: one row for each strategy, one column for each test point. Smaller is
        better.
    strategies : sequence of str, length K
        Names of the strategies.
    prior : float, default 1
        Weight of the prior, see `prob_better_classifier` and `bootstrap_prob_better`.
    metric : str
        Name of the loss.

    Returns
    -------
    PairProbabilities

    Raises
    ------
    AnalysisError
        There is no dataset, there are fewer than two strategies, a name occurs twice, a table has
        another number of strategies, or a loss is missing or infinite.

    Examples
    --------
    >>> losses = {"iris": [[0, 0, 1, 0], [1, 0, 1, 1]], "wine": [[0.1, 0.4], [0.2, 0.3]]}
    >>> probabilities_by_dataset(losses, ["A", "B"]).better[0, 1].round(4)
    array([0.875, 0.5  ])
    """
    names = _checked_names(strategies)
    if not losses:
        raise AnalysisError("no dataset is given: losses is empty")
    on_each, n_points, counted = [], [], True
    for name in losses:  # one table at a time, to bound the memory
        table = _checked_losses(name, losses[name], names)
        counted = counted and bool(np.isin(table, (0, 1)).all())
        on_each.append(_one_dataset(table, prior))
        n_points.append(table.shape[1])
    return PairProbabilities(
        strategies=names,
        datasets=tuple(losses),
        better=np.stack(on_each, axis=-1),
        n_points=np.array(n_points),
        metric=metric,
        method="Theorem 4.1" if counted else "Bayesian bootstrap",
    )


def _checked_names(strategies: Sequence[str]) -> tuple[str, ...]:
    names = tuple(strategies)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise AnalysisError(f"strategy {twice[0]!r} is named twice; give every one its own name")
    if len(names) < 2:
        raise AnalysisError(f"{len(names)} strategy is given; a comparison needs two")
    return names


def _checked_losses(dataset: str, losses: ArrayLike, names: tuple[str, ...]) -> np.ndarray:
    table = np.asarray(losses, dtype=float)
    if table.ndim != 2 or table.shape[0] != len(names) or table.shape[1] == 0:
        raise AnalysisError(
            f"losses on dataset {dataset!r} have shape {table.shape}; expected "
            f"({len(names)}, number of test points)"
        )
    bad = ~np.isfinite(table).all(axis=1)
    if bad.any():
        raise AnalysisError(
            f"losses of {names[int(np.argmax(bad))]!r} on dataset {dataset!r} are missing or "
            "infinite; leave the dataset out, or clip the loss"
        )
    return table


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


def has_point_losses(results: Results) -> bool:
    """Return whether every cell has the losses of its test points, and they are 0 and 1."""
    known = results.load_block is not None and results.variances is not None
    return (
        known
        and results.metric.zero_one
        and bool(results.standard_errors.notna().all(axis=None))  # no cell was filled in
    )


@pair_test(name=_NAME, null=_QUESTION, source=_SOURCE, applies=has_point_losses)
def poisson_binomial_test(results: Results, *, prior: float = 1.0) -> Pairwise:
    """Compute the Poisson binomial test of all pairs of strategies of a study.

    Scenario (c); see `poisson_binomial_from_probabilities`. `probabilities_by_dataset` computes a
    probability for each dataset from the losses of its test points; `poisson_binomial_pairs`
    combines the datasets.

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
    >>> table = pd.DataFrame({"A": [0.1, 0.2], "B": [0.2, 0.3]}, index=["iris", "wine"])
    >>> poisson_binomial_test(Results.from_table(table, greater_is_better=False))
    Traceback (most recent call last):
    mlaut.errors.AnalysisError: these results come from a table, which has no single test points
    """
    results.complete(strategies=2)
    losses, notes = _PointLosses(results), []
    if results.expected.shape[2] > 1:
        notes.append("the models of all folds of a dataset count as one model: approximate")
    if results.expected.shape[1] > 1:
        notes.append("losses of a test point are averaged over the repeats")
    given = probabilities_by_dataset(losses, results.strategies, prior, results.metric.loss_name)
    return poisson_binomial_pairs(replace(given, notes=(*results.notes_text(), *notes)), prior)


def lacoste_probabilities(results: Results) -> np.ndarray | None:
    """Return P(row better) of the models of the only dataset: shape (K, K), or None.

    The results need the losses of test points. Those of several repeats are averaged.
    """
    if not has_point_losses(results):
        return None
    given = probabilities_by_dataset(_PointLosses(results), results.strategies)
    return np.asarray(given.better[..., 0])


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
        points: the input of `lacoste_comparison` and
        `prob_better_classifier`.

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
    strategies: Sequence[str] = ("A", "B"),
    prior: float = 1.0,
    confidence: float = 0.95,
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
    first, second = _checked_names(strategies)
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


@checked
def poisson_binomial_pairs(probabilities: PairProbabilities, prior: float = 1.0) -> Pairwise:
    """Compute the Poisson binomial test of all pairs of strategies at once.

    Scenario (c); see `poisson_binomial_from_probabilities`. The notes name cycles (section 5.1 of
    the paper): each strategy is better than the next one, and the last better than the first.

    Parameters
    ----------
    probabilities : PairProbabilities
    prior : float, default 1
        Both parameters of the Beta prior of the share of datasets on which a strategy is better.

    Returns
    -------
    Pairwise
        The tables are ``"P(row better)"``, ``"statistic"`` (the expected number of datasets on
        which the row strategy is better) and ``"share of datasets"`` (posterior mean of the share
        of such datasets).

    Examples
    --------
    >>> losses = {f"d{i}": [[0, 0, 1, 0], [1, 0, 1, 1], [0, 1, 0, 1]] for i in range(9)}
    >>> pairs = poisson_binomial_pairs(probabilities_by_dataset(losses, ["A", "B", "C"]))
    >>> pairs.table("P(row better)").round(3)
           A      B     C
    A    NaN  0.963  0.79
    B  0.037    NaN  0.21
    C  0.210  0.790   NaN
    """
    prior = checked_prior(prior)
    pairs = Pairs.of(probabilities.strategies)
    p = probabilities.better[pairs.first, pairs.second]
    n, wins = p.shape[-1], p.sum(axis=-1)
    share = (wins + prior) / (n + 2 * prior)
    tables = {
        "statistic": pairs.square(wins, n - wins),
        BETTER: pairs.square(*poisson_binomial_probability(p, prior)),
        "share of datasets": pairs.square(share, 1 - share),
    }
    notes = [str(cycle) for cycle in non_transitive_cycles(tables[BETTER])]
    more = (f"{len(notes) - 3} further cycles",) if len(notes) > 3 else ()
    return Pairwise(
        name=_NAME,
        strategies=pairs.strategies,
        tables=tables,
        statistic_name="expected wins",
        effects={"share of datasets": "posterior mean"},
        null=_QUESTION,
        source=_SOURCE,
        metric=probabilities.metric,
        n=n,
        notes=(*probabilities.notes, *(f"no order: {note}" for note in notes[:3]), *more),
    )
