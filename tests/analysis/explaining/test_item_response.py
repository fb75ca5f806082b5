"""The item response model: factor analysis, known truth, units, and what it does without odds."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import FactorAnalysis

from mlaut.analysis import Results, dataset_difficulty
from mlaut.analysis.explaining.item_response import item_response
from mlaut.errors import AnalysisError


def drawn(rng, n, k):
    """Return responses, and the true difficulties and discriminations among these strategies."""
    theta, a = rng.normal(size=k), rng.normal(1.0, 0.5, n)
    mu, sigma = rng.normal(size=n), np.exp(rng.normal(size=n))
    z = mu[:, None] + sigma[:, None] * (a[:, None] * theta + rng.normal(size=(n, k)))
    return z, mu + sigma * a * theta.mean(), a * theta.std()


def test_many_strategies_give_the_loadings_of_factor_analysis():
    """One factor and a noise for each item, by maximum likelihood: scikit-learn."""
    z, *_ = drawn(np.random.default_rng(0), 8, 400)
    found = FactorAnalysis(1, tol=1e-8, max_iter=5000).fit(z.T)
    loadings = found.components_[0] / np.sqrt(found.noise_variance_)
    mu, a, theta = item_response(z, 1600, 0)
    assert a.mean(axis=0) == pytest.approx(loadings * np.sign(loadings.mean()), abs=0.06)
    assert mu.mean(axis=0) == pytest.approx(z.mean(axis=1), abs=0.05)
    scores = found.transform(z.T)[:, 0]
    assert abs(np.corrcoef(theta.mean(axis=0), scores)[0, 1]) > 0.999


def test_intervals_cover_the_truth():
    """The intervals hold 95 % of 400 true values each, within five standard errors of that."""
    inside = []
    for seed in range(20):
        z, mu, a = drawn(np.random.default_rng(seed), 20, 8)
        for draws, truth in zip(item_response(z, 400, seed), (mu, a), strict=False):
            low, high = np.quantile(draws, [0.025, 0.975], axis=0)
            inside.append((low <= truth) & (truth <= high))
    covered = np.mean(inside, axis=1).reshape(-1, 2).mean(axis=0)
    assert ((covered > 0.89) & (covered < 0.99)).all()


def of_odds(z, **how):
    table = pd.DataFrame(1 / (1 + np.exp(z)), columns=[f"s{i}" for i in range(z.shape[1])])
    return dataset_difficulty(table, metric="error", model="item response", **how)


def test_a_table_has_the_numbers_of_the_model():
    z, *_ = drawn(np.random.default_rng(1), 12, 9)
    z[3] = z[3, 0]
    found = of_odds(z, n_samples=400)
    used = np.arange(12) != 3
    mu, a, _ = item_response(z[used], 400, 0)
    frame = found.frame.iloc[used]
    assert frame["discrimination"].to_numpy() == pytest.approx(a.mean(axis=0))
    assert frame["difficulty"].to_numpy() == pytest.approx((1 / (1 + np.exp(mu))).mean(axis=0))
    assert (frame["difficulty low"] < frame["difficulty"]).all()
    assert (frame["discrimination high"] > frame["discrimination"]).all()
    assert found.frame.iloc[3].isna().all()
    assert found.name == "Difficulty and discrimination, item response"
    assert any(note.startswith("1 datasets have no discrimination") for note in found.notes)
    assert any("losses as log odds; 400 draws" in note for note in found.notes)
    assert any(note.startswith("strategies count as independent") for note in found.notes)


def test_planted_datasets_stand_out():
    rng = np.random.default_rng(0)
    ability = np.linspace(-2, 2, 12)
    z = ability + rng.normal(size=(25, 12))
    z[0], z[1] = -ability + 0.3 * rng.normal(size=12), rng.normal(size=12)
    z[2] += 3  # easy
    frame = of_odds(z).frame
    assert frame["discrimination high"].iloc[0] < 0
    assert frame["discrimination low"].iloc[1] < 0 < frame["discrimination high"].iloc[1]
    assert (frame["discrimination low"].iloc[2:] > 0).all()
    assert frame["difficulty"].idxmin() == "2"


def test_losses_without_odds_are_ranked_and_units_do_not_matter():
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.gamma(2, size=(10, 6)) + np.arange(6)).add_prefix("s")
    unit = 10.0 ** rng.integers(-9, 9, (10, 1))
    frames = [
        dataset_difficulty(x, metric="rmse", model="item response", n_samples=80)
        for x in (table, unit * table)
    ]
    pd.testing.assert_frame_equal(frames[0].frame, frames[1].frame)
    columns = ["discrimination", "discrimination low", "discrimination high"]
    assert list(frames[0].frame) == columns
    assert any("as normal scores of their ranks" in note for note in frames[0].notes)
    perfect = Results.from_table((table < 3).astype(float), metric="error")
    zeros = dataset_difficulty(perfect, model="item response", n_samples=80)
    assert list(zeros.frame) == columns


def test_refusals():
    table = pd.DataFrame({"A": [0.1, 0.2, 0.3], "B": [0.2, 0.1, 0.3]})
    with pytest.raises(AnalysisError, match=r"needs 3 strategies and 3 datasets .* are 2 and 2"):
        dataset_difficulty(table, metric="error", model="item response")
    with pytest.raises(AnalysisError, match="did you mean 'item response'"):
        dataset_difficulty(table, metric="error", model="item responses")


def test_awkward_tables():
    """Scales from 1e-12 to 1e12, ties and equal columns: numbers, and no warning."""
    rng = np.random.default_rng(4)
    for case in range(20):
        n, k = rng.integers(4, 9), rng.integers(3, 9)
        values = rng.integers(0, 4, (n, k)) * 10.0 ** rng.integers(-12, 13, (n, 1))
        values[:, 1] = values[:, 0] if case % 3 == 0 else values[:, 1]
        values[:3, 0] = 9e12
        found = dataset_difficulty(
            pd.DataFrame(values).add_prefix("s"), metric="rmse", model="item response", n_samples=40
        ).frame
        assert np.isfinite(found.iloc[:3]).all(axis=None)
