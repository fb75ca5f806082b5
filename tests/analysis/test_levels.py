"""Type I errors and coverages by simulation, as docs/measured-levels.md has them."""

import importlib.util
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

AT_THE_LEVEL = ["paired t", "paired t, one-sided", "Friedman F", "Quade"]
TIMES = 200  # the standard error of a rate of 5 % is 1.5 points
FOUR_ERRORS = 4 * (0.05 * 0.95 / TIMES) ** 0.5


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def measured():
    return loaded("measured_levels")


@pytest.fixture(scope="module")
def more():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
        yield loaded("measured_levels_more")


@pytest.mark.slow
def test_type_one_errors(measured):
    """At the level or, where the test is discrete or conservative, below it."""
    at_five = measured.type_one_errors(TIMES)["5 %"]
    for test, losses, n in at_five.index:
        rate = at_five[test, losses, n]
        assert rate <= 0.05 + FOUR_ERRORS, (test, losses, n)
        if test in AT_THE_LEVEL and losses.startswith("normal"):
            assert rate >= 0.05 - FOUR_ERRORS, (test, losses, n)


@pytest.mark.slow
def test_coverages(measured):
    """Those that theory promises are met, the poor ones are poor."""
    table = measured.coverages(TIMES)["95 %"]
    for name in ("mean difference", "Cohen's d (paired)", "Hodges-Lehmann shift"):
        for n in (10, 30, 121):
            assert table[name, "normal differences, d 0.5", n] >= 0.95 - FOUR_ERRORS
    for n in (5, 10, 30, 121):
        assert table["mean loss, (c), t", "normal", n] == pytest.approx(0.95, abs=FOUR_ERRORS)
    assert table["mean loss, (c), normal", "normal", 5] < 0.94
    assert table["error rate, (a), normal", "rate 0.02", 20] < 0.5
    for method in ("wilson", "jeffreys", "uniform"):
        for n in (20, 100, 1000):
            assert table[f"error rate, (a), {method}", "rate 0.2", n] >= 0.95 - FOUR_ERRORS


def test_of_two_fitted_models_the_mid_p_value_holds_its_level(more):
    rates = dict(more.of_test_sets(100, 0))
    for (test, setting, n), (_, five, _) in rates.items():
        if test.startswith(("McNemar", "Theorem")):
            assert five <= 0.056, (test, n)  # 2,000 samples
        assert five <= 0.13, (test, setting, n)


def test_where_each_is_better_on_half_of_the_datasets(more):
    """Only tests of who wins ask what is asked; and few test points blur who does."""
    rates = dict(more.of_contexts(100, 0))
    for (test, where, n), (_, five, _) in rates.items():
        if test.startswith("poisson binomial"):
            assert five <= 0.07, (where, n)
        if "neither" in where:
            assert five <= 0.08, (test, where, n)
    many = "context lopsided, 10001 test points"
    assert rates["sign (Lacoste)", many, 30][1] <= 0.08
    assert rates["signed rank (Lacoste)", many, 30][1] > 0.5
    assert rates["sign (Lacoste)", "context lopsided, 100 test points", 30][1] > 0.1


def test_bounds_of_the_risk_and_intervals_over_folds_cover(more):
    for (name, truth, n), (ninety, ninety_five, ninety_nine) in more.covered_risks(100, 0):
        assert ninety >= 0.9 - 0.02, (name, truth, n)
        assert ninety_five >= 0.95 - 0.015, (name, truth, n)
        assert ninety_nine >= 0.99 - 0.009, (name, truth, n)
    for name, found in more.covered_folds():
        assert found[1] >= 0.93, name
