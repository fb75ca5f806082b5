"""Corrections of p-values for many comparisons.

The corrections for any hypotheses are computed by statsmodels, a dependency of scikit-posthocs.
Only Holm's is computed here, with results equal to the last bit: statsmodels collects garbage in
each call, which takes a quarter of a second. Shaffer's correction uses the fact that hypotheses on
all pairs of strategies imply each other: if A = B and B = C then A = C.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from mlaut.analysis.common.arguments import checked, floats, one_of
from mlaut.analysis.common.display import SMALLEST_P
from mlaut.analysis.common.late import changed
from mlaut.analysis.common.result_types import Pairwise
from mlaut.errors import AnalysisError
from mlaut.helpers.lazy import pd

Correction = Callable[[np.ndarray], np.ndarray]


@checked
def adjust(p: Any, method: str) -> Any:
    """Return adjusted p-values; each is compared with the level as if it were the only one.

    Parameters
    ----------
    p : array of float, shape (m,)
        p-values. ``"shaffer"`` needs the p-values of all pairs, in the order (1, 2), (1, 3), ...,
        (2, 3), ... Or what any test of `AnalyseResults` or of all pairs returns.
    method : {"none", "bonferroni", "sidak", "holm", "hochberg", "hommel", "shaffer", \
"benjamini-hochberg", "benjamini-yekutieli"}
        Bonferroni's, Holm's and Shaffer's corrections bound the probability of any false rejection
        under any dependence; Sidak's, Hochberg's and Hommel's bound it under
        independence or positive dependence. The last two bound the false discovery rate, Benjamini
        and Yekutieli's under any dependence.

    Returns
    -------
    ndarray, shape (m,), or of a test of all pairs what `adjust_pairs` returns; of a table of the
    p-values of all pairs, as `AnalyseResults.conover` returns it, a table

    Notes
    -----
    Sources: Sidak 1967; Holm 1979; Hochberg 1988; Hommel 1988; Shaffer 1986 (her static
    procedure), as described by Garcia and Herrera 2008, section 2; Benjamini and Hochberg 1995;
    Benjamini and Yekutieli 2001.

    Shaffer's correction takes 0.04 s for 300 strategies.

    Examples
    --------
    >>> adjust(np.array([0.01, 0.04, 0.03]), "holm")
    array([0.03, 0.06, 0.06])
    >>> adjust(np.array([0.01, 0.04, 0.03]), "hochbrg")
    Traceback (most recent call last):
    mlaut.errors.AnalysisError: correction 'hochbrg' is not known; did you mean 'hochberg'?
    """
    p = given_pairs(p, lambda: floats("p", p))
    if isinstance(p, pd.DataFrame):
        return _adjusted_table(p, method)
    if isinstance(p, Pairwise):
        return adjust_pairs(p, method)
    function = CORRECTIONS[_known(method)]
    p = np.asarray(p, dtype=float)
    if p.ndim != 1 or not ((p > 0) & (p <= 1)).all():
        raise AnalysisError("p must be an array with one axis, of p-values above 0 and at most 1")
    return np.clip(function(p), SMALLEST_P, 1.0) if len(p) else p


def _adjusted_table(p: pd.DataFrame, method: str) -> pd.DataFrame:
    """Adjust the p-values of all pairs in a square table, one for both orders of a pair."""
    values = p.to_numpy(dtype=float, copy=True)
    upper = np.triu_indices(len(values), 1)
    if values.shape != values.T.shape or not np.array_equal(values[upper], values.T[upper]):
        raise AnalysisError(
            "a table of p-values has a row and a column for each strategy, and one "
            "p-value for both orders of a pair; adjust_pairs takes any test of pairs"
        )
    values[upper] = adjust(values[upper], method)
    values.T[upper] = values[upper]
    return pd.DataFrame(values, index=p.index, columns=p.columns)


def given_pairs(tests: Any, other: Callable[[], Any] | None = None) -> Any:
    """Return the test or table of all pairs in what a test of `AnalyseResults` returned.

    Anything else is returned as it is, or as ``other()``.
    """
    first = tests[0] if isinstance(tests, tuple) and tests else tests
    pairs = getattr(first, "pairwise", first)
    if isinstance(pairs, Pairwise | pd.DataFrame):
        return pairs
    return other() if other else tests


def _pairs_of(tests: Any) -> Pairwise:
    pairs = given_pairs(tests)
    if isinstance(pairs, Pairwise) and "p_value" in pairs.tables:
        return pairs
    what = "a test of all pairs, or what a test of AnalyseResults returns"
    if isinstance(pairs, Pairwise):
        raise AnalysisError(f"{pairs.name!r} has probabilities, no p-values: see decide")
    table = "; adjust takes a table of p-values" * isinstance(pairs, pd.DataFrame)
    raise AnalysisError(f"pairs must be the result of {what}, not {type(pairs).__name__}{table}")


@checked
def adjust_pairs(pairs: Pairwise | Any, method: str) -> Pairwise:
    """Return the result of a test of all pairs with adjusted p-values.

    Parameters
    ----------
    pairs : Pairwise
        Result of the test, also as the tests of `AnalyseResults` return it. With two-sided
        p-values, the two orders of a pair are one hypothesis; one-sided p-values are adjusted
        separately for each order.
    method : str
        The correction; see `adjust`.

    Returns
    -------
    Pairwise
        ``p_value`` has the adjusted p-values, the table ``"p (unadjusted)"`` the original ones.

    Raises
    ------
    AnalysisError
        The p-values are adjusted already, or the test is one-sided and the correction is Shaffer's
        or Bergmann-Hommel's, which are for hypotheses of equality.
    """
    pairs = _pairs_of(pairs)
    method = _known(method)
    if "p (unadjusted)" in pairs.tables:
        raise AnalysisError(f"the p-values of {pairs.name!r} are adjusted already")
    if pairs.alternative != "two-sided" and method == "shaffer":
        raise AnalysisError(f"{method} is for two-sided tests; choose 'holm' for one-sided ones")
    upper = np.triu_indices(len(pairs.strategies), 1)
    table, lower = pairs.p_values.to_numpy().copy(), upper[::-1]
    two_sided = pairs.alternative == "two-sided"
    table[upper] = adjust(table[upper], method)
    table[lower] = table[upper] if two_sided else adjust(table[lower], method)
    p = pd.DataFrame(table, index=pairs.p_values.index, columns=pairs.p_values.columns)
    tables = changed(pairs.tables, **{"p_value": p, "p (unadjusted)": pairs.p_values})
    name = f"{pairs.name}, {method} correction" if method != "none" else pairs.name
    return replace(pairs, tables=tables, name=name)


def _known(method: str) -> str:
    if "bergmann" in str(method).lower():
        raise AnalysisError("Bergmann and Hommel's correction is gone: choose 'shaffer'")
    return one_of("correction", str(method).lower().replace("_", "-"), CORRECTIONS)


# ---------------------------------------------------------- any hypotheses


def _none(p: np.ndarray) -> np.ndarray:
    return p


def _by_statsmodels(name: str) -> Correction:
    def correct(p: np.ndarray) -> np.ndarray:
        from statsmodels.stats.multitest import multipletests

        return np.asarray(multipletests(p, method=name)[1])

    return correct


def _step_down(p: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return the sorted p-values times ``factors``, made nondecreasing, in the original order."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(factors * p[order])
    return adjusted


def _holm(p: np.ndarray) -> np.ndarray:
    return _step_down(p, np.arange(len(p), 0, -1))


# ------------------------------------------------------ all pairs of strategies


def _n_strategies(m: int) -> int:
    k = round((1 + np.sqrt(1 + 8 * m)) / 2)
    if k * (k - 1) // 2 != m:
        raise AnalysisError(
            f"this correction needs the p-values of all pairs of strategies, and {m} is not their "
            "number for any number of strategies"
        )
    return k


@lru_cache(maxsize=16)
def true_counts(k: int) -> tuple[int, ...]:
    """Return the numbers of pairs that can be equal at once among ``k`` strategies, ascending.

    Equal strategies form blocks, and a block of s strategies holds s (s - 1) / 2 pairs. The
    possible sums for a number of strategies are stored as the bits of one integer.

    Examples
    --------
    >>> true_counts(5)
    (0, 1, 2, 3, 4, 6, 10)
    """
    sums = [1]
    for total in range(1, k + 1):
        sums.append(0)
        for size in range(1, total + 1):
            sums[total] |= sums[total - size] << size * (size - 1) // 2
    return tuple(place for place, bit in enumerate(bin(sums[k])[:1:-1]) if bit == "1")


def _shaffer(p: np.ndarray) -> np.ndarray:
    counts = np.array(true_counts(_n_strategies(len(p))))
    left = len(p) - np.arange(len(p))
    return _step_down(p, counts[np.searchsorted(counts, left, side="right") - 1])


CORRECTIONS: dict[str, Correction] = {
    "none": _none,
    "bonferroni": _by_statsmodels("bonferroni"),
    "sidak": _by_statsmodels("sidak"),
    "holm": _holm,
    "hochberg": _by_statsmodels("simes-hochberg"),
    "hommel": _by_statsmodels("hommel"),
    "shaffer": _shaffer,
    "benjamini-hochberg": _by_statsmodels("fdr_bh"),
    "benjamini-yekutieli": _by_statsmodels("fdr_by"),
}
