"""Tables of competitions, streams and folders of runs: each was once misread, or had no way on."""

import json

import numpy as np
import pandas as pd
import pytest
from small_tables import read, refused

from mlaut.analysis import read_results
from mlaut.analysis.comparing.shared import compare_shared
from mlaut.errors import AnalysisError

TEAMS = ["Naive", "SES", 118, 245, 72]
SCORES = np.array([[9.2, 4.1, 3.3], [8.1, 3.9, 3.1], [6.4, 2.2, 2.9], [6.8, 2.5, 2.7], [7, 2, 2.8]])


def frequencies(other="MASE", of=("Yearly", "Monthly", "Daily")):
    """Return scores of teams with two measures above the datasets, each with a mean of its own."""
    values = np.column_stack(
        [SCORES, SCORES @ [0.2, 0.3, 0.5], SCORES / 2, SCORES @ [0.2, 0.1, 0.2]]
    )
    names = [(x, y) for x in ("sMAPE", other) for y in (*of, "Total")]
    table = pd.DataFrame(values[:, : len(names)], columns=pd.MultiIndex.from_tuples(names))
    table.insert(0, ("Method", "User ID"), TEAMS)
    return table


@pytest.mark.parametrize("of", [("Yearly", "Monthly", "Daily"), ("Macro", "Micro", "Finance")])
def test_ids_of_teams_name_strategies_and_totals_are_no_datasets(of):
    results = read_results(frequencies(of=of), "sMAPE")
    assert results.datasets == of
    assert results.strategies == ("Naive", "SES", "118", "245", "72")
    assert results.scores.loc[of[0], "118"] == 6.4
    assert "`sMAPE / Total` (by its name a summary)" in results.how_read


def test_a_rank_among_columns_of_the_metric_is_no_dataset():
    table = frequencies()
    table["Overview", "General Rank (sMAPE)"] = [5, 4, 1, 2, 3]
    results = read_results(table, "sMAPE")
    assert results.datasets == ("Yearly", "Monthly", "Daily")


def test_sheets_that_measure_the_same_twice_are_not_joined(tmp_path):
    path = tmp_path / "t.xlsx"
    with pd.ExcelWriter(path) as book:
        for sheet, name in (("A", "Yearly"), ("B", "Year")):
            columns = ["team", name, "Monthly" + sheet, "Daily" + sheet]
            table = pd.DataFrame([[x, *y] for x, y in zip("abcde", SCORES, strict=True)])
            table.set_axis(columns, axis=1).to_excel(book, sheet_name=sheet, index=False)
    with pytest.raises(AnalysisError, match="it has 2 tables"):
        read_results(path, "rmse")


def test_times_of_a_training_that_each_dataset_has_for_itself_are_no_datasets(tmp_path):
    rows = [(d, m, s) for d, n in (("iris", 10), ("wine", 15)) for m in "ab" for s in (n, 2 * n)]
    table = pd.DataFrame(rows, columns=["dataset", "model", "step"])
    table["accuracy"] = np.linspace(0.5, 0.9, len(table))
    asked = refused(tmp_path, table)
    first, second = asked.index("last=step"), asked.index("dataset=dataset+step")
    assert "of one training at several times" in asked
    assert first < second
    results = read(tmp_path, table, columns={"last": "step"})
    assert results.scores.shape == (2, 2)
    assert results.scores.loc["iris", "a"] == table["accuracy"][1]


def test_a_row_with_the_means_of_each_file_proves_that_rows_are_datasets(tmp_path):
    for name, shift in (("small", 0.0), ("large", 0.1)):
        (tmp_path / name).mkdir()
        scores = [0.5 + shift, 0.7 + shift, 0.6 + shift]
        table = pd.DataFrame({"Row Names": ["bottle", "cable", "Mean"], "auroc": scores})
        table.to_csv(tmp_path / name / "results.csv", index=False)
    results = read_results(tmp_path, "auroc")
    assert results.datasets == ("bottle", "cable")
    assert {*results.strategies} == {"small", "large"}


