"""Paired tests: published numbers, agreement with other packages, and odd input."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mlaut.analysis import Results, sign_test, t_test, trinomial_test, wilcoxon_test
from mlaut.analysis.common.display import SMALLEST_P
from mlaut.analysis.methods.frequentist import ranksum_test, unpaired_t_test
from mlaut.errors import AnalysisError, MissingCellsError

PAIR = ("C4.5+m", "C4.5")
TESTS = [t_test, wilcoxon_test, sign_test, trinomial_test]


def two(d, **how):
    """Results of two strategies whose loss differences are ``d``: A minus B."""
    d = np.asarray(d, dtype=float)
    return Results.from_table(
        pd.DataFrame({"A": d, "B": np.zeros(len(d))}), greater_is_better=False, **how
    )


# ------------------------------------------------------------- Demsar 2006, Table 6


def test_demsar_paired_t(demsar):
    result = t_test(demsar).pair(*PAIR)
    assert result.statistic == pytest.approx(-2.8462370435, abs=1e-10)
    assert result.p_value == pytest.approx(0.0137558308, abs=1e-10)
    assert result.df == 13
    mean, d = result.effects
    assert mean.value == pytest.approx(-0.0155, abs=1e-12)
    assert -d.value == pytest.approx(0.7606888470, abs=1e-10)
    assert (-d.high, -d.low) == pytest.approx((0.151122, 1.348048), abs=1e-6)


@pytest.mark.parametrize(
    ("zeros", "sums", "exact", "normal", "r"),
    [
        ("wilcox", (6.5, 71.5), 0.00732421875, 0.0107571331, 0.833333),
        ("pratt", (10.5, 91.5), 0.0078125, 0.0107919579, 0.794118),
        ("zsplit", (12, 93), 0.008056640625, 0.0109684966, 0.771429),
    ],
)
def test_demsar_signed_ranks(demsar, zeros, sums, exact, normal, r):
    """The sums 93 and 12 are the paper's; its normal p, without ties, is .0110079."""
    test = wilcoxon_test(demsar, zeros=zeros)
    assert (test.value("W+", *PAIR), test.value("W-", *PAIR)) == sums
    result = test.pair(*PAIR)
    assert result.p_value == pytest.approx(exact, abs=1e-15)
    assert result.ties == 2
    assert -result.effect.value == pytest.approx(r, abs=1e-6)
    approximate = wilcoxon_test(demsar, zeros=zeros, method="normal").pair(*PAIR)
    assert approximate.p_value == pytest.approx(normal, abs=1e-10)


def test_demsar_signs(demsar):
    """10 wins, 2 losses, 2 ties."""
    result = sign_test(demsar).pair(*PAIR)
    assert (result.statistic, result.ties) == (10, 2)
    assert result.p_value == pytest.approx(0.0385742188, abs=1e-10)
    shared = sign_test(demsar, ties="split").pair(*PAIR)
    assert shared.p_value == pytest.approx(0.0573730469, abs=1e-10)
    two_sided = trinomial_test(demsar).pair(*PAIR)
    assert two_sided.p_value == pytest.approx(0.0283242723, abs=1e-10)
    one_sided = trinomial_test(demsar, alternative="better").pair(*PAIR)
    assert one_sided.p_value == pytest.approx(0.0141621361, abs=1e-10)


# ------------------------------------------------------------------ other examples


def test_scipys_wilcoxon_example():
    """scipy's documentation: W = 24, p = .041259765625, one-sided .0206, normal .0408881329."""
    d = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]
    test = wilcoxon_test(two(d))
    assert test.value("W-", "A", "B") == 24
    assert test.p_values.loc["A", "B"] == 0.041259765625
    worse = wilcoxon_test(two(d), alternative="worse").p_values
    assert worse.loc["A", "B"] == pytest.approx(0.0206298828, abs=1e-10)
    assert worse.loc["B", "A"] == pytest.approx(stats.wilcoxon(d, alternative="less").pvalue)
    normal = wilcoxon_test(two(d), method="normal").p_values.loc["A", "B"]
    assert normal == pytest.approx(0.0408881329, abs=1e-10)


