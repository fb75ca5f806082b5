"""A strategy that a study does not run, by its own size limit, has not failed there."""

from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results, compare, rank_table, treat_missing
from mlaut.analysis.deciding.decision import decide_study
from mlaut.analysis.results.scales import ranks_of
from mlaut.files_io.outcomes.study_records import general_reason
from mlaut.records import NOT_RUN, Status, TooLarge


def scored(gone, reason="skipped", n=20):
    """Return results in which A is the best wherever it has a result, but for some datasets."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"A": rng.uniform(0.1, 0.2, n), "B": rng.uniform(0.2, 0.3, n)})
    table["C"] = table["B"] + 0.1
    table.loc[table.index[:gone], "A"] = np.nan
    results = Results.from_table(table, metric="misclassification")
    return replace(results, reasons={(i, 0, 0, 0): reason for i in range(gone)})


def decided(results):
    compared = compare(treat_missing(results, "failures last"))
    return decide_study(compared, scored=results)


@pytest.mark.parametrize(
    ("gone", "reason", "failures", "leader", "words"),
    [
        (8, "skipped", 0, "A", "A was not run on 8 datasets above its size limit: strategies are "
         "compared on the other 12"),
        (15, "skipped", None, "B", "A was not run on 15 datasets above its size limit: left out"),
        (19, "timeout", 19, "B", "19 results are missing: each counts as last place"),
    ],
)  # fmt: skip
def test_what_was_not_run_for_its_size_is_no_failure(gone, reason, failures, leader, words):
    decision = decided(scored(gone, reason))
    assert decision.leader == leader
    assert f"{words[0].upper()}{words[1:]}." in decision.headline()
    if failures is None:
        assert "A" not in decision.frame.index
    else:
        assert decision.frame["failures"]["A"] == failures
    assert ("A" in decision.named("fails")) == (reason == "timeout")


def test_each_status_means_the_same_everywhere():
    assert {status.word for status in Status if not status.failed} == {*NOT_RUN, "done"} - {
        "not planned",
        "no result",
    }


@pytest.mark.parametrize(
    "record",
    [
        {"reason": str(TooLarge("rows", 40, 30)), "too_large": {"kind": "rows", "limit": 30}},
        {"reason": "40 training rows, more than its limit of 30 (size_limit=None lifts it)"},
    ],
)
def test_reasons_of_both_versions_are_read(record):
    assert general_reason(record) == (
        "more training rows than its limit of 30 (size_limit=None lifts it)"
    )
    assert general_reason({"reason": "too slow", "too_large": {"kind": 3}}) == "too slow"


def test_any_kind_of_size_is_grouped_by_its_rule():
    too_many = [TooLarge("classes", size, 10) for size in (12, 40)]
    records = [{"reason": str(one), "too_large": asdict(one)} for one in too_many]
    assert {general_reason(record) for record in records} == {too_many[0].rule}
    assert too_many[0].rule.startswith("more training classes than its limit of 10")


TIES = pd.DataFrame(
    {
        "A": [0.1 + 0.2, 1e9 + 1e-2, 0.5, 0.0, 1.0],
        "B": [0.3, 1e9, 0.5 + 4e-11, 1e-300, 1.0 - 1e-16],
        "C": [0.1 * 3, 1e9 + 2e-2, 0.5 + 8e-11, -0.0, 0.7],
        "D": [0.2, 1.0, 0.9, 0.0, 0.7 + 1e-12],
    }
)


@pytest.mark.parametrize("gap", [False, True])
def test_all_places_rank_hostile_ties_alike(gap):
    table = TIES.assign(D=[np.nan, 1.0, 0.9, 0.0, 0.7 + 1e-12]) if gap else TIES
    results = Results.from_table(table, metric="loss", greater_is_better=False)
    ranks = ranks_of(results)
    assert ranks.loc[:, "A"].to_list()[0] == (2.0 if gap else 3.0)
    if gap:
        return
    np.testing.assert_array_equal(ranks, rank_table(results))