def test_columns_of_zeros_with_spreads_are_scores(tmp_path):
    text = "|Task|BC|EDAC|DT|\n|-|-|-|-|\n"
    text += "".join(f"|ant-{x}|{x}.5 ± 0.1|0.00 ± 0.00|1{x}.2 ± 0.3|\n" for x in range(1, 7))
    path = tmp_path / "t.md"
    path.write_text(text, encoding="utf-8")
    results = read_results(path, "reward")
    assert results.strategies == ("BC", "EDAC", "DT")


def test_tables_whose_rows_have_the_same_names_are_asked_about_together(tmp_path):
    tables = [("FB15K", 0.1), ("WN18", 0.2), ("Yago", 0.3)]
    rows = ("RESCAL", "DistMult", "ComplEx", "TuckER")
    parts = []
    for heading, shift in tables:
        lines = [f"## {heading}", "", "| |MRR|Hits@1|", "|-|-|-|"]
        each = enumerate(rows if heading != "Yago" else rows[2:3])
        lines += [f"|{name}|{0.1 * i + shift:.3f}|{0.2 * i:.3f}|" for i, name in each]
        parts.append("\n".join(lines))
    path = tmp_path / "t.md"
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    with pytest.raises(AnalysisError, match="MRR --columns table=all;"):
        read_results(path, "MRR")
    for columns in ({"table": "all"}, {"table": "all", "strategy": "unnamed"}):
        results = read_results(path, "MRR", columns=columns)
        assert results.datasets == ("FB15K", "WN18", "Yago")  # with the one of one strategy
        assert results.strategies == rows


def test_a_metric_on_a_logarithmic_scale_has_its_direction(tmp_path):
    table = pd.DataFrame({"dataset": ["iris", "wine"] * 2, "model": [*"aabb"]})
    table = table.assign(MAE_log10=[0.1, 0.2, 0.3, 0.4], MAE_linear=[1, 2, 3, 4])
    results = read(tmp_path, table, metric="MAE_log10")
    assert not results.metric.greater_is_better
    assert results.scores.loc["wine", "b"] == 0.4


def test_a_measure_between_two_parts_of_a_name_is_the_wanted_one(tmp_path):
    text = r"""\begin{tabular}{lcccc@{\hspace{4mm}}cc}
\multicolumn{1}{l}{Approach} & \multicolumn{2}{c}{MS-COCO FID} & \multicolumn{2}{c}{LN-COCO FID} \\
 & Whole & Half & Whole & Half \\
A & $\sim$28 & 6.82 & 33.59 & 16.48 \\
B & 27.1 & 9.33 & 31.0 & 14.12 \\
\end{tabular}"""
    path = tmp_path / "t.tex"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AnalysisError, match=r"MS-COCO FID / Half\+LN-COCO FID / Half"):
        read_results(path, "FID")
    results = read_results(path, "FID", columns={"score": "*FID / Whole"})
    assert results.scores["A"].tolist() == [28, 33.59]


def test_shared_datasets_of_known_sources_are_compared_by_source():
    table = pd.DataFrame(
        {"dataset": [f"d{i}" for i in range(6)], "source": [*"uuvvww"], "a": [1.0, 2, 3, 4, 5, 6]}
    )
    table = table.assign(b=table["a"] + 1, c=[1.0, *[np.nan] * 4, 2])
    results = read_results(table, "rmse")
    assert results.n_sources == 3
    shared = compare_shared(results)
    assert shared.frame.loc[("a", "b"), ["datasets", "won"]].tolist() == [3, 3]
    assert "come first" in shared.notes[-1]


