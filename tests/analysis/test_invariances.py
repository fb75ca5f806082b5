"""What may not matter to a statistic: names and order, units of datasets, strategies beside a pair.

Every public function of results is in `CASES`, or has a test of its own.
"""

import inspect
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest
from everything import analysis, called_in_own_tests, functions, installed

from mlaut.analysis import Pairwise, Results

N, FOLDS = 12, 3
DRAWS = {"n_samples": 400}


@dataclass(frozen=True)
class Case:
    """Function with its options, and what does not matter to it.

    ``near`` is the largest difference that draws make in the numbers with a word in their label;
    it is 0 for other numbers. ``units`` are those of the datasets; ``others`` are strategies beside
    those compared; ``order`` is that of the strategies' names.
    """

    how: dict = field(default_factory=dict)
    near: dict = field(default_factory=dict)
    units: bool = True
    others: bool = False
    order: bool = True


ABOUT = pd.DataFrame(
    {"rows": np.arange(N) ** 2.0, "classes": np.arange(N) % 3}, [f"d{i:02}" for i in range(N)]
)
TESTED = {"test": analysis.wilcoxon_test}
CASES = installed(
    {
        "average_ranks": Case(),
        "bayesian_sign_test": Case(others=True),
        "bayesian_signed_rank_test": Case(DRAWS, near={"": 0.15}, units=False, others=True),
        "bonferroni_dunn_test": Case({"control": "A"}),
        "conover_test": Case(),
        "correlated_t_datasets": Case(units=False, others=True, order=False),
        "elo_ratings": Case(DRAWS, near={"low": 3000.0, "high": 3000.0}),
        "friedman_test": Case(),
        "interquartile_means": Case(DRAWS, near={"": 0.02}, units=False, others=True),
        "kendalls_w": Case(),
        "mean_estimates": Case(units=False, others=True),
        "multi_comparison": Case(units=False, others=True),
        "nemenyi_test": Case(),
        "performance_profile": Case(),
        "post_hoc_test": Case(),
        "probability_of_best": Case({"n_samples": 4000}, near={"": 0.06, "low": 1.0, "high": 1.0}),
        "quade_test": Case(units=False),
        "rank_table": Case(),
        "ranksum_test": Case(units=False, others=True),
        "unpaired_t_test": Case(units=False, others=True),
        "retrained_estimates": Case(units=False, others=True),
        "retrained_mean_estimates": Case(units=False, others=True),
        "scale_free_table": Case(),
        "sign_test": Case(others=True),
        "t_test": Case(units=False, others=True),
        "trinomial_test": Case(others=True),
        "wilcoxon_test": Case(units=False, others=True),
    }
)


def losses(gaps=False):
    """Return losses of four strategies on twelve datasets with three folds."""
    rng = np.random.default_rng(0)
    index = pd.MultiIndex.from_product([ABOUT.index, [0], range(FOLDS)])
    noise = rng.normal(size=(N, 1, 4)) + 0.3 * rng.normal(size=(N, FOLDS, 4))
    values = np.exp(0.3 * (noise + np.linspace(0, 0.9, 4))).reshape(-1, 4)
    table = pd.DataFrame(values, index, list("ABCD")).rename_axis(["dataset", "repeat", "fold"])
    if gaps:
        table.iloc[:FOLDS, 3] = np.nan
    return table


def numbers(name, table, back=None, metric="cost"):
    """Return the numbers of a result by label, with the strategies' names of `losses`."""
    how = dict(CASES[name].how)
    back = back or {}
    forth = {old: new for new, old in back.items()}
    for key in ("control", "baseline"):
        how = how | ({key: forth.get(how[key], how[key])} if key in how else {})
    given = {"metric": metric, "greater_is_better": metric == "speed"}
    found = getattr(analysis, name)(Results.from_table(table, **given), **how)
    if isinstance(found, Pairwise):
        return {
            (key, back.get(a, a), back.get(b, b)): values.loc[a, b]
            for key, values in found.tables.items()
            for a in found.strategies
            for b in found.strategies
            if a != b
        }
    frame = (found if isinstance(found, pd.DataFrame) else found.to_frame()).select_dtypes("number")
    return {
        (label(row, back), label(column, back)): frame[column].iloc[at]
        for at, row in enumerate(frame.index)
        for column in frame.columns
    }


def label(key, back):
    """Return a label of a row or column; a pair of strategies stands in the order of the names."""
    parts = key if isinstance(key, tuple) else (key,)
    return tuple(sorted(back.get(str(part), str(part)) for part in parts))


def agree(one, other, near, whole=True):
    assert set(one) == set(other) or not whole
    shared = [key for key in one if key in other]
    assert shared
    values = np.array([[one[key], other[key]] for key in shared], dtype=float)
    allowed = [
        max((x for word, x in near.items() if word in str(key)), default=0) for key in shared
    ]
    one, other = values.T
    unequal = ~np.isclose(one, other, rtol=1e-7, atol=np.add(allowed, 1e-9), equal_nan=True)
    assert not unequal.any(), [(shared[i], *values[i]) for i in np.flatnonzero(unequal)[:5]]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.order])
def test_names_and_their_order_do_not_matter(name):
    table = losses()
    new = {"A": "forest", "B": "svm", "C": "boost", "D": "ann"}
    other = table.rename(columns=new)[["svm", "ann", "forest", "boost"]]
    back = {name: old for old, name in new.items()}
    agree(numbers(name, table), numbers(name, other, back), CASES[name].near)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.units])
def test_units_of_datasets_do_not_matter(name):
    table = losses()
    of_dataset = pd.Series(2.0 ** np.random.default_rng(1).integers(-40, 41, N), ABOUT.index)
    unit = of_dataset[table.index.get_level_values("dataset")].to_numpy()
    one, other = (numbers(name, x, metric="rmse") for x in (table, table.mul(unit, axis=0)))
    agree(one, other, CASES[name].near)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.others])
def test_a_strategy_more_changes_nothing_about_the_others(name):
    table = losses()
    more = table.assign(E=np.random.default_rng(2).permutation(table["A"]), F=9.0)
    agree(numbers(name, table), numbers(name, more), CASES[name].near, whole=False)


@pytest.mark.parametrize("name", [*CASES])
def test_the_order_of_the_datasets_does_not_matter(name):
    table = losses()
    turned = table.loc[ABOUT.index[::-1]]
    agree(numbers(name, table), numbers(name, turned), CASES[name].near)


def test_every_function_of_results_is_here():
    public = {
        name
        for name in functions()
        if next(iter(inspect.signature(getattr(analysis, name)).parameters), "") == "results"
    }
    assert set(CASES) <= public
    assert public - set(CASES) <= called_in_own_tests()
