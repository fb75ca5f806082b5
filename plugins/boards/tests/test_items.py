"""Paired items: the case of lm-evaluation-harness #3868, a jackknife by hand, and the level."""

import json
from math import erfc, sqrt

import numpy as np
import pandas as pd
import pytest
from mlaut_boards import paired_items

from mlaut.analysis import Results, read_results
from mlaut.errors import AnalysisError


def test_the_case_of_lm_eval_comes_out_of_its_files(tmp_path):
    """220 items: p = .080 by lm-eval's unpaired z-test, .008 by McNemar's exact test.

    Counts that give both figures of pull request #3868, whose data are not published: 50 items
    right for both, 27 for the first alone, 10 for the second alone.
    """
    pytest.importorskip("mlaut_boards")  # the form of its files is the plug-in's
    right = {"first": [1] * 77 + [0] * 143, "second": [1] * 50 + [0] * 27 + [1] * 10 + [0] * 133}
    for model, scores in right.items():
        lines = [
            json.dumps({"doc_id": i, "metrics": ["acc"], "filter": "none", "acc": float(x)})
            for i, x in enumerate(scores)
        ]
        (tmp_path / model).mkdir()
        (tmp_path / model / "samples_arc_2026-06-23.jsonl").write_text("\n".join(lines))
    errors = [sqrt(np.var(x, ddof=1) / 220) for x in right.values()]
    z = (np.mean(right["first"]) - np.mean(right["second"])) / sqrt(errors[0] ** 2 + errors[1] ** 2)
    assert round(erfc(z / sqrt(2)), 3) == 0.080
    found = paired_items(read_results(tmp_path, "acc"), "first", "second")
    assert round(found.frame.loc["over items", "p"], 3) == 0.008
    assert list(found.frame.index) == ["over items"]
    assert found.notes[-1] == (
        "all items are of one task, or of a task each: nothing is said of new tasks"
    )


def results(values, tasks, **how):
    table = pd.DataFrame(values, columns=["A", "B"], index=[f"i{i}" for i in range(len(values))])
    found = Results.from_table(table, **(how or {"metric": "loss", "greater_is_better": False}))
    return found.with_clusters(dict(zip(table.index, tasks, strict=True)))


def test_errors_over_tasks_are_those_of_leaving_out_one_task_at_a_time():
    rng = np.random.default_rng(0)
    tasks = np.repeat(list("abcd"), [2, 3, 5, 10])
    values = rng.normal(size=(20, 2)) + np.repeat(rng.normal(size=(4, 1)), [2, 3, 5, 10], axis=0)
    values[:, 1] += np.repeat([0.1, 0.9, -0.3, 0.5], [2, 3, 5, 10])
    d = values[:, 0] - values[:, 1]
    without = np.array([d[tasks != task].mean() for task in "abcd"])
    frame = paired_items(results(values, tasks), "A", "B").frame
    assert frame["difference"].tolist() == pytest.approx([d.mean()] * 2)
    clustered = sqrt(3 / 4 * ((without - d.mean()) ** 2).sum())
    assert frame["standard error"].tolist() == pytest.approx([d.std(ddof=1) / sqrt(20), clustered])
    assert frame["units"].tolist() == [20, 4]
    half = 3.182446305284263 * clustered  # 97.5 % point of t with 3 degrees of freedom (tables)
    assert frame.loc["over tasks", "high"] == pytest.approx(d.mean() + half)


@pytest.mark.parametrize("g", [6, 20])
def test_the_level_over_tasks_is_held_where_that_over_items_is_not(g):
    """1,500 pairs without a difference over tasks, whose items are related within a task."""
    rng = np.random.default_rng(g)
    sizes = np.resize([5, 10, 20, 40], g)
    tasks = np.repeat(np.arange(g), sizes)
    false = np.zeros(2)
    for _ in range(300):
        d = rng.normal(size=g)[tasks] + rng.normal(size=len(tasks))
        frame = paired_items(results(np.column_stack([d, 0 * d]), tasks), "A", "B").frame
        false += frame["p"] < 0.05
    over_items, over_tasks = false / 300
    assert over_items > 0.3
    assert over_tasks < 0.08


def test_what_is_unknown_or_lacks_a_score_is_refused():
    given = results([[1, 1], [0, 1], [1, 0]], "aab")
    with pytest.raises(AnalysisError, match="strategy 'C' is not in these results; there are A, B"):
        paired_items(given, "A", "C")
    with pytest.raises(AnalysisError, match="1 of 6 cells have no loss"):
        paired_items(results([[1, 1], [0, np.nan], [1, 0]], "aab"), "A", "B")


def test_equal_strategies_have_p_one():
    frame = paired_items(results([[1, 1], [0, 0], [1, 1]], "aab"), "A", "B").frame
    assert frame["p"].tolist() == [1, 1]