def test_columns_with_one_ending_are_spreads_where_all_are_far_smaller(tmp_path):
    values = np.linspace(0.7, 0.9, 12).reshape(4, 3)
    table = pd.DataFrame(values, columns=["reg", "us", "os"], index=[*"abcd"])
    for name in ("reg", "us", "os"):
        table[name + "d"] = table[name] / 10
    table = table[["reg", "regd", "us", "usd", "os", "osd"]].rename_axis("dataset")
    results = read(tmp_path, table)
    assert results.strategies == ("reg", "us", "os")
    assert results.spreads.ravel() == pytest.approx(values.ravel() / 10)
    assert "spreads (`regd`, `usd`, `osd`" in results.how_read
    larger = table.assign(regd=table["reg"], usd=table["us"], osd=table["os"])
    assert len(read(tmp_path, larger).strategies) == 6


def test_whole_spreads_in_brackets_are_of_the_last_digits(tmp_path):
    text = "|Model|iris|wine|Avg|\n|-|-|-|-|\n|a|0.925(08)|0.81(12)|0.87|\n|b|0.9(1)|0.7(2)|0.8|\n"
    results = read(tmp_path, text, name="t.md")
    assert results.spreads[0, :, 0, 0].tolist() == pytest.approx([0.008, 0.1])
    assert results.spreads[1, :, 0, 0].tolist() == pytest.approx([0.12, 0.2])


def test_numbered_headings_with_the_word_all_name_datasets(tmp_path):
    heads = ("1. PTB: all statements", "2. PTB: rhythm")
    parts = [
        f"## {head}\n\n|Model|AUC|\n|-|-|\n|cnn|0.9{i}|\n|lstm|0.8{i}|\n"
        for i, head in enumerate(heads)
    ]
    assert read(tmp_path, "\n\n".join(parts), metric="AUC", name="t.md").datasets == heads


def test_rows_named_by_hashes_are_datasets(tmp_path):
    table = pd.DataFrame(SCORES, columns=["kissat", "cadical", "lingeling"])
    table.insert(0, "hash", [f"{i:04x}d8{i}" for i in range(5)])
    assert read(tmp_path, table, metric="runtime").strategies == ("kissat", "cadical", "lingeling")


def test_versions_name_rows_rather_than_dates(tmp_path):
    table = pd.DataFrame(SCORES, columns=["CVRP", "VRPTW", "VRPB"])
    table.insert(0, "Version", [f"0.{i}.0" for i in range(5)])
    table.insert(0, "Date", [f"1{i} May 2026" for i in range(5)])
    assert "strategy=Version" in refused(tmp_path, table, metric="gap")


def test_two_metrics_below_each_dataset_are_told_apart(tmp_path):
    head = "<tr><td>Dataset</td><td>SCOTUS</td><td>LEDGAR</td><td>HOLD</td></tr>"
    names = "<tr><td>Model</td>" + "<td>μ-F1 / m-F1</td>" * 3 + "</tr>"
    rows = [("BERT", "68.3 / 58.3", "87.6 / 81.8", "70.8"), ("SVM", "71.6 / 62", "87.9 / 82", "71")]
    cells = "".join("<tr>" + "".join(f"<td>{x}</td>" for x in row) + "</tr>" for row in rows)
    results = read(tmp_path, f"<table>{head}{names}{cells}</table>", "micro-f1", name="t.html")
    assert results.datasets == ("SCOTUS", "LEDGAR", "HOLD")
    assert results.scores["BERT"].tolist() == [0.683, 0.876, 0.708]


def test_numbers_beyond_a_known_range_are_kept_where_the_direction_is_given(tmp_path):
    table = pd.DataFrame({"dataset": [*"abc"], "svm": [1.3, 0.2, 4.4], "knn": [2.5, 3.1, 0.9]})
    assert "--greater-is-better" in refused(tmp_path, table, metric="micro-f1")
    results = read(tmp_path, table, metric="micro-f1", greater_is_better=True)
    assert results.scores.loc["c", "svm"] == 4.4


