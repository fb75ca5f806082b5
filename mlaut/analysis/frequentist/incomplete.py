"""Tests of results with missing cells: Skillings and Mack's test, and pairs on what they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mlaut.analysis.common.numerics import RELATIVE_NOISE, equalised
from mlaut.analysis.common.result_types import Pairwise, TestResult
from mlaut.analysis.pairwise.pairs import Pairs
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.missing import treat_missing
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

__all__ = ["pairwise_complete", "skillings_mack_test"]

_NEGLIGIBLE = (
    1e-9  # an eigenvalue of the covariance that is 0 but for rounding; the others are > .1
)
_RANDOM = "cells are supposed to be missing at random: one that failed because it is hard is not"


@of_results
def skillings_mack_test(results: Results) -> TestResult:
    """Compute Skillings and Mack's test that all strategies have the same average rank.

    Scenario (c). It is Friedman's test for results with missing cells: each dataset ranks the
    strategies that it has.

    Parameters
    ----------
    results : Results or DataFrame
        Results that may have missing cells.

    Returns
    -------
    TestResult

    Raises
    ------
    AnalysisError
        There are fewer than two strategies, or two datasets with two results or more.

    Notes
    -----
    Null hypothesis: all strategies have the same distribution of ranks, and cells are missing at
    random. On a dataset with k results the deviations of the ranks from (k + 1) / 2 have the weight
    ``sqrt(12 / (k + 1))``; the statistic is the quadratic form of their sums with the inverse of
    their covariance, which is corrected for ties. Without missing cells it is Friedman's chi-square
    with ties. Source: Skillings & Mack 1981.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [72, 96, 88, None], "B": [99, 98, 132, 120],
    ...                       "C": [76, 95, None, 96]})
    >>> skillings_mack_test(table, metric="seconds", greater_is_better=False).sentence()
    'Skillings-Mack test of 3 strategies on seconds (4 datasets): ...'
    """
    from scipy.special import chdtrc
    from scipy.stats import rankdata

    losses = results.losses.to_numpy()
    there = ~np.isnan(losses)
    usable = there.sum(axis=1) > 1
    if usable.sum() < 2 or losses.shape[1] < 2:
        raise AnalysisError("it needs two datasets with results of two strategies or more on each")
    snapped = equalised(losses.T, RELATIVE_NOISE * results.noise_scale.T).T
    sums, covariance = np.zeros(losses.shape[1]), np.zeros((losses.shape[1],) * 2)
    tied = 0
    for row, has in zip(snapped[usable], there[usable], strict=True):
        at, k = np.flatnonzero(has), int(has.sum())
        ranks = rankdata(row[at])
        away = np.sqrt(12 / (k + 1)) * (ranks - (k + 1) / 2)
        sums[at] += away
        covariance[np.ix_(at, at)] += away @ away / (k - 1) * (np.eye(k) - 1 / k)
        tied += len(np.unique(ranks)) < k
    df = int(np.linalg.matrix_rank(covariance, tol=_NEGLIGIBLE, hermitian=True))
    statistic = float(sums @ np.linalg.pinv(covariance, rcond=_NEGLIGIBLE, hermitian=True) @ sums)
    holes = int((~there).sum())
    notes = [_RANDOM] if holes else []
    if not usable.all():
        names = [name for name, ok in zip(results.datasets, usable, strict=True) if not ok]
        notes.append(f"datasets with fewer than two results are left out: {', '.join(names)}")
    if df < losses.shape[1] - 1:
        notes.append(
            f"the strategies have {df} comparisons in place of {losses.shape[1] - 1}: "
            "they are tied, or fall into groups that share no dataset"
        )
    return TestResult(
        name="Skillings-Mack test",
        strategies=results.strategies,
        null="all strategies have the same average rank",
        source="Skillings & Mack 1981",
        metric=results.metric.loss_name,
        statistic=max(statistic, 0.0),
        statistic_name="chi2",
        df=df,
        p_value=float(chdtrc(df, max(statistic, 0.0))) if df else 1.0,
        n=int(usable.sum()),
        ties=tied,
        notes=(*results.notes_text(), *notes),
    )


@of_results
def pairwise_complete(results: Results, test: Callable[..., Pairwise]) -> Pairwise:
    """Compute a test of all pairs, each pair on all datasets that both strategies have.

    Scenario of the test. One missing cell of a third strategy then leaves no dataset out of the
    comparison of two others.

    Parameters
    ----------
    results : Results or DataFrame
        Results that may have missing cells.
    test : callable
        A test of all pairs, for example `mlaut.analysis.wilcoxon_test`.

    Returns
    -------
    Pairwise
        The result of the test with a further table ``"datasets"``, the number of datasets of each
        pair. Correct its p-values with `adjust_pairs`.

    Raises
    ------
    AnalysisError
        Two strategies share fewer than two datasets, or the function is no test of pairs.

    Notes
    -----
    Pairs rest on different datasets, so the results of three pairs can contradict each other.

    Examples
    --------
    >>> import pandas as pd
    >>> from mlaut.analysis import sign_test
    >>> table = pd.DataFrame({"A": [0.1] * 6, "B": [0.2] * 6, "C": [0.3] * 4 + [None] * 2})
    >>> found = pairwise_complete(table, sign_test, metric="error")
    >>> found.table("datasets").loc["A"].to_list()
    [nan, 6.0, 4.0]
    >>> found.value("p_value", "A", "B"), found.value("p_value", "A", "C")
    (0.03125, 0.125)
    """
    if len(results.strategies) < 2:
        raise AnalysisError("pairs need two strategies")
    pairs = Pairs.of(results.strategies)
    every = [_of_pair(results, test, pair) for pair in pairs.labels]
    tables = {
        key: pairs.square(*np.transpose([_both(one, key) for one in every]))
        for key in every[0].tables
    }
    counts = np.array([one.n for one in every], dtype=float)
    counted = f"each pair on the datasets that both have: {counts.min():g} to {counts.max():g}"
    noted = {
        pair: one.pair_notes[pair]
        for pair, one in zip(pairs.labels, every, strict=True)
        if pair in one.pair_notes
    }
    return replace(
        every[0],
        strategies=results.strategies,
        tables={**tables, "datasets": pairs.square(counts, counts)},
        n=len(results.datasets),
        notes=(*results.notes_text(), counted, _RANDOM),
        pair_notes=noted,
    )


def _of_pair(results: Results, test: Callable[..., Pairwise], pair: tuple[str, str]) -> Pairwise:
    shared = results.losses[list(pair)].notna().all(axis=1)
    if shared.sum() < 2:
        raise AnalysisError(
            f"{' and '.join(pair)} share {int(shared.sum())} datasets, and a test needs two: leave "
            "one of them out"
        )
    found = test(treat_missing(results.select(strategies=pair), "drop datasets"))
    if not isinstance(found, Pairwise):
        raise AnalysisError(
            f"test must be a test of all pairs, which {type(found).__name__} is not"
        )
    return found


def _both(of_pair: Pairwise, key: str) -> tuple[float, float]:
    """Return the numbers of the first strategy against the second, and the other way round."""
    table = of_pair.tables[key].to_numpy()
    return table[0, 1], table[1, 0]
