"""`race` of results: words, tables, order, missing cells and errors."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results, drawn_order, race
from mlaut.errors import AnalysisError, MissingCellsError
from mlaut.records import Status


@pytest.fixture
def clear(losses):
    """Return 30 datasets on which A is best, B next and C worst."""
    names = [f"d{i:02}" for i in range(30)]
    table = pd.DataFrame({"A": 0.1, "B": 0.2, "C": 0.3}, index=names)
    return losses(table, metric="error", greater_is_better=None)


def test_the_published_matrix_of_mlaut(mlaut2018):
    """Nine strategies on 121 datasets: two are left after 36 % of the cells."""
    found = race(mlaut2018, order=drawn_order(mlaut2018.datasets))
    assert found.left == ("RandomForestClassifier", "SVC")
    assert found.decisions[0] == (
        "BaselineClassifier raced out after 7 datasets (evidence 24.7), mostly by BaggingClassifier"
    )
    assert found.share_of_cells == pytest.approx(0.358, abs=5e-4)
    assert found.sentence() == (
        "After 121 of 121 datasets, at level 0.05 for all looks: RandomForestClassifier, SVC may "
        "each be the best; the question is open, scenario (c)."
    )


def test_states_and_evidence_by_strategy(clear):
    found = race(clear)
    frame = found.to_frame()
    assert frame["state"].tolist() == [
        "left", "raced out after 8 datasets", "raced out after 7 datasets",
    ]  # fmt: skip
    assert frame["datasets"].tolist() == [8, 8, 7]
    assert found.evidence.shape == (8, 3)
    assert (frame.loc[["B", "C"], "evidence"] >= 20).all()
    assert found.answered


def test_share_of_cost(clear):
    found = race(clear)
    assert found.share_of_cells == pytest.approx(23 / 90)
    cost = pd.Series({"A": 100.0, "B": 1.0, "C": 1.0})
    assert found.share_of_cost(cost) == pytest.approx((8 * 101 + 7) / (30 * 102))
    with pytest.raises(AnalysisError, match="there is no cost of C: give one for each strategy"):
        found.share_of_cost(cost[["A", "B"]])


def test_a_control(clear):
    found = race(clear, question="control: B")
    assert found.to_frame()["state"].tolist() == [
        "better than B after 9 datasets", "decided", "worse than B after 9 datasets",
    ]  # fmt: skip
    assert found.decisions[0].startswith("B worse than A after 9 datasets (evidence ")
    assert found.decided_pairs() == [("A", "B"), ("B", "C")]
    assert found.sentence().endswith("2 pairs are decided, 0 are open, scenario (c).")


def test_practically_equal_strategies(losses):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(0.2, 0.201, (40, 2)), columns=["A", "B"])
    found = race(losses(table, metric="error", greater_is_better=None), rope=0.01)
    assert found.decisions == ("A and B practically equal after 7 datasets (evidence 26.9)",)
    assert "A, B may each be the best, and they are practically equal" in found.sentence()


def test_a_circle_leaves_no_strategy(losses):
    """Each is beaten by the next on two of three datasets, so none is as good as all others."""
    table = pd.DataFrame(np.tile([[1, 2, 3], [3, 1, 2], [2, 3, 1]], (300, 1)), columns=[*"ABC"])
    found = race(losses(table), drop=False)
    assert found.left == ()
    assert "better on most datasets goes in a circle" in found.sentence()


def test_pairs(clear):
    pairs = race(clear, drop=False, rope=0.15).pairs
    p = pairs.p_values
    assert p.loc["A", "B"] == p.loc["B", "A"] < 1e-4
    assert pairs.table("better").loc["A", "C"] == 1
    assert pairs.value("mean difference", "A", "B") == pytest.approx(-0.1)
    assert pairs.value("mean difference low", "A", "B") < -0.1
    assert pairs.value("e (equal)", "A", "B") > 1000 > pairs.value("e (equal)", "A", "C")
    assert pairs.value("datasets", "B", "C") == 30
    assert (pairs.to_frame()["q (e-BH)"] < 1e-4).all()
    raced = race(clear).pairs
    assert raced.value("datasets", "B", "C") == 7
    assert raced.p_values.loc["A", "B"] > 0.05  # seven datasets, and six hypotheses


def test_the_order_is_drawn_by_name_and_seed_alone(clear):
    names = list(clear.datasets)
    assert drawn_order(names, 1) == drawn_order(reversed(names), 1) != drawn_order(names, 2)
    assert sorted(drawn_order(names)) == names
    found = race(clear, order=drawn_order(names))
    assert list(found.datasets) == drawn_order(names)[:8]
    assert not any("order of the results" in note for note in found.notes)
    assert any("order of the results" in note for note in race(clear).notes)


def test_missing_cells(losses):
    table = pd.DataFrame({"A": [0.1] * 9, "B": [0.2] * 8 + [np.nan], "C": [np.nan] * 9})
    results = losses(table)
    with pytest.raises(MissingCellsError, match="10 of 27 losses are missing, the first of C on 0"):
        race(results)
    assert race(results, missing="failures last").left == ("A",)


def test_a_study_that_runs_stands_before_its_first_dataset_that_is_not_complete(make_block):
    status = np.full((2, 1, 2), Status.DONE, dtype=np.uint8)
    blocks = []
    for place in range(3):
        here = status.copy()
        if place == 1:
            here[0, 0, 1] = Status.ERROR
        if place == 2:
            here[1, 0, 1] = Status.MISSING
        blocks.append(
            make_block(
                [0, 1, 0, 1],
                [[0, 1, 0, 1], [0, 1, 1, 1]],
                [0, 0, 1, 1],
                dataset=f"d{place}",
                status=here,
            )
        )
    results = Results.from_blocks(blocks, "error")
    found = race(results, missing="failures last")
    assert found.datasets == ("d0", "d1")
    assert found.course.worse[0, 1] == pytest.approx(found.course.worse[1, 0])  # one win each


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"question": "worst"}, "question 'worst' is not known; one of 'best'"),
        ({"question": "control: D"}, "strategy 'D' is not in these results"),
        ({"kind": "median"}, "kind 'median' is not known; one of 'sign'"),
        ({"rope": -1}, "rope = -1 is not a number of 0 or more"),
        ({"order": ["d00"]}, "order names 1 of 30 datasets"),
        ({"missing": "worst"}, "one of 'raise', 'failures last'"),
        ({"alpha": 5}, "alpha = 5 is not between 0 and 1"),
    ],
)
def test_wrong_arguments(clear, how, words):
    with pytest.raises(AnalysisError) as error:
        race(clear, **how)
    assert words in str(error.value)


def test_bets_on_the_mean_need_a_range(losses):
    with pytest.raises(AnalysisError, match="need a metric with a known range"):
        race(losses({"A": [1.0, 2.0], "B": [2.0, 3.0]}), kind="mean")
