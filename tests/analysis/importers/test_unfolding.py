"""Tables with a column for each fold, run or seed."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

from mlaut.analysis import read_results
from mlaut.errors import AnalysisError

SCORES = pd.DataFrame(
    np.linspace(0.5, 0.9, 45).reshape(9, 5),
    index=pd.MultiIndex.from_product([["iris", "wine", "glass"], ["lr", "rf", "svm"]]),
)
RUNS = {pair: row.to_numpy() for pair, row in SCORES.iterrows()}


def saved(table, folder):
    table.to_csv(folder / "t.csv")
    return folder / "t.csv"


@pytest.mark.parametrize("name", ["{}", "fold_{}", "split{}_test_score", "Run {}", "acc seed {}"])
def test_each_row_has_the_scores_of_several_runs(name, tmp_path):
    table = SCORES.rename(columns=name.format)
    results = read_results(saved(table, tmp_path), "accuracy")
    assert results.scores.shape == (3, 3)
    assert results.scores.loc["wine", "rf"] == pytest.approx(SCORES.loc["wine", "rf"].mean())
    assert f"columns `{name.format(0)}` to `{name.format(4)}`" in results.how_read
    assert "means of 5" in results.how_read


def test_means_and_spreads_of_the_runs_are_no_runs(tmp_path):
    table = SCORES.add_prefix("fold_").assign(mean=SCORES.mean(axis=1), std=SCORES.std(axis=1))
    results = read_results(saved(table, tmp_path), "accuracy")
    assert results.cells.shape == (3, 3, 1, 5)
    assert "not used: `mean` (a summary), `std`" in results.how_read


def test_a_search_of_scikit_learn_is_one_dataset_with_folds(tmp_path):
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5], "p": [1, 2]})
    search.fit(*load_iris(return_X_y=True))
    results = read_results(saved(pd.DataFrame(search.cv_results_), tmp_path), "accuracy")
    assert len(results.strategies) == 4
    assert results.scores.to_numpy()[0] == pytest.approx(search.cv_results_["mean_test_score"])


def test_runs_of_two_metrics_are_asked_about(tmp_path):
    f1 = SCORES.sub(0.1).add_prefix("f1 fold ")
    table = saved(SCORES.add_prefix("accuracy fold ").join(f1), tmp_path)
    assert read_results(table, "f1").scores.max().max() < SCORES.to_numpy().max() - 0.09
    with pytest.raises(AnalysisError, match=r"of several metrics \(accuracy, f1\), so say which"):
        read_results(table)


def test_what_runs_of_unknown_rows_are_of_is_asked(tmp_path):
    table = SCORES.droplevel(0).iloc[:3].set_axis(["a", "b", "c"]).rename_axis("protocol")
    with pytest.raises(AnalysisError, match="--columns strategy=protocol"):
        read_results(saved(table.add_prefix("fold_"), tmp_path), "accuracy")


def test_columns_named_by_numbers_are_runs_only_where_rows_name_both(tmp_path):
    table = SCORES.droplevel(0).iloc[:3].rename_axis("model")
    with pytest.raises(AnalysisError, match="look like runs of one strategy"):
        read_results(saved(table, tmp_path), "accuracy")


def test_what_counts_within_named_rows_are_repeats(tmp_path):
    parts = {pair: pd.DataFrame({"fit_time": 1.5, "test_accuracy": x}) for pair, x in RUNS.items()}
    results = read_results(pd.concat(parts), "accuracy")
    assert results.cells.shape == (3, 3, 5, 1)
    assert results.scores.loc["glass", "svm"] == pytest.approx(RUNS["glass", "svm"].mean())


def test_tables_of_trackers_say_what_a_parameter_is():
    table = SCORES.rename_axis(["params.dataset", "params.model"]).rename_axis(
        "params.seed", axis=1
    )
    table = table.stack().rename("metrics.accuracy").reset_index()
    table.insert(0, "run_id", [f"{i:032x}" for i in range(len(table))])
    results = read_results(table, "accuracy")
    assert results.scores.shape == (3, 3)
    assert "means of 5 repeats (`params.seed`)" in results.how_read


def test_a_leaderboard_of_autogluon_is_of_its_test_scores():
    table = pd.DataFrame({"model": ["a", "b"], "score_val": [0.9, 0.8], "score_test": [0.7, 0.6]})
    results = read_results(table.assign(pred_time_test=0.1, stack_level=[2, 1]), "accuracy")
    assert results.scores.iloc[0].to_dict() == {"a": 0.7, "b": 0.6}


def test_runs_beside_folds_keep_their_own_name():
    table = SCORES.rename_axis(["dataset", "model"]).add_prefix("seed ").reset_index()
    both = pd.concat([table.assign(fold=0), table.assign(fold=1)])
    results = read_results(both, "accuracy")
    assert results.cells.shape == (3, 3, 5, 2)
    assert "means of 5 repeats (columns `seed 0` to `seed 4`)" in results.how_read
    assert "means of 2 folds (`fold`)" in results.how_read


def test_what_the_places_in_lists_of_one_key_are_is_asked():
    lists = {name: {"accuracy": [0.8, 0.9, 0.7], "f1": [0.7, 0.8, 0.6]} for name in ("svm", "rf")}
    with pytest.raises(AnalysisError, match="names several rows, which `level 3` tells apart"):
        read_results(lists, "accuracy")
    for role, shape in (("repeat", (1, 2, 3, 1)), ("dataset", (3, 2, 1, 1))):
        columns = {"strategy": "level 1", role: "level 3"}
        assert read_results(lists, "accuracy", columns=columns).cells.shape == shape


def test_reports_of_classes_hold_their_averages(tmp_path):
    def report(score):
        of_class = {"precision": 0.5, "recall": 0.4, "f1-score": 0.3, "support": 9}
        average = of_class | {"f1-score": score}
        return {"0": of_class, "1": of_class, "accuracy": score / 2, "macro avg": average}

    content = {
        data: {model: report(0.1 * i + 0.2 * j) for i, model in enumerate("xy")}
        for j, data in enumerate(("one", "two", "three"))
    }
    path = tmp_path / "reports.json"
    path.write_text(json.dumps(content))
    columns = {"dataset": "level 1", "strategy": "level 2"}
    results = read_results(path, "f1_macro", columns=columns)
    assert results.scores.loc["two"].tolist() == pytest.approx([0.2, 0.3])
    assert "numbers of each class" in results.how_read
    scores = read_results(path, "accuracy", columns=columns).scores
    assert scores.loc["two"].tolist() == pytest.approx([0.1, 0.15])
