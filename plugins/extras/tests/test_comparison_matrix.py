"""The figure of the multi-comparison matrix has the numbers of the result."""

import numpy as np
import pandas as pd
import pytest
from mlaut_extras import multi_comparison_matrix

from mlaut.analysis import Results, multi_comparison, t_test
from mlaut.errors import AnalysisError


def texts(figure):
    axes = figure.axes[0]
    columns, rows = (
        [label.get_text() for label in labels]
        for labels in (axes.get_xticklabels(), axes.get_yticklabels())
    )
    return {
        (rows[int(text.get_position()[1])], columns[int(text.get_position()[0])]): text
        for text in axes.texts
    }


def test_squares_have_the_numbers_of_the_pairs(demsar):
    found = multi_comparison(demsar)
    shown = texts(multi_comparison_matrix(found))
    assert len(shown) == 12
    for (row, column), text in shown.items():
        advantage, counts, p = text.get_text().split("\n")
        one = found.pair(row, column)
        assert float(advantage) == pytest.approx(-one.effect.value, rel=0.01)
        wins, ties, losses = map(int, counts.split(" / "))
        assert (wins, ties) == (one.statistic, one.ties)
        assert wins + ties + losses == 14
        assert float(p.split("= ")[1]) == pytest.approx(one.p_value, rel=0.01)
        assert text.get_fontweight() == ("bold" if one.p_value <= 0.05 else "normal")


def test_the_best_mean_is_first_and_colours_have_the_direction(demsar):
    found = multi_comparison(demsar)
    axes = multi_comparison_matrix(found).axes[0]
    order = [label.get_text() for label in axes.get_yticklabels()]
    assert order == list(demsar.losses.mean().sort_values().index)
    picture = axes.images[0].get_array()
    assert picture[0, 3, 2] > picture[0, 3, 0]  # blue: the best against the worst
    assert picture[3, 0, 0] > picture[3, 0, 2]
    assert np.allclose(picture[0, 0], 0.85)


def test_another_strategy_changes_no_number(mlaut2018):
    some = list(mlaut2018.strategies[:4])
    whole = texts(multi_comparison_matrix(multi_comparison(mlaut2018)))
    part = texts(multi_comparison_matrix(multi_comparison(mlaut2018.select(strategies=some))))
    assert len(part) == 12
    assert all(whole[key].get_text() == text.get_text() for key, text in part.items())


def test_chosen_rows_and_columns(demsar):
    shown = texts(multi_comparison_matrix(multi_comparison(demsar), rows=["C4.5"]))
    assert {row for row, _ in shown} == {"C4.5"}
    assert len(shown) == 3


def test_what_cannot_be_drawn(demsar):
    with pytest.raises(AnalysisError, match="Paired t-test has no wins, ties and losses"):
        multi_comparison_matrix(t_test(demsar))
    with pytest.raises(AnalysisError, match=r"strategy 'C4.6' is not in these results; did you"):
        multi_comparison_matrix(multi_comparison(demsar), rows=["C4.6"])
    table = pd.DataFrame(np.random.default_rng(0).random((6, 21)))
    many = Results.from_table(table.add_prefix("s"), metric="error")
    with pytest.raises(AnalysisError, match="21 rows or columns of numbers cannot be read"):
        multi_comparison_matrix(multi_comparison(many))
