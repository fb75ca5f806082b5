"""Computation of the tests and estimates of a comparison."""

import math
from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import Count, NotNegative, Seed, Share, checked, one_of
from mlaut.analysis.common.late import changed
from mlaut.analysis.common.result_types import Pairwise, ResultTable, TestResult
from mlaut.analysis.common.tests import TESTS
from mlaut.analysis.comparing.comparison import Comparison
from mlaut.analysis.comparing.one_comparison import compare_one
from mlaut.analysis.deciding.terms import default_test
from mlaut.analysis.deciding.verdicts import copies_in, is_baseline
from mlaut.analysis.estimates.intervals import mean_estimates
from mlaut.analysis.methods.bayes.dirichlet import DRAWS
from mlaut.analysis.methods.bayes.sign_tests import bayesian_sign_test, bayesian_signed_rank_test
from mlaut.analysis.methods.frequentist import paired_tests, portmanteau, ranks
from mlaut.analysis.methods.lacoste.pair_probabilities import poisson_binomial_test
from mlaut.analysis.pairwise.corrections import adjust_pairs
from mlaut.analysis.pairwise.pairs import Pairs, paired_losses
from mlaut.analysis.pairwise.runner import PairFunction
from mlaut.analysis.results.given import check_independent, results_of
from mlaut.analysis.results.missing import treat_missing, with_means
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.tables import as_table, source_column
from mlaut.analysis.scores.base import MLautScore
from mlaut.errors import AnalysisError, some_of

# the tests of pairs of a comparison, in the order of its tables; a new test is one entry more
PAIR_TESTS: dict[str, PairFunction] = {
    "t": paired_tests.t_test,
    "signed rank": paired_tests.wilcoxon_test,
    "sign": paired_tests.sign_test,
    "trinomial": paired_tests.trinomial_test,
    "Nemenyi": ranks.nemenyi_test,
    "Conover": portmanteau.conover_test,
    "Siegel": portmanteau.post_hoc_test,
    "Bayesian sign": bayesian_sign_test,
    "Bayesian signed rank": bayesian_signed_rank_test,
    "Poisson binomial": poisson_binomial_test,
}
# the same where datasets have sources, whose datasets are related
SOURCE_TESTS: dict[str, PairFunction] = {
    "t": paired_tests.t_test,
    "signed rank": ranks.joint_signed_rank_test,
    "sign": ranks.joint_sign_test,
}


JOINT = "joint"  # the correction by flips of whole datasets or sources


def suited_tests(results: Results) -> dict[str, PairFunction]:
    """Return the tests of pairs that suit the results: those that use sources, if there are any."""
    return PAIR_TESTS if results.clusters is None else SOURCE_TESTS