def test_both_parts_of_a_name_are_read_where_they_cross(tmp_path):
    scores = {
        f"{d}+{m}": {"acc": 0.5 + i / 20, "f1": 0.5, "recall": 0.4, "maps": [1, 2]}
        for i, (d, m) in enumerate(
            (d, m) for d in ("apples", "grapes", "plums") for m in ("yolo-n", "yolo-s")
        )
    }
    results = read(tmp_path, json.dumps(scores), name="t.json")
    assert results.datasets == ("apples", "grapes", "plums")
    assert results.strategies == ("yolo-n", "yolo-s")
    assert "`level 1 before +`" in results.how_read
    assert "`maps`" in results.how_read


def test_pages_of_a_folder_of_results_and_commands_of_runs_are_no_settings(tmp_path):
    for i, name in enumerate(("ppo", "dqn")):
        (tmp_path / name).mkdir()
        rows = [
            (b, 0.5 + (i + j + k) / 9, "opt " + "-pass " * (20 + 4 * i + 2 * k + j))
            for k, b in enumerate("ab")
            for j in range(2)
        ]
        table = pd.DataFrame(rows, columns=["benchmark", "reward", "commandline"])
        table.to_csv(tmp_path / name / "results.csv", index=False)
    page = tmp_path / "ppo" / "README.md"
    page.write_text("|CPU|RAM|\n|-|-|\n|x|1 GB|\n", encoding="utf-8")
    with pytest.raises(AnalysisError, match="columns repeat=rows"):
        read_results(tmp_path, "reward")
    results = read_results(tmp_path, "reward", columns={"repeat": "rows"})
    assert results.scores.shape == (2, 2)
    assert "README.md" in results.how_read


def test_names_of_files_lose_the_strategy_that_a_column_has(tmp_path):
    for i, (data, name) in enumerate(
        (d, m) for d in ("imdb", "au_news") for m in ("gpboost", "ohe")
    ):
        table = pd.DataFrame({"experiment": [0, 1], "exp_type": name, "mse": [0.1 * i, 0.2 + i]})
        table.to_csv(tmp_path / f"res_{data}_{name}.csv", index=False)
    results = read_results(tmp_path, "mse")
    assert results.strategies == ("gpboost", "ohe")
    assert {*results.datasets} == {"res_imdb", "res_au_news"}
    assert "means of 2 repeats (`experiment`)" in results.how_read


def test_an_error_of_a_program_is_a_failure_with_or_without_a_number(tmp_path):
    rows = [("iris", "a", "1.5"), ("iris", "b", "2.5"), ("wine", "a", "RuntimeError")]
    rows += [("wine", "b", "3.5"), ("glass", "a", "9.5 [ERROR]"), ("glass", "b", "0.5")]
    results = read(tmp_path, pd.DataFrame(rows, columns=["dataset", "solver", "rmse"]), "rmse")
    assert results.scores["a"].isna().tolist() == [False, True, True]
    assert "failed: 2 'failed'" in results.how_read


def test_configurations_at_which_all_methods_stand_may_be_datasets(tmp_path):
    rows = [(m, f"C{i}", 0.5 + i / 10) for m in ("ACO", "VRP", "CBS") for i in range(4)]
    table = pd.DataFrame(rows, columns=["method", "config_name", "reward"])
    asked = refused(tmp_path, table, metric="reward")
    assert "dataset=config_name" in asked
    assert "strategy=method+config_name" in asked


def test_two_columns_that_may_name_strategies_are_asked_about(tmp_path):
    each = [(d, m, a) for d in ("iris", "mnist") for m in ("ncar", "nar") for a in ("AUM", "RF")]
    table = pd.DataFrame(each, columns=["dataset", "method", "algorithm"])
    asked = refused(tmp_path, table.assign(auc=np.linspace(0.5, 0.9, len(each))), metric="auc")
    assert "dataset=dataset+method,strategy=algorithm" in asked


