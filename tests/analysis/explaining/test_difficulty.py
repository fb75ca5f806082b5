"""Difficulty and discrimination: pandas' item-rest correlations, and planted datasets."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results
from mlaut.analysis.methods.explaining import dataset_difficulty


def test_discrimination_is_the_item_rest_correlation(mlaut2018):
    frame = dataset_difficulty(mlaut2018).frame
    ranks = mlaut2018.losses.round(9).rank(axis=1)
    for name in mlaut2018.datasets[::10]:
        rest = ranks.drop(index=name).mean()
        assert frame.loc[name, "discrimination"] == pytest.approx(
            ranks.loc[name].corr(rest.round(9), method="spearman")
        )
    assert frame["difficulty"].to_numpy() == pytest.approx(mlaut2018.losses.mean(axis=1))
    assert frame["best loss"].to_numpy() == pytest.approx(mlaut2018.losses.min(axis=1))


def planted(n=40, k=10):
    losses = np.random.default_rng(0).normal(np.arange(k), 1.0, (n, k))
    losses[0] = np.arange(k)[::-1]  # the reverse
    losses[1] = np.random.default_rng(1).normal(size=k)  # noise
    return pd.DataFrame(losses, columns=[f"s{i}" for i in range(k)])


def test_planted_datasets():
    found = dataset_difficulty(planted(), metric="loss", greater_is_better=False)
    rho, adjusted = found.frame[["discrimination", "adjusted"]].to_numpy().T
    assert rho[0] == pytest.approx(-1)
    assert abs(rho[1]) < 0.7
    assert (rho[2:] > 0.7).all()
    assert (adjusted[2:] < 0.05).all()
    assert adjusted[1] > 0.05


def test_reliability_grows_with_the_datasets():
    """Alpha of a table is that of the formula with the mean correlation of the datasets."""
    found = dataset_difficulty(planted(), metric="loss", greater_is_better=False)
    ranks = planted().rank(axis=1)
    between = ranks.T.corr().to_numpy()[np.triu_indices(40, 1)].mean()
    alpha = 40 * between / (1 + 39 * between)
    assert f"reliability of the average ranks (Cronbach's alpha) {alpha:.2g}" in found.notes


def test_noise_is_rarely_found():
    """At 5 %, 20 studies of noise have a finding in 1 +- 1; 6 are 5 standard errors more."""
    found = 0
    for seed in range(20):
        table = pd.DataFrame(np.random.default_rng(seed).random((12, 9))).add_prefix("s")
        found += (dataset_difficulty(table, metric="error").frame["adjusted"] <= 0.05).any()
    assert found < 6


def test_names_order_and_units_do_not_matter():
    table = planted() + 20
    unit = 10.0 ** np.random.default_rng(2).integers(-9, 9, (40, 1))
    whole = dataset_difficulty(Results.from_table(table, metric="rmse")).frame
    assert list(whole) == ["discrimination", "p_value", "adjusted"]
    order = np.random.default_rng(3).permutation(40)
    other = dataset_difficulty((table * unit).iloc[order, ::-1], metric="rmse").frame
    other.index = other.index.astype(whole.index.dtype)
    pd.testing.assert_frame_equal(whole.sort_index(), other.sort_index())
