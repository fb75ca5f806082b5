"""Interquartile means and probabilities of improvement: rliable's numbers, and invariances."""

import numpy as np
import pandas as pd
import pytest
from mlaut_extras import interquartile_means

from mlaut.analysis import Results
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
    """rliable 1.2: metrics.aggregate_iqm."""
    iqm = interquartile_means(runs).frame
    assert iqm["interquartile mean"].to_dict() == pytest.approx({"A": 0.485, "B": 0.61305})


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


def test_means_of_rmse_do_not_compare(runs):
    results = Results.from_table(runs.fold_losses, metric="rmse")
    with pytest.raises(AnalysisError, match=r"means do not compare .* see scale_free_table"):
        interquartile_means(results)


def test_one_run_is_no_sample(losses):
    with pytest.raises(AnalysisError, match="runs are the folds and repeats of a dataset"):
        interquartile_means(losses({"A": [1.0, 2.0], "B": [2.0, 1.0]}))
