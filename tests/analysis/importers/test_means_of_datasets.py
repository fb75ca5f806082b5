"""Datasets that are means of others, and repeats that not all strategies have, by their values."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis.importers.grids.columns import means_of_others
from tests.analysis.small_tables import read, refused

RNG = np.random.default_rng(0)
SCORES = RNG.uniform(0.5, 0.9, (6, 8))  # six strategies on eight datasets


def long_table(scores, **of_others):
    """Return a row for each score, and those of datasets that are means of some others."""
    wide = pd.DataFrame(scores, columns=[f"d{i}" for i in range(scores.shape[1])])
    means = {name: wide.iloc[:, places].mean(axis=1) for name, places in of_others.items()}
    wide = wide.assign(model=list("abcdef"), **means).sample(frac=1, axis=1, random_state=0)
    return wide.melt("model", var_name="dataset", value_name="accuracy")


def test_a_dataset_that_is_the_mean_of_all_others_is_left_out_whatever_its_name(tmp_path):
    table = long_table(SCORES.round(3), Combined=range(8)).round(3)
    results = read(tmp_path, table)
    assert sorted(results.datasets) == [f"d{i}" for i in range(8)]
    assert "not used: dataset `Combined` (the mean of `d" in results.how_read


def test_datasets_that_are_exact_means_of_some_others_are_left_out(tmp_path):
    table = long_table(SCORES, vision=[0, 2, 5])
    results = read(tmp_path, table)
    assert sorted(results.datasets) == [f"d{i}" for i in range(8)]
    assert "dataset `vision` (the mean of `d" in results.how_read


def test_a_mean_of_means_is_found_behind_them():
    values = RNG.uniform(size=(20, 8))
    some, others = values[:, :3].mean(axis=1), values[:, 3:].mean(axis=1)
    values = np.column_stack([values, some, others, values.mean(axis=1)])
    assert sorted(means_of_others(values)) == [8, 9, 10]


def test_means_over_seeds_are_those_of_datasets_too(tmp_path):
    seeds = [long_table(SCORES + i / 1000, Combined=range(8)).assign(seed=i) for i in range(3)]
    results = read(tmp_path, pd.concat(seeds))
    assert len(results.datasets) == 8


@pytest.mark.parametrize(
    "values",
    [
        RNG.uniform(size=(2, 9)).round(3),  # two rows prove nothing
        RNG.integers(1, 5, (6, 9)) / 4,  # nor do coarse digits
        np.add.outer(np.arange(6) / 10, np.arange(9) / 10),  # nor differences equal in each row
        np.where(np.eye(6, 9, dtype=bool), np.nan, RNG.uniform(size=(6, 9))),
        RNG.uniform(size=(30, 60)),
    ],
)
def test_other_columns_are_no_means(values):
    assert means_of_others(values) == {}


def test_few_printed_digits_may_agree_with_some_others_by_chance():
    values = SCORES.round(2)
    values[:, 0] = values[:, 1:4].mean(axis=1).round(2)
    assert means_of_others(values) == {}


def cases(harder, **lacking):
    """Return scores of three models on two datasets and 20 cases, the first of which are hard."""
    hard = {f"case {i}": harder * (i < 5) for i in range(20)}
    rows = [
        (dataset, model, case, round(0.9 - less - loss + RNG.normal(0, 0.01), 4))
        for dataset in ("d1", "d2")
        for model, less in (("good", 0.0), ("fair", 0.02), ("bad", 0.05))
        for case, loss in hard.items()
        if case not in lacking.get(model, ())
    ]
    return pd.DataFrame(rows, columns=["dataset", "model", "seed", "accuracy"])


def test_who_lacks_the_hard_cases_is_compared_on_those_that_all_have(tmp_path):
    table = cases(0.5, bad=[f"case {i}" for i in range(5)])
    results = read(tmp_path, table)
    assert results.scores.mean().idxmax() == "good"
    assert "10 repeats left out on 2 datasets, without result of bad" in results.how_read


def test_seeds_that_are_alike_count_where_they_are(tmp_path):
    results = read(tmp_path, cases(0.0, bad=["case 0"]))
    assert "means of the repeats that are there (bad: 19 of 20 repeats)" in results.how_read


def test_what_no_strategy_has_is_no_loss_of_one(tmp_path):
    table = cases(0.0)
    table.loc[table["seed"] == "case 3", "accuracy"] = np.nan
    assert "that are there" not in read(tmp_path, table).how_read


def test_a_file_that_is_called_one_of_spreads_is_not_read(tmp_path):
    table = long_table(SCORES)
    assert "it has spreads (std)" in refused(tmp_path, table, name="results-std.csv")
    assert len(read(tmp_path, table, name="results-avg-std.csv").datasets) == 8
