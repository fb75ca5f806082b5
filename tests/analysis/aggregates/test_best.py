"""P(best) by the Bayesian bootstrap: exact cases, invariances, awkward tables."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import betainc

from mlaut.analysis import Results, probability_of_best
from mlaut.errors import AnalysisError

ERROR = 4 * 0.5 / np.sqrt(10_000)  # four Monte Carlo errors of a probability from 10,000 draws


def p_best(results, **how):
    return probability_of_best(results, **how).frame["P(best)"]


def test_two_datasets_by_hand(losses):
    """With weights E1, E2 and differences -3 and 1, A is best if 3 E1 > E2: P = 3 / 4 (Rubin)."""
    found = p_best(losses({"A": [0.0, 1.0], "B": [3.0, 0.0]}), aggregate="loss", prior=0)
    assert found["A"] == pytest.approx(0.75, abs=ERROR)


@pytest.mark.parametrize(("wins", "losses_of_a"), [(8, 4), (14, 6), (3, 3)])
def test_ranks_of_two_strategies_are_beta(wins, losses_of_a, losses):
    """The weight of the datasets that A wins is Beta(wins, losses): scipy's incomplete beta."""
    table = {"A": [0.0] * wins + [1.0] * losses_of_a, "B": [1.0] * wins + [0.0] * losses_of_a}
    found = p_best(losses(table), prior=0)
    assert found["A"] == pytest.approx(betainc(losses_of_a, wins, 0.5), abs=ERROR)


def test_the_prior_is_a_dataset_dealt_at_random(losses):
    """A wins both datasets; with prior 1 it loses if B gets the better value and E3 > E1 + E2.

    P(E3 > E1 + E2) = 1/4, and B gets the better value with probability 1/2.
    """
    found = p_best(losses({"A": [0.0, 0.0], "B": [1.0, 1.0]}), aggregate="loss")
    assert found["B"] == pytest.approx(1 / 8, abs=ERROR)


def test_ranks_of_demsar(demsar):
    """Probabilities add up over ranks and over strategies, and the expected rank is their mean."""
    found = probability_of_best(demsar, top=2)
    p = found.rank_probabilities
    np.testing.assert_allclose(p.sum(axis=0), 1)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(found.frame["expected rank"], p @ [1, 2, 3, 4])
    np.testing.assert_allclose(found.frame["P(top 2)"], p[1] + p[2])
    assert found.frame.index[0] == "C4.5+m+cf"  # the best average rank
    assert found.sentence() == (
        "Probability of the best average rank of 1 - roc_auc, 14 datasets: C4.5+m+cf with "
        "probability 0.57, scenario (c)."
    )
    assert list(found.to_frame().columns[-2:]) == ["P(rank 3)", "P(rank 4)"]


def test_equal_strategies_share(losses):
    table = {"A": [1.0, 2, 1, 1], "B": [1.0, 2, 1, 1], "C": [3.0, 3, 3, 0.5]}
    found = probability_of_best(losses(table), prior=0, aggregate="loss", top=2)
    frame = found.frame
    assert frame.loc["A"].equals(frame.loc["B"])
    assert found.rank_probabilities.loc["A", 2] == 0.5  # the second of two or the first
    assert frame["P(best)"].sum() == pytest.approx(1)
    assert "A and B each" in found.sentence()


def test_shrunk_means_by_hand():
    """Analysis of variance, and the factor of James and Stein: 1 - (K - 3) / ((K - 1) F)."""
    values = np.random.default_rng(0).normal(size=(9, 6)) + np.linspace(0, 1, 6)
    results = Results.from_table(pd.DataFrame(values).add_prefix("s"), greater_is_better=False)
    means = values.mean(axis=0) - values.mean()
    rest = values - values.mean(axis=1, keepdims=True) - means
    f = 9 * (means**2).sum() / 5 / ((rest**2).sum() / 40)
    moved = values - (1 - np.sqrt(1 - 3 / (5 * f))) * means
    by_hand = Results.from_table(pd.DataFrame(moved).add_prefix("s"), greater_is_better=False)
    how = {"aggregate": "loss", "prior": 0}
    pd.testing.assert_series_equal(
        p_best(results, **how), p_best(by_hand, shrink=False, **how), atol=1e-3
    )
    assert any(x.endswith("prior 0, shrunk") for x in probability_of_best(results, **how).notes)


