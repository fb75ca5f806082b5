"""Ranks of tables with gaps: published numbers."""

from pathlib import Path

import pandas as pd
import pytest

from mlaut.analysis import Results, average_ranks, treat_missing

FIXTURES = Path(__file__).parents[1] / "fixtures"


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
