"""Independent packages agree where they are right; where they are not, simulation says who is.

Further comparisons stand with the tests of each method (scipy, statsmodels, scikit-posthocs and
baycomp). Here are autorank and mlxtend, and the defects of peers that are known.
"""

import contextlib
import io
import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mlaut.analysis import Results, friedman_test, nemenyi_test, t_test, wilcoxon_test
from mlaut.analysis.common.numerics import range_ppf, signed_rank_cdf
from mlaut.analysis.methods.bayes import sign_probabilities, signed_rank_probabilities
from mlaut.analysis.methods.cross_validation import cv_test
from mlaut.analysis.methods.frequentist import critical_difference, mcnemar_p


def pair(d):
    """Make results of two strategies that differ by d."""
    level = np.linspace(10, 20, len(d))
    return Results.from_table(
        pd.DataFrame({"A": level + d, "B": level}), metric="loss", greater_is_better=False
    )


# -------------------------------------------------------------------- autorank


def autoranked(table, **how):
    autorank = pytest.importorskip("autorank")
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return autorank.autorank(table, **how)


def test_autorank_agrees_on_ranks_friedman_and_critical_difference(mlaut2018, garcia):
    for results in (mlaut2018, garcia):
        losses = results.losses
        theirs = autoranked(losses, force_mode="nonparametric", order="ascending")
        ranks = losses.rank(axis=1).mean()
        np.testing.assert_allclose(theirs.rankdf["meanrank"][ranks.index], ranks)
        chi2 = friedman_test(results, statistic="chi2")
        assert theirs.pvalue == pytest.approx(chi2.p_value, rel=1e-6)
        assert theirs.cd == pytest.approx(critical_difference(*losses.shape[::-1]), abs=2e-3)


def test_autorank_agrees_on_two_strategies_but_for_the_side_of_its_signed_rank_test():
    d = np.random.default_rng(0).normal(0.3, 1, 30)
    losses = pair(d).losses
    t = autoranked(losses, force_mode="parametric")
    assert t.pvalue == pytest.approx(t_test(pair(d)).value("p_value", "A", "B"))
    # it looks at the data to choose a side, and then tests that side alone
    signed = autoranked(losses, force_mode="nonparametric")
    sides = [stats.wilcoxon(d, alternative=side).pvalue for side in ("less", "greater")]
    assert min(abs(signed.pvalue - p) for p in sides) < 1e-12
    truth, error = simulated_signed_rank_p(d)
    ours = wilcoxon_test(pair(d)).value("p_value", "A", "B")
    assert ours == pytest.approx(truth, abs=error)
    assert abs(signed.pvalue - truth) > error


# --------------------------------------------------------------------- mlxtend


class Silent:
    """An estimator that learns nothing: the scores are given."""

    def fit(self, X, y):
        return self


def given_scores(differences):
    """Make a scorer that gives each difference as the scores of the two estimators in turn."""
    scores = itertools.chain.from_iterable((d, 0.0) for d in differences)
    return lambda *_: next(scores)


X, Y = np.zeros((20, 1)), np.arange(20) % 2
BY_RUN = np.random.default_rng(3).normal(0.02, 0.03, (2, 5))  # folds x runs


def test_mlxtend_agrees_on_5x2cv():
    evaluate = pytest.importorskip("mlxtend.evaluate")
    for name, theirs in (
        ("5x2cv t", evaluate.paired_ttest_5x2cv),
        ("5x2cv F", evaluate.combined_ftest_5x2cv),
    ):
        statistic, p = theirs(
            Silent(), Silent(), X, Y, scoring=given_scores(BY_RUN.T.ravel()), random_seed=0
        )
        ours = cv_test(BY_RUN, name)
        assert ours.statistic == pytest.approx(statistic)
        assert ours.p_value == pytest.approx(p)


def test_mlxtend_agrees_on_k_fold_and_resampled_t_with_default_df():
    evaluate = pytest.importorskip("mlxtend.evaluate")
    d = np.random.default_rng(4).normal(0.02, 0.03, 10)
    statistic, p = evaluate.paired_ttest_kfold_cv(
        Silent(), Silent(), X, Y, cv=10, scoring=given_scores(d), random_seed=0
    )
    ours = cv_test(d, "k-fold", df="default")
    assert (ours.statistic, ours.p_value) == pytest.approx((statistic, p))
    many = np.random.default_rng(5).normal(0.01, 0.03, 30)
    statistic, p = evaluate.paired_ttest_resampled(
        Silent(), Silent(), X, Y, num_rounds=30, scoring=given_scores(many), random_seed=0
    )
    ours = cv_test(many, "resampling", df="default", test_to_train=0.5)
    assert (ours.statistic, ours.p_value) == pytest.approx((statistic, p))