def test_the_best_of_many_is_as_sure_as_it_is_right():
    """The 20 strategies lie 1.5 standard errors apart; without shrinking it is .55 and .4."""
    rng = np.random.default_rng(1)
    claims = np.empty((2, 60))
    right = 0
    for at in range(60):
        expected = 1.5 * rng.normal(size=20) / np.sqrt(10)
        table = pd.DataFrame(expected + rng.normal(size=(10, 20))).add_prefix("s")
        results = Results.from_table(table, greater_is_better=False)
        for row, shrink in enumerate((True, False)):
            p = p_best(results, shrink=shrink, n_samples=300)
            claims[row, at] = p.iloc[0]
            right += shrink and p.index[0] == f"s{expected.argmin()}"
    shrunk, plain = claims.mean(axis=1)
    assert shrunk < plain - 0.05
    assert abs(shrunk - right / 60) < 0.15  # the standard error of the share is .065


class TestInvariance:
    def results(self, k=5, **columns):
        values = np.random.default_rng(1).normal(size=(12, k))
        table = pd.DataFrame(values, columns=list("ABCDEFGHIJ")[:k]).assign(**columns)
        return Results.from_table(table, greater_is_better=False)

    def test_a_bad_strategy_changes_nothing_by_losses(self):
        how = {"aggregate": "loss", "prior": 0, "shrink": False}
        alone, beside = p_best(self.results(), **how), p_best(self.results(Z=99.0), **how)
        pd.testing.assert_series_equal(alone, beside.drop("Z"))
        assert beside["Z"] == 0

    def test_names_and_order_do_not_matter(self):
        results = self.results()
        turned = results.select(strategies=list("DBACE"))
        pd.testing.assert_series_equal(
            p_best(results, prior=0).sort_index(), p_best(turned, prior=0).sort_index()
        )

    @pytest.mark.parametrize("aggregate", ["rank", "normalised", "wins"])
    def test_units_of_datasets_do_not_matter(self, aggregate):
        values = np.random.default_rng(2).random((9, 4))
        units = 2.0 ** np.array([-30, -9, -3, 0, 1, 5, 12, 20, 30])[:, None]
        one, other = (
            Results.from_table(pd.DataFrame(v, columns=list("ABCD")), greater_is_better=False)
            for v in (values, units * values)
        )
        pd.testing.assert_series_equal(
            p_best(one, aggregate=aggregate), p_best(other, aggregate=aggregate)
        )


@pytest.mark.parametrize("aggregate", ["rank", "loss", "normalised", "improvability", "wins"])
def test_awkward_tables(aggregate):
    """Scales from 1e-12 to 1e12, ties, equal columns, 200 strategies: probabilities, no warning."""
    rng = np.random.default_rng(3)
    for case in range(40):
        n, k = rng.integers(2, 9), 200 if case == 0 else rng.integers(2, 9)
        values = rng.integers(0, 4, (n, k)) * 10.0 ** rng.integers(-12, 13, (n, 1))
        values[:, 1] = values[:, 0] if case % 3 == 0 else values[:, 1]
        table = pd.DataFrame(values, columns=[f"s{i}" for i in range(k)])
        results = Results.from_table(table, greater_is_better=False)
        found = probability_of_best(results, aggregate=aggregate, n_samples=50, top=2).to_frame()
        assert found.notna().all(axis=None)
        assert found["P(best)"].sum() == pytest.approx(1)
        assert found["expected rank"].mean() == pytest.approx((k + 1) / 2)


def test_few_datasets_are_noted(losses):
    found = probability_of_best(losses({"A": [0.0, 0.0], "B": [1.0, 1.0]}), top=1)
    assert any("2 datasets decide little" in note for note in found.notes)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"aggregate": "mean"}, "aggregate 'mean' is not known; one of 'rank', 'loss'"),
        ({"top": 0}, "top and n_samples must be 1 or more"),
        ({"baseline": "A"}, "a baseline is for aggregate='normalised'"),
        ({"aggregate": "normalised", "baseline": "Z"}, "strategy 'Z' is not in these results"),
        ({"prior": -1}, "prior 0 or more"),
    ],
)
def test_bad_options(how, words, losses):
    with pytest.raises(AnalysisError, match=words.replace("(", r"\(")):
        probability_of_best(losses({"A": [0.0, 1.0], "B": [1.0, 0.0]}), **({"top": 1} | how))


def test_losses_in_units_of_the_target_have_no_mean():
    table = pd.DataFrame({"A": [1.0, 200.0], "B": [2.0, 100.0]})
    with pytest.raises(AnalysisError, match=r"means of losses do not compare .*aggregate='rank'"):
        probability_of_best(Results.from_table(table, metric="rmse"), aggregate="loss", top=1)
