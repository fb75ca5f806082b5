"""Texts such as NA in a CSV: gaps as they are, values in quotes, or as the user says."""

import gzip

import pandas as pd
import pytest

from mlaut.data import load_folder, read_table
from mlaut.errors import DataError, UnusableWarning
from mlaut.experiments import run_study


def read(tmp_path, text, name="table.csv", **how):
    path = tmp_path / name
    with gzip.open(path, "wt") if name.endswith(".gz") else path.open("w") as file:
        file.write(text)
    return read_table(path, **how)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv"])
@pytest.mark.parametrize("line", ["\n", "\r\n"])
def test_a_quoted_text_is_a_text(tmp_path, ending, line):
    separator = "\t" if ending == "tsv" else ","
    rows = ['"NA"', "NA", '"null"', "null", '"x,\t""NA"",\ty"', "", '"NA"']
    lines = [separator.join(row) for row in zip(rows, map(str, range(7)), strict=True)]
    text = line.join(["country,x".replace(",", separator), *lines])
    column = read(tmp_path, text, f"table.{ending}")["country"]
    assert column.isna().tolist() == [False, True, False, True, False, True, False]
    assert column.dropna().tolist() == ["NA", "null", 'x,\t"NA",\ty', "NA"]


def test_in_a_column_of_numbers_a_quoted_text_is_a_gap(tmp_path):
    table = read(tmp_path, '"a","b"\n"1.5","NA"\n"NA","x"\n"2","?"\n')
    pd.testing.assert_series_equal(table["a"], pd.Series([1.5, None, 2.0], name="a"))
    assert table["b"].tolist() == ["NA", "x", "?"]


def test_what_is_a_gap_can_be_chosen(tmp_path):
    table = read(tmp_path, 'a\nNA\n?\n"?"\nx\n', missing=["?"])
    assert table["a"].isna().tolist() == [False, True, False, False]


@pytest.fixture
def folder(tmp_path):
    for name, mark in (("plain", "NA"), ("quoted", '"NA"')):
        rows = "".join(f"{i},{mark if i % 2 else 'DE'}\n" for i in range(12))
        (tmp_path / f"{name}.csv").write_text(f"x,class\n{rows}")
    return tmp_path


def test_a_class_that_was_read_as_a_gap_is_named_with_the_way_out(folder):
    (quoted,) = load_folder(folder, names=["quoted"])
    assert sorted(set(quoted.labels)) == ["DE", "NA"]
    with pytest.raises(DataError, match=r"6 values are missing.* read as gaps were 'NA' \(6\): a"):
        load_folder(folder, names=["plain"])
    plain, _ = load_folder(folder, missing={"plain": ["?"]})
    assert sorted(set(plain.labels)) == ["DE", "NA"]
    with pytest.raises(DataError, match=r"no dataset 'plan'.*'plain'"):
        load_folder(folder, missing={"plan": ["?"]})
    with pytest.raises(DataError, match=r"its texts for gaps are no list, as .* but '\?'"):
        load_folder(folder, missing={"plain": "?"})


def test_a_study_file_says_what_is_a_gap(folder):
    study = folder / "study.toml"
    study.write_text("[data]\nfolder = '.'\n[strategies]\nnames = ['GaussianNaiveBayes']\n")
    with pytest.warns(UnusableWarning, match=r"\[data.missing\] plain = \['\?'\]"):
        assert run_study(study, verbose=0, engine="inline").n_cells == 1
    study.write_text(study.read_text() + "[data.missing]\nplain = ['?']\n")
    assert run_study(study, verbose=0, engine="inline").n_cells == 2
