"""Plans of studies: from numbers, from a pilot, for ranks."""

import numpy as np
import pandas as pd
import pytest
from mlaut_races.planning import (
    dataset_sd,
    datasets_needed,
    datasets_needed_for_ranks,
    pilot_design,
    resolution,
    smallest_difference,
)

from mlaut.analysis.methods.frequentist.ranks import critical_difference
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError, MissingCellsError


def test_resolution_is_a_table_of_smallest_differences():
    table = resolution([10, 40], [5, 10], between=0.02, within=0.04, repeats=2, test="sign")
    sd = dataset_sd(0.02, 0.04, 10, 2)
    assert table.frame.loc[40, 10] == smallest_difference(40, sd, "sign")
    assert (table.frame.loc[10] > table.frame.loc[40]).all()
    assert (table.frame[5] > table.frame[10]).all()


def _pilot(n: int = 300, folds: int = 5, repeats: int = 1) -> Results:
    """Return true differences of mean -0.02 and sd 0.03, and folds with sd 0.05."""
    rng = np.random.default_rng(0)
    index = pd.MultiIndex.from_product([range(n), range(repeats), range(folds)])
    index = index.set_levels([f"d{i}" for i in range(n)], level=0)
    true = np.repeat(rng.normal(-0.02, 0.03, size=n), folds * repeats)
    first = 0.5 + true + rng.normal(0, 0.05, size=len(index))
    table = pd.DataFrame({"A": first, "B": 0.5, "C": 0.5}, index=index)
    return Results.from_table(table, greater_is_better=False)


def test_a_pilot_tells_the_variation_between_datasets_from_that_within():
    plan = pilot_design(_pilot()).frame.loc[("A", "B")]
    assert plan["mean difference"] == pytest.approx(-0.02, abs=0.005)
    assert plan["sd within"] == pytest.approx(0.05, rel=0.05)
    noise = 0.05**2 * (1 / 5 + 1 / 4)  # what is taken off; independent folds have less
    assert plan["sd between"] ** 2 == pytest.approx(plan["sd"] ** 2 - noise, rel=0.2, abs=2e-4)
    d, sd = plan["mean difference"], plan["sd"]
    assert plan["needed (t)"] == datasets_needed(d, sd)
    assert plan["needed (sign)"] == datasets_needed(d, sd, "sign")
    assert plan["at least"] < plan["needed (t)"] < plan["at most"]
    assert plan["smallest difference"] == pytest.approx(smallest_difference(300, sd))


def test_equal_strategies_can_never_be_separated():
    plan = pilot_design(_pilot(n=20)).frame.loc[("B", "C")]
    assert (plan[["needed (t)", "needed (sign)", "at most"]] == np.inf).all()
    assert plan["smallest difference"] == 0


def test_a_constant_difference_needs_the_fewest_datasets():
    table = pd.DataFrame({"A": [0.1, 0.2, 0.3], "B": [0.2, 0.3, 0.4]})
    plan = pilot_design(Results.from_table(table, greater_is_better=False)).frame.iloc[0]
    assert plan["needed (t)"] == 2
    assert np.isnan(plan["sd within"])


@pytest.mark.parametrize(("k", "n"), [(4, 14), (5, 30), (27, 121)])
def test_datasets_for_ranks_invert_the_critical_difference(k, n):
    assert datasets_needed_for_ranks(k, critical_difference(k, n)) == n
    assert datasets_needed_for_ranks(k, critical_difference(k, n) * 0.999) == n + 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets_needed_for_ranks(3, 2.5), "ranks of 3 strategies cannot differ by 2.5"),
        (lambda: datasets_needed_for_ranks(3, 0), "cannot differ by 0"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()


def test_a_plan_does_not_depend_on_units_or_on_the_order_of_strategies():
    pilot = _pilot(n=30).losses
    plan = pilot_design(Results.from_table(pilot, greater_is_better=False)).frame
    other = Results.from_table(1000 * pilot[["C", "B", "A"]], greater_is_better=False)
    turned = pilot_design(other).frame
    columns = [name for name in plan if name.startswith(("needed", "at "))]
    assert turned.loc[("B", "A"), columns].equals(plan.loc[("A", "B"), columns])
    assert turned.loc[("B", "A"), "sd"] == pytest.approx(1000 * plan.loc[("A", "B"), "sd"])


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (lambda x: pilot_design(_pilot(n=5), power=x), "nonsense"),
        (lambda x: pilot_design(_pilot(n=5), alpha=x), 95),
        (lambda x: smallest_difference(9, 1.0, power=x), None),
        (lambda x: datasets_needed_for_ranks(4, 1.0, alpha=x), -1),
        (lambda x: resolution([10], [5], 0.1, 0.1, power=x), np.nan),
    ],
)
def test_a_share_that_is_none_is_refused_in_one_line(call, value):
    with pytest.raises(AnalysisError) as error:
        call(value)
    assert "\n" not in str(error.value)


def test_missing_cells_are_not_filled_in_silently():
    table = pd.DataFrame({"A": [0.1, np.nan, 0.3], "B": [0.2, 0.3, 0.4]})
    with pytest.raises(MissingCellsError):
        pilot_design(Results.from_table(table, greater_is_better=False))
