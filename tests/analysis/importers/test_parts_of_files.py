"""Files with several tables, and folders with a file of each kind for each run."""

import json

import pandas as pd
import pytest

from mlaut.analysis.importers.any_table import read_results
from mlaut.errors import AnalysisError

MODELS = {"net": 0.9, "tree": 0.8}


def test_the_lists_of_rows_of_each_dataset_are_one_table_of_json(tmp_path):
    rows = {
        name: [{"model": x, "acc": acc - i / 10, "f1": 0.1} for x, acc in MODELS.items()]
        for i, name in enumerate(("iris", "wine"))
    }
    (tmp_path / "t.json").write_text(json.dumps({"date": "today", **rows}), encoding="utf-8")
    results = read_results(tmp_path / "t.json", "acc")
    assert results.scores.loc["wine"].to_dict() == pytest.approx({"net": 0.8, "tree": 0.7})
    assert "not used: `date`" in results.how_read


def test_lists_of_rows_of_several_forms_are_tables_of_json(tmp_path):
    board = [{"model": x, "top1_accuracy": 100 * acc, "id": x} for x, acc in MODELS.items()]
    gains = [{"model": x, "old_top1_accuracy": acc, "gain": 1} for x, acc in MODELS.items()]
    content = {"about": {"a": 1}, "board": board, "gains": gains}
    (tmp_path / "t.json").write_text(json.dumps(content), encoding="utf-8")
    results = read_results(tmp_path / "t.json", "top1_accuracy")  # the very name of a column
    assert results.scores.to_numpy().tolist() == [[0.9, 0.8]]  # told as percent
    assert "not used: `about`, tables of the file other than 'board' (1)" in results.how_read


def test_a_folder_of_runs_has_a_table_of_each_kind_of_file(tmp_path):
    for name, score in MODELS.items():
        folder = tmp_path / name
        folder.mkdir()
        run = {"model": name, "test": {"top1_accuracy": score}, "stages": [{"lr": 1}, {"lr": 2}]}
        (folder / "metrics.json").write_text(json.dumps(run), encoding="utf-8")
        (folder / "history.csv").write_text("epoch,loss\n1,0.5\n2,0.4\n", encoding="utf-8")
    results = read_results(tmp_path, "top1_accuracy")
    assert results.scores.iloc[0].to_dict() == MODELS
    assert "tables of the file other than 'metrics' (1)" in results.how_read


def test_numbers_of_runs_in_names_of_folders_are_repeats(tmp_path):
    for i, method in enumerate(("svm", "resnet")):
        for run in range(3):
            for k, dataset in enumerate(("iris", "wine", "glass")):
                folder = tmp_path / method / f"run_{run}" / dataset
                folder.mkdir(parents=True)
                text = f"accuracy\n{0.5 + i / 10 + run / 100 + k / 50}\n"
                (folder / "metric.csv").write_text(text, encoding="utf-8")
    results = read_results(tmp_path, "accuracy")
    assert results.cells.shape == (3, 2, 3, 1)
    assert "means of 3 repeats (`run`)" in results.how_read
    assert results.scores.loc["iris", "svm"] == pytest.approx(0.51)


HEAD = ["", "svm", "knn"]
FIRST = [HEAD, ["iris", 0.9, 0.8], ["wine", 0.7, 0.6]]


@pytest.mark.parametrize("beside", [False, True])
def test_tables_below_or_beside_another_in_a_sheet_are_tables_of_their_own(beside, tmp_path):
    second = [["Data", "svm", "tree"], ["iris", 0.5, 0.4], ["wine", 0.3, 0.2]]
    rows = [[*a, "", *b] for a, b in zip(FIRST, second, strict=True)]
    rows = rows if beside else [*FIRST, [""] * 3, *second]
    pd.DataFrame(rows).to_excel(tmp_path / "t.xlsx", header=False, index=False)
    with pytest.raises(AnalysisError, match=r"it has 2 tables \(1: 'Sheet1' \(2 x 3\)"):
        read_results(tmp_path / "t.xlsx", "accuracy")
    results = read_results(tmp_path / "t.xlsx", "accuracy", columns={"table": "2"})
    assert results.scores.loc["wine"].to_dict() == {"svm": 0.3, "tree": 0.2}


def test_empty_rows_within_a_table_of_a_sheet_end_nothing(tmp_path):
    rows = [*FIRST, [""] * 3, ["glass", 0.5, 0.4], ["ecoli", 0.3, 0.2]]
    pd.DataFrame(rows).to_excel(tmp_path / "t.xlsx", header=False, index=False)
    assert len(read_results(tmp_path / "t.xlsx", "accuracy").datasets) == 4
