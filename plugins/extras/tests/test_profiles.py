"""Performance profiles, by hand."""

import numpy as np
import pandas as pd
import pytest
from mlaut_extras import performance_profile, profile_plot

from mlaut.errors import AnalysisError
from mlaut.plugins import line_style


def test_shares_by_hand(losses):
    """Dolan & More 2002, equation 2.1: the share of datasets with a ratio of at most the factor."""
    found = performance_profile(losses({"A": [1.0, 4.0, 3.0], "B": [2.0, 1.0, 3.0]})).frame
    assert found.index.tolist() == [1.0, 2.0, 4.0]
    assert found["A"].to_list() == pytest.approx([2 / 3, 2 / 3, 1])
    assert found["B"].to_list() == pytest.approx([2 / 3, 1, 1])


def test_no_factor_reaches_a_loss_of_0(losses):
    found = performance_profile(losses({"A": [0.0, 0.0], "B": [1.0, 2.0]})).frame
    assert found["B"].to_list() == [0.0]
    assert found["A"].to_list() == [1.0]


def test_it_does_not_depend_on_units_and_names():
    values = np.random.default_rng(0).random((7, 3))
    units = 2.0 ** np.arange(-6, 8, 2)[:, None]
    one, other = (
        performance_profile(pd.DataFrame(v, columns=[*"ABC"]), metric="x", greater_is_better=False)
        for v in (values, values * units)
    )
    pd.testing.assert_frame_equal(one.frame, other.frame)
    turned = performance_profile(
        pd.DataFrame(values, columns=[*"ABC"])[[*"CAB"]], metric="x", greater_is_better=False
    )
    pd.testing.assert_frame_equal(turned.frame[[*"ABC"]], one.frame)


def test_losses_below_0_have_no_factor(losses):
    with pytest.raises(AnalysisError, match="a factor of the best needs losses of 0 or more"):
        performance_profile(losses({"A": [-1.0, 1.0], "B": [1.0, 1.0]}))


def test_no_two_lines_look_alike_even_without_colour():
    styles = [line_style(place) for place in range(40)]
    assert len({(s["marker"], s["linestyle"]) for s in styles}) == 40


def test_labels_of_a_logarithmic_axis_are_numbers_also_without_formulas(losses):
    table = {"A": [1.0, 4.0, 3.0], "B": [2.0, 1.0, 90.0]}
    figure = profile_plot(performance_profile(losses(table)))
    figure.canvas.draw()
    labels = [t.get_text() for t in figure.axes[0].get_xticklabels()]
    assert labels
    assert not any("$" in label for label in labels)
