"""Tables of runs and of two levels: what names rows, what is a score, and what is neither."""

import re

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import read_results
from mlaut.errors import AnalysisError
from tests.analysis.small_tables import read, refused

RNG = np.random.default_rng(0)
SETS = [f"s{i}.arff" for i in range(8)]


def runs(**levels):
    """Return a table with a row for each combination of levels, and a score."""
    index = pd.MultiIndex.from_product(levels.values(), names=list(levels))
    table = index.to_frame(index=False)
    return table.assign(score_x=RNG.uniform(0.5, 0.9, len(table)).round(4))


def test_times_of_two_levels_are_scores_where_seconds_are_asked_for(tmp_path):
    text = "Benchmark,slow,,,fast,,\n,Val,Status,Time,Val,Status,Time\n"
    text += "".join(f"b{i},{90 + i},True,{i}.5,{70 + i},False,{i}.25\n" for i in range(1, 6))
    results = read(tmp_path, text, "seconds", name="t.csv")
    assert results.scores.loc["b2"].to_dict() == {"slow": 2.5, "fast": 2.25}


def test_differences_and_the_best_of_others_are_no_strategies(tmp_path):
    table = pd.DataFrame(RNG.uniform(0.5, 0.9, (8, 4)).round(3), columns=list("ABCD"))
    table.insert(0, "dataset", SETS)
    results = read(tmp_path, table.assign(E=(table.A - table.B).round(3)))
    assert results.strategies == tuple("ABCD")
    assert "`E` (a ratio or a difference of two others)" in results.how_read
    results = read(tmp_path, table.assign(MAX=table[list("ABCD")].max(axis=1)))
    assert results.strategies == tuple("ABCD")
    assert "`MAX` (the best of the others in each row)" in results.how_read


def test_the_mean_of_a_metric_is_it_and_no_maximum_is_a_spread(tmp_path):
    table = runs(dataset=SETS, model=["a", "b"]).rename(columns={"score_x": "RMSE_mean"})
    table = table.assign(RMSE_sd=0.1, MAE_mean=0.3 + table.index / 100, MAE_sd=0.2)
    results = read(tmp_path, table, "rmse")
    assert results.spreads.max() == pytest.approx(0.1)
    assert "spreads (`RMSE_sd`," in results.how_read
    assert "`MAE_sd` (a spread)" in results.how_read
    table = table.rename(columns={"RMSE_sd": "RMSE_max"}).drop(columns=["MAE_mean", "MAE_sd"])
    assert read(tmp_path, table, "rmse").spreads is None


def test_columns_with_the_metric_in_their_names_are_read_beside_others(tmp_path):
    table = pd.DataFrame({"corpus": SETS, "share": np.arange(8) % 3 + 1})
    for name in ("base_miou", "aux_miou", "base_pixels"):
        table[name] = RNG.uniform(40, 60, 8).round(2)
    results = read(tmp_path, table, "miou", greater_is_better=True)
    assert (results.datasets, results.strategies) == ((*SETS,), ("base", "aux"))
    assert "`base_pixels` (not of miou)" in results.how_read
    table = table.rename(columns={"base_pixels": "base_miou__max"})  # of base_miou
    results = read(tmp_path, table, "miou", greater_is_better=True)
    assert results.strategies == ("base", "aux")
    assert "`base_miou__max` (a spread)" in results.how_read


def test_a_column_called_as_the_metric_is_the_score(tmp_path):
    table = pd.DataFrame({"tool": list("abc"), "ARI": [0.8, 0.9, 0.7], "purity": [0.7, 0.9, 0.6]})
    results = read(tmp_path, table, "ARI", greater_is_better=True)
    assert (results.strategies, len(results.datasets)) == (tuple("abc"), 1)
    assert results.how_read.endswith("`ARI` as it stands; not used: `purity`.")


def test_names_of_single_runs_name_no_strategies(tmp_path):
    table = runs(subject=["p1", "p2", "p3"], model=["lin", "net"], seed=[7, 8])
    table["variant"] = table.model + "_seed" + table.seed.astype(str)
    results = read(tmp_path, table, "score_x", greater_is_better=True)
    assert results.strategies == ("lin", "net")
    assert "means of 2 repeats (`seed`)" in results.how_read


