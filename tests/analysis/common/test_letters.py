"""Letters of groups, and the tables of groups of all pairs and of a comparison."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import bayesian_sign_test, compare, wilcoxon_test
from mlaut.analysis.common.letters import letter_groups

NAMES = [*"ABCD"]


def _parts(text):
    """Split "ab1" into a and b1."""
    found = []
    for sign in text:
        found = [*found, sign] if sign.isalpha() else [*found[:-1], found[-1] + sign]
    return set(found)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("k", [2, 3, 9, 40])
def test_two_share_a_letter_exactly_if_they_are_alike(k, share):
    alike = np.random.default_rng(k).random((k, k)) < share
    alike = np.triu(alike, 1)
    alike = alike | alike.T | np.eye(k, dtype=bool)
    letters = [_parts(text) for text in letter_groups(alike)]
    found = np.array([[bool(a & b) for b in letters] for a in letters])
    np.testing.assert_array_equal(found, alike)


def test_letters_go_from_the_best_to_the_worst():
    alike = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]], dtype=bool)
    assert letter_groups(alike) == ["a", "ab", "b", "c"]


@pytest.fixture(scope="module")
def table():
    """A is best on each dataset, B and C are alike, D is worst."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal([0.1, 0.3, 0.3, 0.5], 0.02, (15, 4)), columns=NAMES)


def test_pairs_are_grouped_by_strategy(table):
    grouped = wilcoxon_test(table[NAMES[::-1]], metric="error").grouped()
    assert grouped.index[0] == "A"
    assert grouped.index[-1] == "D"
    assert grouped["groups"].to_dict() == {"A": "a", "B": "b", "C": "b", "D": "c"}
    assert grouped["better than"].to_dict() == {"A": 3, "B": 1, "C": 1, "D": 0}
    assert grouped["worse than"].tolist() == [0, 1, 1, 3]
    bayesian = bayesian_sign_test(table, metric="error").grouped()
    assert bayesian["groups"].to_dict() == grouped["groups"].to_dict()
    assert set(wilcoxon_test(table, metric="error").grouped(1e-9)["groups"]) == {"a"}


def test_latex_is_the_table_of_a_paper(table):
    found = compare(table, metric="error", n_samples=0)
    lines = found.to_latex().splitlines()
    rows = [line for line in lines if "&" in line]
    assert len(rows) == 1 + 4  # a head, and a row for each strategy
    assert rows[1].split()[:: len(rows[1].split()) - 2] == ["A", "a"]
    assert [row.count("\\textbf{") for row in rows] == [0, 2, 0, 0, 0]
    told = "share a letter are not shown to differ (Wilcoxon signed rank test, all pairs jointly"
    assert told in lines[2]
    assert found.grouped()["mean"].to_dict() == pytest.approx(table.mean().to_dict())
    gaps = compare(table.mask(table > 0.53), metric="error", missing="failures last", n_samples=0)
    failed = int((table["D"] > 0.53).sum())
    assert gaps.grouped()["failures"].to_dict() == {"A": 0, "B": 0, "C": 0, "D": failed}
    assert wilcoxon_test(table, metric="error").to_latex().count("&") == 3 * (1 + 4)
