"""Effective numbers of datasets: the analysis of variance, and coverage of a known truth."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f_oneway

from mlaut.analysis import Results, effective_datasets
from mlaut.errors import AnalysisError


def effective(losses, sources, **how):
    table = pd.DataFrame(losses, columns=[*"ABC"[: losses.shape[1]]])
    how = {"metric": "loss", "greater_is_better": False} | how
    return effective_datasets(table, pd.Series(sources), **how).frame


def related(rng, n_sources=12, size=4, correlation=0.5, k=2):
    sources = np.repeat(np.arange(n_sources), size)
    shared = rng.normal(0, np.sqrt(correlation), (n_sources, k))[sources]
    return shared + rng.normal(0, np.sqrt(1 - correlation), (len(sources), k)), sources


def test_balanced_sources_have_scipys_f():
    losses, sources = related(np.random.default_rng(0), k=3)
    frame = effective(losses, sources)
    for (first, second), row in frame.iterrows():
        at = ["ABC".index(first), "ABC".index(second)]
        d = losses[:, at[0]] - losses[:, at[1]]
        f = f_oneway(*d.reshape(12, 4)).statistic
        assert row["correlation"] == pytest.approx((f - 1) / (f + 3))
        assert row["effective"] == pytest.approx(48 / (1 + 3 * max(row["correlation"], 0)))


def test_ends_of_the_correlation():
    losses = np.zeros((12, 2))
    losses[:, 0] = np.repeat([1.0, 2.0, 3.0], 4)
    frame = effective(losses, np.repeat([*"abc"], 4))
    assert frame["correlation"].item() == 1
    assert frame["effective"].item() == pytest.approx(3)
    losses[:, 0] = np.tile([1.0, 2.0, 3.0, 4.0], 3)  # related ones differ, sources do not
    frame = effective(losses, np.repeat([*"abc"], 4))
    assert frame["correlation"].item() == pytest.approx(-1 / 3)
    assert frame["effective"].item() == 12
    losses[:, 0] = 1.0
    assert effective(losses, np.repeat([*"abc"], 4))["effective"].item() == 12


def test_sources_of_different_sizes():
    """The mean of datasets of sizes 1, 1, 4 has the variance of 6 / (1 + 2 correlation)."""
    losses = np.random.default_rng(0).normal(size=(6, 2))
    row = effective(losses, [*"abcccc"]).iloc[0]
    assert row["effective"] == pytest.approx(6 / (1 + 2 * max(row["correlation"], 0)))


def test_intervals_cover():
    """95 % of 200 intervals are 190 +- 3.1."""
    rng, covered, effective_covered = np.random.default_rng(0), 0, 0
    for _ in range(200):
        losses, sources = related(rng)
        row = effective(losses, sources).iloc[0]
        covered += row["correlation low"] <= 0.5 <= row["correlation high"]
        effective_covered += row["effective low"] <= 48 / 2.5 <= row["effective high"]
    assert 177 < covered < 200
    assert covered == effective_covered


def test_names_and_order_do_not_matter():
    losses, sources = related(np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(48)
    frame, other = effective(losses, sources), effective(losses[order], 100 - sources[order])
    pd.testing.assert_frame_equal(frame, other)


def test_bad_input():
    losses, _ = related(np.random.default_rng(0), 2, 2)

    def told(message, sources):
        with pytest.raises(AnalysisError, match=message):
            effective_datasets(
                Results.from_table(pd.DataFrame(losses), greater_is_better=False), sources
            )

    told("related has no source for 2, 3", {"0": "a", "1": "a"})
    told("related has no source for 1", pd.Series(["a", None, "b", "b"]))
    told("4 datasets of 4 sources show no relation", pd.Series([*"abcd"]))
    told("4 datasets of 1 sources show no relation", pd.Series([*"aaaa"]))
    told("related must be a dict or a Series of sources by dataset, not list", [1, 2])
