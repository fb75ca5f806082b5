"""Tables whose columns are of one metric, of settings, of p-values, or of a mean of others."""

import numpy as np
import pandas as pd
import pytest
from small_tables import read, refused

from mlaut.analysis import read_results
from mlaut.errors import AnalysisError

MODELS = ["svm", "tree", "forest", "net"]


def _of_models(**columns):
    return pd.DataFrame({"model": MODELS, **columns})


def test_a_mean_of_several_columns_of_the_metric_is_not_the_only_score(tmp_path):
    table = _of_models(rise_auc=[0.8, 0.7, 0.9, 0.6], fall_auc=[0.7, 0.8, 0.6, 0.5])
    table["mean_auc"] = (table["rise_auc"] + table["fall_auc"]) / 2
    results = read(tmp_path, table, "auc")
    assert results.datasets == ("rise", "fall")
    assert "`mean_auc` (an average of the others)" in results.how_read


def test_a_setting_beside_several_metrics_is_no_score(tmp_path):
    table = _of_models(
        threshold=[0.85, 0.7, 0.1, 0.3],
        val_f1=[0.4, 0.5, 0.3, 0.6],
        val_accuracy=[0.5, 0.5, 0.4, 0.6],
        test_accuracy=[0.4, 0.6, 0.5, 0.7],
    )
    results = read(tmp_path, table, "accuracy")
    assert results.scores.iloc[0].to_dict() == dict(zip(MODELS, [0.4, 0.6, 0.5, 0.7], strict=True))
    assert "`test_accuracy` as accuracy" in results.how_read


def test_the_best_of_each_row_is_asked_about_among_columns_of_the_metric(tmp_path):
    table = pd.DataFrame({"dataset": ["iris", "wine"], "best_accuracy": [0.99, 0.8]})
    table = table.assign(cnn_accuracy=[0.9, 0.7], random_accuracy=[0.8, 0.75], cnn_regret=[0, 0.1])
    told = refused(tmp_path, table, "accuracy")
    assert "`best_accuracy` may be the best of several strategies" in told
    assert "score=best_accuracy+cnn_accuracy+random_accuracy" in told
    columns = {"unused": "best_accuracy"}
    assert read_results(table, "accuracy", columns=columns).strategies == ("cnn", "random")


def test_settings_that_tell_rows_of_a_name_apart_may_be_the_strategies(tmp_path):
    scores = [0.8, 0.7, 0.75, 0.85, 0.65, 0.9]
    table = pd.DataFrame({"ward": list("AAABBB"), "pretraining": [0, 8, 16] * 2, "mean": scores})
    told = refused(tmp_path, table, "mean", greater_is_better=True)
    assert "strategies that differ by `pretraining`" in told
    assert "dataset=ward,strategy=pretraining" in told


def test_numbers_0_1_2_beside_one_name_are_not_taken_for_settings_in_silence(tmp_path):
    rng = np.random.default_rng(0)
    rows = [(x, i, j, rng.random()) for x in ("svm", "tree") for i in range(5) for j in range(3)]
    table = pd.DataFrame(rows, columns=["model", "shard", "slice", "acc"]).iloc[:-4]
    assert "repeat=shard+slice" in refused(tmp_path, table, "acc")


def test_numbers_without_names_are_settings_in_front_of_the_metric(tmp_path):
    table = pd.DataFrame({"m": [1, 1, 2, 2] * 2, "k": [3, 4, 3, 4] * 2, "hits": range(8, 16)})
    table = table.assign(misses=[7, 5, 3, 1] * 2, seconds=0.5)
    told = refused(tmp_path, table, "hits", greater_is_better=True)
    assert "strategy=m+k,repeat=rows" in told
    assert "dataset=rows" not in told


def test_a_text_that_is_crossed_with_the_datasets_may_name_the_strategies(tmp_path):
    rows = [
        (x, role, f"{role}{x}" if role == "own" else role)
        for x in "abcd"
        for role in ("own", "shared")
    ]
    table = pd.DataFrame(rows, columns=["family", "role", "model"]).assign(rmse=np.arange(8) / 9)
    assert "dataset=family,strategy=role" in refused(tmp_path, table, "rmse")