def test_settings_that_differ_among_repeated_rows_are_in_the_command(tmp_path):
    table = runs(dataset=SETS[:2], model=["a", "b"], rate=[0.1, 0.2], again=[0, 1, 2])
    table = table.drop(columns="again")
    asked = refused(tmp_path, table[:-1], "score_x", greater_is_better=True)
    assert "they differ in rate: if these are settings" in asked
    assert "strategy=model+rate,dataset=dataset,repeat=rows --greater-is-better; or" in asked
    assert asked.endswith("dataset=dataset,strategy=model,repeat=rows --greater-is-better")
    results = read(tmp_path, table, "score_x", greater_is_better=True)  # as many of each
    assert "Read: 4 datasets (`dataset` + `rate`) of 2 sources (`dataset`)" in results.how_read
    assert "; means of 3 repeats (`row`)" in results.how_read
    assert "strategy=model+rate,repeat=rows --greater-is-better`" in results.how_read


def test_as_many_rows_of_each_cell_are_repeats_beside_what_was_measured(tmp_path):
    table = runs(dataset=SETS[:2], model=["a", "b"], again=[0, 1, 2]).drop(columns="again")
    table["memory_mb"] = np.arange(100.5, 112.5)
    training = table.assign(score_x=np.nan, task="training")
    table = pd.concat([table.assign(task="inference"), training], ignore_index=True)
    results = read(tmp_path, table, "score_x", greater_is_better=True)
    assert (len(results.datasets), results.strategies) == (2, ("a", "b"))
    assert "means of 3 repeats (`row`)" in results.how_read
    assert "not used: 12 rows without `score_x`" in results.how_read


def test_the_seed_of_each_row_does_not_hide_its_settings(tmp_path):
    table = runs(algo=["a", "b"], rate=[1, 2, 3, 4, 5], gamma=[0.9, 0.99])
    table["seed"] = np.arange(100, 120)
    asked = refused(tmp_path, table, "score_x", greater_is_better=True)
    assert "differ in `rate` + `gamma`" in asked


def test_one_strategy_stays_one_where_a_test_tells_its_rows_apart(tmp_path):
    table = runs(method=["only"], dataset=["x", "y"], test=["t1", "t2", "t3"])
    asked = refused(tmp_path, table, "score_x", greater_is_better=True)
    assert "differ in `test`: are the strategies 'only t1' and 'only t2', or" in asked


def test_sheets_of_one_form_are_asked_about_and_rows_without_a_name_are_left_out(tmp_path):
    pytest.importorskip("openpyxl")
    head = [["", "", "one", "", "two", ""], ["Instance", "n", *["CAB", "DEV"] * 2]]
    rows = [[f"g{i}", 50 + i, 40 + i, 0.1 * i, 30 + i, 0.2 * i] for i in range(6)]
    ends = [["", "", 42.5, 0.25, 32.5, 0.5], ["# BEST", "", 6, "", 0, ""]]
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        for sheet in ("Paths", "Cycles"):
            table = pd.DataFrame(head + rows + ends)
            table.to_excel(book, sheet_name=sheet, index=False, header=False)
    given = {"greater_is_better": True}
    with pytest.raises(AnalysisError, match="it has 2 tables"):
        read_results(path, "CAB", **given)
    results = read_results(path, "CAB", columns={"table": "1"}, **given)
    assert (results.scores.shape, results.strategies) == ((6, 2), ("one", "two"))
    assert "rows without a name, row `# BEST`" in results.how_read


def test_the_metric_that_is_asked_for_may_name_rows(tmp_path):
    text = "index,XGBoost,Ridge\nDB (↓),0.5,0.6\nXB (↓),0.4,0.3\nDBCV (↑),0.1,0.2\n"
    for name in ("d1", "d2"):
        (tmp_path / "folder").mkdir(exist_ok=True)
        (tmp_path / "folder" / f"{name}.csv").write_text(text, encoding="utf-8")
    results = read_results(tmp_path / "folder", "DB", greater_is_better=False)
    assert (results.datasets, results.scores.loc["d1"].tolist()) == (("d1", "d2"), [0.5, 0.6])


