"""Every method of results on tables that are hard on statistics; see `adversarial.py`."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from adversarial import Tried, attempt, case, contradictions, public

from mlaut.analysis import Results, compare
from mlaut.analysis.methods.frequentist import kendalls_w


def faults(seeds):
    tried = Tried(Counter(), Counter(), [])
    for seed in seeds:
        attempt(case(seed), tried)
    return tried


def test_no_method_fails_on_hostile_tables():
    tried = faults([3, 7, 11, 16, 17])
    assert tried.faults == []
    assert sum(tried.calls.values()) > 100


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 100, 20))
def test_so_for_a_hundred_tables(start):
    assert faults(range(start, start + 20)).faults == []


def test_every_method_of_results_is_tried():
    names = public(case(0).raw)
    assert {"compare", "wilcoxon_test", "elo_ratings", "box_plot"} <= set(names)


def test_a_contradiction_without_a_note_is_a_fault():
    table = pd.DataFrame({"A": [0.1, 0.2, 0.3], "B": [0.1, 0.2, 0.3], "C": [0.5, 0.6, 0.9]})
    results = Results.from_table(table, metric="error", greater_is_better=False)
    found = {"compare": compare(results, n_samples=0)}
    assert list(contradictions(found, results)) == []
    turned = Results.from_table(1 - table, metric="error", greater_is_better=False)
    wrong = {"wilcoxon_test": compare(turned, n_samples=0).pairs["signed rank"]}
    two = results.select(strategies=["A", "C"])
    assert list(contradictions(wrong, two)) == [
        "wilcoxon_test: A is best on each dataset and not better"
    ]


# ------------------------------------------------ what the hostile tables have found

EQUAL = pd.DataFrame(np.full((5, 10), 0.5), columns=[f"s{i}" for i in range(10)])


def test_concordance_of_equal_strategies_has_no_interval():
    found = kendalls_w(EQUAL, metric="accuracy")
    assert found.value == 0
    assert np.isnan([found.low, found.high]).all()
