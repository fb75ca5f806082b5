"""Small tables with what authors print: each was once misread, or had no way on."""

import numpy as np
import pandas as pd
import pytest
from small_tables import read, refused

GRID = "|Model|iris|wine|\n|-|-|-|\n|a|{}|{}|\n|b|{}|{}|\n"


def test_cells_with_several_numbers_are_told_at_once_and_the_command_works(tmp_path):
    table = "|Model|iris|MRPC|CMRC|\n|-|-|-|-|\n|a|81.1|76.2/83.1|74.2 / 90.6|\n|b|79.5|76/83|70/80|\n"
    assert "unused=MRPC+CMRC" in refused(tmp_path, table, name="t.md")
    left = read(tmp_path, table, name="t.md", columns={"unused": ("MRPC", "CMRC")})
    assert left.datasets == ("iris",)
    only = GRID.format("1/2", "3/4", "5/6", "7/8")
    assert "keep one number in each cell" in refused(tmp_path, only, name="t.md")


def test_what_a_user_left_out_stays_out_in_the_next_command(tmp_path):
    table = "|Model|iris|x|y|\n|-|-|-|-|\n|a|1|2.5/3|8|\n|b|2|3.5/3|9|\n".replace("8|", "2.5/4|")
    asked = refused(tmp_path, table, name="t.md", columns={"unused": "y"})
    assert "unused=y+x" in asked


def test_percent_signs_in_some_cells_only_do_not_change_the_unit(tmp_path):
    mixed = read(tmp_path, GRID.format("9.09%", "5.47%", 11.79, 9.63), "wer", name="t.md")
    assert mixed.scores.to_numpy() == pytest.approx(np.array([[9.09, 11.79], [5.47, 9.63]]))
    whole = read(tmp_path, GRID.format("90%", "50%", 0.7, 0.6), name="t.md")
    assert whole.scores.to_numpy() == pytest.approx(np.array([[0.9, 0.7], [0.5, 0.6]]))


def test_bounds_count_as_their_numbers_and_are_told(tmp_path):
    results = read(tmp_path, GRID.format("56%", "< 5%", "90%", "7%"), name="t.md")
    assert results.scores.loc["wine", "a"] == pytest.approx(0.05)
    assert "bounds such as '< 5%' count as their numbers" in results.how_read


def test_dashes_of_any_length_are_no_result(tmp_path):
    results = read(tmp_path, GRID.format(0.5, "-----", 0.6, 0.7), name="t.md")
    assert np.isnan(results.scores.loc["wine", "a"])
