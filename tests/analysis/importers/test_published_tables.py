"""Small tables with what authors print: each was once misread, or had no way on."""

import json

import numpy as np
import pandas as pd
import pytest
from small_tables import ALPHA, BETA, LONG, NAMES, is_wide, read, refused

GRID = "|Model|iris|wine|\n|-|-|-|\n|a|{}|{}|\n|b|{}|{}|\n"


def test_cells_with_several_numbers_are_told_at_once_and_the_command_works(tmp_path):
    table = (
        "|Model|iris|MRPC|CMRC|\n|-|-|-|-|\n|a|81.1|76.2/83.1|74.2 / 90.6|\n|b|79.5|76/83|70/80|\n"
    )
    asked = refused(tmp_path, table, name="t.md")
    assert [x in asked for x in ("number=1;", "number=2;", "unused=MRPC+CMRC")] == [True] * 3
    second = read(tmp_path, table, name="t.md", columns={"number": "2"})
    assert second.scores.T["CMRC"].tolist() == [0.906, 0.8]
    assert "other numbers in `CMRC`" in second.how_read
    left = read(tmp_path, table, name="t.md", columns={"unused": ("MRPC", "CMRC")})
    assert left.datasets == ("iris",)
    only = GRID.format("1/2", "3/4", "5/6", "7/8")
    assert "'1/2' in column 'iris' is 2 numbers" in refused(tmp_path, only, name="t.md")
    assert "no place in a cell" in refused(tmp_path, only, name="t.md", columns={"number": "last"})


def test_what_a_user_left_out_stays_out_in_the_next_command(tmp_path):
    table = "|Model|iris|x|y|\n|-|-|-|-|\n|a|1|2.5/3|8|\n|b|2|3.5/3|9|\n".replace("8|", "2.5/4|")
    asked = refused(tmp_path, table, name="t.md", columns={"unused": "y"})
    assert "unused=y+x" in asked


def test_percent_signs_in_some_cells_only_do_not_change_the_unit(tmp_path):
    mixed = read(tmp_path, GRID.format("9.09%", "5.47%", 11.79, 9.63), "wer", name="t.md")
    assert mixed.scores.to_numpy() == pytest.approx(np.array([[9.09, 11.79], [5.47, 9.63]]))
    few = GRID.format("90%", "50%", "80%", "70%") + "|c|60%|40|\n|d|30%|20%|\n"
    odd = read(tmp_path, few, "gain", name="t.md", greater_is_better=True)
    assert odd.scores.loc["wine"].tolist() == pytest.approx([0.5, 0.7, 40, 0.2])  # another measure
    whole = read(tmp_path, GRID.format("90%", "50%", 0.7, 0.6), name="t.md")
    assert whole.scores.to_numpy() == pytest.approx(np.array([[0.9, 0.7], [0.5, 0.6]]))


def test_bounds_count_as_their_numbers_and_are_told(tmp_path):
    results = read(tmp_path, GRID.format("56%", "< 5%", "90%", "7%"), name="t.md")
    assert results.scores.loc["wine", "a"] == pytest.approx(0.05)
    assert "bounds such as '< 5%' count as their numbers" in results.how_read


def test_dashes_of_any_length_are_no_result(tmp_path):
    results = read(tmp_path, GRID.format(0.5, "-----", 0.6, 0.7), name="t.md")
    assert np.isnan(results.scores.loc["wine", "a"])


def wide(names, *rows):
    head = f"|{'|'.join(names)}|\n|{'-|' * len(names)}\n"
    return head + "".join(f"|{'|'.join(map(str, row))}|\n" for row in rows)


