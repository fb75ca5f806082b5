from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from contexts import MULTIPLE
from scipy import stats
from table_tests import (
    lacoste_comparison,
    lacoste_sign_test,
    lacoste_signed_rank_test,
    signed_rank_tail,
)

from mlaut.errors import AnalysisError

TABLE_6 = pd.read_csv(Path(__file__).parents[1] / "data" / "lacoste2012_table6.csv", index_col=0)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [("svm", "ann", 0.8847), ("ann", "parzen", 0.7137), ("ada", "parzen", 0.1762)],
)
def test_table_3_from_the_risks_of_table_6(first, second, expected):
    # Lacoste, Laviolette & Marchand (2012): .88, .71, .18. Printed ties are broken by the p_i.
    column, sign = (f"{first}_{second}", 1) if first != "ada" else ("parzen_ada", -1)
    d = np.sign(TABLE_6[second] - TABLE_6[first])
    d = d.where(d != 0, sign * np.sign(TABLE_6[column] - 0.5))
    result = lacoste_sign_test((d > 0).sum(), (d < 0).sum(), [first, second], (d == 0).sum())
    assert 1 - result.p_value == pytest.approx(expected, abs=5e-5)


def test_the_sign_test_has_the_share_of_wins_without_ties():
    result = lacoste_sign_test(5, 3, ties=2)
    (share,) = result.effects
    assert (share.value, share.n, result.n, result.ties) == (5 / 8, 8, 10, 2)
    assert 0 < share.low < 5 / 8 < share.high < 1


def test_sign_test_of_svm_against_parzen():
    assert 1 - lacoste_sign_test(17, 3).p_value == pytest.approx(0.9974231720, abs=5e-11)


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 1), (5, 5), (1, 0)])
def test_the_sign_test_is_capped_at_1(wins, losses):
    assert lacoste_sign_test(wins, losses).p_value == 1


def test_sign_test_agrees_with_scipy():
    for wins in range(13):
        known = stats.binomtest(wins, 12).pvalue
        assert lacoste_sign_test(wins, 12 - wins).p_value == pytest.approx(known, rel=1e-12)


def test_signed_rank_example_of_scipy():
    d = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]
    result = lacoste_signed_rank_test(d, ["maize", "cross"])
    assert result.p_value == 0.041259765625
    assert (result.statistic, result.n, result.ties) == (96, 15, 0)
    assert result.effect.value == pytest.approx((96 - 24) / 120)


def test_signed_rank_of_svm_against_parzen():
    # c- = 40 with 20 differences: 0.986 where the paper prints 0.97; its recursion adds up to 2.
    p = signed_rank_tail(np.array([40.0]), np.array([20]))[0]
    assert 1 - p == pytest.approx(0.986, abs=5e-4)
    assert 1 - 2 * p == pytest.approx(0.973, abs=1e-3)


def test_svm_against_parzen_from_the_counts_of_table_5():
    # Tables 2 and 3: .99 and 1.00. The columns of Table 5 are k + 10, k + 10 and n + 20 or so.
    h, g, rest = (MULTIPLE.alphas - 10).T
    poisson_binomial, sign, signed_rank = lacoste_comparison(h, g, h + g + rest, ["svm", "parzen"])
    assert poisson_binomial.probabilities["P(svm better)"] == pytest.approx(0.985346, abs=5e-7)
    assert 1 - sign.p_value == pytest.approx(0.9974231720, abs=5e-11)
    assert (sign.n, sign.ties) == (22, 2)
    assert 1 - signed_rank.p_value == pytest.approx(0.986, abs=2e-3)


def test_signed_rank_agrees_with_scipy_without_ties():
    d = np.random.default_rng(0).normal(0.3, 1, size=(20, 30))
    ranks = stats.rankdata(np.abs(d), axis=1)
    smaller = np.minimum((ranks * (d > 0)).sum(axis=1), (ranks * (d < 0)).sum(axis=1))
    known = stats.wilcoxon(d, axis=1, method="exact").pvalue
    np.testing.assert_allclose(signed_rank_tail(smaller, np.full(20, 30)), known, rtol=1e-10)


def test_zeros_are_dropped_and_ties_have_average_ranks():
    result = lacoste_signed_rank_test([0.0, 1.0, -1.0, 2.0, 0.0, -3.0])
    assert (result.statistic, result.n, result.ties) == (1.5 + 3, 6, 2)
    # c- = 5.5: the tie-free distribution of four ranks up to 4.5
    assert result.p_value == pytest.approx(2 * 7 / 16)


def test_no_decision_gives_p_1_with_a_word():
    for result in (lacoste_signed_rank_test([0.0, 0.0]), lacoste_sign_test(0, 0, ties=2)):
        assert result.p_value == 1
        assert "no dataset decides" in result.notes[0]
        assert (result.n, result.ties) == (2, 2)


def test_p_is_never_0():
    assert lacoste_sign_test(0, 5000).p_value > 0
    assert "upper bound" in lacoste_sign_test(0, 5000).notes[-1]
    assert lacoste_signed_rank_test(np.arange(1, 1200)).p_value > 0


def test_bad_counts_are_named():
    with pytest.raises(AnalysisError, match="together at most n"):
        lacoste_comparison([3, 9], [1, 9], [10, 10])
    with pytest.raises(AnalysisError, match="only_first_wrong = -1 is not a count"):
        lacoste_comparison([-1], [1], [10])


@pytest.mark.parametrize("d", [[], [1.0, np.nan], [np.inf], [[1.0, 2.0]]])
def test_bad_differences_are_refused(d):
    with pytest.raises(AnalysisError, match="one finite number for each dataset"):
        lacoste_signed_rank_test(d)
