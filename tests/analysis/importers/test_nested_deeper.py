"""JSON whose names and scores lie deeper, uneven runs, and what Python prints in its stead."""

import json

import pytest

from mlaut.analysis.importers.any_table import read_results
from mlaut.errors import AnalysisError, DataError


def read(tmp_path, text, name="t.json", metric="f1"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_results(tmp_path / name, metric)


def test_rows_whose_names_and_scores_lie_deeper_are_read_and_lists_without_numbers_are_not(
    tmp_path,
):
    rows = [
        {"scores": {"iris_f1": i / 10, "iris_em": i / 20, "wine_f1": i / 9}, "entry": {"by": name}}
        for i, name in enumerate(["svm", "knn", "cart"], 1)
    ]
    specs = [{"key": "iris_f1", "name": "a"}, {"key": "wine_f1", "name": "b"}]
    results = read(tmp_path, json.dumps({"config": {"specs": specs}, "board": rows}))
    assert results.strategies == ("svm", "knn", "cart")
    assert results.scores["knn"].round(3).tolist() == [0.2, 0.222]
    assert "`config`" in results.how_read


def test_runs_of_a_strategy_that_has_fewer_are_no_rows_of_a_table(tmp_path):
    text = json.dumps({"svm": [0.9, 0.8, 0.7], "knn": [0.6, 0.5]})
    with pytest.raises(AnalysisError) as raised:
        read(tmp_path, text)
    assert "same length" not in str(raised.value)


def test_a_dictionary_as_python_prints_it_is_read_and_what_is_none_is_refused(tmp_path):
    content = {"iris": {"svm": 0.9, "knn": 0.8}, "wine": {"svm": 0.7, "knn": 0.6}}
    results = read(tmp_path, str(content), "t.txt")
    assert results.scores.loc["wine", "knn"] == 0.6
    with pytest.raises(DataError, match="cannot be read as JSON"):
        read(tmp_path, "{'iris': open('t.txt')}", "u.txt")


def test_a_name_that_no_row_with_a_score_has_names_nothing_and_one_that_some_lack_is_refused(
    tmp_path,
):
    (tmp_path / "best.json").write_text(
        json.dumps([{"instance": x, "solver": "any", "value": 1, "date": "d"} for x in "abc"])
    )
    for n, name in enumerate(["cplex", "gurobi"], 1):
        rows = [
            {"instance": x, "ub": {"value": n + i, "solver": name, "time": 1}}
            for i, x in enumerate("abc")
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    results = read_results(tmp_path, "ub", greater_is_better=False)
    assert results.scores["gurobi"].tolist() == [2, 3, 4]
    assert results.strategies == ("cplex", "gurobi")
    assert "`solver` (empty where scores are)" in results.how_read
    table = "instance,solver,ub\na,cplex,1\na,,2\nb,cplex,3\nb,,4\n"
    with pytest.raises(AnalysisError, match="2 rows without a strategy in 'solver'"):
        read(tmp_path, table, "t.csv", "ub")
