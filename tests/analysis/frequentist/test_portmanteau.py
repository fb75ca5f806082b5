"""Tests of all strategies together: published numbers, other packages, and odd input."""

from math import factorial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mlaut.analysis import Results, adjust_pairs, friedman_test
from mlaut.analysis.methods.frequentist import conover_test, kendalls_w, post_hoc_test, quade_test
from mlaut.errors import AnalysisError, MissingCellsError

ALL = [friedman_test, quade_test]


def published(garcia, pairs):
    """Put values given by short names into the order of all pairs."""
    short = dict(zip(garcia.strategies, ["C4.5", "kNN", "NB", "Kernel", "CN2"], strict=True))
    order = post_hoc_test(garcia).pairs
    return [pairs[f"{short[a]}|{short[b]}"] for a, b in order]


# ------------------------------------------------------------- published numbers


def test_demsar_friedman(demsar_ranks):
    """Demsar 2006, section 3.2.2: chi-square 9.28, F 3.69 with 3 and 39 degrees of freedom."""
    chi2 = friedman_test(demsar_ranks, statistic="chi2", ties=False)
    assert chi2.statistic == pytest.approx(9.2785714286, abs=1e-10)
    assert chi2.p_value == pytest.approx(0.0258074967, abs=1e-10)
    f = friedman_test(demsar_ranks, ties=False)
    assert f.statistic == pytest.approx(3.6863130321, abs=1e-10)
    assert f.p_value == pytest.approx(0.0198230062, abs=1e-10)
    assert f.df == (3.0, 39.0)


def test_demsar_friedman_from_the_printed_digits(demsar):
    f, chi2 = friedman_test(demsar, ties=False), friedman_test(demsar, statistic="chi2", ties=False)
    assert (f.statistic, f.p_value) == pytest.approx((3.9866666667, 0.0143524462), abs=1e-10)
    assert (chi2.statistic, chi2.p_value) == pytest.approx((9.8571428571, 0.0198203340), abs=1e-10)
    f, chi2 = friedman_test(demsar), friedman_test(demsar, statistic="chi2")
    assert (f.statistic, f.p_value) == pytest.approx((4.5858895706, 0.0076288387), abs=1e-10)
    assert (chi2.statistic, chi2.p_value) == pytest.approx((10.9523809524, 0.0119861763), abs=1e-10)
    assert f.ties == 5
    assert any("ties on 5 datasets" in note for note in f.notes)


def test_garcia_herrera_friedman(garcia):
    f, chi2 = friedman_test(garcia, ties=False), friedman_test(garcia, statistic="chi2", ties=False)
    assert chi2.statistic == pytest.approx(39.6466666667, abs=1e-9)
    assert chi2.p_value == pytest.approx(5.121e-08, abs=5e-12)
    assert f.statistic == pytest.approx(14.3087198208, abs=1e-9)
    assert f.p_value == pytest.approx(1.593159882e-09, rel=1e-9)
    assert friedman_test(garcia).statistic == pytest.approx(14.4526104081, abs=1e-9)
    tied = friedman_test(garcia, statistic="chi2")
    assert tied.statistic == pytest.approx(39.9127516779, abs=1e-9)


def test_mlauts_own_matrix(mlaut2018):
    result = friedman_test(mlaut2018)
    assert result.statistic == pytest.approx(131.5435, abs=5e-5)
    assert result.df == (8.0, 960.0)


def test_other_examples(losses):
    scipys = losses(
        {
            "a": [72, 96, 88, 92, 74, 76, 82],
            "b": [120, 120, 132, 120, 101, 96, 112],
            "c": [76, 95, 104, 96, 84, 72, 76],
        }
    )
    found = friedman_test(scipys, statistic="chi2")
    assert (found.statistic, found.p_value) == pytest.approx((10.5714285714, 0.0050634142))
    catalysts = losses({"a": [84.5, 82.8, 79.1, 80.2], "b": [78.4, 79.1, 78.0, 76.0],
                        "c": [83.1, 79.9, 77.8, 77.9]})  # fmt: skip
    found = friedman_test(catalysts, statistic="chi2")
    assert (found.statistic, found.p_value) == pytest.approx((6.5, 0.0387742078))