@pytest.mark.parametrize(
    ("table", "metric", "text"),
    [
        (
            wide(
                ["Algo", "Time", "Micro-F1", "Macro-F1"],
                ["a", "52s", 0.6, 0.5],
                ["b", "7s", 0.5, 0.4],
            ),
            "f1",
            "several columns are of f1",
        ),
        (
            wide(
                ["Language", "Val. WER", "Test WER"], ["English", 10.7, 11.3], ["German", 7.4, 8.3]
            ),
            "wer",
            "of one strategy, so there is nothing to compare",
        ),
        (wide(["Entry", "Router", "Calls"], ["a", "✓", 9.5], ["b", "", 8.5]), "calls", "of one"),
        (
            wide(["Kind", "Ratio", "Speed"], ["a", 2.5, "780 MB/s"], ["b", 2.25, "670 MB/s"]),
            "ratio",
            "unclear whether `Kind` names strategies, on one dataset",
        ),
        (
            wide(["Chapter", "size", "BLEU"], ["a", "4k x", 0.5], ["b", "8k x", 0.6]),
            "bleu",
            "of one",
        ),
    ],
    ids=["averages of a metric", "parts of a metric", "signs", "units", "one key"],
)
def test_what_is_of_one_dataset_or_strategy_is_told_and_no_command_goes_astray(
    table, metric, text, tmp_path
):
    asked = refused(tmp_path, table, metric, name="t.md", greater_is_better=True)
    assert text in asked
    command = asked.partition("mlaut report")[2]
    assert "dataset=" not in command
    assert "score=" not in command


def test_ends_of_names_tell_measures_that_are_not_known(tmp_path):
    names = ["Model", "EC Fmax", "GO Fmax", "Eth3d Zeta", "CASF Zeta"]
    table = wide(names, ["a", 0.8, 0.4, 70.5, 80.5], ["b", 0.7, 0.5, 71.5, 81.5])
    results = read(tmp_path, table, "fmax", name="t.md", greater_is_better=True)
    assert results.datasets == ("EC", "GO")
    assert "not used: `Eth3d Zeta` (not of fmax), `CASF Zeta` (not of fmax)" in results.how_read


def test_columns_in_different_units_by_their_names_are_not_mixed(tmp_path):
    table = wide(["Model", "x (s)", "y (Mb)"], ["a", 5.2, 138.4], ["b", 8.8, 319.6])
    assert "`x (s)` is in s, and `y (Mb)` in bytes" in refused(tmp_path, table, "cost", name="t.md")


@pytest.mark.parametrize(
    ("text", "datasets", "strategies"),
    [
        (
            "|iris|wine|\n|-|-|\n|svm|0.5|0.6|\n|forest|0.7|0.8|\n",
            ("iris", "wine"),
            ("svm", "forest"),
        ),
        (
            "|Algo.|X|Y|\n|-|-|-|\n|Env./Model|VP|DDPM|\n|hopper-v2|1.5|2.5|\n|walker-v2|3.5|4.5|\n",
            ("hopper-v2", "walker-v2"),
            ("X / VP", "Y / DDPM"),
        ),
        (
            wide(
                ["MAP", "BM25", "RM3"],
                *[["cifar", 0.1, 0.2], ["mnist", 0.3, 0.4], ["nDCG@20", "BM25", "RM3"]],
                *[["cifar", 0.5, 0.6], ["mnist", 0.7, 0.8]],
            ),
            ("cifar", "mnist"),
            ("BM25", "RM3"),
        ),
        (
            wide(
                ["", "Method", "Dataset", "Dataset"],
                *[["", "", "iris", "wine"], ["K", "a", 1.5, 2.5], ["", "b", 3.5, 4.5]],
            ),
            ("iris", "wine"),
            ("a", "b"),
        ),
    ],
    ids=["without a corner", "second row of words", "blocks", "level called dataset"],
)
def test_rows_of_names_as_authors_write_them(text, datasets, strategies, tmp_path):
    metric = "map" if "MAP" in text else "gain"
    results = read(tmp_path, text, metric, name="t.md", greater_is_better=True)
    assert (results.datasets, results.strategies) == (datasets, strategies)


def test_cells_of_latex_may_have_two_spreads_and_turned_names(tmp_path):
    text = r"""\begin{tabular}{llcc}
& \vspace*{4pt}Method & iris & wine \\
\multirow{2}{*}{\rotatebox{90}{GNN}} & \text{svm} & 50.8 \scriptsize $\pm1.4 \pm 7.1$ & 72.4 \\
& \textsc{tree} & 56.4 \scriptsize $\pm 1.1 \pm 6.6$ & 73.3 \\
\end{tabular}"""
    results = read(tmp_path, text, name="t.tex")
    assert results.scores.to_numpy() == pytest.approx(np.array([[0.508, 0.564], [0.724, 0.733]]))
    assert results.strategies == ("svm", "tree")


