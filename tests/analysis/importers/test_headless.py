"""Tables whose first line has no names of columns, and those whose first line has."""

import pandas as pd
import pytest

from mlaut.analysis.importers.any_table import read_results
from mlaut.analysis.importers.grids.forms.headless import with_names
from mlaut.analysis.importers.grids.sheet import QuestionError

ROWS = [
    f"{s},{d},{i + j / 7:.3f}" for i, s in enumerate("abc") for j, d in enumerate(["iris", "wine"])
]


def read(tmp_path, lines, name="t.csv", **how):
    (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    return read_results(tmp_path / name, "cost", greater_is_better=False, **how)


@pytest.mark.parametrize(("sign", "name"), [(",", "t.csv"), ("\t", "t.tsv"), ("  ", "t.txt")])
def test_columns_without_names_are_numbered_and_their_first_line_counts(sign, name, tmp_path):
    results = read(tmp_path, [x.replace(",", sign) for x in ROWS], name)
    assert (results.datasets, len(results.strategies)) == (("iris", "wine"), 3)
    assert results.scores.loc["wine", "a"] == 0.143
    assert "`column 3` as cost; no header" in results.how_read
    keys = {"strategy": "column 2", "dataset": "column 1"}
    turned = read(tmp_path, [x.replace(",", sign) for x in ROWS], name, columns=keys)
    assert turned.strategies == ("iris", "wine")


@pytest.mark.parametrize("first", ["x,0.1,0.5,0.9", "model,0.5,0.1,0.9", "name,0,1,2", ",2,1.5,3"])
def test_numbers_may_be_names_of_columns(first):
    table = pd.DataFrame([["svm", 0.31, 0.42, 0.53], ["knn", 0.52, 0.62, 0.81]])
    assert with_names(table.set_axis(first.split(","), axis=1)).shape == (2, 4)
    assert with_names(table.set_axis(["x", "0.9", "0.1", "0.5"], axis=1)).shape == (3, 4)


def test_numbers_in_no_order_are_no_names_of_columns(tmp_path):
    results = read(tmp_path, ["svm,0.93,0.85", "knn,0.92,0.86"], columns={"strategy": "column 1"})
    assert results.strategies == ("svm", "knn")
    assert results.datasets == ("column 2", "column 3")


def test_a_first_line_that_may_have_either_is_asked_about(tmp_path):
    lines = ["Bath,910,18560", "Belfast,1700,62617", "Bristol,1569,47522"]
    with pytest.raises(QuestionError, match="its first line has values") as raised:
        read(tmp_path, lines)
    read_so = [x.strategies for x in raised.value.readings.values()]
    assert ("Bath", "Belfast", "Bristol") in read_so
    assert ("Belfast", "Bristol") in read_so


def test_which_of_several_columns_without_names_has_the_scores_is_asked(tmp_path):
    lines = [f"{x},{i}.5" for i, x in enumerate(ROWS)]
    with pytest.raises(
        QuestionError, match="no header says which columns have the scores"
    ) as raised:
        read(tmp_path, lines)
    assert any("score=column 4" in x for x in raised.value.readings)
    assert read(tmp_path, lines, columns={"score": "column 3"}).scores.loc["iris", "b"] == 1


def test_files_of_a_folder_without_names_of_columns_are_one_table_of_each_measure(tmp_path):
    for k, way in enumerate(["svm", "knn"]):
        (tmp_path / way).mkdir()
        for n, kind in enumerate(["loss", "time"]):
            rows = [f"{d},{i + k + 10 * n}.12345" for i, d in enumerate(["iris", "wine", "ecoli"])]
            (tmp_path / way / f"{kind}.csv").write_text("\n".join(rows), encoding="utf-8")
    results = read_results(tmp_path, "loss")
    assert results.strategies == ("knn", "svm")
    assert results.scores.loc["ecoli", "knn"] == 3.12345
