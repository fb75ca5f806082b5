"""`race` of results: words, tables, order, missing cells and errors."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results, drawn_order, importers, race, race_plot
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
    found = race(mlaut2018)
    assert found.left == ("RandomForestClassifier", "SVC")
    assert found.decisions[0] == (
        "BaselineClassifier stopped: worse after 7 datasets (evidence 24.7), "
        "mostly by BaggingClassifier"
    )
    assert found.share_of_cells == pytest.approx(0.358, abs=5e-4)
    assert found.sentence() == (
        "After 121 of 121 datasets, at level 0.05 for all looks (each of the best stays with "
        "probability 0.95): RandomForestClassifier, SVC may each be the best; the question is "
        "open, scenario (c)."
    )


def test_states_and_evidence_by_strategy(clear):
    found = race(clear)
    frame = found.to_frame()
    assert frame["state"].tolist() == [
        "still in", "stopped: worse after 8 datasets", "stopped: worse after 7 datasets",
    ]  # fmt: skip
    assert frame["datasets"].tolist() == [8, 8, 7]
    assert found.evidence.shape == (8, 3)
    assert (frame.loc[["B", "C"], "evidence"] >= 20).all()
    assert found.answered


def test_share_of_cells(clear):
    assert race(clear).share_of_cells == pytest.approx(23 / 90)


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
    assert list(race(clear).datasets) == drawn_order(names)[:8]
    assert list(race(clear, seed=3).datasets) == drawn_order(names, 3)[:8]


def test_a_given_order_is_named_as_an_assumption(clear):
    given = "order that was given, not by lot: valid if no result and no property of the datasets"
    assert not any(given in note for note in race(clear).notes)
    found = race(clear, order=clear.datasets)
    assert found.datasets == clear.datasets[:8]
    assert any(given in note for note in found.notes)
    start = "After 8 of 30 datasets in the order that was given, not by lot, at level 0.05"
    assert found.sentence().startswith(start)


def test_a_table_sorted_by_size_drops_no_true_best_by_default(losses):
    """B wins on the ten small datasets, A on the thirty large ones: the lot keeps A."""
    b = np.where(np.arange(40) < 10, 0.1, 0.3)
    names = [f"{size:03}" for size in range(40)]
    results = losses(pd.DataFrame({"A": 0.2, "B": b}, index=names))
    assert race(results, order=names).left == ("B",)
    kept = ["A" in race(results, seed=seed).left for seed in range(40)]
    assert sum(kept) >= 38


def test_the_sentence_says_what_the_level_bounds(clear):
    assert "(each of the best stays with probability 0.9)" in race(clear, alpha=0.1).sentence()
    pairs = race(clear, question="all pairs").sentence()
    assert "(no pair is wrongly decided with probability 0.95)" in pairs
    whole = race(clear, question="all best").sentence()
    assert "(all of the best stay with probability 0.95): A is the best" in whole


def test_all_best_needs_evidence_that_grows_with_those_left(clear):
    each, whole = race(clear), race(clear, question="all best")
    np.testing.assert_allclose(whole.evidence[:7], each.evidence[:7] / 3)
    assert whole.to_frame()["state"].tolist() == [
        "still in", "stopped: worse after 10 datasets", "stopped: worse after 9 datasets",
    ]  # fmt: skip


@pytest.mark.slow
def test_all_best_bounds_the_chance_that_any_of_the_best_leaves(losses):
    rng, gone = np.random.default_rng(0), {"best": 0, "all best": 0}
    for _ in range(200):
        results = losses(pd.DataFrame(rng.normal(size=(60, 12))).add_prefix("s"))
        for question in gone:
            gone[question] += len(race(results, question=question).left) < 12
    assert gone["all best"] <= 16  # 5 % are 10
    assert gone["all best"] < gone["best"]


# ------------------------------------------------------------------------------ sources


def of_sources(losses, table, each):
    """Return results in which `each` datasets that follow one another have a source."""
    names = [f"s{i // each:02}/{i % each}" for i in range(len(table))]
    results = losses(pd.DataFrame(table, index=names).add_prefix("m"))
    return results, results.with_clusters({name: name[:3] for name in names})


def test_a_round_is_a_source_so_that_copies_are_no_evidence(losses):
    rows = np.random.default_rng(1).normal([0, 0.9, 1.3], 1, size=(40, 3))
    once, _ = of_sources(losses, rows, 1)
    copied, related = of_sources(losses, np.repeat(rows, 3, axis=0), 3)
    by_name = losses(once.losses.set_axis([f"s{i:02}" for i in range(40)]))
    for question in ("best", "all best", "all pairs"):
        found, known = (race(x, question=question, rope=0.1) for x in (related, by_name))
        assert found.left == known.left
        assert found.course.runs.tolist() == (3 * known.course.runs).tolist()
        np.testing.assert_allclose(found.course.worse_p, known.course.worse_p)
        np.testing.assert_allclose(found.course.equal_sup, known.course.equal_sup)
    assert found.sentence().startswith(f"After {len(found.datasets)} of 120 datasets of 40 sources")
    assert "a round is a source: its datasets are bet on together" in " ".join(found.notes)
    wrong = race(copied, drop=False).course.worse_sup.max()
    assert wrong > 1.5 * race(related, drop=False).course.worse_sup.max()


def test_sources_are_drawn_by_lot_and_stay_together(losses):
    _, related = of_sources(losses, np.zeros((12, 2)), 3)
    order = list(race(related).datasets)
    assert order[::3] == [f"{source}/0" for source in drawn_order({name[:3] for name in order})]
    assert race(related, order=order[::-1]).datasets == tuple(order[::-1])
    with pytest.raises(AnalysisError, match="takes datasets of one source apart"):
        race(related, order=[*order[1:], order[0]])


def test_related_datasets_drop_an_equal_strategy_no_more_often_than_the_level(losses):
    rng, gone = np.random.default_rng(0), np.zeros(2)
    for _ in range(25):
        shared = np.repeat(rng.normal(size=(10, 3)), 10, axis=0)
        tables = of_sources(losses, shared + 0.5 * rng.normal(size=(100, 3)), 10)
        gone += ["m0" not in race(results).left for results in tables]
    assert gone[0] >= 6  # datasets that count as independent
    assert gone[1] <= 3


def test_missing_cells(losses):
    table = pd.DataFrame({"A": [0.1] * 9, "B": [0.2] * 8 + [np.nan], "C": [np.nan] * 9})
    results = losses(table)
    with pytest.raises(MissingCellsError, match="10 of 27 losses are missing, the first of C on 4"):
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
    found = race(results, missing="failures last", order=results.datasets)
    assert found.datasets == ("d0", "d1")
    assert found.course.worse[0, 1] == pytest.approx(found.course.worse[1, 0])  # one win each


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"question": "worst"}, "question 'worst' is not known; one of 'best'"),
        ({"question": "control: D"}, "strategy 'D' is not in these results"),
        ({"question": "all pair"}, "question 'all pair' is not known; did you mean 'all pairs'?"),
        ({"kind": "median"}, "kind 'median' is not known; did you mean 'mean'?"),
        ({"kind": "x"}, "kind 'x' is not known; one of 'sign'"),
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


def test_bets_on_sizes_need_a_metric_that_compares_between_datasets():
    rows = [
        (task, name, fold, metric, value)
        for task, metric, values in (("car", "auc", (0.8, 0.9)), ("cmc", "neg_logloss", (-2, -1)))
        for name, value in zip("AB", values, strict=True)
        for fold in (0, 1)
    ]
    columns = ["task", "framework", "fold", "metric", "result"]
    results = importers.read_automlbenchmark(pd.DataFrame(rows, columns=columns))
    with pytest.raises(AnalysisError, match="only signs of result compare: race by sign"):
        race(results, kind="signed rank")


def test_a_strategy_that_was_too_large_races_on_and_the_dataset_is_no_evidence():
    """A is the best wherever it has a result, which it lacks on 20 of 40 datasets."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"A": rng.uniform(0.1, 0.2, 40), "B": rng.uniform(0.2, 0.3, 40)})
    table["C"] = table["B"] + 0.1
    table.loc[table.index[:20], "A"] = np.nan
    results = Results.from_table(table, metric="misclassification")
    reasons = {(i, 0, 0, 0): Status.SKIPPED.word for i in range(20)}
    course = race(
        replace(results, reasons=reasons), question="all pairs", missing="failures last"
    ).course
    assert len(course.against) > 20
    assert course.worse_sup[0, 1] == 0 < course.worse_sup[1, 0]
    assert course.decisions[0].first == 2


@pytest.mark.parametrize(
    ("how", "words"),
    [({"alpha": 5}, "alpha = 5 is not between"), ({"rope": -1}, "rope"), ({"seed": 1.5}, "seed")],
)
def test_arguments_are_checked(losses, how, words):
    with pytest.raises(AnalysisError, match=words):
        race(losses({"A": [0.1, 0.2], "B": [0.2, 0.3]}), **how)
    with pytest.raises(AnalysisError, match="race"):
        race_plot("no race")