def test_k_fold_text_example_1():
    """Five folds: t = -0.73 against 2.78; the seed text on comparing learning algorithms."""
    result = t_test(two([-0.01, -0.01, 0.01, 0.02, -0.06])).pair("A", "B")
    assert result.statistic == pytest.approx(-0.7254762501, abs=1e-10)
    assert result.p_value == pytest.approx(0.5083296622, abs=1e-10)


def test_k_fold_text_example_2():
    """Ten rounds: the seed prints t = 2.34 with 9 degrees of freedom."""
    a = [0.305, 0.322, 0.207, 0.206, 0.31, 0.41, 0.277, 0.26, 0.215, 0.26]
    b = [0.224, 0.145, 0.224, 0.196, 0.207, 0.204, 0.221, 0.194, 0.162, 0.35]
    results = Results.from_table(pd.DataFrame({"A": a, "B": b}), metric="error")
    result = t_test(results).pair("A", "B")
    assert result.statistic == pytest.approx(2.3444214193, abs=1e-10)
    assert result.p_value == pytest.approx(0.0437026331, abs=1e-10)
    assert result.effects[1].value == pytest.approx(0.741371, abs=1e-6)
    assert wilcoxon_test(results).value("W-", "A", "B") == 9
    assert wilcoxon_test(results).p_values.loc["A", "B"] == 0.064453125
    assert sign_test(results).p_values.loc["A", "B"] == pytest.approx(0.109375, abs=1e-12)


@pytest.mark.parametrize(
    ("wins", "losses", "ties", "p"),
    [
        (0, 4, 10, 0.0772262851),  # the published example of the R package EMT's TrinomialTest
        (7, 2, 1, 0.1289877889),
        (6, 0, 4, 0.0219364848),
        (8, 1, 1, 0.0250349192),
        (60, 45, 16, 0.1571527802),
        (12, 3, 0, 0.03515625),  # without ties the sign test
        (5, 5, 111, 1.0),
        (0, 0, 5, 1.0),
    ],
)
def test_trinomial(wins, losses, ties, p):
    results = two([-1.0] * wins + [1.0] * losses + [0.0] * ties)
    found = trinomial_test(results).pair("A", "B")
    assert found.p_value == pytest.approx(p, abs=1e-10)
    assert (found.statistic, found.ties) == (wins, ties)


def test_mlauts_own_matrix(mlaut2018):
    """Unpaired, as MLaut printed it, p is .348; paired it is .00062."""
    pair = ("RandomForestClassifier", "SVC")
    result = t_test(mlaut2018).pair(*pair)
    assert result.statistic == pytest.approx(-3.5154, abs=5e-5)
    assert result.p_value == pytest.approx(0.00062, abs=5e-6)
    losses = mlaut2018.losses
    unpaired = stats.ttest_ind(losses[pair[0]], losses[pair[1]])
    assert unpaired.pvalue == pytest.approx(0.348, abs=5e-4)


# -------------------------------------------------------- agreement with packages


def test_all_pairs_agree_with_scipy(mlaut2018):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(0.3, 0.05, (40, 5)), columns=list("ABCDE"))
    results = Results.from_table(table, greater_is_better=False)
    t, w, s = t_test(results), wilcoxon_test(results), sign_test(results)
    for a, b in t.pairs:
        expected = stats.ttest_rel(table[a], table[b])
        assert t.value("statistic", a, b) == pytest.approx(expected.statistic, rel=1e-10)
        assert t.value("p_value", a, b) == pytest.approx(expected.pvalue, rel=1e-10)
        low, high = expected.confidence_interval(0.95)
        assert t.value("mean difference low", a, b) == pytest.approx(low, rel=1e-10)
        assert t.value("mean difference high", a, b) == pytest.approx(high, rel=1e-10)
        exact = stats.wilcoxon(table[a], table[b], method="exact").pvalue
        assert w.value("p_value", a, b) == pytest.approx(exact, rel=1e-10)
        wins = int((table[a] < table[b]).sum())
        assert s.value("p_value", a, b) == pytest.approx(stats.binomtest(wins, 40).pvalue)


def test_tables_are_seen_from_both_sides(mlaut2018):
    for test in TESTS:
        both = test(mlaut2018)
        forth, back = both.pair("SVC", "BaggingClassifier"), both.pair("BaggingClassifier", "SVC")
        assert forth.p_value == back.p_value
        for one, other in zip(forth.effects, back.effects, strict=True):
            centre = 0.5 if one.name == "share better" else 0.0
            assert one.value - centre == pytest.approx(centre - other.value, abs=1e-12)
            assert one.low - centre == pytest.approx(centre - other.high, abs=1e-12)


