"""Results of blocks and of studies: what is scored, on which datasets."""

import numpy as np
import pytest

from mlaut.analysis import (
    Results,
    metric,
)
from mlaut.errors import AnalysisError
from mlaut.records import REGRESSION, Status

# -------------------------------------------------------------------------- blocks


def test_blocks_of_several_datasets(make_block):
    blocks = [
        make_block([0, 1, 1], [[0, 1, 0], [0, 1, 1]], [0, 0, 0], dataset="a"),
        make_block([0, 1, 1, 0], [[0, 1, 0, 1], [0, 1, 1, 0]], [0, 0, 1, 1], dataset="b"),
    ]
    results = Results.from_blocks(blocks, "misclassification")
    assert results.losses["A"].tolist() == [1 / 3, 0.5]
    assert results.expected.tolist() == [[[True, False]], [[True, True]]]
    assert results.n_test.tolist() == [[[3, 0]], [[2, 2]]]
    assert results.n_train.tolist() == [[[0, 0]], [[2, 2]]]
    assert results.points("a")[:, 0].tolist() == [[0, 0, 1], [0, 0, 0]]
    assert any("approximate under cross-validation" in note for note in results.notes)


def test_a_dataset_without_a_strategy_has_missing_cells(make_block):
    blocks = [
        make_block([0, 1], [[0, 1], [0, 1]], [0, 0], dataset="a"),
        make_block([0, 1], [[0, 1]], [0, 0], dataset="b"),
    ]
    results = Results.from_blocks(blocks, "accuracy")
    assert results.missing[["dataset", "strategy", "reason"]].to_numpy().tolist() == [
        ["b", "B", "not planned"]
    ]


def test_one_table_under_two_names_is_pointed_out(make_block, losses):
    blocks = [
        make_block([0, 1], [[0, 1], [0, 1]], [0, 0], dataset=name, fingerprint=mark)
        for name, mark in (("iris", "f"), ("wine", "g"), ("iris2", "f"))
    ]
    results = Results.from_blocks(blocks, "accuracy")
    assert results.duplicates == (("iris", "iris2"),)
    assert "the same table: iris, iris2" in repr(results)
    from mlaut.analysis import sign_test

    assert "the same table: iris, iris2" in sign_test(results).notes
    assert losses({"A": [1.0]}).duplicates == ()


def test_standard_errors_of_scenario_a(make_block):
    """MLaut 2019, Table 3: sqrt(v / M) for a test set; folds add, repeats are averaged."""
    rng = np.random.default_rng(0)
    truth, guess = rng.normal(size=40), rng.normal(size=(1, 2, 40))
    single = make_block(truth, guess[:, :1], np.zeros(40), task=REGRESSION)
    points = np.square(guess[0, 0] - truth)
    found = Results.from_blocks([single], "squared").standard_errors.iloc[0, 0]
    assert found == pytest.approx(points.std(ddof=1) / np.sqrt(40))
    folds = np.stack([np.arange(40) % 4, np.arange(40) // 10])
    repeated = make_block(truth, guess, folds, task=REGRESSION)
    by_repeat = []
    for r in range(2):
        losses = np.square(guess[0, r] - truth)
        parts = [losses[folds[r] == f].var(ddof=1) / 10 for f in range(4)]
        by_repeat.append(np.sqrt(sum(parts)) / 4)
    found = Results.from_blocks([repeated], "squared").standard_errors.iloc[0, 0]
    assert found == pytest.approx(np.mean(by_repeat))


def test_scoring_needs_something_to_score(make_block):
    with pytest.raises(AnalysisError, match=r"no dataset suits .*, which is for classification"):
        Results.from_blocks([], "accuracy")
    status = np.full((1, 1, 1), Status.MISSING)
    block = make_block([0, 1], [[-1, -1]], [0, 0], status=status)
    with pytest.raises(AnalysisError, match="no cell of this study was tried yet"):
        Results.from_blocks([block], "accuracy")


# ------------------------------------------------------------------------- studies


@pytest.fixture
def study(make_block):
    """A study as the analysis sees it: names and blocks."""

    class Stored:
        strategies = ()  # entries, of which none is foreign

        def __init__(self):
            skipped = np.array([[[Status.DONE]], [[Status.DONE]], [[Status.SKIPPED]]])
            self.all = [
                make_block([0, 1], [[0, 1], [1, 1], [-1] * 2], [0, 0], dataset=name, status=skipped)
                for name in ("a", "b")
            ]
            numbers = [[np.nan] * 2, [np.nan] * 2, [1.0, 2.0]]
            status = np.array([[[Status.CRASHED]], [[Status.SKIPPED]], [[Status.DONE]]])
            self.all.append(
                make_block([1.0, 2.0], numbers, [0, 0], dataset="r", task=REGRESSION, status=status)
            )

        @property
        def datasets(self):
            return tuple(block.dataset for block in self.all)

        def blocks(self, names):
            return (block for block in self.all if block.dataset in names)

        def block(self, name):
            return next(block for block in self.all if block.dataset == name)

    return Stored()


def test_a_study_is_scored_on_the_datasets_of_the_metrics_task(study):
    results = Results.from_study(study, "accuracy")
    assert results.datasets == ("a", "b")
    assert results.strategies == ("A", "B")
    assert results.notes == (
        "accuracy is for Classification; left out: r",
        "tried on none of the datasets, left out: C",
    )
    assert results.points("b").shape == (2, 1, 2)


def test_a_study_is_scored_on_what_is_asked_for(study):
    results = Results.from_study(study, metric("accuracy"), strategies=["B"], datasets=["b"])
    assert (results.strategies, results.datasets) == (("B",), ("b",))
    with pytest.raises(AnalysisError, match="rmse is for Regression, and dataset 'a'"):
        Results.from_study(study, "rmse", datasets=["a"])
    with pytest.raises(AnalysisError, match="dataset 'x' is not in these results"):
        Results.from_study(study, "accuracy", datasets=["x"])
    with pytest.raises(AnalysisError, match="strategy 'Z' is not"):
        Results.from_study(study, "accuracy", strategies=["Z"])


def test_a_study_on_disk(tmp_path, make_block):
    from mlaut.files_io import SplitEntry, StrategyEntry, StudyStore
    from mlaut.records import CLASSIFICATION, Cell, Outcome, Split

    study = StudyStore(tmp_path / "study.h5")
    folds = np.array([[-1, 0, 0, 0]], dtype=np.int16)
    truth = np.array([0, 1, 1, 0], dtype=np.int32)
    study.save_splits(
        [SplitEntry("iris", "/x/iris", CLASSIFICATION, "f", ("n", "y"), truth, Split(folds))]
    )
    study.allocate([StrategyEntry("tree", "g"), StrategyEntry("dead", "h")])
    with study.writing() as writer:
        writer.write(
            Outcome(Cell("iris", "tree"), Status.DONE, np.array([1, 1, 1], dtype=np.int32)),
            Outcome(Cell("iris", "dead"), Status.TIMEOUT, reason="too slow"),
        )
    for source in (study, study.path, str(study.path)):
        results = Results.from_study(source, "accuracy")
        assert results.losses.loc["iris", "tree"] == 1 / 3
        assert results.missing["reason"].tolist() == ["timeout"]
        assert results.n_train.tolist() == [[[1]]]
