"""Texts that look like numbers, dates or one class are told: they count as categories."""

import warnings

import numpy as np
import pandas as pd
import pytest

import mlaut
from mlaut.data import from_frame, load_folder
from mlaut.data.tables.folders import load_file
from mlaut.errors import TextWarning


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (["1.5", "n/a", "2.5", "3"], r"'x' .* numbers as texts .*: '1.5' .not so: 'n/a'"),
        (['"0,5"', '"1,5"', '"2,5"', '"3"'], r"'x' .* numbers as texts .*: '0,5'"),
        (["12.5%", "3%", "4%", "5.0%"], r"'x' .* numbers as texts .*: '12.5%'"),
        (["27.08.2021", "01.02.2021", "", "3.4.2021"], r"'x' .* dates as texts .*: '27.08.2021'"),
    ],
)
def test_a_column_that_looks_like_numbers_is_told(tmp_path, column, told):
    rows = [f"{value},{label}" for value, label in zip(column, "abab", strict=True)]
    (tmp_path / "mine.csv").write_text("x,y\n" + "\n".join(rows))
    with pytest.warns(TextWarning, match=told):
        load_file(str(tmp_path / "mine.csv"))
    with pytest.warns(TextWarning, match=told):
        load_folder(tmp_path)


def test_what_the_warning_proposes_ends_it(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x,day,y\n1,2020-01-01,a\nn/a,2020-01-02,b\n2,2020-01-03,a\n4,2020-01-04,b\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        numbers = load_file(f"{path}?missing=n/a&ignore=day")
        load_file(f"{path}?categorical=x;day")
    assert numbers.frame["x"].dtype == float


def test_classes_that_differ_in_blanks_or_capitals_are_told(tmp_path):
    (tmp_path / "mine.csv").write_text("x,y\n1,yes\n2,no\n3,yes \n4,No\n")
    with pytest.warns(TextWarning, match=r"classes differ .* only: 'yes', 'no', 'yes ', 'No'"):
        load_file(str(tmp_path / "mine.csv"))


def test_a_first_row_of_numbers_is_told_to_be_no_header(tmp_path):
    (tmp_path / "mine.csv").write_text("0.5,-1.5,a\n2,1,b\n3,1,a\n")
    with pytest.warns(TextWarning, match=r"names of columns are numbers, such as '0.5'"):
        load_file(str(tmp_path / "mine.csv"))


def test_a_table_in_memory_is_told_too_and_roles_are_left_out(tmp_path):
    table = pd.DataFrame({"x": ["1", "2", "-"], "day": ["1.2.2020"] * 3, "y": list("aba")})
    study = mlaut.Study(tmp_path / "s.h5")
    with pytest.warns(
        TextWarning, match=r"numbers as texts .*: '1' .not so: '-'.; correct"
    ) as caught:
        study.add_datasets(table, name="mine", target="y", roles={"ignore": ["day"]})
    assert "day" not in str(caught[0].message)


def test_a_file_is_told_of_once_where_it_is_stored(tmp_path):
    (tmp_path / "mine.csv").write_text("day,y\n2020-01-01,a\n2020-01-02,b\n2020-01-03,a\n")
    with pytest.warns(TextWarning, match=r"dates .*: by the type category") as caught:
        mlaut.Study(tmp_path / "s.h5").add_datasets(tmp_path / "mine.csv")
    assert len(caught) == 1


def test_usual_texts_and_numbers_are_not_told(tmp_path):
    table = pd.DataFrame(
        {
            "0": np.arange(4.0),
            "code": ["A1", "B2", "3", ""],
            "when": pd.date_range("2020", periods=4),
        }
    ).assign(y=list("abab"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mlaut.Study(tmp_path / "s.h5").add_datasets(table, name="mine", target="y")


def test_classes_that_differ_in_blanks_or_capitals_are_told_of_the_target_alone():
    labels = pd.Series(["Yes", " yes", "no", "no"])
    table = pd.DataFrame({"x": labels, "who": ["1", "2", "3", "4"], "n": range(4), "y": labels})
    told = r"^dataset 'mine': classes differ in blanks or capitals only: 'Yes', ' yes';"
    with pytest.warns(TextWarning, match=told):
        from_frame(table, "y", name="mine", roles={"group": "who"})
    with pytest.warns(TextWarning, match="'who' has numbers as texts"):
        from_frame(table.assign(y=["a", "b"] * 2), "y", name="mine")
