"""Interquartile means and probabilities of improvement: rliable's numbers, and invariances."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results
from mlaut.analysis.methods.aggregates import interquartile_means, probability_of_improvement
from mlaut.errors import AnalysisError

# 4 datasets x 5 runs of two strategies
A = [
    [0.1, 0.55, 0.45, 0.5, 0.75],
    [0.1, 0.6, 0.1, 0.05, 0.9],
    [0.75, 0.7, 0.4, 0.5, 0.95],
    [0.45, 0.0, 0.9, 0.1, 0.6],
]
B = [
    [0.8696, 0.4783, 0.8696, 0.3043, 0.913],
    [0.4348, 0.6957, 0.2174, 0.6957, 0.8261],
    [0.2174, 0.9565, 0.3913, 0.5217, 0.8261],
    [0.5652, 0.3478, 0.7826, 0.5652, 0.5652],
]


@pytest.fixture
def runs():
    index = pd.MultiIndex.from_product([[*"wxyz"], range(5)], names=["dataset", "fold"])
    table = pd.DataFrame({"A": np.ravel(A), "B": np.ravel(B)}, index=index)
    return Results.from_table(table, metric="accuracy")


def test_numbers_of_rliable(runs):
    """rliable 1.2: metrics.aggregate_iqm and metrics.probability_of_improvement."""
    iqm = interquartile_means(runs).frame
    assert iqm["interquartile mean"].to_dict() == pytest.approx({"A": 0.485, "B": 0.61305})
    pairs = probability_of_improvement(runs)
    assert pairs.value("probability of improvement", "A", "B") == pytest.approx(0.38)
    assert pairs.value("probability of improvement", "B", "A") == pytest.approx(0.62)


def test_intervals_are_those_of_resampled_runs(runs):
    """By brute force: four of five runs drawn with replacement of each dataset and strategy."""
    rng = np.random.default_rng(5)
    drawn = []
    for _ in range(3000):
        one, other = (
            np.concatenate([rng.choice(row, 4) for row in table])[None] for table in (A, B)
        )
        drawn.append([np.sort(x)[0, 4:12].mean() for x in (one, other)])
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    found = interquartile_means(runs, n_samples=3000).frame.sort_index()
    assert found["low"].to_list() == pytest.approx(low, abs=0.01)
    assert found["high"].to_list() == pytest.approx(high, abs=0.01)


def test_a_strategy_more_and_units_change_no_pair(runs):
    table = runs.fold_losses
    units = pd.Series({"w": 2.0**-20, "x": 1.0, "y": 8.0, "z": 2.0**30})
    scaled = table.mul(units.reindex(table.index.get_level_values("dataset")).to_numpy(), axis=0)
    both = (
        probability_of_improvement(
            Results.from_table(t, greater_is_better=False), n_samples=10
        ).value("probability of improvement", "A", "B")
        for t in (table, scaled.assign(C=1e-9))
    )
    assert next(both) == next(both)


def test_means_of_rmse_do_not_compare(runs):
    results = Results.from_table(runs.fold_losses, metric="rmse")
    with pytest.raises(AnalysisError, match=r"means do not compare .* probability_of_improvement"):
        interquartile_means(results)
    assert probability_of_improvement(results, n_samples=2).scenario == "(b)"


def test_one_run_is_no_sample(losses):
    with pytest.raises(AnalysisError, match="runs are the folds and repeats of a dataset"):
        interquartile_means(losses({"A": [1.0, 2.0], "B": [2.0, 1.0]}))
