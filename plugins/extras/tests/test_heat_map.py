"""The heat map of all scores."""

import numpy as np
import pandas as pd
import pytest
from mlaut_extras import heat_map

from mlaut.analysis import Look, Results


def names(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def test_strategies_that_are_good_on_the_same_datasets_are_neighbours():
    half = np.tile([0.9, 0.7], 6)
    noise = np.random.default_rng(0).uniform(0, 0.01, (12, 4))
    table = pd.DataFrame(
        {"a": half, "b": 1.6 - half, "c": half, "d": 1.6 - half}, index=[f"d{i}" for i in range(12)]
    )
    axes = heat_map(Results.from_table(table + noise, metric="accuracy")).axes[0]
    order = names(axes)
    assert abs(order.index("a") - order.index("c")) == 1
    assert abs(order.index("b") - order.index("d")) == 1
    datasets = [label.get_text() for label in axes.get_xticklabels()]
    odd = [int(name[1:]) % 2 for name in datasets]
    assert odd in ([0] * 6 + [1] * 6, [1] * 6 + [0] * 6)


def test_the_colours_are_distances_from_the_median_in_the_direction_of_the_metric():
    errors = pd.DataFrame({"good": [0.1, 0.2], "middle": [0.2, 0.3], "bad": [0.4, np.nan]})
    results = Results.from_table(errors, metric="misclassification")
    axes = heat_map(results).axes[0]
    shown = axes.images[0].get_array()
    at = {name: np.ma.filled(shown[row], np.nan) for row, name in enumerate(names(axes))}
    assert sorted(at["good"]) == pytest.approx([0.05, 0.1])
    assert sorted(at["bad"])[0] == pytest.approx(-0.2)
    assert np.isnan(at["bad"]).sum() == 1
    assert axes.figure.axes[1].get_ylabel() == "misclassification below the median"


def test_losses_in_units_are_compared_by_ranks():
    table = pd.DataFrame(
        {"a": [1.0, 2000.0, 3.0], "b": [2.0, 1000.0, 4.0], "c": [3.0, 4000.0, 5.0]}
    )
    figure = heat_map(Results.from_table(table, metric="rmse"))
    assert np.abs(figure.axes[0].images[0].get_array()).max() == 1
    assert figure.axes[1].get_ylabel() == "ranks above the median"


def test_many_datasets_have_no_names():
    table = pd.DataFrame(np.random.default_rng(0).uniform(size=(70, 3)), columns=list("abc"))
    figure = heat_map(Results.from_table(table, metric="accuracy"), look=Look(top=2))
    assert figure.axes[0].get_xlabel() == "70 datasets"
    assert len(names(figure.axes[0])) == 2
