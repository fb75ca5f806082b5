"""The multi-comparison matrix: numbers of scipy, and independence of the other strategies."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wilcoxon

from mlaut.analysis import Results, multi_comparison, trinomial_test


def test_numbers_are_those_of_scipy(mlaut2018):
    found, losses = multi_comparison(mlaut2018), mlaut2018.losses.round(9)
    for first, second in found.pairs[::5]:
        d = (losses[first] - losses[second]).round(9)
        one = found.pair(first, second)
        normal = wilcoxon(d, zero_method="pratt", method="asymptotic").pvalue
        assert one.p_value == pytest.approx(normal, abs=0.002)  # one.p_value is exact
        assert one.effect.value == pytest.approx(d.mean())
        assert one.statistic == (d < 0).sum()
        assert found.value("losses", first, second) == (d > 0).sum()
        assert one.ties == (d == 0).sum()


def test_exact_p_of_a_small_table(demsar):
    """Demsar's pair has the exact conditional p of 0.0078125 if zeros are ranked and dropped."""
    one = multi_comparison(demsar, pair=("C4.5+m", "C4.5"))
    assert one.p_value == 0.0078125
    assert one.effect.value == pytest.approx(-0.0155)
    assert (
        multi_comparison(demsar, zeros="wilcox", pair=("C4.5+m", "C4.5")).p_value == 0.00732421875
    )


def test_other_strategies_and_the_order_do_not_matter(mlaut2018):
    names, whole = mlaut2018.strategies, multi_comparison(mlaut2018)
    some = [names[i] for i in (4, 2, 0)]
    part = multi_comparison(mlaut2018.select(strategies=some))
    assert set(part.tables) == set(whole.tables)
    for key, table in part.tables.items():
        pd.testing.assert_frame_equal(table, whole.table(key).loc[some, some])


def test_losses_in_different_units_have_no_mean():
    rng = np.random.default_rng(0)
    unit = 10.0 ** rng.integers(-6, 6, size=(12, 1))
    table = pd.DataFrame(unit * rng.random((12, 3)), columns=[*"ABC"])
    results = Results.from_table(table, metric="rmse")
    found = multi_comparison(results)
    assert list(found.effects) == ["share better"]
    assert "p-values of the Trinomial test" in found.notes
    pd.testing.assert_frame_equal(found.p_values, trinomial_test(results).p_values)
    other = multi_comparison(table / unit, metric="rmse")
    pd.testing.assert_frame_equal(found.to_frame(), other.to_frame())


def test_it_says_that_p_is_not_corrected(demsar):
    assert any(
        "not corrected for the number of pairs" in note for note in multi_comparison(demsar).notes
    )
