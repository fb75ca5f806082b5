"""What other programs show of a table of scores is in one report."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results, multi_comparison
from mlaut.report import make_report
from mlaut.report.drawing import pictures


@pytest.fixture(scope="module")
def section():
    rng = np.random.default_rng(0)
    index = pd.MultiIndex.from_product(
        [[f"d{i}" for i in range(12)], range(3)], names=["dataset", "repeat"]
    )
    scores = np.round(rng.normal([0.8, 0.75, 0.7], 0.05, (36, 3)), 2)
    results = Results.from_table(pd.DataFrame(scores, index, [*"ABC"]), metric="accuracy")
    return make_report(results).sections[0]


def test_a_report_has_every_view(section):
    """Rankings, intervals, ratings, probabilities and tests."""
    tables = section.tables
    assert list(tables["summary"].index) == ["A", "B", "C"]
    assert {"Elo", "P(best)", "improvability", "won duels"} <= set(tables["standing"])
    assert tables["probabilities"].shape[0] == tables["pairs"].shape[0] == 3


def test_duels_are_the_numbers_of_the_multi_comparison_matrix(section):
    found = multi_comparison(section.results, zeros="wilcox")
    table, frame = section.tables["duels"], found.to_frame()
    assert list(table) == ["wins", "ties", "losses", "mean difference of accuracy", "p signed rank"]
    assert table["wins"].to_list() == frame["statistic"].to_list()
    assert table["p signed rank"].to_numpy() == pytest.approx(
        frame["p_value"].to_numpy(), abs=1e-15
    )
    advantage = found.advantages()["mean difference"].to_numpy()
    assert table["mean difference of accuracy"].to_numpy() == pytest.approx(advantage)


def test_views_of_mlaut_extras_are_there_with_the_plugin(section):
    extras = pytest.importorskip("mlaut_extras")
    tables, drawn = section.tables, pictures(section, "p")
    middle = extras.interquartile_means(section.results, n_samples=200).frame
    assert tables["interquartile means"].equals(middle)
    assert tables["profile"].index.name == "factor"
    assert tables["profile"].iloc[-1].to_list() == [1, 1, 1]
    assert drawn["profile"].alternative.endswith(
        "Share of datasets with the best loss: A 1, B 0.08333, C 0."
    )
    assert "change nothing" in drawn["duels"].caption


def test_without_the_plugin_a_report_leaves_them_out(section, monkeypatch):
    for place in ("tables", "drawing"):
        monkeypatch.setattr(f"mlaut.report.{place}.if_installed", lambda _: None)
    alone = make_report(section.results).sections[0]
    assert not {"interquartile means", "profile"} & set(alone.tables)
    assert {"standing", "duels"} <= set(alone.tables)
    assert not {"profile", "duels"} & set(pictures(alone, "p"))


def test_what_cannot_be_computed_is_left_out():
    table = pd.DataFrame({"A": [0.3, -0.2, 0.1], "B": [0.1, 0.2, 0.4]})
    results = Results.from_table(table, metric="mine", greater_is_better=False)
    tables = make_report(results).sections[0].tables
    assert "profile" not in tables  # a loss below 0 has no factor of the best
    assert "interquartile means" not in tables  # one run of each dataset
    assert "duels" in tables
