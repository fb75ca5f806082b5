"""Skillings and Mack's test and pairs on what they share: published numbers, Friedman, by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import (
    Results,
    average_ranks,
    friedman_test,
    treat_missing,
)
from mlaut.analysis.methods.frequentist import skillings_mack_test
from mlaut.errors import AnalysisError

FIXTURES = Path(__file__).parents[1] / "fixtures"
# assembly times of Skillings & Mack 1981, in Hollander & Wolfe, Table 7.12
TIMES = [
    [3.2, 4.1, 3.8, 4.2],
    [3.1, 3.9, 3.4, 4.0],
    [4.3, 3.5, 4.6, 4.8],
    [3.5, 3.6, 3.9, 4.0],
    [3.6, 4.2, 3.7, 3.9],
    [4.5, 4.7, 3.7, np.nan],
    [np.nan, 4.2, 3.4, np.nan],
    [4.3, 4.6, 4.4, 4.9],
    [3.5, np.nan, 3.7, 3.9],
]


def test_published_example():
    """Skillings & Mack 1981: 15.49 with 3 degrees of freedom, p = .0014."""
    table = pd.DataFrame(TIMES, columns=list("ABCD"))
    found = skillings_mack_test(table, metric="time", greater_is_better=False)
    assert found.statistic == pytest.approx(15.493, abs=5e-4)
    assert found.df == 3
    assert found.p_value == pytest.approx(0.00144, abs=5e-6)


def test_without_gaps_it_is_friedmans_chi2_with_ties(garcia, demsar):
    for results in (garcia, demsar):
        ours, theirs = skillings_mack_test(results), friedman_test(results, statistic="chi2")
        assert ours.statistic == pytest.approx(theirs.statistic)
        assert ours.p_value == pytest.approx(theirs.p_value)


def test_units_names_and_single_results_do_not_matter():
    table = pd.DataFrame(TIMES, columns=list("ABCD"))
    units = 10.0 ** np.array([-12, -7, -3, 0, 2, 4, 7, 9, 12])[:, None]
    alone = pd.DataFrame({"A": [1.0]}, index=[99])
    how = {"metric": "time", "greater_is_better": False}
    for other in (units * table, table[list("DBAC")], pd.concat([table, alone])):
        assert skillings_mack_test(other, **how).statistic == pytest.approx(
            skillings_mack_test(table, **how).statistic
        )
    assert any(
        "left out: 99" in n for n in skillings_mack_test(pd.concat([table, alone]), **how).notes
    )


@pytest.mark.slow
def test_its_level():
    """Of 2,000 null tables with a fifth of the cells missing, 5 % are rejected."""
    rng = np.random.default_rng(0)
    rejected = 0
    for _ in range(2000):
        table = pd.DataFrame(rng.normal(size=(20, 5)), columns=list("ABCDE"))
        holes = table.where(rng.random(table.shape) > 0.2)
        rejected += skillings_mack_test(holes, metric="x", greater_is_better=False).rejects(0.05)
    assert rejected / 2000 == pytest.approx(0.05, abs=4 * 0.0049)


def test_awkward_tables():
    rng = np.random.default_rng(2)
    for case in range(60):
        n, k = rng.integers(2, 9), rng.integers(2, 9)
        values = rng.integers(0, 3, (n, k)) * 10.0 ** rng.integers(-12, 13, (n, 1))
        values[:, 1] = values[:, 0] if case % 3 == 0 else values[:, 1]
        table = pd.DataFrame(values, columns=[f"s{i}" for i in range(k)])
        table = table.where(rng.random((n, k)) > 0.3)
        if (table.notna().sum(axis=1) > 1).sum() < 2:
            continue
        found = skillings_mack_test(table, metric="x", greater_is_better=False)
        assert 0 < found.p_value <= 1
        assert np.isfinite(found.statistic)


def test_row_means_give_the_published_ranks_of_fernandez_delgado():
    """Fernandez-Delgado et al. 2014, Table 3: the Friedman ranks of the best ten."""
    table = pd.read_csv(FIXTURES / "delgado2014_accuracy.csv.gz", index_col=0)
    results = Results.from_table(table / 100, metric="accuracy")
    ranks = average_ranks(treat_missing(results, "row mean")).frame["average_rank"]
    printed = {"parRF_caret": 32.9, "rf_caret": 33.1, "svm_C": 36.8, "svmPoly_caret": 38.0,
               "rforest_R": 39.4, "elm_kernel_matlab": 39.6, "svmRadialCost_caret": 40.3,
               "svmRadial_caret": 42.5, "C5.0_caret": 42.9, "avNNet_caret": 44.1}  # fmt: skip
    assert ranks.index[:10].tolist() == list(printed)
    assert ranks[:10].to_dict() == pytest.approx(printed, abs=0.07)
    medians = treat_missing(results, "row median")
    assert medians.imputed.sum() == 449
    assert "449 missing cells" in medians.notes[-1]
    assert "got the median loss of the strategies there" in medians.notes[-1]


def test_too_few_datasets_are_named():
    table = pd.DataFrame({"A": [0.1, 0.2, None], "B": [None, 0.2, 0.3], "C": [0.1, 0.2, 0.3]})
    with pytest.raises(AnalysisError, match="it needs two datasets with results of two strategies"):
        skillings_mack_test(table.iloc[:, :2], metric="error")