@checked
def compare(
    results: Any,
    *,
    metric: str | MLautScore = "",
    greater_is_better: bool | None = None,
    clusters: Mapping[str, Any] | pd.Series | str | None = None,
    alpha: Share = 0.05,
    correction: str = "joint",
    test: str = "",
    control: str | None = None,
    missing: str = "raise",
    confidence: Share = 0.95,
    rope: NotNegative = 0.0,
    n_samples: Count = DRAWS,
    seed: Seed = 0,
    zeros: str = "wilcox",
    method: str = "auto",
) -> Comparison:
    """Compare all strategies by estimates, tests of all strategies and of pairs, and probabilities.

    On one dataset, its split decides the test, which takes its folds or rows: see
    `mlaut.analysis.deciding.one_dataset`. The claims are then about this source alone.

    Parameters
    ----------
    results : Results, DataFrame, Series, dict, list or path-like
        The results to compare, or a table of scores with a column for each strategy and a row for
        each dataset (`Results.from_table`). Whatever else holds scores (a long table, nested
        dictionaries, what ``cross_validate`` returned for each strategy, a file) is read, or asked
        about, by `mlaut.analysis.read_results`. All of these need ``metric``.
    metric : str or MLautScore, optional
        Metric of the table's scores, for example ``"accuracy"``, or any other name together with
        ``greater_is_better``. `Results` already have their metric.
    greater_is_better : bool, optional
        Direction of a metric that is not known by its name.
    clusters : mapping, Series or str, optional
        The source of each dataset, by its name, or the column of the table that has it (default
        ``source``, ``cluster`` or ``group``, if it has texts). Then the unit of all claims is the
        source: tests flip whole sources, and tests that need independent datasets are left out.
    alpha : float, default 0.05
        Level of the critical differences, of the groups and of the sentences.
    correction : str, default "joint"
        Correction of the p-values for the number of pairs. ``"joint"``: tests of signs and signed
        ranks take all pairs together, by flips of the signs of whole datasets, which is exact and
        finds more than a correction of single p-values; other tests have Holm's correction. Or one
        of `mlaut.analysis.pairwise.adjust` for all tests.
    test : {"t", "signed rank", "sign", "trinomial", "Nemenyi", "Conover", "Siegel"}, optional
        The leading test, which decides the groups and which strategies differ from the best.
        Default the signed rank test, or the trinomial test for losses in different units: their
        result for a pair does not depend on the other strategies; that of the last three does.
    control : str, optional
        Strategy that all others are also compared with, by the Bonferroni-Dunn test.
    missing : str, default "raise"
        Treatment of missing cells; see `mlaut.analysis.treat_missing`.
    confidence : float, default 0.95
        Confidence of all intervals.
    rope : float, default 0
        Half width of the region of practical equivalence of the Bayesian tests, in units of the
        table: percentage points for a table of percentages.
    n_samples : int, default 5000
        Number of draws of the Bayesian signed rank test; with 0 the test is not computed. Its
        result states the Monte Carlo error.
    seed : int, default 0
        Seed of these draws.
    zeros, method : str
        Arguments of `mlaut.analysis.wilcoxon_test`.

    Returns
    -------
    Comparison
        It is displayed as tables in a notebook; ``sentences()`` returns the findings. Means over
        datasets can be meaningless (``results.incomparable``): a metric in the unit of each target,
        or metrics that differ between datasets. Then the mean and the t-test are left out, with a
        note, and the findings begin with ranks. Where missing cells rank last, means and t-tests
        cover the strategies without missing cells only.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [0.1, 0.2, 0.3, 0.2], "B": [0.2, 0.4, 0.35, 0.3]})
    >>> comparison = compare(table, metric="loss", greater_is_better=False)
    >>> print(comparison.sentences()[0])
    Over 4 datasets A has the lowest mean loss, 0.2 [0.07008, 0.3299], scenario (c).
    >>> comparison = compare(1 - table, metric="accuracy")
    >>> print(comparison.sentences()[0].partition(" [")[0])
    Over 4 datasets A has the highest mean accuracy, 0.8
    >>> equal = Results.from_table(table.assign(B=table["A"]), greater_is_better=False)
    >>> print(compare(equal).sentences()[0])
    Over 4 datasets A and B have the same mean loss, 0.2 [0.07008, 0.3299], scenario (c).
    """
    results = _given(results, metric, greater_is_better, clusters)
    if len(results.datasets) == 1:
        how: dict[str, Any] = {"alpha": alpha, "correction": correction, "rope": rope}
        how |= {"confidence": confidence, "test": test, "missing": missing}
        return compare_one(results, **how, named=PAIR_TESTS)
    results = treat_missing(results, missing).in_order
    independent = results.clusters is None
    table = ranks.average_ranks(results, confidence=confidence)
    k, n = len(results.strategies), len(results.datasets)
    cd = ranks.critical_difference(k, n, alpha=alpha) if independent else math.nan
    options: dict[str, Any] = {"alpha": alpha, "confidence": confidence}
    options["rope"] = results.region(rope)
    options |= {"n_samples": n_samples, "seed": seed, "zeros": zeros, "method": method}
    tests = {
        name: _corrected(name, pairs, results, correction)
        for name, pairs in _pairs(suited_tests(results), results, options).items()
    }
    of_all: dict[str, TestResult] = {}
    if independent:
        for name in ("F", "chi2"):
            friedman = portmanteau.friedman_test(results, statistic=name, confidence=confidence)
            of_all[f"Friedman {name}"] = friedman
        if not results.metric.mixed:
            of_all["Quade"] = portmanteau.quade_test(results)
    against = apart = None
    if control is not None:
        against = ranks.bonferroni_dunn_test(results, control, alpha=alpha, confidence=confidence)
    if 1 < len(distinct := _distinct(results, control)) < k:
        options |= {"correction": correction, "test": test, "rope": rope, "control": control}
        apart = compare(results.select(strategies=distinct), **options)
    return Comparison(
        results=results,
        alpha=alpha,
        correction=correction,
        estimates=_estimates(results, confidence),
        ranks=table,
        portmanteau=of_all,
        tests=tests,
        critical_difference=cd,
        leading=_leading(test, results, tests),
        control=against,
        rope=rope,
        confidence=confidence,
        apart=apart,
    )


def _given(
    given: Any,
    metric: str | MLautScore,
    greater_is_better: bool | None,
    clusters: Mapping[str, Any] | pd.Series | str | None,
) -> Results:
    """Return results, those of a table with a column for each strategy, or of what can be read."""
    table: Any = given if isinstance(given, pd.Series) else as_table(given)
    column = clusters if isinstance(clusters, str) else ""
    if isinstance(table, Results | Comparison) or not isinstance(metric, str) or not metric:
        return results_of(table, metric, greater_is_better, clusters)
    if isinstance(table, pd.DataFrame) and _is_wide(table, column):
        return results_of(table, metric, greater_is_better, clusters)
    # imported only now: few comparisons need it
    from mlaut.analysis.importers.any_table import read_results

    read = read_results(table, metric, greater_is_better=greater_is_better, clusters=column)
    return results_of(read, clusters=None if column else clusters)


