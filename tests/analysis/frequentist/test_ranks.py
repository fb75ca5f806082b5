"""Ranks and critical differences against the numbers that were published."""

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs

from mlaut.analysis import Results, average_ranks, nemenyi_test, rank_table
from mlaut.analysis.methods.frequentist import (
    bonferroni_dunn_test,
    conover_test,
    critical_difference,
    post_hoc_test,
)
from mlaut.errors import AnalysisError


def test_demsar_average_ranks(demsar, demsar_ranks):
    printed = rank_table(demsar).mean()
    assert list(printed) == pytest.approx([3.142857, 2.0, 2.928571, 1.928571], abs=1e-6)
    unrounded = rank_table(demsar_ranks).mean()
    assert list(unrounded) == pytest.approx([3.142857, 2.0, 2.892857, 1.964286], abs=1e-6)


@pytest.mark.parametrize(
    ("test", "alpha", "printed"),
    [
        ("nemenyi", 0.05, 1.253559),
        ("nemenyi", 0.10, 1.118060),
        ("nemenyi", 0.01, 1.519111),
        ("bonferroni-dunn", 0.05, 1.168143),
        ("bonferroni-dunn", 0.10, 1.038380),
    ],
)
def test_demsar_critical_differences(test, alpha, printed):
    """Demsar 2006, section 3.2.2: 1.25, 1.12; 1.16 and 1.04 (his q has two digits)."""
    assert critical_difference(4, 14, alpha=alpha, test=test) == pytest.approx(printed, abs=1e-6)


def test_more_critical_differences():
    assert critical_difference(5, 30) == pytest.approx(1.113609, abs=1e-6)
    found = [critical_difference(27, 121, alpha=alpha) for alpha in (0.05, 0.10, 0.01)]
    assert found == pytest.approx([3.772012, 3.550123, 4.216017], abs=1e-6)


def test_demsar_nemenyi_p_values(demsar):
    expected = [0.088673, 0.971686, 0.061683, 0.226697, 0.998882, 0.170052]
    found = nemenyi_test(demsar)
    assert list(found.to_frame()["p_value"]) == pytest.approx(expected, abs=1e-6)
    low, high = found.pair("C4.5", "C4.5+m").effect.low, found.pair("C4.5", "C4.5+m").effect.high
    assert (high - low) / 2 == pytest.approx(1.253559, abs=1e-6)


def test_nemenyi_of_pmcmrs_example():
    matrix = [[31, 27, 24], [31, 28, 31], [45, 29, 46], [21, 18, 48], [42, 36, 46], [32, 17, 40]]
    results = Results.from_table(pd.DataFrame(matrix), greater_is_better=False)
    found = list(nemenyi_test(results).to_frame()["p_value"])
    assert found == pytest.approx([0.145535, 0.832229, 0.037610], abs=1e-6)


@pytest.mark.parametrize(
    ("test", "theirs"),
    [(nemenyi_test, "nemenyi"), (conover_test, "conover"), (post_hoc_test, "siegel")],
)
def test_scikit_posthocs_computes_with_our_ranks(test, theirs):
    """Ties by rounding noise share their rank, which its own ranks of scores would not."""
    table = pd.DataFrame(
        np.random.default_rng(0).integers(1, 5, (20, 5)) / 10, columns=list("ABCDE")
    )
    noisy = table.copy()
    noisy["A"] = np.where(table["A"] == 0.3, 0.1 + 0.2, table["A"])
    compute = getattr(scikit_posthocs, f"posthoc_{theirs}_friedman")
    known = compute(table.rank(axis=1).to_numpy()).to_numpy()
    found = test(noisy, metric="error").p_values.to_numpy()
    off = ~np.eye(5, dtype=bool)
    assert found[off] == pytest.approx(known[off], rel=1e-9)


def test_nemenyi_of_two_strategies_is_the_normal_test(losses):
    rng = np.random.default_rng(0)
    results = losses({"A": rng.normal(size=20), "B": rng.normal(0.5, size=20)})
    z = nemenyi_test(results).statistics.loc["A", "B"]
    from scipy.stats import norm

    assert nemenyi_test(results).p_values.loc["A", "B"] == pytest.approx(2 * norm.sf(abs(z)))