def test_rows_with_names_in_a_dictionary_keep_their_texts():
    content = {x: {"picked": "svm", "accuracy": i / 7, "f1": i / 8} for i, x in enumerate("abc", 1)}
    content = {x: row | {"kind": "net"} for x, row in content.items()}
    results = read_results(content, "accuracy", columns={"strategy": "level 1"})
    assert results.strategies == ("a", "b", "c")


def test_p_values_of_tests_are_no_scores(tmp_path):
    table = _of_models(accuracy=[8e-8, 2e-8, 1.0, 3e-10], f1=[2e-8, 7e-9, 4e-11, 1.0])
    told = refused(tmp_path, table, "accuracy")
    assert "as p-values of tests are, and no accuracy" in told
    assert "--columns score=accuracy" in told  # for those that are scores all the same


def test_of_several_tables_none_is_taken_while_another_may_be_meant(tmp_path):
    path = tmp_path / "two.md"
    sure = "| model | iris | wine | Mean |\n|-|-|-|-|\n"
    sure += "| svm | .5 | .7 | .6 |\n| tree | .6 | .9 | .75 |\n"
    open_ = "| thing | x | y |\n|-|-|-|\n| p | .51 | .72 |\n| q | .66 | .91 |\n| r | .4 | .3 |\n"
    path.write_text(f"# One\n\n{sure}\n# Two\n\n{open_}", encoding="utf-8")
    with pytest.raises(AnalysisError, match="it has 2 tables"):
        read_results(path, "accuracy")


def test_a_row_that_is_the_difference_of_two_others_is_no_strategy(tmp_path):
    names = ["net", "wide net", "Improvement (wide net - net)", "Improvement by luck"]
    table = pd.DataFrame({"model": names, "accuracy": [0.81, 0.84, 0.03, 0.5], "n": [5, 5, 5, 5]})
    results = read(tmp_path, table)
    assert results.strategies == ("net", "wide net", "Improvement by luck")
    assert "row `Improvement (wide net - net)` (a difference of two others)" in results.how_read


def test_a_table_without_a_score_says_so(tmp_path):
    table = pd.DataFrame({"model": ["net"], "accuracy": [np.nan], "date": ["2025-03-03"]})
    assert "no row has a score in 'accuracy'" in refused(tmp_path, table)


def test_times_and_sizes_beside_a_metric_are_no_datasets(tmp_path):
    table = _of_models(params_millions=[9.1, 10.2, 3.3, 4.4], best_epoch=[3, 8, 4, 5])
    table = table.assign(test_accuracy=[0.9, 0.8, 0.7, 0.6], train_time_min=[96.6, 46.5, 3.0, 2.0])
    assert read(tmp_path, table).datasets == ("this dataset",)


def test_names_of_runs_are_strategies_where_nothing_else_has_a_name(tmp_path):
    table = pd.DataFrame({"run_name": ["r2_a8", "r4_a16", "r8_a16"], "lora_rank": [2, 4, 8]})
    table = table.assign(train_loss=[2.9, 2.8, 2.7], eval_loss=[2.6, 2.5, 2.4])
    assert read(tmp_path, table, "eval_loss").strategies == ("r2_a8", "r4_a16", "r8_a16")
    table["run_name"] = ["run 1", "run 2", "run 3"]
    assert "unclear whether `run_name` names strategies" in refused(tmp_path, table, "eval_loss")


def test_the_only_number_is_the_score_though_its_name_is_an_average(tmp_path):
    rows = [
        (d, f, f"{50 + 3 * i} %") for i, (d, f) in enumerate((d, f) for d in "xy" for f in "abc")
    ]
    table = pd.DataFrame(rows, columns=["Dataset", "Function", "Average Score"])
    results = read(tmp_path, table)
    assert (results.datasets, results.strategies) == (("x", "y"), ("a", "b", "c"))
    assert results.scores.loc["x", "a"] == 0.5
    ranks = table.assign(**{"Average Score": range(6)}).rename(
        columns={"Average Score": "Average rank"}
    )
    assert "`Average rank`" in refused(tmp_path, ranks)
