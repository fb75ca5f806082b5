"""Contingency table and cumulative gain of one classifier."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from mlaut.analysis import AnalyseResults
from mlaut.analysis.scores import contingency_table, cumulative_gain
from mlaut.errors import AnalysisError
from mlaut.records import REGRESSION, Status


@pytest.fixture
def block(make_block):
    """Two strategies on twelve rows of two folds; two rows are for training only."""
    rng = np.random.default_rng(0)
    truth, predictions = rng.integers(0, 2, 12), rng.integers(0, 2, (2, 12))
    p = np.array([0.9, 0.8, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.5, 0.5])
    both = np.stack([1 - p, p], axis=-1)[None, None].repeat(2, axis=0)
    folds = np.r_[np.zeros(5), np.ones(5), -1, -1]
    return make_block(truth, predictions, folds, probabilities=both)


def test_the_table_is_scikit_learns(block):
    table = contingency_table(block, "B")
    assert table.to_numpy().tolist() == (
        confusion_matrix(block.truth[:10], block.predictions[1, 0, :10]).tolist()
    )
    assert list(table.index) == list(table.columns) == ["no", "yes"]


def test_cells_that_failed_do_not_count(block):
    block.status[1, 0, 1] = Status.ERROR
    assert contingency_table(block, "B").to_numpy().sum() == 5
    assert contingency_table(block, "A").to_numpy().sum() == 10


def test_the_gain_takes_equal_probabilities_together(block):
    gain = cumulative_gain(block, "A", "yes")
    yes = block.truth[:10] == 1
    assert gain["taken"].tolist() == pytest.approx([0, 0.1, *np.arange(0.3, 1.01, 0.1)])
    expected = [0, yes[0], *np.cumsum(yes)[2:]] / yes.sum()
    assert gain["gain"].tolist() == pytest.approx(expected.tolist())


def test_its_chart(block):
    class Study:
        def block(self, _):
            return block

    analyse = AnalyseResults()
    analyse.study = Study()
    axes = analyse.plot_cumulative_gain("A", "d", "yes").axes[0]
    assert axes.lines[0].get_ydata()[-1] == 1
    assert [text.get_text() for text in axes.get_legend().texts] == ["A", "random order"]


def test_bad_choices(block, make_block):
    with pytest.raises(AnalysisError, match="no class 'maybe'; its classes are 'no', 'yes'"):
        cumulative_gain(block, "A", "maybe")
    with pytest.raises(AnalysisError, match="strategy 'Z' is not in these results"):
        contingency_table(block, "Z")
    numbers = make_block([1.0, 2.0], [[1.0, 2.0]], [0, 0], task=REGRESSION)
    with pytest.raises(AnalysisError, match="dataset 'd' is Regression and has no classes"):
        contingency_table(numbers, "A")
