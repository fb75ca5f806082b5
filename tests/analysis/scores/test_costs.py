"""Costs of wrong predictions: by hand, from text, and what cannot be read."""

import numpy as np
import pytest

from mlaut.analysis import metric
from mlaut.analysis.scores import LossCost
from mlaut.costs import Costs
from mlaut.errors import DataError

TRUTH = np.array(["bad", "bad", "good", "good"])
PREDICTED = np.array([["good", "bad", "bad", "good"], ["bad", "bad", "good", "good"]])


def test_costs_by_hand_and_for_many_strategies_at_once():
    cost = metric("cost(bad>good=5, good>bad=2)")
    np.testing.assert_array_equal(cost.points(TRUTH, PREDICTED), [[5, 0, 2, 0], [0, 0, 0, 0]])
    assert cost.calculate(TRUTH, PREDICTED[0]) == 1.75
    assert (cost.name, cost.bounds) == ("cost(bad>good=5, good>bad=2)", (0, 5))
    assert metric(cost.name).costs == cost.costs
    assert (cost.average, cost.greater_is_better) == (True, False)


def test_a_right_prediction_can_cost_and_what_is_not_named_costs_one():
    cost = LossCost({("bad", "bad"): 0.5, ("bad", "good"): 3})
    np.testing.assert_array_equal(cost.points(TRUTH, PREDICTED[0]), [3, 0.5, 1, 0])
    numbers = LossCost({(1, 0): 4})
    np.testing.assert_array_equal(numbers.points(np.array([1, 0]), np.array([0, 1])), [4, 1])


def test_a_misspelt_class_has_no_value():
    assert np.isnan(metric("cost(baad>goood=5)").calculate(TRUTH, PREDICTED[0]))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("bad", "cannot be read; write pairs as in bad>good=5"),
        ("bad>good=x", "cannot be read"),
        ("bad>good=-1", "the cost of 'good' where 'bad' is true is -1.0; give a finite number"),
        ("bad>good=1, bad>good=2", "a pair twice; write each pair once"),
        ({}, "no pair"),
    ],
)
def test_what_is_no_cost_is_one_line(given, message):
    with pytest.raises(DataError, match=message):
        Costs.of(given)