def test_horizons_are_of_datasets_and_the_other_reading_is_told(tmp_path):
    table = runs(model=["one", "two"], horizon=["15min", "30min", "60min"])
    results = read(tmp_path, table.rename(columns={"score_x": "mae"}), "mae")
    assert (results.strategies, len(results.datasets)) == (("one", "two"), 3)
    assert results.how_read.endswith("--columns strategy=model+horizon`.")


def test_several_sets_to_test_on_are_datasets_without_those_of_validation(tmp_path):
    table = runs(experiment=["one", "two"], split=["dev", "test-clean", "test-other"])
    results = read(tmp_path, table.rename(columns={"score_x": "wer"}), "wer")
    assert results.datasets == ("test-clean", "test-other")
    assert "rows of dev" in results.how_read


def test_the_name_of_each_run_is_no_repeat_of_a_method(tmp_path):
    table = pd.DataFrame({"run_id": [f"q{i}" for i in range(6)], "model": ["m", "n"] * 3})
    table = table.assign(method=["sft", "sft", "rl", "rl", "rl", "base"])
    for name in ("gsm8k", "math500", "aime24"):
        table[name] = RNG.uniform(0.2, 0.8, 6).round(3)
    results = read(tmp_path, table)
    assert results.strategies == tuple(table.run_id)


def test_two_words_for_strategies_are_asked_about_where_a_number_is_between_them(tmp_path):
    table = runs(variant=["p", "q"], N=[1, 4, 16], method=["a", "b", "c"])
    asked = refused(tmp_path, table, "score_x", greater_is_better=True)
    assert "`variant` and `method` may both name strategies, or one the datasets" in asked
    assert "--columns dataset=variant+N,strategy=method --greater-is-better" in asked


def test_lists_in_cells_name_no_datasets(tmp_path):
    table = runs(method=["a", "b"], share=[0.0, 0.1, 0.3], seed=[0, 1, 2])
    table.insert(2, "bad", [f"[{', '.join('123'[: int(10 * x)])}]" for x in table["share"]])
    results = read(tmp_path, table, "score_x", greater_is_better=True)
    assert results.datasets == ("0", "0.1", "0.3")
    assert "not used: `bad`" in results.how_read


def test_an_average_over_classes_is_of_the_metric(tmp_path):
    table = runs(dataset=SETS, model=["a", "b"]).rename(columns={"score_x": "f1_macro"})
    table["auroc_macro"], table["val_precision_weighted"] = table["f1_macro"], 0.5
    assert "`f1_macro` as it stands" in read(tmp_path, table, "f1").how_read
    shown = read(tmp_path, table.assign(precision_micro=0.4), "precision").how_read
    assert "`precision_micro` as precision" in shown  # of the test part
    asked = refused(tmp_path, table.assign(f1_weighted=table["f1_macro"] / 2), "f1")
    assert re.findall(r"--metric (\w+)", asked) == ["f1_macro", "f1_weighted"]
    both = {"score": ["f1_macro", "auroc_macro"], "dataset": "dataset", "strategy": "model"}
    asked = refused(tmp_path, table, "f1", columns=both)
    assert "--columns score=f1_macro,dataset=dataset,strategy=model" in asked


def test_ways_to_split_are_conditions_and_no_folds(tmp_path):
    table = runs(dataset=SETS[:2], model=["a", "b"], split=["random", "time"])
    results = read(tmp_path, table, "score_x", greater_is_better=True)
    assert (len(results.datasets), results.strategies) == (4, ("a", "b"))
    numbered = table.assign(split=["split 1", "split 2"] * 4)
    results = read(tmp_path, numbered, "score_x", greater_is_better=True)
    assert "means of 2 folds (`split`)" in results.how_read


def test_calls_are_strategies_and_files_with_data_are_datasets(tmp_path):
    options = ["depth=none", "deep=True", "SVC()", "Ridge(alpha=1)"]
    table = pd.DataFrame({"what": options, "accuracy": [0.5, 0.6, 0.7, 0.8]})
    assert len(read(tmp_path, table).strategies) == 4
    table = pd.DataFrame({"name": [f"bayes_{i}.arff" for i in range(3)]})
    table["u"], table["v"] = [0.5, 0.6, 0.7], [0.6, 0.5, 0.4]
    assert read(tmp_path, table).strategies == ("u", "v")


