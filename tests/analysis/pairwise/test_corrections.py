"""Corrections: published values, brute force, statsmodels."""

from itertools import combinations

import numpy as np
import pytest
from statsmodels.stats import multitest

from mlaut.analysis import adjust_pairs, t_test
from mlaut.analysis.pairwise import adjust
from mlaut.analysis.pairwise.corrections import true_counts
from mlaut.errors import AnalysisError

# Garcia and Herrera 2008: C4.5, 1-NN, NB, Kernel, CN2; raw p-values as scmamp documents them
RAW = [4.84876e-3, 0.806496, 4.48699e-08, 0.0127630, 0.0101123, 7.96349e-3, 0.743971,
       1.73612e-07, 0.0247447, 2.88048e-3]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "published"),
    [
        ("holm", [0.0339413, 1, 4.48699e-07, 0.0510520, 0.0505617, 0.0477809, 1, 1.56251e-06,
                  0.0742340, 0.0230439]),
        ("shaffer", [0.0290926, 1, 4.48699e-07, 0.0510520, 0.0477809, 0.0477809, 1, 1.04167e-06,
                     0.0742340, 0.0172829]),
    ],
)  # fmt: skip
def test_garcia_herrera(method, published):
    assert adjust(np.array(RAW), method) == pytest.approx(published, rel=1e-5)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("bonferroni", "bonferroni"),
        ("sidak", "sidak"),
        ("holm", "holm"),
        ("hochberg", "simes-hochberg"),
        ("hommel", "hommel"),
        ("benjamini-hochberg", "fdr_bh"),
        ("benjamini-yekutieli", "fdr_by"),
    ],
)
def test_agree_with_statsmodels(ours, theirs):
    rng = np.random.default_rng(0)
    for m in (1, 2, 5, 10, 36):
        for _ in range(1 if ours == "holm" else 10):  # theirs takes a quarter of a second
            p = np.maximum(rng.uniform(size=m) ** 3, 1e-12)
            assert adjust(p, ours) == pytest.approx(multitest.multipletests(p, method=theirs)[1])


def partitions(names):
    if not names:
        yield []
        return
    first, rest = names[0], names[1:]
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            left = [name for name in rest if name not in others]
            for blocks in partitions(left):
                yield [[first, *others], *blocks]


def test_numbers_of_true_hypotheses():
    """Shaffer 1986; Garcia and Herrera 2008: S(5)."""
    assert true_counts(5) == (0, 1, 2, 3, 4, 6, 10)
    assert true_counts(4) == (0, 1, 2, 3, 6)


def test_corrections_by_their_definitions():
    p = np.array([0.01, 0.04, 0.03])
    assert adjust(p, "sidak") == pytest.approx(1 - (1 - p) ** 3)
    assert adjust(p, "hochberg") == pytest.approx([0.03, 0.04, 0.04])
    assert adjust(p, "hommel") == pytest.approx([0.03, 0.04, 0.04])
    assert adjust(p, "benjamini-hochberg") == pytest.approx([0.03, 0.04, 0.04])
    assert adjust(p, "benjamini-yekutieli") == pytest.approx(np.array([0.03, 0.04, 0.04]) * 11 / 6)


@pytest.mark.parametrize("k", [179, 300])
def test_shaffer_of_hundreds_of_strategies(k):
    counts = true_counts(k)
    m = k * (k - 1) // 2
    # one strategy differs, or two of them from each other too, or two that are alike
    assert counts[-4:] == (m - 2 * k + 3, m - 2 * k + 4, m - k + 1, m)
    p = np.full(m, 1e-7)
    p[5] = 1e-9
    adjusted = adjust(p, "shaffer")
    assert adjusted[5] == pytest.approx(m * 1e-9)
    assert np.delete(adjusted, 5) == pytest.approx((m - k + 1) * 1e-7)


def test_numbers_of_true_hypotheses_by_all_partitions():
    for k in range(2, 9):
        sums = {sum(len(b) * (len(b) - 1) // 2 for b in p) for p in partitions(list(range(k)))}
        assert true_counts(k) == tuple(sorted(sums))


def test_two_sided_pairs_are_corrected_once(mlaut2018):
    raw = t_test(mlaut2018)
    for method in ("hommel", "shaffer"):
        table = adjust_pairs(raw, method).p_values.to_numpy()
        upper = np.triu_indices(len(table), 1)
        assert table[upper].tolist() == adjust(raw.p_values.to_numpy()[upper], method).tolist()
        assert table[upper].tolist() == table.T[upper].tolist()


def test_order_of_power():
    p = np.array(RAW)
    found = {m: adjust(p, m) for m in ("bonferroni", "holm", "hochberg", "hommel", "shaffer")}
    assert (found["holm"] <= found["bonferroni"]).all()
    assert (found["hommel"] <= found["hochberg"]).all()
    assert (found["hochberg"] <= found["holm"]).all()
    assert (found["shaffer"] <= found["holm"]).all()


def test_pairs_keep_what_they_were(mlaut2018):
    raw = t_test(mlaut2018)
    corrected = adjust_pairs(raw, "Holm")
    assert corrected.name == "Paired t-test, holm correction"
    assert corrected.table("p (unadjusted)").equals(raw.p_values)
    table = corrected.p_values.to_numpy()
    assert np.array_equal(table, table.T, equal_nan=True)
    with pytest.raises(AnalysisError, match="adjusted already"):
        adjust_pairs(corrected, "holm")


def test_one_sided_pairs(mlaut2018):
    raw = t_test(mlaut2018, alternative="better")
    assert adjust_pairs(raw, "bonferroni").pair("SVC", "BaselineClassifier").p_value < 1e-20
    with pytest.raises(AnalysisError, match="two-sided"):
        adjust_pairs(raw, "shaffer")


def test_no_adjusted_p_value_is_zero():
    for method in ("bonferroni", "holm", "hommel", "shaffer"):
        assert (adjust(np.full(3, 2.3e-308), method) > 0).all()


def test_bad_input():
    with pytest.raises(AnalysisError, match="did you mean 'hochberg'"):
        adjust(np.array([0.1]), "hochbreg")
    with pytest.raises(AnalysisError, match="above 0 and at most 1"):
        adjust(np.array([0.1, np.nan]), "holm")
    with pytest.raises(AnalysisError, match="4 is not their number for any number"):
        adjust(np.full(4, 0.1), "shaffer")
    with pytest.raises(
        AnalysisError,
        match="Bergmann and Hommel's correction is gone: choose 'shaffer'",
    ):
        adjust(np.full(3, 0.1), "Bergmann-Hommel")
