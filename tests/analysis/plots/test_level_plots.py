"""Figures with lines: no two are alike, and every name can be read."""

import pandas as pd
from matplotlib.text import Text

from mlaut.analysis import box_plot
from mlaut.analysis.plots.level_plots import _style
from mlaut.analysis.results.results import Results


def test_no_two_lines_look_alike_even_without_colour():
    styles = [_style(place) for place in range(40)]
    assert len({(s["marker"], s["linestyle"]) for s in styles}) == 40


def test_a_dollar_in_a_name_begins_no_formula():
    table = pd.DataFrame({r"C=$10^2$, \gamma": [0.1, 0.2, 0.3], "$": [0.2, 0.3, 0.5]})
    figure = box_plot(Results.from_table(table, greater_is_better=False))
    figure.draw_without_rendering()
    assert not any(text.get_parse_math() for text in figure.findobj(Text))