@pytest.mark.parametrize("test", TESTS)
def test_one_sided_p_values_of_both_sides(mlaut2018, test):
    better, worse = test(mlaut2018, alternative="better"), test(mlaut2018, alternative="worse")
    assert better.p_values.T.equals(worse.p_values)
    assert better.pair("RandomForestClassifier", "BaselineClassifier").p_value < 1e-15
    assert better.pair("BaselineClassifier", "RandomForestClassifier").p_value > 0.999


def test_direction_of_a_score_is_known():
    table = pd.DataFrame({"good": [0.9, 0.8, 0.95, 0.7], "bad": [0.8, 0.75, 0.9, 0.6]})
    for greater in (True, False):
        better = t_test(
            Results.from_table(table, greater_is_better=greater), alternative="better"
        ).p_values
        assert bool(better.loc["good", "bad"] < 0.05) is greater


def test_rounding_noise_does_not_break_ties():
    """The differences are 1 1 1 -1 2 2 -3 tenths, but for noise in their last bits."""
    b = np.array([0.1, 0.2, 0.3, 0.5, 0.1, 0.4, 0.7])
    clean = np.array([1, 1, 1, -1, 2, 2, -3])
    table = pd.DataFrame({"A": b + clean / 10, "B": b})
    results = Results.from_table(table, greater_is_better=False)
    assert len(set(np.abs(table["A"] - table["B"]))) > 3
    assert wilcoxon_test(results).p_values.equals(wilcoxon_test(two(clean)).p_values)


def test_ranksum_is_what_it_is_called_and_says_what_is_wrong(mlaut2018):
    result = ranksum_test(mlaut2018).pair("RandomForestClassifier", "SVC")
    losses = mlaut2018.losses
    expected = stats.mannwhitneyu(losses["RandomForestClassifier"], losses["SVC"])
    assert (result.statistic, result.p_value) == (expected.statistic, expected.pvalue)
    assert any("unpaired" in note for note in result.notes)
    assert result.p_value > 100 * wilcoxon_test(mlaut2018).pair(*result.strategies).p_value


# ----------------------------------------------------------------------- odd input


@pytest.mark.parametrize("test", TESTS)
def test_equal_strategies_have_p_one(test):
    result = test(two([0.0, 0.0, 0.0, 0.0])).pair("A", "B")
    assert result.p_value == 1.0
    assert result.effect.value == (0.5 if test in (sign_test, trinomial_test) else 0.0)


def test_a_constant_difference_has_a_defined_answer_and_a_note():
    result = t_test(two([-0.1] * 6)).pair("A", "B")
    assert result.statistic == -np.inf
    assert 0 < result.p_value <= SMALLEST_P
    assert any("variance is 0" in note for note in result.notes)
    assert "p < 2.2e-308" in result.sentence()
    one_sided = t_test(two([-0.1] * 6), alternative="worse").pair("A", "B")
    assert one_sided.p_value == 1.0
    assert wilcoxon_test(two([-0.1] * 6)).pair("A", "B").p_value == pytest.approx(2 / 64)


def test_zsplit_drops_one_of_an_odd_number_of_zeros(losses):
    # of three zeros two are left, with ranks of 1.5, shared by both sides; 1, -2, 3, 4 have 3 to 6
    d = np.array([0.0, 1.0, 0.0, -2.0, 3.0, 0.0, 4.0])
    test = wilcoxon_test(losses({"A": 10 + d, "B": np.full(7, 10.0)}), zeros="zsplit")
    assert test.value("W+", "A", "B") == 3 + 5 + 6 + 1.5
    assert test.value("W-", "A", "B") == 4 + 1.5
    sums = [np.dot([1.5, 1.5, 3, 4, 5, 6], signs) for signs in product([0, 1], repeat=6)]
    assert test.p_values.loc["A", "B"] == pytest.approx(2 * np.mean(np.array(sums) <= 5.5))


@pytest.mark.parametrize("test", TESTS)
def test_no_p_value_is_zero(test):
    rng = np.random.default_rng(0)
    d = -1 - rng.uniform(0, 1e-4, 2000)
    p = test(two(d)).pair("A", "B").p_value
    assert 0 < p < 1e-250


