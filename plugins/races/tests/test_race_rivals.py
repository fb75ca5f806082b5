"""The rivals of races and the simulated workers, which docs/when-is-it-enough.md reports."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture(scope="module")
def rivals():
    return of_benchmarks("race_rivals")


@pytest.fixture(scope="module")
def scale():
    return of_benchmarks("race_scale")


def of_benchmarks(name):
    """Return a script as a module; scripts import their neighbours."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.mark.parametrize(("power", "published"), [(0.5, 2.413), (0.0, 2.040)])
def test_boundaries_of_five_looks_are_the_published_ones(rivals, power, published):
    """Jennison and Turnbull (2000), Tables 2.1 and 2.3, two-sided 5 %."""
    assert rivals.boundary(0.025, power) == pytest.approx(published, abs=0.003)


def test_every_method_drops_what_always_loses(rivals):
    losses = np.tile(np.arange(9) / 10, (121, 1)) + np.linspace(0, 0.1, 121)[:, None]
    for name, method in rivals.METHODS.items():
        cells, left = method(losses)
        assert left[0], name
        assert left.sum() <= (3 if "Nemenyi" in name else 1), name
        assert cells <= losses.size, name
    assert rivals.f_race(losses)[0] < 121 * 9 / 4
    assert rivals.successive_halving(losses)[0] == 9 * 15 + 5 * 15 + 3 * 30 + 2 * 61


def test_every_method_but_halving_keeps_what_is_equal(rivals):
    for name, method in rivals.METHODS.items():
        cells, left = method(np.full((20, 9), 0.5))
        assert left.all() != (name == "successive halving"), name
        assert (cells == 180) != (name == "successive halving"), name


def test_conover_keeps_the_strategies_that_friedman_does_not_tell_apart(rivals):
    """By hand: rank sums 6, 12, 18 of six datasets, without spread, so that all but one leave."""
    assert rivals._not_worse(np.tile([0.1, 0.2, 0.3], (6, 1))).tolist() == [True, False, False]
    assert rivals._not_worse(np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]] * 3)).all()


def test_workers_take_the_next_cell_when_they_are_free(scale, monkeypatch):
    """Two workers and rounds of 2 + 1 cells: by hand."""
    monkeypatch.setattr(scale, "WORKERS", 2)
    costs = np.array([[3.0, 1.0], [2.0, 4.0], [1.0, 1.0]])
    runs = np.array([np.inf, 1])
    ran = scale.simulate(costs, runs, np.inf, scale.by_rounds(0))
    assert (ran.cells, ran.cost, ran.time) == (4, 7, 6)
    assert ran.idle == pytest.approx(1 - 7 / 12)
    ahead = scale.simulate(costs, runs, np.inf, scale.by_rounds(1))
    assert (ahead.cells, ahead.cost, ahead.time) == (5, 11, 7)


def test_the_rule_by_cells_is_a_function_of_the_sizes_alone(scale):
    needed = scale.by_cells(5)
    assert [needed([4, 3, 2, 1][:place]) for place in range(5)] == [0, 0, 1, 1, 2]