def test_a_reading_of_a_chosen_table_is_asked_with_its_number(tmp_path):
    one = "# first\n\n" + wide(["", "p", "q"], ["u", 1.5, 2.5], ["v", 3.5, 4.5]) + "\n"
    text = one + one.replace("first", "second")
    asked = refused(tmp_path, text, "gain", name="t.md", columns={"table": "2"})
    assert "--columns table=2,dataset=unnamed" in asked
    both = refused(tmp_path, text, "gain", name="t.md")
    assert "none is read at once (it is unclear whether rows" in both


def test_a_command_that_an_error_would_cut_is_not_told(tmp_path):
    names = [f"a_long_name_of_column_{i}" for i in range(12)]
    table = pd.DataFrame({"model": ["a", "b"], **{x: [0.25, 0.5] for x in names}})
    asked = refused(tmp_path, table.assign(first_ratio=[0.3, 0.4]))
    assert "unused=first_ratio" in asked
    assert "..." not in asked


def test_an_average_with_a_chinese_name_is_one_though_digits_are_mistyped(tmp_path):
    table = wide(
        ["模型", "iris", "wine", "adult", "平均值"],
        ["a", 90.5, 62.5, 59.5, 70.5],
        ["b", 91, 63, 60, 75],
    )
    assert read(tmp_path, table, name="t.md").datasets == ("iris", "wine", "adult")


def test_scores_in_other_units_are_kept_by_a_command(tmp_path):
    table = wide(["model", "iris", "wine"], ["a", 0.8, 90.5], ["b", 0.7, 89.5])
    asked = refused(tmp_path, table, "recall", name="t.md")
    assert "t.md --metric recall --greater-is-better" in asked or "--columns unused=" in asked


def test_columns_of_statistics_are_no_strategies(tmp_path):
    names = ["Dataset", "('Acc', 'max')", "('Acc', 'min')", "('Acc', 'count')"]
    table = wide(names, ["iris", 0.9, 0.7, 3], ["wine", 0.8, 0.6, 3], ["adult", 0.7, 0.5, 3])
    assert "summarise scores" in refused(tmp_path, table, name="t.md")


def test_a_word_of_two_letters_in_every_cell_is_no_failure(tmp_path):
    table = wide(
        ["Model", "iris", "wine", "trainset"], ["a", 0.9, 0.8, "nc"], ["b", 0.7, 0.6, "nc"]
    )
    assert read(tmp_path, table, name="t.md").datasets == ("iris", "wine")


def test_a_rule_of_markdown_may_have_gaps(tmp_path):
    table = "| Model | iris |\n| --- --- | ----- |\n| a | 0.5 |\n| b | 0.75 |\n"
    assert read(tmp_path, table, name="t.md").strategies == ("a", "b")


def test_columns_of_the_metric_are_offered_first(tmp_path):
    rows = r"Forest & \font-weightbold 0.165 & 0.18 & 1.93 & 1.54 \\ svm & 0.17 & 0.2 & 2 & 1.7 \\"
    head = r"model & \multicolumn{2}{r}{A} & \multicolumn{2}{r}{B} \\ & Zeta & Eta & Zeta & Eta \\"
    text = rf"\begin{{tabular}}{{lllll}} {head} {rows} \end{{tabular}}"
    asked = refused(tmp_path, text, "theta", name="t.tex", greater_is_better=False)
    assert "--columns 'score=A / Eta+B / Eta' --less-is-better; or" in asked
    results = read(tmp_path, text, "zeta", name="t.tex", greater_is_better=False)
    assert results.datasets == ("A", "B")
    assert "`A / Eta` (of eta)" in results.how_read
    long = "|Dataset|Model|1h| |2h| |\n|-|-|-|-|-|-|\n| | |MAPE|RMSE|MAPE|RMSE|\n"
    long += (
        "|x|a|8.5|5.4|9.5|6.4|\n|x|b|8.25|5.5|9.75|6.5|\n|y|a|3.5|2.4|4.5|4.4|\n|y|b|3.6|2|4|4|\n"
    )
    asked = refused(tmp_path, long, "rmse", name="t.md")
    assert "'score=1h / RMSE'; or" in asked
    assert "MAPE" not in asked


