"""The Plackett-Luce model: Cox's regression, choix, by hand, awkward tables."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit, stdtrit
from statsmodels.duration.hazard_regression import PHReg

from mlaut.analysis import Results, plackett_luce, rank_table
from mlaut.errors import AnalysisError


@pytest.mark.parametrize("seed", [0, 1])
def test_it_is_a_stratified_cox_regression(seed, losses):
    """Ranks are times, datasets are strata, and ties are Efron's: statsmodels' PHReg."""
    values = np.floor(np.random.default_rng(seed).integers(0, 4, (20, 5)) + 0.4 * np.arange(5))
    results = losses(dict(zip("ABCDE", values.T, strict=True)))
    ours = plackett_luce(results, prior=1e-9).frame["log worth"]
    times, strata = rank_table(results).to_numpy().ravel(), np.repeat(np.arange(20), 5)
    effects = np.tile(np.eye(5), (20, 1))[:, 1:]
    theirs = PHReg(times, effects, strata=strata, ties="efron").fit().params
    assert (ours[list("BCDE")] - ours["A"]).to_numpy() == pytest.approx(theirs, abs=1e-5)


def test_strict_rankings_of_choix(garcia):
    """choix 0.4.1, opt_rankings(alpha=1e-10), on the 26 datasets without a tie."""
    strict = garcia.scores[garcia.scores.nunique(axis=1) == 5]
    found = plackett_luce(Results.from_table(strict, metric="accuracy"), prior=1e-9)
    theirs = {"C4.5": 0.91575257, "k-NN(k=1)": -0.23472867, "NaiveBayes": 0.90901142,
              "Kernel": -1.76455258, "CN2": 0.17451725}  # fmt: skip
    assert found.frame["log worth"].to_dict() == pytest.approx(theirs, abs=1e-5)


def test_two_strategies_by_hand(losses):
    """The worths are the shares of wins."""
    found = plackett_luce(losses({"A": [0.0, 0, 0, 1], "B": [1.0, 1, 1, 0]}), prior=1e-9)
    assert found.frame["worth"].to_dict() == pytest.approx({"A": 0.75, "B": 0.25}, abs=1e-5)


def test_intervals_of_two_strategies(losses):
    """The variance of the log odds is p (1 - p) n / (n - 1) / n, over (p (1 - p))^2."""
    found = plackett_luce(losses({"A": [0.0] * 30 + [1.0] * 10, "B": [0.5] * 40}), prior=1e-9).frame
    error = np.sqrt(1 / (39 * 0.75 * 0.25))
    ends = expit(logit(0.75) + np.array([-1, 1]) * stdtrit(39, 0.975) * error)
    assert found.loc["A", ["low", "high"]].to_list() == pytest.approx(ends, abs=1e-6)
    assert found.loc["B", ["low", "high"]].to_list() == pytest.approx(1 - ends[::-1], abs=1e-6)


def test_the_last_everywhere_changes_no_odds(losses):
    table = {"A": [0.0, 0, 1, 0], "B": [1.0, 2, 0, 1], "C": [2.0, 1, 2, 3]}
    few = plackett_luce(losses(table), prior=1e-6).frame["log worth"]
    many = plackett_luce(losses(table | {"Z": [9.0] * 4}), prior=1e-6).frame["log worth"]
    assert many["A"] - many["B"] == pytest.approx(few["A"] - few["B"], abs=1e-3)


def test_awkward_tables():
    rng = np.random.default_rng(7)
    for case in range(40):
        n, k = rng.integers(2, 9), 100 if case == 0 else rng.integers(2, 9)
        values = rng.integers(0, 4, (n, k)) * 10.0 ** rng.integers(-12, 13, (n, 1))
        table = pd.DataFrame(values, columns=[f"s{i}" for i in range(k)])
        found = plackett_luce(Results.from_table(table, greater_is_better=False)).frame
        assert np.isfinite(found).all(axis=None)
        assert found["worth"].sum() == pytest.approx(1)


def test_bad_options(losses):
    with pytest.raises(AnalysisError, match="prior = 0 is not a positive number"):
        plackett_luce(losses({"A": [0.0, 1.0], "B": [1.0, 0.0]}), prior=0)