@pytest.mark.parametrize("test", [*TESTS, ranksum_test])
def test_bad_input_is_an_error_of_one_line(test, losses):
    with pytest.raises(AnalysisError, match=r"at least 2 strategies.*there is 1 \(A\)"):
        test(losses({"A": [0.1, 0.2]}))
    with pytest.raises(AnalysisError, match=r"at least 2 datasets.*there is 1 \(0\)"):
        test(losses({"A": [0.1], "B": [0.2]}))
    with pytest.raises(MissingCellsError, match=r"1 of 4 cells.*strategies B \(1\)"):
        test(losses({"A": [0.1, 0.2], "B": [0.2, np.nan]}))
    with pytest.raises(
        AnalysisError, match="a table does not say what its scores are: give metric"
    ):
        test(pd.DataFrame({"A": [0.1, 0.2], "B": [0.2, 0.3]}))
    with pytest.raises(AnalysisError, match="'two-sided', 'better', 'worse'"):
        test(losses({"A": [0.1, 0.2], "B": [0.2, 0.3]}), alternative="less")


def test_unknown_rules_are_named(losses):
    results = losses({"A": [0.1, 0.2], "B": [0.2, 0.3]})
    with pytest.raises(AnalysisError, match="'wilcox', 'pratt', 'zsplit'"):
        wilcoxon_test(results, zeros="drop")
    with pytest.raises(AnalysisError, match="'auto', 'exact', 'normal'"):
        wilcoxon_test(results, method="approx")
    with pytest.raises(AnalysisError, match="'drop', 'split'"):
        sign_test(results, ties="keep")


def test_exact_takes_over_from_normal_beyond_300_datasets():
    d = np.random.default_rng(0).normal(0.02, 1, 301)
    assert wilcoxon_test(two(d)).p_values.equals(wilcoxon_test(two(d), method="normal").p_values)
    exact = wilcoxon_test(two(d), method="exact").p_values.loc["A", "B"]
    assert exact == pytest.approx(wilcoxon_test(two(d)).p_values.loc["A", "B"], rel=2e-3)


# ------------------------------------------------------ MLaut 2019, Appendix A.1


def test_the_unpaired_t_is_scipys():
    a, b = np.random.default_rng(0).random((2, 12))
    results = Results.from_table(pd.DataFrame({"A": a, "B": b}), metric="error")
    known = stats.ttest_ind(a, b)
    found = unpaired_t_test(results, pair=("A", "B"))
    assert (found.statistic, found.df, found.p_value) == pytest.approx(
        (known.statistic, 22, known.pvalue)
    )
    ends = known.confidence_interval()
    assert (found.effect.low, found.effect.high) == pytest.approx((ends.low, ends.high))
    less = stats.ttest_ind(a, b, alternative="less").pvalue
    better = unpaired_t_test(results, alternative="better", pair=("A", "B"))
    assert better.p_value == pytest.approx(less)
    assert "does not use that the datasets are the same; see t_test" in found.notes[-1]
    assert found.p_value != t_test(results, pair=("A", "B")).p_value


def test_the_printed_t_tests_of_the_mlaut_paper_are_unpaired():
    """Columns on 121 datasets that have the printed t; its digits bound those of p."""
    printed = pd.read_csv(
        Path(__file__).parents[1] / "data" / "mlaut2019_table_a1.csv", comment="#"
    )
    t, back = np.unique(printed["t"].abs(), return_inverse=True)
    spread = np.random.default_rng(0).normal(size=121)
    one = spread.std(ddof=1) * np.sqrt(2 / 121)  # the shift for t = 1

    def p_values(t):
        table = pd.DataFrame({str(i): spread + one * x for i, x in enumerate([0, *t])})
        tests = unpaired_t_test(Results.from_table(table, greater_is_better=False))
        assert tests.df == 240
        return tests.p_values.loc["0"].to_numpy()[1:]

    lowest, p, highest = (
        np.concatenate([p_values(some + away) for some in np.array_split(t, 15)])[back]
        for away in (0.0005, 0.0, -0.0005)
    )
    rounded = printed["p"].to_numpy()
    assert len(printed) == 353
    assert (np.abs(p - rounded) <= 0.0006).sum() >= 343
    assert ((lowest <= rounded + 0.0005) & (highest >= rounded - 0.0005)).all()