def test_the_longest_name_of_a_strategy_counts_beside_a_measure_that_is_not_known(tmp_path):
    names = [
        "Set",
        "kit Zeta",
        "acid Zeta",
        "kit+acid Zeta",
        "kit RMSE",
        "acid RMSE",
        "kit+acid RMSE",
    ]
    table = wide(names, ["u", 0.7, 0.8, 0.9, 1.7, 1.5, 1.3], ["v", 0.6, 0.7, 0.8, 1.9, 1.8, 1.6])
    results = read(tmp_path, table, "rmse", name="t.md", columns={"dataset": "Set"})
    assert results.strategies == ("kit", "acid", "kit+acid")
    assert "`kit+acid Zeta` (of zeta)" in results.how_read


def test_models_run_by_several_programs_are_asked_about(tmp_path):
    table = wide(["model", "fp16", "gptq-int4"], ["llama-7b", 18.8, 25.5], ["gpt-j", 12.5, 29.5])
    asked = refused(tmp_path, table, "tokens", name="t.md", greater_is_better=True)
    assert "columns look like strategies too" in asked
    assert "dataset=model --greater-is-better; or" in asked


def test_logarithms_of_other_columns_are_no_strategies(tmp_path):
    table = pd.DataFrame(
        {"dataset": ["u", "v", "w"], "a": [5.5, 54.5, 57.7], "b": [55.2, 48, 50.3]}
    )
    table = table.assign(**{"log(a)": np.log10(table.a), "log(b)": np.log10(table.b)})
    results = read(tmp_path, table, "seconds", greater_is_better=False)
    assert results.strategies == ("a", "b")
    assert "`log(a)` (a logarithm of another)" in results.how_read


def test_what_is_left_out_is_told_in_the_order_of_the_table(tmp_path):
    scores = np.array([0.51, 0.62, 0.73, 0.84, 0.95, 0.46])
    table = pd.DataFrame({"dataset": list("uvwxyz")} | {f"s{i}": scores - i / 50 for i in range(6)})
    flags = {f"flag_{i}": [0, 1, 0, 1, 1, i % 2] for i in range(6)}
    told = read(tmp_path, table.assign(**flags)).how_read
    places = [told.index(f"`{name}` (only 0 and 1)") for name in flags]
    assert places == sorted(places)


def test_titles_alone_in_their_rows_tell_equal_names_below_apart(tmp_path):
    rows = [["V2", "", ""], ["base", 0.8, 0.9], ["large", 0.7, 0.6]]
    table = wide(["Model", "iris", "wine"], *rows, ["V1", "", ""], ["base", 0.5, 0.4])
    results = read(tmp_path, table, name="t.md")
    assert results.strategies == ("base V2", "large V2", "base V1")
    other = table.replace("|V1|||\n|base|", "|V1|||\n|small|")
    assert read(tmp_path, other, name="u.md").strategies == ("base", "large", "small")


def test_the_test_part_counts_before_a_plain_name_which_is_of_training(tmp_path):
    table = LONG.assign(accuracy=0.99, test_accuracy=LONG["acc"]).drop(columns="acc")
    results = read(tmp_path, table)
    assert is_wide(results)
    assert "`test_accuracy` as accuracy" in results.how_read


@pytest.mark.parametrize("name", ["MEAN", "__aggregate__"])
def test_average_rows_of_a_key_without_a_known_name_are_no_dataset(tmp_path, name):
    means = pd.DataFrame({"disease": name, "model": ["alpha", "beta"], "acc": [0.91, 0.84]})
    table = pd.concat([LONG.rename(columns={"dataset": "disease"}), means])
    results = read(tmp_path, table)
    assert is_wide(results)
    assert f"rows `{name.strip('_')}` (by name no dataset)" in results.how_read


def test_lists_in_cells_do_not_separate_the_cells(tmp_path):
    inner = LONG.assign(inner_scores="0.1:0.9;1.0:0.8")
    results = read(tmp_path, inner)
    assert is_wide(results)
    assert "`inner_scores`" in results.how_read


def test_percent_behind_a_name_is_its_unit(tmp_path):
    table = LONG.assign(acc_pct=100 * LONG["acc"], acc_std_pct=1.5, f1_pct=50.5, f1_std_pct=2.5)
    results = read(tmp_path, table.drop(columns="acc"))
    assert is_wide(results)
    assert "spreads (`acc_std_pct`, median 0.015) are shown" in results.how_read


