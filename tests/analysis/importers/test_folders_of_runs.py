"""Folders for each strategy, dataset and seed, each with a JSON of what one run gave."""

import json

import pytest

from mlaut.analysis.importers.any_table import read_results


def report(score, part="regression"):
    """Return what one run writes: settings, and metrics of each part of the data."""
    metrics = {"train": {"score": 0.99, "rmse": 0.1}, "test": {"score": score, "rmse": 0.4}}
    if part == "classification":
        each = {"precision": 0.5, "recall": 0.5, "f1-score": 0.5, "support": 9}
        averages = {"macro avg": each, "weighted avg": each, "accuracy": score}
        metrics = {x: {"0": each, **averages, **y} for x, y in metrics.items()}
    return {"function": "bin.main", "config": {"seed": 0}, "metrics": metrics, "time": "1:47:50"}


@pytest.fixture
def runs(tmp_path):
    """Two strategies on three datasets, with three runs of each; one run is not there."""
    for strategy, shift in (("mlp", 0.0), ("knn", 0.1)):
        for i, dataset in enumerate(("adult", "california", "churn")):
            for run in range(3):
                folder = tmp_path / strategy / dataset / "0-evaluation" / str(run)
                if (strategy, dataset, run) != ("knn", "churn", 2):
                    folder.mkdir(parents=True)
                    kind = "classification" if dataset == "adult" else "regression"
                    text = json.dumps(report(0.5 + shift + i / 10, kind))
                    (folder / "report.json").write_text(text)
    return tmp_path


def test_folders_name_strategies_datasets_and_runs_and_the_test_score_counts(runs):
    results = read_results(runs, "score", greater_is_better=True)
    assert set(results.strategies) == {"mlp", "knn"}
    assert set(results.datasets) == {"adult", "california", "churn"}
    assert results.scores.loc["adult", "knn"] == pytest.approx(0.6)  # of the test
    assert "`test.score`" in results.how_read
    assert "`config`, numbers of each class" in results.how_read  # are not used, and told
    assert "repeats (`run`)" in results.how_read


def test_a_program_that_each_folder_has_for_its_own_names_no_dataset(runs):
    for file in runs.rglob("report.json"):
        strategy = file.relative_to(runs).parts[0]
        file.write_text(json.dumps(json.loads(file.read_text()) | {"function": f"bin.{strategy}"}))
    results = read_results(runs, "score", greater_is_better=True)
    assert set(results.strategies) == {"mlp", "knn"}


def test_numbered_files_of_one_level_are_no_runs(tmp_path):
    for i in range(3):
        (tmp_path / f"result_{i}.csv").write_text("model,accuracy\na,.9\nb,.8\nc,.7\n")
    assert "`file`" in read_results(tmp_path, "accuracy").how_read


HISTORY = {"train_loss": [0.5, 0.4, 0.3, 0.2], "val_loss": [0.6, 0.5, 0.4, 0.3]}


def test_names_of_three_parts_that_cross_are_three_columns(tmp_path):
    names = [f"{a}/{b}/{n}" for a in ("tft", "nbeats") for b in ("one", "two") for n in (24, 96)]
    each = {x: {"mse": i / 10, "training_history": HISTORY} for i, x in enumerate(names, 1)}
    path = tmp_path / "t.json"
    path.write_text(json.dumps(each))
    results = read_results(path, "mse")
    assert set(results.strategies) == {"tft", "nbeats"}
    assert len(results.datasets) == 4
    assert "`training_history`" in results.how_read  # is not used, and told


def test_names_that_do_not_cross_stay_one(tmp_path):
    names = ["svm/rbf/1", "svm/linear/2", "tree/gini/3", "tree/entropy/4"]
    path = tmp_path / "t.csv"
    path.write_text("name,mse,mae\n" + "".join(f"{x},.5,.4\n" for x in names))
    assert set(read_results(path, "mse").strategies) == set(names)


def test_the_result_over_all_counts_where_those_of_parts_stand_beside_it(tmp_path):
    def result(x):
        parts = {"short": {"f1": x + 0.2, "n": 3}, "long": {"f1": x - 0.2, "n": 4}}
        return {"overall": {"f1": x, "n": 7}, "per_type": parts, "num_examples": 7}

    content = {
        x: {"iris": result(i / 10), "wine": result(i / 9)} for i, x in enumerate(("svm", "knn"), 3)
    }
    path = tmp_path / "t.json"
    path.write_text(json.dumps(content))
    results = read_results(path, "f1")
    assert results.scores.loc["iris", "svm"] == pytest.approx(0.3)
    assert "`per_type`, `num_examples`" in results.how_read  # are not used, and told