def test_garcia_herrera_quade(garcia):
    """scmamp prints 10.802: it takes the sum of squares that holds without ties."""
    result = quade_test(garcia)
    assert result.statistic == pytest.approx(10.943, abs=5e-4)
    assert result.df == (4.0, 116.0)


def test_garcia_herrera_after_friedman(garcia):
    expected = {
        "C4.5|kNN": 0.004848763, "C4.5|NB": 0.8064959, "C4.5|Kernel": 4.486991e-08,
        "C4.5|CN2": 0.01276301, "kNN|NB": 0.01011233, "kNN|Kernel": 0.007963489,
        "kNN|CN2": 0.7439715, "NB|Kernel": 1.736118e-07, "NB|CN2": 0.02474467,
        "Kernel|CN2": 0.002880485,
    }  # fmt: skip
    found = list(post_hoc_test(garcia).to_frame()["p_value"])
    assert found == pytest.approx(published(garcia, expected), rel=1e-6)


# -------------------------------------------------------- agreement with packages


def test_friedman_agrees_with_scipy_and_quade_with_scikit_posthocs():
    posthocs = pytest.importorskip("scikit_posthocs")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(np.round(rng.normal(size=(15, 4)), 1), columns=list("ABCD"))
    results = Results.from_table(table, greater_is_better=False)
    found = friedman_test(results, statistic="chi2")
    expected = stats.friedmanchisquare(*table.to_numpy().T)
    assert (found.statistic, found.p_value) == pytest.approx(tuple(expected), rel=1e-10)
    ours, theirs = (
        conover_test(results).p_values,
        posthocs.posthoc_conover_friedman(table.to_numpy()),
    )
    off = ~np.eye(4, dtype=bool)
    assert ours.to_numpy()[off] == pytest.approx(theirs.to_numpy()[off], rel=1e-10)


def test_conover_by_its_formula(garcia):
    from mlaut.analysis import rank_table

    ranks = rank_table(garcia).to_numpy()
    n, k = ranks.shape
    spread = (np.square(ranks).sum() - n * k * (k + 1) ** 2 / 4) / (k - 1)
    chi2 = np.square(ranks.sum(axis=0) - n * (k + 1) / 2).sum() / spread
    df = (n - 1) * (k - 1)
    error = np.sqrt(2 * n * (k - 1) * spread / df * (1 - chi2 / (n * (k - 1))))
    t = (ranks[:, 0] - ranks[:, 3]).sum() / error
    found = conover_test(garcia).pair(garcia.strategies[0], garcia.strategies[3])
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-9)


def test_corrections_of_a_post_hoc_test(garcia):
    corrected = adjust_pairs(post_hoc_test(garcia), "shaffer")
    assert corrected.pair("C4.5", "CN2").p_value == pytest.approx(0.0510520, abs=1e-6)
    assert corrected.pair("C4.5", "CN2").probabilities["p (unadjusted)"] == pytest.approx(0.0127630)


# ------------------------------------------------------------------------ effects


def test_kendalls_w():
    agree = pd.DataFrame([[1.0, 2, 3]] * 5, columns=list("ABC"))
    assert kendalls_w(Results.from_table(agree, greater_is_better=False)).value == 1.0
    latin = pd.DataFrame([[1.0, 2, 3], [2, 3, 1], [3, 1, 2]], columns=list("ABC"))
    estimate = kendalls_w(Results.from_table(latin, greater_is_better=False))
    assert estimate.value == 0.0


@pytest.mark.parametrize("rows", [[[1.0, 2, 3]] * 3, [[1, 2], [2, 1]] * 2, [[1, 2], [2, 1]] * 7])
def test_w_has_no_interval_where_the_jackknife_sees_no_variation(rows):
    table = pd.DataFrame(rows, columns=[*"ABC"][: len(rows[0])])
    results = Results.from_table(table, greater_is_better=False)
    estimate = kendalls_w(results)
    assert np.isnan([estimate.standard_error, estimate.low, estimate.high]).all()
    assert estimate.notes == ("leaving out any dataset changes W alike: it has no interval",)
    assert estimate.notes[0] in friedman_test(results).notes


