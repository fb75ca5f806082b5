"""Stability of rankings: Kendall's tau-b of scipy, halves that agree and disagree."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from mlaut.analysis import Results, average_ranks
from mlaut.analysis.methods.aggregates import ranking_stability
from mlaut.errors import AnalysisError


def test_other_results_have_scipys_tau(mlaut2018, losses):
    other = Results.from_table(-(mlaut2018.losses**2), greater_is_better=True, metric="other")
    turned = Results.from_table(mlaut2018.losses, greater_is_better=True, metric="turned")
    half = mlaut2018.select(datasets=mlaut2018.datasets[:20])
    frame = ranking_stability(
        mlaut2018, {"same": other, "turned": turned, "half": half}, n_samples=50
    ).frame
    assert frame.loc["same", "tau-b"] == 1
    assert frame.loc["turned", "tau-b"] == -1
    ranks = [average_ranks(r).frame["average_rank"].sort_index() for r in (mlaut2018, half)]
    assert frame.loc["half", "tau-b"] == pytest.approx(kendalltau(*ranks).statistic)


def test_halves_that_agree(losses):
    rows = ranking_stability(losses({"A": [1.0] * 8, "B": [2.0] * 8, "C": [3.0] * 8})).frame
    assert rows.loc["half of the datasets"].to_list() == [1, 1, 1]


def test_noise_has_no_stability_on_average():
    """Over 40 studies the mean is 0; its standard error is .03, and that of one study .2."""
    rng, names = np.random.default_rng(0), [f"s{i}" for i in range(12)]
    taus = []
    for _ in range(40):
        table = pd.DataFrame(rng.normal(size=(10, 12)), columns=names)
        found = ranking_stability(table, metric="loss", greater_is_better=False, n_samples=20)
        taus.append(found.frame["tau-b"].iloc[0])
    assert abs(np.mean(taus)) < 0.12


def test_folds():
    index = pd.MultiIndex.from_product([range(5), range(4)], names=["dataset", "fold"])
    table = pd.DataFrame({"A": np.arange(20.0), "B": np.arange(20.0) + 1}, index=index)
    found = ranking_stability(table, metric="loss", greater_is_better=False)
    assert found.frame.loc["half of the folds"].to_list() == [1, 1, 1]


def test_losses_of_a_fold_that_differ_by_rounding_noise_are_tied():
    index = pd.MultiIndex.from_product([range(4), range(3)], names=["dataset", "fold"])
    same = pd.DataFrame({"A": 0.3, "B": 0.1 + 0.2}, index=index)  # differ in the 16th digit
    found = ranking_stability(Results.from_table(same, greater_is_better=False)).frame
    assert found.loc["half of the folds", "tau-b"] == 0  # all strategies are tied


def test_bad_input(losses):
    few = losses({"A": [1.0, 2.0, 3.0], "B": [2.0, 1.0, 1.0]})
    with pytest.raises(AnalysisError, match="halves of 3 datasets decide nothing"):
        ranking_stability(few)
    many = losses({"A": [1.0] * 4, "B": [2.0] * 4})
    with pytest.raises(AnalysisError, match="the results 'x' are of other strategies"):
        ranking_stability(many, {"x": losses({"A": [1.0] * 4, "C": [2.0] * 4})})
