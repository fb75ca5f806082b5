"""Names of columns decide where cells leave the reading open, and cells where names do."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis.importers.any_table import read_results
from mlaut.errors import AnalysisError
from tests.analysis.small_tables import read, refused


def test_a_mean_of_the_wanted_score_comes_before_what_no_name_tells(tmp_path):
    rows = {"kind": ["x", "y"] * 2, "model": ["a", "a", "b", "b"], "mean_score": [0.6, 0.7, 0.8, 1]}
    table = pd.DataFrame({**rows, "bad_lines": [0.0, 0.1, 0.2, 0.3]})
    results = read(tmp_path, table, "score", greater_is_better=True)
    assert "`mean_score` as score" in results.how_read


def test_a_column_is_known_by_the_first_letters_of_its_words(tmp_path):
    head = "|Method|Kind|Relative Computing Cost (RCC)|\n|-|-|-|\n"
    text = head + "|DeepAR|DL|313,000|\n|LSTM|DL|47,300|\n|ARIMA|other|28|\n"
    results = read(tmp_path, text, "rcc", name="t.md", greater_is_better=False)
    assert results.scores.iloc[0].tolist() == [313000, 47300, 28]


def test_commas_of_three_digits_beside_whole_numbers_divide_thousands_only_if_one_ends_with_0(
    tmp_path,
):
    text = "|Method|cost|\n|-|-|\n|svm|3,125|\n|knn|4,375|\n|lda|2|\n"
    asked = refused(tmp_path, text, "cost", name="t.md", greater_is_better=False)
    assert "may be 1.2 or 1200" in asked


def test_signs_of_repetition_stand_for_the_name_above_whatever_follows(tmp_path):
    rows = [("SVM", "10K", 66), (".", "1M", 71), ("KNN", "10K", 67), (".", "1M", 72)]
    text = "Tool | *n* | AUC\n---|---|---\n" + "".join(f"{a} | {n} | {x}\n" for a, n, x in rows)
    results = read(tmp_path, text, "auc", name="t.md")
    assert (results.strategies, results.datasets) == (("SVM", "KNN"), ("10K", "1M"))
    assert "`n`" in results.how_read  # crossed with the tools, so no part of their names


def test_a_name_that_ends_with_a_word_of_counts_is_one_of_others_if_its_cells_are_fractions(
    tmp_path,
):
    table = pd.DataFrame(np.random.default_rng(0).uniform(0.5, 0.9, (6, 3)).round(3))
    table.columns = ["SVM", "SVM deep", "no features"]
    table.insert(0, "dataset", [f"d{i}" for i in range(6)])
    assert read(tmp_path, table, "f1").strategies == ("SVM", "SVM deep", "no features")


def test_a_row_of_means_tells_that_the_corner_names_columns(tmp_path):
    rows = [("Date", 0.61, 0.72, 0.55), ("Title", 0.93, 0.84, 0.71), ("Table", 0.48, 0.5, 0.9)]
    rows.append(("Average", *np.round(np.mean([x[1:] for x in rows], axis=0), 4)))
    text = "|Model|one|two|three|\n|-|-|-|-|\n"
    text += "".join(f"|{'|'.join(map(str, row))}|\n" for row in rows)
    asked = refused(tmp_path, text, "f1", name="t.md")
    assert "`Model` stands above the rows, and `Average` is a mean over the rows" in asked
    assert asked.index("dataset=Model") < asked.index("strategy=Model")


def test_of_two_ways_round_that_with_more_datasets_comes_first(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).uniform(0.5, 0.9, (3, 9)).round(3))
    table.columns = [f"c{i}" for i in range(9)]
    table.insert(0, "", ["p", "q", "r"])
    asked = refused(tmp_path, table, "accuracy")
    assert asked.index("strategy=unnamed") < asked.index("dataset=unnamed")


@pytest.mark.parametrize("name", ["top1_accuracy", "top5_accuracy"])
def test_accuracies_of_the_first_answers_have_a_direction(name, tmp_path):
    table = pd.DataFrame({"model": ["svm", "knn"], name: [0.5, 0.6]})
    assert read(tmp_path, table, name).metric.greater_is_better


def test_the_mean_of_an_average_over_classes_is_the_score_of_settings(tmp_path):
    names = ["kernel", "alpha", "n_neighbors"]
    grid = pd.MultiIndex.from_product([("rbf", "knn"), (0.1, 0.2), (3, 5)], names=names)
    scores = np.arange(8) / 10
    table = grid.to_frame(index=False).assign(mean_macro_f1=scores, mean_acc=scores / 2)
    asked = refused(tmp_path, table, "f1_macro")
    assert "--columns strategy=kernel+alpha+n_neighbors" in asked


def test_settings_at_which_all_strategies_ran_are_offered_to_the_datasets_first(tmp_path):
    grid = pd.MultiIndex.from_product(
        [("old", "new"), (0.5, 0.25), (0.1, 0.01), ("a", "b"), range(2)],
        names=["Strategy", "density", "fdr", "lost", "replicate"],
    )
    table = grid.to_frame(index=False).drop(columns="lost")
    table["recall"] = np.random.default_rng(0).uniform(size=len(table)).round(3)
    asked = refused(tmp_path, table, "recall")
    assert asked.index("dataset=density+fdr,strategy=Strategy") < asked.index(
        "strategy=Strategy+density+fdr"
    )


@pytest.mark.parametrize("word", ["overflow", "오류"])
def test_words_of_runs_that_failed_are_known(word, tmp_path):
    table = pd.DataFrame(
        {"dataset": ["a", "b", "c"], "svm": [0.5, 0.6, word], "knn": [0.7, 0.8, 1]}
    )
    assert f"failed: 1 '{word}'" in read(tmp_path, table).how_read


def test_rows_that_a_condition_names_are_of_datasets_and_those_of_a_setup_are_strategies(tmp_path):
    table = pd.DataFrame(
        {"budget": ["b50", "b75", "b99"], "CSG": [6.1, 7.2, 9], "MS": [4.5, 8, 8.3]}
    )
    results = read(tmp_path, table, "spread", greater_is_better=True)
    assert results.strategies == ("CSG", "MS")
    assert "(`budget` names a condition)" in results.how_read
    mode = table.rename(columns={"budget": "mode"})  # of a method, or one of the data
    assert "it is unclear" in refused(tmp_path, mode, "spread", greater_is_better=True)
    text = "|Setup|AUBC sc.|Perf. sc.|\n|-|-|-|\n|full|95.4|96.4|\n|no reward|88.9|92.0|\n"
    results = read(tmp_path, text, "Perf. sc.", name="t.md", greater_is_better=True)
    assert results.strategies == ("full", "no reward")


def test_a_number_that_names_several_rows_is_completed_by_the_sizes_in_front_of_it():
    rows = [[n, m, i, n + i / 7, n + m + i / 9] for n in (40, 50) for m in (2, 4) for i in (1, 6)]
    table = pd.DataFrame(rows, columns=["n", "m", "Inst", "gap_svm", "gap_knn"])
    results = read_results(table, "gap", greater_is_better=False)
    assert results.datasets[:2] == ("1 40 2", "6 40 2")
    assert results.strategies == ("svm", "knn")
    behind = table[["Inst", "gap_svm", "gap_knn", "n", "m"]]  # where numbers may be measured
    with pytest.raises(AnalysisError):
        read_results(behind, "gap", greater_is_better=False)


def test_a_word_in_front_of_each_strategy_again_is_asked_about():
    names = [f"gap_{x}{y}" for x in ("", "root_") for y in ("svm", "knn", "cart")]
    rows = [[x, *(i + j / 7 for j in range(6))] for i, x in enumerate("abcde")]
    table = pd.DataFrame(rows, columns=["dataset", *names])
    with pytest.raises(AnalysisError, match="`gap_root_svm` may be of another measure") as asked:
        read_results(table, "gap", greater_is_better=False)
    first = next(iter(asked.value.readings.values()))
    assert first.strategies == ("gap_svm", "gap_knn", "gap_cart")
    other = table.rename(columns={"gap_root_svm": "gap_big_net", "gap_root_knn": "gap_nb"})
    assert "root_cart" in read_results(other, "gap", greater_is_better=False).strategies


def test_the_deviation_of_the_data_beside_errors_is_no_strategy_and_a_method_of_its_name_is():
    errors = [[0.3, 0.2, 0.1], [0.5, 0.4, 0.3], [0.9, 0.6, 0.5]]
    rows = [[x, 0.05 + each[0], *each] for x, each in zip("abc", errors, strict=True)]
    table = pd.DataFrame(rows, columns=["dataset", "MAD", "svm", "knn", "cart"])
    results = read_results(table, "mae")
    assert results.strategies == ("svm", "knn", "cart")
    assert "`MAD` (the deviation of the data by its name)" in results.how_read
    assert "score=" in results.how_read or "'score':" in results.how_read
    assert "MAD" in read_results(table, "auc").strategies
    assert "MAD" in read_results(table.assign(MAD=[0.2, 0.4, 0.7]), "mae").strategies


def test_conditions_behind_a_metric_that_the_first_of_them_alone_names_are_datasets(tmp_path):
    rows = "|a|30 ms|0.41 s|3.1 s|\n|b|22 ms|0.57 s|3.3 s|\n|c|17 ms|0.32 s|2.8 s|\n"
    head = "|Model|Time (5k rows)|20k rows|60k rows|\n|-|-|-|-|\n"
    results = read(tmp_path, head + rows, "time", name="t.md")
    assert results.datasets == ("5k rows", "20k rows", "60k rows")
    assert results.scores.loc["5k rows", "a"] == pytest.approx(0.03)
    other = head.replace("20k rows", "Start").replace("60k rows", "Build") + rows
    assert "1 dataset" in read(tmp_path, other, "time", name="t.md").how_read