def test_rows_of_counts_are_no_datasets_and_no_strategies(tmp_path):
    rows = [
        "|Species|GLM|BRT|",
        "|-|-|-|",
        *[f"|s{i}|0.8{i} ± 0.02|0.9{i} ± 0.03|" for i in range(6)],
    ]
    text = "\n".join([*rows, "|**Mean**|0.82|0.92|", "|No. of species best|0|6|", ""])
    results = read(tmp_path, text, metric="AUC", name="t.md")
    assert results.datasets == tuple(f"s{i}" for i in range(6))
    assert "row `No. of species best` (a size)" in results.how_read
    turned = "|Model|Leeds|Oxford|\n|-|-|-|\n|N (events)|2314 (187)|1108 (96)|\n"
    turned += "|NEWS|0.7|0.8|\n|SOFA|0.6|0.7|\n"
    assert read(tmp_path, turned, metric="AUC", name="u.md").strategies == ("NEWS", "SOFA")


def test_ends_of_intervals_are_no_spreads_and_bootstraps_are_repeats(tmp_path):
    each = [(d, m, b) for d in ("a", "b", "c") for m in ("svm", "knn") for b in range(4)]
    table = pd.DataFrame(each, columns=["dataset", "model", "bootstrap"])
    table = table.assign(auc=np.linspace(0.6, 0.9, len(each)), auc_lower=0.5, auc_upper=0.95)
    results = read(tmp_path, table, metric="auc")
    assert results.spreads is None
    assert "means of 4 repeats (`bootstrap`)" in results.how_read
    assert "`auc_lower` (an end of an interval)" in results.how_read


def test_thousands_stand_before_units_beside_whole_numbers(tmp_path):
    rows = [("q1", "253ms", "1,662ms"), ("q2", "114ms", "2,361ms"), ("q3", "430ms", "TIMEOUT (9s)")]
    table = pd.DataFrame(rows, columns=["query", "duck", "row store"])
    results = read(tmp_path, table, metric="runtime")
    assert results.scores.loc["q1", "row store"] == 1662
    assert "failed: 1 'timeout'" in results.how_read


def test_a_column_is_not_added_to_the_keys_that_a_user_names(tmp_path):
    each = [(d, m, b) for d in ("a", "b", "c") for m in ("svm", "knn") for b in (17, 18)]
    table = pd.DataFrame(each, columns=["dataset", "model", "batch"])
    table = table.assign(auc=np.linspace(0.6, 0.9, len(each)))
    asked = refused(
        tmp_path, table, metric="auc", columns={"dataset": "dataset", "strategy": "model"}
    )
    assert "differ in `batch`" in asked
    assert "strategy=model+batch" in asked


def test_metrics_of_ecology_and_times_with_units_have_their_direction(tmp_path):
    table = pd.DataFrame(
        {"dataset": [*"aabb"], "model": ["x", "y"] * 2, "TSS": [0.5, 0.6, 0.7, 0.8]}
    )
    assert read(tmp_path, table, metric="TSS").metric.greater_is_better
    times = table.rename(columns={"TSS": "time_sec"})
    assert not read(tmp_path, times, metric="time_sec").metric.greater_is_better


def test_a_metric_with_its_interval_is_known_below_other_names():
    names = [(x, y) for x in ("Internal", "External") for y in ("AUROC (95% CI)", "Brier Score")]
    table = pd.DataFrame([[0.8, 0.1, 0.7, 0.2], [0.9, 0.2, 0.6, 0.3]], columns=names)
    table.columns = pd.MultiIndex.from_tuples(names)
    table.insert(0, ("", "Model"), ["XGBoost", "SVM"])
    results = read_results(table, "auroc")
    assert results.datasets == ("Internal", "External")
    assert results.scores["XGBoost"].tolist() == [0.8, 0.7]


def test_lists_of_scores_in_files_of_a_folder_are_read(tmp_path):
    for name, shift in (("duck", 0.0), ("click", 0.5)):
        content = {"system": name, "qps": 3.5, "result": [[1.5 + shift, 1.2], [2.5 + shift, 2.2]]}
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(AnalysisError, match="strategy=file"):
        read_results(tmp_path, "result", greater_is_better=False)