def test_texts_without_a_number_are_left_out_beside_the_metric(tmp_path):
    table = pd.DataFrame(
        {"id": range(4), "path": ["1.5,-2.5,0.5", "2.5,3.5,-4", "1.5,2,4", "2.5,4,4.5"]}
    )
    table["old_dice"], table["new_dice"] = [0.5, 0.6, 0.7, 0.4], [0.6, 0.7, 0.5, 0.8]
    how = {"greater_is_better": True, "columns": {"strategy": "columns"}}
    results = read(tmp_path, table, "dice", **how)
    assert len(results.strategies) == 2
    assert "`path` (several numbers in a cell)" in results.how_read


def test_a_list_of_rows_beside_a_summary_is_the_table_of_json():
    rows = [{"tool": x, "data": y, "accuracy": 0.5} for x in "ab" for y in "cd"]
    results = read_results({"summary": {"mean": 0.5}, "rows": rows}, "accuracy")
    assert (results.datasets, results.strategies) == (("c", "d"), ("a", "b"))
    assert "not used: `summary`" in results.how_read


def test_a_difference_of_two_columns_may_lack_a_row(tmp_path):
    table = pd.DataFrame({"dataset": SETS, "a_acc": RNG.uniform(0.5, 0.9, 8).round(4)})
    table["b_acc"] = RNG.uniform(0.5, 0.9, 8).round(4)
    table["a_acc - b_acc"] = (table["a_acc"] - table["b_acc"]).where(table.index > 0)
    results = read(tmp_path, table, "accuracy")
    assert len(results.strategies) == 2
    assert "`a_acc - b_acc` (a ratio or a difference of two others)" in results.how_read


@pytest.mark.parametrize("name", ["loss", "objective", "error"])
def test_a_column_of_texts_is_no_score_whatever_it_is_called(tmp_path, name):
    table = runs(dataset=SETS, backbone=["u", "v", "w"], **{name: ["BPR", "BSL", "PSL"]})
    table = table.rename(columns={"score_x": "recall"})
    results = read(tmp_path, table, "recall")
    assert f"9 strategies (`backbone` + `{name}`)" in results.how_read
    single = table[table[name] == "BPR"]
    numbers = single.assign(**{name: RNG.uniform(0, 9, len(single)).round(3)})
    results = read(tmp_path, numbers, "recall")
    assert results.strategies == ("u", "v", "w")
    assert results.scores.shape == (len(SETS), 3)


def test_rows_that_differ_in_a_text_are_no_silent_repeats(tmp_path):
    table = runs(dataset=SETS, model=["a", "b"], n=range(4)).drop(columns="n")
    places = ["here", "there", "here", "here", *["here", "there", "there", "here"]]
    table["place"] = places * len(SETS)
    asked = refused(tmp_path, table, "score_x", greater_is_better=True)
    assert "they differ in place" in asked
    assert "--columns dataset=dataset,strategy=model,repeat=rows" in asked
    wide = runs(dataset=[*"abcdef"], n=range(4)).drop(columns="n")
    wide = wide.rename(columns={"score_x": "svm"}).assign(knn=wide["score_x"] / 2)
    assert "means of 4 repeats (`row`)" in read(tmp_path, wide).how_read
    dated = wide.assign(date=["May 1", "May 2", "May 3", "May 3"] * 6)
    assert "means of 4 repeats (`row`)" in read(tmp_path, dated).how_read
    asked = refused(tmp_path, wide.assign(place=["here", "there", "here", "there"] * 6))
    assert "several rows for a, which differ in `place`" in asked
    assert "dataset=dataset+place,repeat=rows" in asked


def test_runs_that_differ_in_a_setting_are_asked_about(tmp_path):
    table = runs(dataset=SETS, model=["a", "b"], run=range(4))
    assert "means of 4 repeats" in read(tmp_path, table, "score_x", greater_is_better=True).how_read
    settings = table.assign(loss=["BPR", "BPR", "BSL", "BSL"] * 2 * len(SETS))
    asked = refused(tmp_path, settings, "score_x", greater_is_better=True)
    assert "runs of one `model` differ in `loss`" in asked
    assert "dataset=dataset,strategy=model+loss,repeat=run" in asked
    named = table.assign(called=["w", "x", "y", "z"] * 2 * len(SETS))  # another name of each run
    assert (
        f"{len(SETS)} datasets" in read(tmp_path, named, "score_x", greater_is_better=True).how_read
    )