@pytest.mark.parametrize(
    "names", [("attend_true", "attend_hat"), ("Expected", "Calculated"), ("label", "pred_label")]
)
def test_true_and_predicted_values_are_no_scores(tmp_path, names):
    table = pd.DataFrame({"user": NAMES, "scene": [*"abcabc"], names[0]: 1, names[1]: [0, 1] * 3})
    assert "are true and predicted values of rows, and no scores" in refused(tmp_path, table)


def test_a_number_in_front_of_several_metrics_may_name_the_strategies(tmp_path):
    levels = pd.DataFrame({"kept": [1.0, 0.75, 0.5], "mae": [3, 2, 1], "rmse": [3.5, 2.5, 1.5]})
    assert "--columns strategy=kept" in refused(tmp_path, levels, "rmse")


def test_a_setting_that_is_a_number_may_name_the_strategies(tmp_path):
    table = LONG.assign(share=LONG["model"].map({"alpha": 0.25, "beta": 0.5}), rmse=LONG["acc"])
    table = table.drop(columns=["model", "acc"])
    runs = pd.concat([table.assign(seed=i) for i in (1, 2)])
    assert "--columns strategy=share" in refused(tmp_path, runs, "rmse")


def test_the_mean_of_a_metric_is_offered_where_it_is_the_score(tmp_path):
    table = pd.DataFrame({"strategy_name": NAMES, "Accuracy mean": ALPHA, "Accuracy gain": BETA})
    assert "'strategy=strategy_name,score=Accuracy mean'" in refused(tmp_path, table)


def test_p_values_are_no_scores_beside_those_of_a_test(tmp_path):
    parts = {f"{x}_{y}": ALPHA for x in ("train", "test") for y in ("spearman", "spearman_pval")}
    results = read(tmp_path, pd.DataFrame({"model": NAMES, **parts}), "spearman")
    assert results.scores.shape == (1, 6)


def test_rows_of_each_dataset_in_json_are_its_results(tmp_path):
    rows = [{"model": "alpha", "test_f1": 0.9}, {"model": "beta", "test_f1": 0.8}]
    each = [{"about": {"name": x, "n": 10}, "results": rows, "task": x} for x in NAMES]
    results = read(tmp_path, json.dumps(each), "f1", name="t.json")
    assert results.scores.shape == (6, 2)


def test_lists_of_runs_are_of_the_metric_in_their_name(tmp_path):
    runs = {"r_mean": 0.5, "rmse_mean": 2.5, "r_per_seed": [0.4, 0.5, 0.6], "seeds": [1, 2, 3]}
    text = json.dumps({"xgboost": runs, "svm": runs})
    results = read(tmp_path, text, "r", name="t.json", greater_is_better=True)
    assert results.scores.to_numpy().tolist() == [[0.5, 0.5]]
    assert "no metric 'rmse'" in refused(tmp_path, text, "rmse", name="t.json")
    runs |= {"r_per_seed": [0.4, 0.6], "seeds": [1, 2]}
    means = read(tmp_path, json.dumps({"xgboost": runs, "svm": runs}), "rmse", name="t.json")
    assert means.scores.to_numpy().tolist() == [[2.5, 2.5]]
    folds = {"auc_mean": 0.5, "fold_aucs": [0.4, 0.5, 0.6]}
    text = json.dumps({"xgboost": folds, "svm": folds})
    assert read(tmp_path, text, "auc", name="t.json").scores.shape == (1, 2)
    assert "no metric 'accuracy'" in refused(tmp_path, text, "accuracy", name="t.json")


def test_texts_that_name_nothing_are_no_scores_of_a_table_without_names(tmp_path):
    table = pd.DataFrame({"alpha": ALPHA, "beta": BETA, "size": [*"abcabc"]})
    assert "no column names its rows" in refused(tmp_path, table)


def test_an_answer_keeps_the_score_of_the_question(tmp_path):
    names = {"Embedding strategy": [*"pppqqq"], "Model": [*"aabbaa"], "Rate": [*"rssrrs"]}
    steps = {"Best AUC": ALPHA, "Step10_AUC": BETA, "Step20_AUC": ALPHA}
    table = pd.DataFrame({**names, "Head": [*"uuvuvv"], "Tuning": [*"kllkkk"], **steps})
    asked = refused(tmp_path, table, "auc", columns={"dataset": "Head"})
    assert "score=Best AUC" in asked