@pytest.mark.parametrize("gap", ["", "failed"])
def test_a_fold_that_one_strategy_lacks_takes_no_dataset_out(gap, tmp_path):
    each = [(d, m, f) for d in ("a", "b", "c") for m in ("svm", "knn") for f in range(5)]
    table = pd.DataFrame(each, columns=["dataset", "model", "fold"])
    scores = np.linspace(0.5, 0.9, len(each)).round(3).astype(object)
    scores[7] = gap
    results = read(tmp_path, table.assign(auc=scores), metric="auc")
    if gap:
        assert "failed: 1 'failed'" in results.how_read
        assert results.missing[["dataset", "strategy"]].to_numpy().tolist() == [["a", "knn"]]
        return
    assert "1 fold left out on 1 dataset, without result of knn" in results.how_read
    assert len(results.missing) == 0
    assert results.scores.loc["a", "svm"] == pytest.approx(
        scores[[0, 1, 3, 4]].astype(float).mean()
    )
    assert results.scores.loc["b", "svm"] == pytest.approx(scores[10:15].astype(float).mean())


def test_titles_above_the_same_strategies_are_parts_of_the_datasets(tmp_path):
    parts = [("Mortality", (0.7, 0.8), (0.6, 0.9)), ("Stroke", (0.5, 0.7), (0.4, 0.6))]
    lines = ["|Model|Leeds|Oxford|", "|-|-|-|"]
    for title, svm, boost in parts:
        lines += [
            f"|**{title}**|||",
            f"|SVM|{svm[0]}|{svm[1]}|",
            f"|XGBoost|{boost[0]}|{boost[1]}|",
        ]
    results = read(tmp_path, "\n".join(lines) + "\n", metric="AUC", name="t.md")
    assert results.strategies == ("SVM", "XGBoost")
    assert results.scores.loc["Stroke: Oxford"].tolist() == [0.7, 0.6]


def test_an_average_that_a_paper_claims_is_no_dataset(tmp_path):
    text = "|Methods|Origin|Avg|A → W|D → W|W → A|\n|-|-|-|-|-|-|\n"
    text += "|DANN|82.2|85.0|91.0|98.0|66.0|\n|MDD|88.9|90.0|95.0|99.0|76.0|\n"
    text += "|ERM|-|80.0|80.0|95.0|65.0|\n"
    results = read(tmp_path, text, name="t.md")
    assert results.datasets == ("A → W", "D → W", "W → A")
    assert "`Origin` (an average that others claim, by its name)" in results.how_read


def test_marks_that_tell_names_apart_leave_no_links_in_them(tmp_path):
    names = [
        "[BEiT](https://x.org/a.pt)",
        r"[BEiT](https://x.org/a.pt)$\tiny{\square}$",
        "[Swin](u)",
    ]
    rows = [f"|{name}|0.{i}1|0.{i}2|0.{i}4|" for i, name in enumerate(names, 1)]
    text = "\n".join(["|Model|KITTI|Sintel|DIW|", "|-|-|-|-|", *rows, ""])
    results = read(tmp_path, text, metric="AbsRel", name="t.md", greater_is_better=False)
    assert len(results.strategies) == 3
    assert not any("https" in name for name in results.strategies)


def test_names_with_the_letters_of_an_end_keep_their_spreads(tmp_path):
    values = {"slow": [0.8, 0.7, 0.9], "slow_std": [0.1, 0.2, 0.1]}
    values |= {"minirocket": [0.9, 0.8, 0.7], "minirocket_std": [0.02, 0.01, 0.03]}
    results = read(tmp_path, pd.DataFrame({"dataset": [*"abc"], **values}))
    assert results.strategies == ("slow", "minirocket")
    assert results.spreads[:, 0, 0, 0].tolist() == [0.1, 0.2, 0.1]
