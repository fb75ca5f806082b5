"""P(best) of results: ranks, invariances, awkward tables; the model itself is in sources."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results, probability_of_best
from mlaut.analysis.methods.aggregates.best import _places, _rank_probabilities
from mlaut.errors import AnalysisError


def results(table):
    return Results.from_table(table, greater_is_better=False)


def p_best(results, **how):
    return probability_of_best(results, **how).frame["P(best)"]


def test_ranks_of_demsar(demsar):
    """Probabilities add up over ranks and over strategies, and the expected rank is their mean."""
    found = probability_of_best(demsar, top=2)
    p = found.rank_probabilities
    np.testing.assert_allclose(p.sum(axis=0), 1)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(found.frame["expected rank"], p @ [1, 2, 3, 4])
    np.testing.assert_allclose(found.frame["P(top 2)"], p[1] + p[2])
    assert set(found.frame.index[:2]) == {"C4.5+m", "C4.5+m+cf"}  # average ranks 2.0 and 1.96
    assert found.frame["P(best)"].iloc[:2].between(0.3, 0.6).all()
    assert found.sentence().startswith(
        "Probability of the best average rank of 1 - roc_auc, 14 datasets: C4.5+m"
    )
    assert list(found.to_frame().columns[-2:]) == ["P(rank 3)", "P(rank 4)"]


def test_equal_strategies_share(losses):
    table = {"A": [1.0, 2, 1, 1], "B": [1.0, 2, 1, 1], "C": [3.0, 3, 3, 0.5]}
    found = probability_of_best(losses(table), aggregate="loss", top=2)
    frame = found.frame
    assert frame.loc["A"].equals(frame.loc["B"])
    p = found.rank_probabilities
    assert p.loc["A"].equals(p.loc["B"])
    assert 2 * frame.loc["A", "P(best)"] > frame.loc["C", "P(best)"]  # together they lead
    assert frame["P(best)"].sum() == pytest.approx(1)


def test_ties_of_a_draw_share_their_ranks():
    draws = np.array([[1.0, 1, 0], [2, 2, 2], [0, 1, 2], [0, 2, 1]])
    starts, sizes = _places(draws)
    assert starts.tolist() == [[1, 1, 0], [0, 0, 0], [0, 1, 2], [0, 2, 1]]
    assert sizes.tolist() == [[2, 2, 1], [3, 3, 3], [1, 1, 1], [1, 1, 1]]
    third = 1 / 3
    by_hand = [[2 + third, 0.5 + third, 0.5 + third], [third, 1.5 + third, 1.5 + third]]
    found = 4 * _rank_probabilities(starts, sizes)
    np.testing.assert_allclose(found[:2], by_hand)
    np.testing.assert_allclose(found.sum(axis=0), 4)


def test_a_bad_strategy_turns_nothing():
    """Twenty equal strategies: neither a dummy nor a copy makes one of them more probable."""
    values = np.random.default_rng(7).normal(0.8, 0.03, (40, 20)).clip(0, 1)
    table = pd.DataFrame(values).add_prefix("s")
    alone = p_best(table, metric="accuracy")
    assert alone.max() < 0.1
    dummy = p_best(table.assign(dummy=0.4), metric="accuracy")
    pd.testing.assert_series_equal(alone.sort_index(), dummy.drop("dummy").sort_index())
    assert dummy["dummy"] == 0


def test_a_copy_changes_nothing_for_the_others_by_any_aggregate():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(0.2 + rng.random((11, 4)), columns=[*"abcd"])
    with_copy = table.assign(z=table["b"])
    for aggregate in ("rank", "loss", "normalised", "improvability", "wins"):
        for baseline in (None, "b") if aggregate == "normalised" else (None,):
            one, other = (
                probability_of_best(x, aggregate=aggregate, baseline=baseline).frame["P(best)"]
                for x in (results(table), results(with_copy))
            )
            assert other[["z", "b"]].sum() == pytest.approx(one["b"]), aggregate
            assert other[[*"acd"]].tolist() == one[[*"acd"]].tolist(), aggregate
    alike = results(table[["a"]].assign(z=table["a"]))
    assert probability_of_best(alike, aggregate="wins").frame["P(best)"].tolist() == [0.5, 0.5]


class TestInvariance:
    def results(self, k=5, **columns):
        values = np.random.default_rng(1).normal(size=(12, k))
        table = pd.DataFrame(values, columns=list("ABCDEFGHIJ")[:k]).assign(**columns)
        return Results.from_table(table, greater_is_better=False)

    def test_a_bad_strategy_changes_nothing_by_losses(self):
        how = {"aggregate": "loss"}
        alone, beside = p_best(self.results(), **how), p_best(self.results(Z=99.0), **how)
        pd.testing.assert_series_equal(alone, beside.drop("Z"))
        assert beside["Z"] == 0

    def test_names_and_order_do_not_matter(self):
        results = self.results()
        turned = results.select(strategies=list("DBACE"))
        pd.testing.assert_series_equal(p_best(results).sort_index(), p_best(turned).sort_index())

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
    for case in range(12):
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
        ({"top": 0}, "top = 0 must be at least 1"),
        ({"baseline": "A"}, "a baseline is for aggregate='normalised'"),
        ({"aggregate": "normalised", "baseline": "Z"}, "strategy 'Z' is not in these results"),
    ],
)
def test_bad_options(how, words, losses):
    with pytest.raises(AnalysisError, match=words.replace("(", r"\(")):
        probability_of_best(losses({"A": [0.0, 1.0], "B": [1.0, 0.0]}), **({"top": 1} | how))


def test_losses_in_units_of_the_target_have_no_mean():
    table = pd.DataFrame({"A": [1.0, 200.0], "B": [2.0, 100.0]})
    with pytest.raises(AnalysisError, match=r"means of losses do not compare .*aggregate='rank'"):
        probability_of_best(Results.from_table(table, metric="rmse"), aggregate="loss", top=1)