def test_no_nemenyi_p_value_is_below_the_precision_of_scikit_posthocs(losses):
    table = {name: np.full(400, float(i)) for i, name in enumerate("ABCDE")}
    found = nemenyi_test(losses(table))
    assert np.nanmin(found.p_values.to_numpy()) == found.p_values.loc["A", "E"] == 1e-12
    assert found.notes[-2].startswith("a p-value of 1e-12 is an upper bound")


def test_demsar_against_a_control(demsar_ranks):
    """z 2.342, 0.512, 2.416 and p .019, .608, .016; corrected by Holm two are rejected."""
    frame = bonferroni_dunn_test(demsar_ranks, "C4.5", correction="holm").frame
    order = ["C4.5+m", "C4.5+cf", "C4.5+m+cf"]
    assert list(-frame.loc[order, "z"]) == pytest.approx([2.342160, 0.512348, 2.415353], abs=1e-6)
    p = list(frame.loc[order, "p (unadjusted)"])
    assert p == pytest.approx([0.0191725, 0.608408, 0.0157200], abs=1e-6)
    assert set(frame.index[frame["p_value"] <= 0.05]) == {"C4.5+m", "C4.5+m+cf"}


def test_mlauts_own_matrix(mlaut2018):
    """The numbers that the project's requirements name."""
    frame = average_ranks(mlaut2018).frame
    found = frame.loc[["RandomForestClassifier", "SVC", "BaggingClassifier"], "average_rank"]
    assert list(found) == pytest.approx([2.4917, 3.1240, 3.4339], abs=5e-5)
    assert critical_difference(9, 121) == pytest.approx(1.0921, abs=5e-5)
    assert frame["average_rank"].sum() == pytest.approx(45)


def test_standard_errors_are_those_of_a_mean(mlaut2018):
    table, frame = (
        rank_table(mlaut2018),
        average_ranks(mlaut2018, method="normal", confidence=0.9).frame,
    )
    for name in table:
        error = table[name].std(ddof=1) / np.sqrt(len(table))
        assert frame.loc[name, "standard_error"] == pytest.approx(error)
        assert frame.loc[name, "high"] - frame.loc[name, "low"] == pytest.approx(
            2 * 1.6448536269514722 * error
        )


def test_rounding_noise_makes_no_rank(losses):
    results = losses({"A": [0.1 + 0.2, 0.3], "B": [0.3, 0.1 + 0.2], "C": [0.5, 0.5]})
    assert rank_table(results).to_numpy().tolist() == [[1.5, 1.5, 3], [1.5, 1.5, 3]]
    accuracies = Results.from_table(
        pd.DataFrame({"A": [1.0, 1.0], "B": [1.0 - 1e-16, 0.9]}), metric="accuracy"
    )
    assert rank_table(accuracies).to_numpy().tolist() == [[1.5, 1.5], [1, 2]]


def test_a_small_difference_beside_a_large_loss_makes_a_rank(losses):
    results = losses({"A": [1.00e-6, 1.0], "B": [1.01e-6, 1.0], "C": [1e9, 1.0]})
    assert rank_table(results).to_numpy().tolist() == [[1, 2, 3], [2, 2, 2]]


def test_bad_input(losses):
    results = losses({"A": [0.1, 0.2], "B": [0.2, 0.1]})
    with pytest.raises(AnalysisError, match=r"there are A, B|did you mean"):
        bonferroni_dunn_test(results, "a")
    with pytest.raises(AnalysisError, match="two strategies"):
        critical_difference(1, 10)
    with pytest.raises(AnalysisError, match="'nemenyi', 'bonferroni-dunn'"):
        critical_difference(3, 10, test="holm")


def test_a_normal_interval_on_few_datasets_says_so(demsar, mlaut2018):
    assert any(
        "on 14 datasets is too narrow" in note
        for note in average_ranks(demsar, method="normal").notes
    )
    assert average_ranks(mlaut2018).notes == ()
    normal, t = (average_ranks(demsar, method=m).frame for m in ("normal", "t"))
    width = (t["high"] - t["low"]) / (normal["high"] - normal["low"])
    assert list(width) == pytest.approx([2.1603686564610127 / 1.959963984540054] * 4)
    with pytest.raises(AnalysisError, match="'normal', 't'"):
        average_ranks(demsar, method="wilson")
