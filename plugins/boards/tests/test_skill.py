"""Skill scores and win rates: fev's definitions written out, and the level of the intervals."""

import numpy as np
import pandas as pd
import pytest
from mlaut_boards import skill_table
from mlaut_boards.skill import ends, mean_by_source

from mlaut.analysis import Results
from mlaut.errors import AnalysisError


def results(losses, sources=None):
    n, k = losses.shape
    table = pd.DataFrame(losses, index=[f"d{i}" for i in range(n)], columns=list("ABCDEFGH")[:k])
    found = Results.from_table(table, metric="mase", greater_is_better=False)
    return (
        found
        if sources is None
        else found.with_clusters(dict(zip(table.index, sources, strict=True)))
    )


def test_the_numbers_are_those_of_fev():
    """Pair by pair: wins and half the ties of clipped relative errors; a geometric mean."""
    rng = np.random.default_rng(0)
    losses = (
        np.exp(3 * rng.normal(size=(50, 6))).round(2) + 0.01
    )  # some ratios are clipped, and tie
    relative = np.clip(losses / losses[:, [2]], 0.01, 100)
    a, b = relative[:, :, None], relative[:, None, :]
    wins = (a < b).mean(axis=0) + 0.5 * (a == b).mean(axis=0)
    expected = (wins.sum(axis=1) - 0.5) / 5  # the diagonal ties with itself
    assert min((relative == 0.01).sum(), (relative == 100).sum()) > 5
    for sources in (None, [f"s{i % 7}" for i in range(50)]):  # each dataset counts once in both
        found = skill_table(results(losses, sources), baseline="C").frame.loc[list("ABCDEF")]
        np.testing.assert_allclose(found["win rate"], expected, rtol=0, atol=1e-12)
        geometric = np.exp(np.log(relative).mean(axis=0))
        np.testing.assert_allclose(found["skill score"], 1 - geometric, rtol=0, atol=1e-12)
        assert (
            found.loc["C", ["skill score", "skill score low", "skill score high"]].tolist()
            == [0] * 3
        )


def test_each_source_once():
    """Three datasets of one source and one of another: means of 1/2 and 1/4, or of all four."""
    losses = np.column_stack([np.ones(4), [0.5, 0.5, 0.5, 0.25]])
    given = results(losses, ["s", "s", "s", "t"])
    once = skill_table(given, baseline="A", weights="source").frame["skill score"]
    assert once["B"] == pytest.approx(1 - np.sqrt(1 / 8))
    assert skill_table(given, baseline="A").frame["skill score"]["B"] == pytest.approx(
        1 - 32**-0.25
    )


@pytest.mark.parametrize("weights", ["dataset", "source"])
def test_intervals_cover_where_datasets_of_a_source_are_related(weights):
    """Share of 400 intervals that hold a true mean of 0: 28 sources of 1 to 20 datasets."""
    sizes = [1] * 10 + [2] * 6 + [3] * 5 + [4] * 3 + [6, 8, 12, 20]
    source = np.repeat(np.arange(28), sizes)
    rng = np.random.default_rng(1)
    values = rng.normal(size=(28, 400))[source] + rng.normal(size=(len(source), 400))
    given = results(np.ones((len(source), 2)), [f"s{i}" for i in source])
    _, low, high = ends(given, mean_by_source(given, values, weights), 0.95)
    assert 0.90 < ((low < 0) & (high > 0)).mean() < 0.98


def test_what_has_no_skill_score_is_refused():
    with pytest.raises(
        AnalysisError, match="a skill score needs losses above 0, and mase has others"
    ):
        skill_table(results(np.array([[0.0, 1.0], [1.0, 1.0]])), baseline="A")
    with pytest.raises(AnalysisError, match="strategy 'Z' is not in these results; there are A, B"):
        skill_table(results(np.ones((3, 2))), baseline="Z")
    with pytest.raises(AnalysisError, match="all 3 datasets come from one source"):
        skill_table(results(np.ones((3, 2)), ["s"] * 3), baseline="A")
