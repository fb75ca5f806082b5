"""The figure of the probabilities of all ranks."""

import numpy as np
import pandas as pd

from mlaut.analysis import Results, probability_of_best
from mlaut.analysis.plots import rank_plot


def names(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def test_every_rank_of_every_strategy_has_its_probability():
    table = pd.DataFrame(np.random.default_rng(1).uniform(size=(9, 4)), columns=list("abcd"))
    chances = probability_of_best(Results.from_table(table, metric="accuracy"), n_samples=500)
    axes = rank_plot(chances).axes[0]
    assert names(axes) == list(chances.frame.index)
    assert np.array_equal(axes.images[0].get_array(), chances.rank_probabilities)
    assert axes.lines[0].get_xdata().tolist() == chances.frame["expected rank"].tolist()
    best = f"{chances.frame['P(best)'].iloc[0]:.2f}"[1:]
    assert best in [text.get_text() for text in axes.texts]
