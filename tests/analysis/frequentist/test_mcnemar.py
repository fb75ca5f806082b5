"""McNemar's test on the points of one test set."""

import numpy as np
import pytest

from mlaut.analysis import Results
from mlaut.analysis.methods.frequentist import mcnemar_p, mcnemar_test
from mlaut.errors import AnalysisError

METHODS = ("mid-p", "exact", "corrected", "uncorrected")


@pytest.mark.parametrize(
    ("method", "p"),
    [
        ("corrected", 5.450095e-06),
        ("uncorrected", 3.815136e-06),
        ("exact", 4.434449e-06),
        ("mid-p", 3.266647e-06),
    ],
)
def test_worked_example(method, p):
    """The table (101, 121 / 59, 33) of the mlxtend documentation: chi-square 20.67 and 21.36."""
    assert mcnemar_p(121, 59, method) == pytest.approx(p, rel=1e-6)
    assert mcnemar_p(59, 121, method) == pytest.approx(p, rel=1e-6)


def test_exact_agrees_with_statsmodels():
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    for b, c in [(0, 5), (3, 9), (10, 10)]:
        theirs = tables.mcnemar([[5, b], [c, 5]], exact=True).pvalue
        assert mcnemar_p(b, c, "exact") == pytest.approx(theirs)


def test_no_difference():
    for method in ("corrected", "uncorrected", "exact", "mid-p"):
        assert mcnemar_p(0, 0, method) == 1.0
    assert mcnemar_p(5, 5, "exact") == 1.0


def test_all_pairs_of_a_test_set(make_block):
    truth = np.zeros(20, dtype=int)
    a, b = truth.copy(), truth.copy()
    a[:8], b[7:9] = 1, 1
    block = make_block(truth, [a, b, truth], np.zeros(20), dataset="iris")
    results = Results.from_blocks([block], "accuracy")
    found = mcnemar_test(results, "iris")
    one = found.pair("A", "B")
    assert (one.statistic, found.value("statistic", "B", "A"), one.ties) == (7, 1, 12)
    assert one.p_value == pytest.approx(mcnemar_p(7, 1)[()])
    assert one.effect.value == pytest.approx(0.3)
    assert (one.scenario, one.n, one.unit) == ("(a)", 20, "test points")
    assert found.value("better", "B", "A") == 1
    for method in ("corrected", "uncorrected", "exact"):
        assert mcnemar_test(results, "iris", method=method).p_values.loc["A", "B"] > 0


def test_what_it_is_not_for(make_block):
    block = make_block([0, 1, 0, 1], [[0, 1, 0, 1]] * 2, [0, 0, 1, 1], dataset="iris")
    with pytest.raises(AnalysisError, match="'iris' was tested repeatedly"):
        mcnemar_test(Results.from_blocks([block], "accuracy"), "iris")
    with pytest.raises(
        AnalysisError, match="losses are 0 and 1, such as accuracy, and this is mcc"
    ):
        mcnemar_test(Results.from_blocks([block], "mcc"), "iris")
    with pytest.raises(AnalysisError, match="did you mean 'mid-p'"):
        mcnemar_p(1, 2, "midp")


@pytest.mark.parametrize(("b", "c"), [(3, 9), (9, 3), (5, 5), (0, 7)])
def test_one_sided(b, c):
    from scipy.stats import binom, binomtest, norm

    for alternative, side in (("better", "less"), ("worse", "greater")):
        p = {m: mcnemar_p(b, c, m, alternative=alternative).item() for m in METHODS}
        exact = binomtest(b, b + c, alternative=side).pvalue
        assert p["exact"] == pytest.approx(exact)
        assert p["mid-p"] == pytest.approx(exact - binom.pmf(b, b + c, 0.5) / 2)
        away = b - c if alternative == "better" else c - b
        assert p["uncorrected"] == pytest.approx(norm.cdf(away / np.sqrt(b + c)))
        assert p["corrected"] == pytest.approx(norm.cdf((away + 1) / np.sqrt(b + c)))