def _is_wide(table: pd.DataFrame, clusters: str) -> bool:
    """Return whether a table has numbers alone; its rows must not look like strategies."""
    from mlaut.analysis.importers.grids.sheet import likes

    source, numbers = source_column(table, clusters), pd.api.types.is_numeric_dtype
    others = [cells for name, cells in table.items() if name != source and not numbers(cells)]
    texts = [cells for cells in others if any(isinstance(x, str) for x in cells)]
    rows = [x for x in table.index if isinstance(x, str)]
    if not texts and likes(rows) == "strategy" != likes(list(map(str, table.columns))):
        raise AnalysisError(
            f"the rows ({some_of(rows)}) look like strategies by their names, and a table has a "
            "column for each: give table.T; if they are datasets, Results.from_table(table, metric)"
        )
    return not texts


def with_draws(compared: Comparison, n_samples: int) -> Comparison:
    """Return a comparison that left out the tests that draw, ``n_samples = 0``, with them."""
    results, tests = compared.results, suited_tests(compared.results)
    options = {"rope": results.region(compared.rope), "n_samples": n_samples}
    new = {name: test for name, test in tests.items() if name not in compared.tests}
    every = {**compared.tests, **_pairs(new, results, options)}
    return replace(compared, tests={name: every[name] for name in tests if name in every})


def _distinct(results: Results, control: str | None) -> list[str]:
    """Return the strategies without copies of others: of equal ones the control, or by name."""
    groups = copies_in(paired_losses(results).snapped, results.strategies)

    def order(name: str) -> tuple[bool, bool, str]:
        return name != control, is_baseline(name), name

    spare = {name for same in groups for name in sorted(same, key=order)[1:]}
    return [name for name in results.strategies if name not in spare]


def _pairs(
    tests: Mapping[str, PairFunction], results: Results, options: Mapping[str, Any]
) -> dict[str, Pairwise]:
    """Return the results of the tests that apply; each test gets the options that it accepts."""
    pairs, valued = {}, with_means(results)
    for name, function in tests.items():
        own = {key: x for key, x in options.items() if key in signature(function).parameters}
        on = valued if function.test.of_means else results
        if on is None or len(on.strategies) < 2 or own.get("n_samples") == 0:
            continue
        if function.test.applies(on):
            pairs[name] = function(on, **own)
    return pairs


def _leading(test: str, results: Results, pairs: Mapping[str, Pairwise]) -> str:
    """Return the name of the leading test: ``test``, or the one that suits the losses."""
    test = key_of(test or default_test(results.metric), results)
    if results.clusters is not None and test in PAIR_TESTS and test not in SOURCE_TESTS:
        check_independent(results, f"the test {test!r}")
    whole = [
        name
        for name, pair in pairs.items()
        if "p_value" in pair.tables and pair.strategies == results.strategies
    ]
    if test == "t" and test not in whole:
        raise AnalysisError(
            "the t-test cannot lead, since not every strategy has a mean over datasets "
            f"({results.incomparable}): choose one of {', '.join(whole)}"
        )
    return one_of("test", test, whole)


def key_of(name: str, results: Results) -> str:
    """Return the name of a test that suits the results: for sources "sign", not "trinomial"."""
    return "sign" if results.clusters is not None and name == "trinomial" else name


def pairs_by_test(name: str, results: Results, correction: str) -> Pairwise:
    """Return one of `PAIR_TESTS` by its name, corrected as `compare` does."""
    key = key_of(name, results)
    return _corrected(key, suited_tests(results)[key](results), results, correction)


def _corrected(name: str, pairs: Pairwise, results: Results, correction: str) -> Pairwise:
    test = suited_tests(results)[name].test
    if test.simultaneous or "p_value" not in pairs.tables:
        return pairs
    if correction != JOINT:
        return adjust_pairs(pairs, correction)
    return _jointly(name, pairs, results) if TESTS[name].joint else adjust_pairs(pairs, "holm")


def _jointly(name: str, pairs: Pairwise, results: Results) -> Pairwise:
    """Return a test of signs or signed ranks with the p-values of all pairs together."""
    joint = ranks.joint_of_results(results, signs=TESTS[name].joint == "signs")
    of = Pairs.of(results.strategies)
    alone = pairs.p_values.to_numpy()[of.first, of.second]
    p = np.maximum(joint.adjusted, alone)  # what draws of flips may not fall below
    return replace(
        pairs,
        name=f"{pairs.name}, all pairs jointly",
        tables=changed(pairs.tables, p_value=of.square(p, p), **{"p (unadjusted)": pairs.p_values}),
        notes=(*pairs.notes, *joint.notes()),
    )


def _estimates(results: Results, confidence: float) -> dict[str, ResultTable]:
    valued = with_means(results)
    if valued is None:
        return {}
    how: dict[str, Any] = {"confidence": confidence, "as_scores": True}
    estimates = {"(c)": mean_estimates(valued, **how)}
    # every cell has losses of single test points, and none was filled in
    if valued.variances is not None and bool(valued.standard_errors.notna().all(axis=None)):
        estimates["(a)"] = mean_estimates(valued, scenario="(a)", **how)
    return estimates