def test_kendalls_w_is_chi_square_over_its_largest(mlaut2018):
    chi2 = friedman_test(mlaut2018, statistic="chi2")
    assert chi2.effect.value == pytest.approx(chi2.statistic / (121 * 8), rel=1e-12)
    assert chi2.effect.low < chi2.effect.value < chi2.effect.high


def test_the_interval_of_w_is_a_jackknife(garcia):
    from mlaut.analysis import rank_table

    table = rank_table(garcia).to_numpy()
    n = len(table)

    def concordance(rows):
        """Mean Spearman correlation of all pairs of datasets."""
        centred = rows - rows.mean(axis=1, keepdims=True)
        size = np.sqrt(np.square(centred).sum() / len(rows))
        between = centred @ centred.T / size**2
        return (between.sum() - np.trace(between)) / (len(rows) * (len(rows) - 1))

    full = concordance(table)
    pseudo = np.array(
        [n * full - (n - 1) * concordance(np.delete(table, i, axis=0)) for i in range(n)]
    )
    half = stats.t.ppf(0.975, n - 1) * stats.sem(pseudo)
    estimate = kendalls_w(garcia)
    assert estimate.low == pytest.approx((1 + (n - 1) * (pseudo.mean() - half)) / n, abs=1e-10)
    assert estimate.high == pytest.approx((1 + (n - 1) * (pseudo.mean() + half)) / n, abs=1e-10)


def test_the_standard_error_of_w_by_hand():
    # ranks 123, 123, 132: the correlations of two datasets are 1, 1/2, 1/2, their mean 2/3, and
    # without one dataset 1/2, 1/2, 1. The jackknife's error is sqrt(2/3 (1/36 + 1/36 + 4/36)) =
    # 1/3, and W = (1 + 2 mean) / 3
    table = pd.DataFrame([[1.0, 2, 3], [1, 2, 3], [1, 3, 2]], columns=list("ABC"))
    estimate = kendalls_w(Results.from_table(table, greater_is_better=False))
    assert estimate.value == pytest.approx(7 / 9)
    assert estimate.standard_error == pytest.approx(2 / 9)


# ---------------------------------------------------------------------- odd input


def test_perfect_agreement_has_a_defined_answer(losses):
    results = losses({"A": [1.0, 1, 1, 1], "B": [2.0, 2, 2, 2], "C": [3.0, 3, 3, 3]})
    for test in (friedman_test, quade_test):
        found = test(results)
        assert found.statistic == np.inf
        assert found.p_value == pytest.approx(factorial(3) ** -3, rel=1e-12)
        assert any("all datasets agree" in note for note in found.notes)
    assert friedman_test(results, statistic="chi2").statistic == 8.0
    with pytest.raises(AnalysisError, match="choose nemenyi_test"):
        conover_test(results)


def test_perfect_agreement_of_many_datasets_is_not_zero(losses):
    results = losses({name: np.full(500, float(i)) for i, name in enumerate("ABCDEFGH")})
    assert 0 < friedman_test(results).p_value < 1e-300


@pytest.mark.parametrize("test", ALL)
def test_equal_strategies(losses, test):
    found = test(losses({"A": [0.1, 0.2], "B": [0.1, 0.2], "C": [0.1, 0.2]}))
    assert (found.statistic, found.p_value) == (0.0, 1.0)


@pytest.mark.parametrize("test", [*ALL, post_hoc_test, conover_test])
def test_bad_input_is_an_error_of_one_line(losses, test):
    with pytest.raises(MissingCellsError, match="1 of 6 cells"):
        test(losses({"A": [0.1, 0.2, 0.3], "B": [0.2, 0.1, np.nan]}))
    with pytest.raises(AnalysisError, match="at least 2 strategies"):
        test(losses({"A": [0.1, 0.2]}))
    with pytest.raises(AnalysisError, match="at least 2 datasets"):
        test(losses({"A": [0.1], "B": [0.2]}))


def test_unknown_choices(garcia):
    with pytest.raises(AnalysisError, match="'F', 'chi2'"):
        friedman_test(garcia, statistic="Q")