@pytest.mark.parametrize(("b", "c"), [(59, 121), (3, 9), (0, 5), (25, 25)])
def test_mlxtend_agrees_on_mcnemar(b, c):
    evaluate = pytest.importorskip("mlxtend.evaluate")
    table = np.array([[50, b], [c, 20]])
    for method, how in (
        ("corrected", {"corrected": True}),
        ("uncorrected", {"corrected": False}),
        ("exact", {"exact": True}),
    ):
        if (b, c, method) == (25, 25, "corrected"):
            continue  # Edwards' correction of a difference of 0 goes past 0 there
        assert mcnemar_p(b, c, method) == pytest.approx(evaluate.mcnemar(table, **how)[1])


# ---------------------------------------------------- where peers are wrong


def simulated_signed_rank_p(d, n=400_000):
    """Return the two-sided p-value of the signed ranks of d over random signs, and its error."""
    ranks = stats.rankdata(np.abs(d))
    seen = min(ranks[d > 0].sum(), ranks[d < 0].sum())
    signs = np.random.default_rng(0).random((n, len(d))) < 0.5
    p = 2 * ((signs * ranks).sum(axis=1) <= seen + 1e-9).mean()
    return p, 3 * np.sqrt(2 * p / n)


def test_signed_ranks_with_ties_against_a_table_without_and_against_the_normal():
    d = np.array([1, 1, 1, 1, -1, 2, 2], dtype=float)
    truth, error = simulated_signed_rank_p(d)
    assert wilcoxon_test(pair(d)).value("p_value", "A", "B") == pytest.approx(truth, abs=error)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        normal = stats.wilcoxon(d, method="asymptotic").pvalue
        no_ties = stats.wilcoxon(d, method="exact").pvalue
    assert truth == pytest.approx(3 / 32, abs=error)
    assert normal == pytest.approx(0.0532, abs=1e-4)  # it would be called almost significant
    assert no_ties == pytest.approx(0.0781, abs=1e-4)


def test_rounding_noise_makes_scipy_part_what_is_tied():
    a = np.array([0.3, 0.7, 0.9, 0.4, 0.55, 0.8, 0.65])
    d = np.array([0.1, 0.1, -0.1, 0.1, 0.2, -0.2, 0.2])
    table = pd.DataFrame({"A": a, "B": a - d})
    results = Results.from_table(table, greater_is_better=False)
    truth, error = simulated_signed_rank_p(np.round(d, 12))
    assert wilcoxon_test(results).value("p_value", "A", "B") == pytest.approx(truth, abs=error)


def test_a_far_tail_is_not_0_as_scipys_is():
    assert 2 * signed_rank_cdf(np.arange(1.0, 61.0), 0) == pytest.approx(2 * 0.5**60)
    d = np.arange(1.0, 61.0)
    assert wilcoxon_test(pair(d)).value("p_value", "A", "B") == pytest.approx(2 * 0.5**60)


def test_the_studentized_range_of_many_strategies_against_simulation():
    """Of 200 strategies statsmodels is off by 1 %, and it gives .001 for all that is less."""
    libqsturng = pytest.importorskip("statsmodels.stats.libqsturng")
    rng = np.random.default_rng(0)
    drawn = np.concatenate([np.ptp(rng.normal(size=(10_000, 200)), axis=1) for _ in range(8)])
    truth = np.quantile(drawn, 0.95)
    blocks = np.quantile(drawn.reshape(8, -1), 0.95, axis=1)
    error = 3 * blocks.std(ddof=1) / np.sqrt(8)
    ours = range_ppf(0.05, 200)
    assert ours == pytest.approx(truth, abs=error)
    assert float(np.ravel(libqsturng.psturng(7.0, 5, np.inf))[0]) >= 0.001


def test_nemenyi_is_paired_and_holds_its_level(losses):
    """MLaut's own was unpaired: datasets that differ hid all differences between strategies."""
    rng = np.random.default_rng(1)
    rejected = []
    for _ in range(200):
        table = rng.normal(0, 5, (20, 1)) + rng.normal(size=(20, 4))
        rejected.append(np.nanmin(nemenyi_test(losses(table)).p_values.to_numpy()) <= 0.05)
    assert np.mean(rejected) == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 200))
    shifted = rng.normal(0, 5, (20, 1)) + rng.normal(size=(20, 4)) + [0, 0, 0, 2]
    unpaired = stats.ttest_ind(shifted[:, 0], shifted[:, 3]).pvalue
    assert unpaired > 0.05 > nemenyi_test(losses(shifted)).p_values.iloc[0, 3]


def test_equal_strategies_where_baycomp_gives_neither_or_nan():
    baycomp = pytest.importorskip("baycomp")
    same = np.full(20, 0.2)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = baycomp.SignTest.probs(same, same, rope=0)
    assert not np.allclose(theirs, 0.5, equal_nan=False)
    assert sign_probabilities(np.zeros(20))[0] == pytest.approx(np.array([[0.5, 0.0, 0.5]]))
    assert signed_rank_probabilities(np.zeros(20))[0].tolist() == [[0.5, 0.0, 0.5]]
