"""Tables as they are printed in Markdown, HTML and reStructuredText: corners, spans and parts."""

import json
from itertools import product

import numpy as np
import pytest

from mlaut.analysis.importers.any_table import read_results
from mlaut.analysis.importers.grids.forms.framing import framed
from mlaut.analysis.importers.grids.sheet import QuestionError
from mlaut.errors import AnalysisError
from tests.analysis.small_tables import read, refused

SPANNED = """| | | CIFAR-10 | | | SVHN | |
|-|-|-|-|-|-|-|
| | 40 | 250 | 4000 | 40 | 250 | 1000 |
| Supervised | {} | 95.4±.1 | 95.5 | 97.9 | 97.8 | 97.7 |
| FlexMatch | 95.0 | 95.1 | 95.8 | 91.8±3 | 93.4 | 94.3 |
| UDA | 90.0 | 94.1 | 95.1 | 91.5 | 92.4 | 93.3 |
"""


@pytest.mark.parametrize("first", ["95.3", ""])
def test_names_in_the_middle_of_their_columns_stand_above_each(tmp_path, first):
    results = read(tmp_path, SPANNED.format(first), name="t.md")
    assert results.datasets[:3] == ("CIFAR-10 / 40", "CIFAR-10 / 250", "CIFAR-10 / 4000")
    assert results.datasets[3:] == ("SVHN / 40", "SVHN / 250", "SVHN / 1000")


def test_a_measure_below_each_strategy_is_chosen_by_its_name(tmp_path):
    text = "|Server| |net A| | |net B| |\n|-|-|-|-|-|-|-|\n| |calls|args|vals|calls|args|vals|\n"
    text += "|x|89.3|67.9|53.6|92.8|60.7|50.1|\n|y|79.8|77.5|50.5|74.4|72.3|41.2|\n"
    text += "|z|70.8|67.5|40.5|64.4|62.3|31.2|\n"
    text += "|**Average**|79.967|70.967|48.2|77.2|65.1|40.833|\n"
    results = read(tmp_path, text, "args", name="t.md", greater_is_better=True)
    assert results.strategies == ("net A", "net B")
    assert results.scores.loc["x"].tolist() == [67.9, 60.7]
    assert "`net A / calls` (of calls)" in results.how_read


def test_cells_of_html_without_a_row_begin_one(tmp_path):
    head = "".join(
        f"<th>{x}</th>" for x in ("Model", "lr sched", "time (s/iter)", "acc", "model id")
    )
    body = "".join(
        f"<tr><td>{name}</td><td>{lr}x</td><td>0.{i}51</td><td>{acc}</td><td>13725{i}644</td></tr>"
        for i, (name, lr, acc) in enumerate(
            [("R50", 1, 0.61), ("R50", 3, 0.64), ("R101", 1, 0.63), ("R101", 3, 0.66)], 1
        )
    )
    results = read(tmp_path, f"<table><tbody>{head}{body}</tbody></table>", name="t.html")
    assert results.strategies == ("R50 1x", "R50 3x", "R101 1x", "R101 3x")
    assert results.datasets == ("this dataset",)
    assert "`model id`" in results.how_read


def test_lists_of_restructuredtext_are_tables(tmp_path):
    text = "Scores\n======\n\n.. list-table:: Small\n   :header-rows: 1\n   :widths: 20 20\n\n"
    for row in (("Model", "iris", "wine"), ("`svm`_", "0.9", "0.8"), ("tree", "0.7", "")):
        text += "".join(f"   {'*' if i == 0 else ' '} - {x}\n" for i, x in enumerate(row))
    results = read(tmp_path, f"{text}\nEnd.\n", name="t.rst")
    assert results.scores.to_numpy()[0].tolist() == [0.9, 0.7]
    assert results.strategies == ("svm", "tree")


def test_a_corner_may_name_the_metrics_of_columns(tmp_path):
    text = "|Metrics|MRR@20|Recall@20|\n|-|-|-|\n|svm|0.2|0.3|\n|knn|0.4|0.1|\n"
    results = read(tmp_path, text, "mrr@20", name="t.md")
    assert results.strategies == ("svm", "knn")


def test_languages_of_programs_are_no_datasets(tmp_path):
    text = "|Language|Email(ms)|URI(ms)|Total(ms)|\n|-|-|-|-|\n|Rust|1|2|3|\n|Java|2|4|6|\n"
    results = read(tmp_path, text, "time", name="t.md", greater_is_better=False)
    assert (results.strategies, results.datasets) == (("Rust", "Java"), ("Email", "URI"))


def test_numbers_of_questions_are_names(tmp_path):
    text = "| |平均分|#1|#2|#3|\n|-|-|-|-|-|\n|a|8|9|8|7|\n|b|7|7|8|6|\n|c|6|5|6|7|\n"
    results = read(tmp_path, text, "score", name="t.md", greater_is_better=True)
    assert results.datasets == ("#1", "#2", "#3")
    assert results.strategies == ("a", "b", "c")


def test_columns_of_parts_count_by_their_test_part_and_other_scores_in_brackets_not(tmp_path):
    text = "|模型|开发集(Dev)|测试集(Test)|\n|-|-|-|\n|svm|89.4(88.4)|86.9(86.4)|\n"
    text += "|knn|89.8|87.2 (87)|\n"
    results = read(tmp_path, text, name="t.md")
    assert results.datasets == ("测试集(Test)",)
    assert results.spreads is None
    assert "`开发集(Dev)` (of another part of the data)" in results.how_read
    shots = "|Model|Valid (0)|Valid (5)|Test (0)|Test (5)|\n|-|-|-|-|-|\n"
    shots += "|a|.4|.5|.3|.6|\n|b|.2|.3|.4|.2|\n"
    assert read(tmp_path, shots, name="t.md").datasets == ("Test (0)", "Test (5)")


def test_commas_that_group_no_thousands_are_decimal(tmp_path):
    text = "|Model|iris|wine|\n|-|-|-|\n|a|0,105897|0.25|\n|b|0.5|0,75|\n"
    assert np.allclose(read(tmp_path, text, name="t.md").scores, [[0.105897, 0.5], [0.25, 0.75]])


def test_rows_of_hardly_any_comparison_are_asked_about(tmp_path):
    rows = [("Wu", "W28", 60.1), ("Wu", "W34", 60.3), ("Ng", "W28", 59.1), ("Li", "W70", 65.2)]
    rows += [(f"P{i}", "W34", 50.5 - i) for i in range(9)]
    text = "|who|architecture|clean|AA|\n|-|-|-|-|\n"
    text += "".join(f"|{who}|{net}|9{i % 7}.5|{aa}|\n" for i, (who, net, aa) in enumerate(rows))
    asked = refused(tmp_path, text, "AA", name="t.md", greater_is_better=True)
    assert "strategy=who+architecture --greater-is-better; or" in asked
    columns = {"strategy": ["who", "architecture"], "score": "AA"}
    results = read(tmp_path, text, "AA", name="t.md", greater_is_better=True, columns=columns)
    assert (len(results.datasets), len(results.strategies)) == (1, 13)


def test_what_names_each_row_by_itself_names_strategies_of_one_dataset(tmp_path):
    text = "| |mATE|NDS|download|\n|-|-|-|-|\n|Alpha|33.8|58.2|m-23M|\n|Beta|31.1|62.2|m-35M|\n"
    asked = refused(tmp_path, text, "NDS", name="t.md", greater_is_better=True)
    assert asked.endswith("--columns strategy=unnamed --greater-is-better")


def test_many_settings_are_asked_about_and_no_repeats(tmp_path):
    text = "|Dataset|Backbone|Batch|FP16|TF32|PFC|rate|\n|-|-|-|-|-|-|-|\n"
    settings = product(("a|k", "b|m", "a|m", "b|k"), (64, 128), *[("no", "yes")] * 3)
    text += "".join(f"|{'|'.join(map(str, x))}|{i}.5|\n" for i, x in enumerate(settings))
    asked = refused(tmp_path, text, "rate", name="t.md", greater_is_better=True)
    assert "differ in `Batch` + `FP16` + `TF32` + `PFC`" in asked
    assert "repeat=rows" not in asked


def test_a_training_set_beside_a_backbone_is_no_dataset_also_if_a_time_is_left_out(tmp_path):
    text = "|Backbone|Dataset|African|Asian|Mask|All|infer(ms)|\n|-|-|-|-|-|-|-|\n"
    rows = [
        ("R18", "MS", 62.6),
        ("R18", "Glint", 69.8),
        ("R50", "MS", 79.1),
        ("R99", "Casia", 39.7),
    ]
    for name, data, x in rows:
        text += f"|{name}|{data}|{x}|{x + 4:.1f}|{x - 7:.1f}|{x - 1:.1f}|{x / 9:.3f}|\n"
    results = read(tmp_path, text, name="t.md")
    assert results.datasets == ("African", "Asian", "Mask")
    assert results.strategies[:2] == ("R18 MS", "R18 Glint")
    assert "`infer(ms)`" in results.how_read
    again = read(tmp_path, text, name="t.md", columns={"unused": "infer(ms)"})
    assert again.datasets == results.datasets


def test_sizes_of_models_in_a_row_are_no_dataset(tmp_path):
    text = "| |alpha|beta|\n|-|-|-|\n|# Params|125M|0.8M|\n|MNLI|87.6|87.5|\n|QQP|91.1|90.9|\n"
    results = read(tmp_path, text, name="t.md", columns={"strategy": "columns"})
    assert results.datasets == ("MNLI", "QQP")
    assert "row `# Params` (a size)" in results.how_read


def test_no_command_changes_the_metric_or_leaves_one_column(tmp_path):
    text = "# A\n|Tuner|Ranking|\n|-|-|\n|a|1.5|\n|b|2|\n"
    text += "\n# B\n|Tuner|rmse|auc|\n|-|-|-|\n|a|1|2|\n|b|2|3|\n"
    asked = refused(tmp_path, text, "ranking", name="t.md", greater_is_better=False)
    assert "rmse" not in asked
    text = "|Model|iris|wine|\n|-|-|-|\n|a|1/2|.5|\n|b|.4|.6|\n|c|.4|.6|\n"
    assert "--columns" not in refused(tmp_path, text, name="t.md")


def test_texts_that_are_called_scores_are_refused_with_one_of_them(tmp_path):
    text = "|Model|iris|Paper|\n|-|-|-|\n|a|0.5|On a|\n|b|0.4|On b|\n"
    asked = refused(tmp_path, text, name="t.md", columns={"score": "Paper", "strategy": "Model"})
    assert "column 'Paper' has 'On a', neither a number nor a word for none" in asked


def test_a_setting_that_fills_few_cells_is_no_dataset(tmp_path):
    rows = (
        "A|Official|30.1,A|Step|29.9,A|Cos|29.7,B|Official|26.1,C|Step|25.3,D|Cos|24.2,E|Warm|23.1"
    )
    text = "|Model|Optimizer|Error|\n|-|-|-|\n|" + rows.replace(",", "|\n|") + "|\n"
    results = read(tmp_path, text, "error", name="t.md")
    assert (len(results.datasets), len(results.strategies)) == (1, 7)
    assert results.how_read.endswith("--metric error --columns dataset=Optimizer`.")
    asked = refused(tmp_path, text.replace("Optimizer", "Rule"), "error", name="t.md")
    assert "strategy=Model+Rule; or" in asked


def test_a_metric_inside_the_names_of_json_is_the_score(tmp_path):
    cells = [("a", "LDA", 0.1), ("a", "NMF", 0.2), ("b", "LDA", 0.3), ("b", "NMF", 0.4)]
    rows = [
        {"Dataset": d, "Model": m, "Params": {"k": 5}, "Scores": {"npmi": x, "div": 1.5}}
        for d, m, x in cells
    ]
    text = json.dumps(rows)
    results = read(tmp_path, text, "npmi", name="t.json", greater_is_better=True)
    assert results.scores.to_numpy().tolist() == [[0.1, 0.2], [0.3, 0.4]]


def test_comments_and_signs_behind_numbers_are_no_cells_and_equal_columns_no_averages(tmp_path):
    text = "|Image|MATLAB|Numpy|torch|jax|\n|-|-|-|-|-|\n"
    text += "|a|20.41971|20.41971|20.41971|20.41971 [:up:](x) [:x:](y)|\n"
    text += "|b|-|22.441898|22.441899|22.444916|\n|c|20.01012|20.01012|20.01012|20.01012|\n"
    text += "|d|-|21.720398|21.720398|21.721663|\n<!-- |e|1|1|1|1|\n-->\n"
    columns = {"dataset": "Image"}
    results = read(tmp_path, text, "psnr", name="t.md", columns=columns)
    assert results.scores.shape == (4, 4)
    assert results.scores.loc["a"].tolist() == [20.41971] * 4


def test_links_below_the_word_model_name_no_strategy(tmp_path):
    text = "|name|resolution|acc|22k model|\n|-|-|-|-|\n|T|224x224|.82|[model](x)|\n"
    text += "|T|384x384|.84|-|\n|S|224x224|.83|[model](y)|\n"
    asked = refused(tmp_path, text, name="t.md")
    assert "--columns strategy=name" in asked
    assert "22k" not in asked


def test_a_corner_above_one_metric_names_the_rows_and_not_the_columns(tmp_path):
    text = "|target|SDR|SDR|SDR|\n|-|-|-|-|\n|model|net|net HQ|net L|\n"
    text += "|vocals|6.3|6.2|7.2|\n|bass|5.2|5.0|6.0|\n|drums|5.7|6.0|7.1|\n"
    results = read(tmp_path, text, "SDR", name="t.md", greater_is_better=True)
    assert results.strategies == ("net", "net HQ", "net L")
    assert "named by `target`" in results.how_read


def test_one_of_several_tables_of_one_dataset_each_is_chosen_by_the_user(tmp_path):
    one = "# {}\n|Model|MRR|Pretrained model|\n|-|-|-|\n|{}|.3|a|\n|{}|.4|{}|\n\n"
    text = one.format("first", "net", "tree", "a") + one.format("second", "net", "net", "b")
    with pytest.raises(AnalysisError, match="2 tables"):
        read(tmp_path, text, "mrr", name="t.md")


def test_rows_of_several_metrics_are_not_all_of_the_one_that_is_asked_for(tmp_path):
    text = "|Corpus|Metrics|svm|forest|\n|-|-|-|-|\n|a|Pearson|83|84|\n|b|Pearson|84|82|\n"
    text += "|c|accuracy|84|85|\n|d|accuracy|93|92|\n"
    with pytest.raises(AnalysisError, match="there are Pearson, accuracy"):
        read(tmp_path, text, "f1", name="t.md")


BOX = """┏━━━━━━┳━━━━━━┳━━━━━━┓
┃ Data ┃ svm  ┃ tree ┃
┡━━━━━━╇━━━━━━╇━━━━━━┩
│ iris │ 0.91 │ 0.85 │
│ wine │ 0.95 │ 0.93 │
│ glass│ 0.70 │ 0.68 │
└──────┴──────┴──────┘
"""
ORG = "| Data | svm | tree |\n|---+---+---|\n| iris | .91 | .85 |\n| wine | .95 | .93 |\n"
ENDED = "<table><tr><td>Data</td><td>svm</td><td>tree</td></tr>"
ENDED += "".join(f"<td>{x}</td><td>.91</td><td>.85</td></tr>" for x in ("iris", "wine", "glass"))
BOOK = {
    "cells": [
        {
            "cell_type": "code",
            "source": "x",
            "outputs": [{"output_type": "stream", "text": "hi\n"}],
        },
        {"cell_type": "code", "outputs": [{"data": {"text/html": [ENDED, "</table>"]}}]},
    ]
}


@pytest.mark.parametrize(
    ("name", "text"),
    [("t.txt", BOX), ("t.org", ORG), ("t.html", ENDED + "</table>"), ("t.ipynb", json.dumps(BOOK))],
)
def test_boxes_org_tables_rows_that_nothing_opens_and_notebooks_are_read(tmp_path, name, text):
    results = read(tmp_path, text, name=name)
    assert results.strategies == ("svm", "tree")
    assert results.scores.loc["iris"].tolist() == [0.91, 0.85]


def test_a_row_of_standard_deviations_is_no_dataset(tmp_path):
    text = "|Language|svm|tree|\n|-|-|-|\n|Afrikaans|55|67|\n|Albanian|66|78|\n|Arabic|71|91|\n"
    text += "|Standard Deviation|18.5|13.4|\n"
    assert len(read(tmp_path, text, "accuracy", name="t.md").datasets) == 3


def test_ranks_wins_and_spreads_of_papers_are_no_datasets(tmp_path):
    text = r"""\begin{tabular}{lrrrrr} \toprule
Algorithm & set one & set two & set three & Family Rank & Best On \\ \midrule
{\sc Tabu} & 8740 +/- 33 & \pz2740 & 25558 & 1.25 & 2 \\ Kempe & 9383 & 2211\pz & 35189 & 2.5 & 1 \\
Greedy & 68678 & 18372 & 97997 & 3.00 & 0 \\ \bottomrule
\end{tabular}"""
    results = read(tmp_path, text, "cost", name="t.tex", greater_is_better=False)
    assert results.datasets == ("set one", "set two", "set three")
    assert results.scores["Kempe"].tolist() == [9383, 2211, 35189]


BODY = "{}|l|r|r|\n\\midrule\n{} & iris & wine & zoo & MeanScore \\\\\nSum & .7 & .4 & .9 & .6667 "
BODY += (
    "\\\\\nHash & .8 & .5 & .9 & .7333 \\\\\nHelmert & .7 & .6 & .8 & .7 \\\\\nDrop & .2 & .9 & .2 "
)
BODY += "& .4333 \\\\\n"


def test_a_corner_of_datasets_beside_a_mean_is_asked_about_and_rows_alone_are_read(tmp_path):
    text = refused(
        tmp_path, BODY.format("", "Dataset"), "score", name="t.tex", greater_is_better=False
    )
    assert "`MeanScore` is a mean over the columns" in text
    assert "strategy=Dataset" in text
    results = read(
        tmp_path, BODY.format("% c\n", "Model"), "score", name="t.tex", greater_is_better=False
    )
    assert results.strategies == ("Sum", "Hash", "Helmert", "Drop")


def test_columns_of_parts_or_protocols_or_the_best_are_asked_about(tmp_path):
    rows = "\n|a one|{}|.8|.7|\n|b one|{}|.9|.6|\n|c one|.6|.7|.5|\n|d one|.6|.7|.4|\n".format(
        ".7", ".5"
    )
    results = read(tmp_path, "|Model|Train|Development|Test|\n|-|-|-|-|" + rows, name="t.md")
    assert results.datasets == ("Test",)
    head = "|Model|Linear|Finetune|kNN|\n|-|-|-|-|"
    assert "strategy=Model,score=Linear" in refused(tmp_path, head + rows, "accuracy", name="t.md")
    head = "|Dataset|one|two|Best Emb.|\n|-|-|-|-|"
    assert "unused=Best Emb." in refused(tmp_path, head + rows, "accuracy", name="t.md")


def test_a_table_after_a_directive_with_commas_is_read(tmp_path):
    text = 'Title\n=====\n\n.. csv-table:: Scores.\n  :header: "Model", "iris", "wine, red"\n'
    text += '  :widths: 20, 20, 20\n\n  "a", "0.9", "0.8"\n  "b_c__d", "0.8", "0.7"\n\nText.\n'
    results = read(tmp_path, text, "accuracy", name="t.rst")
    assert results.datasets == ("iris", "wine, red")
    assert results.strategies == ("a", "b_c__d")


def test_files_that_are_called_after_sizes_name_strategies(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, add in (("70m_step9", 0), ("410m_step9", 0.1), ("6.9b_step9", 0.2)):
        tasks = {f"task {i}": {"acc": 0.3 + add + i / 50, "bits": 2.5 - i} for i in range(7)}
        (folder / f"{name}.json").write_text(json.dumps({"results": tasks}))
    with pytest.raises(AnalysisError, match="'dataset=level 2,strategy=file'"):
        read_results(folder, "acc")
    results = read_results(folder, "acc", columns={"dataset": "level 2", "strategy": "file"})
    assert {*results.strategies} == {"70m", "410m", "6.9b"}
    assert len(results.datasets) == 7


def test_spreads_of_one_name_belong_to_the_measures_before_them(tmp_path):
    text = "|Method|Pearson r|95% CI|Spearman|95% CI|\n|-|-|-|-|-|\n|svm|.7|.1|.6|.2|\n"
    text += "|knn|.6|.1|.5|.2|\n|GP|skipped| | | |\n"
    results = read(tmp_path, text, "pearson", name="t.md")
    assert results.scores.loc["this dataset", ["svm", "knn"]].tolist() == [0.7, 0.6]


def test_arrows_of_latex_are_no_part_of_a_name_and_its_cross_is_no_result(tmp_path):
    path = tmp_path / "table.tex"
    rows = r"Method & \textbf{AP} $\uparrow$ & AF $\downarrow$ \\ ours & 0.9 & 0.1 \\"
    rows += r" base & 0.8 & 0.2 \\ old & $\times$ & 0.3 \\"
    path.write_text(rf"\begin{{tabular}}{{lcc}} {rows} \end{{tabular}}", encoding="utf-8")
    results = read_results(path, "AP", greater_is_better=True)
    assert results.scores.loc["this dataset"].to_dict() == {"ours": 0.9, "base": 0.8}
    assert "`AP` as it stands" in results.how_read
    assert "not used: 1 row without `AP`, `AF`" in results.how_read


def test_heads_and_feet_of_further_pages_are_no_rows(tmp_path):
    head = "Model & MAPE \\\\\n\\midrule\n"
    text = f"""\\begin{{longtable}}{{lr}}
    \\caption{{Results}} \\label{{tab:all}} \\\\
    {head}\\endfirsthead
    \\caption[]{{Results}} \\\\
    {head}\\endhead
    \\multicolumn{{2}}{{r}}{{Continued on next page}} \\\\
    \\endfoot
    \\bottomrule
    \\endlastfoot
    SVR & 0.32 \\\\
    Ridge & 0.41 \\\\
    \\end{{longtable}}"""
    (tmp_path / "t.tex").write_text(text)
    read = read_results(tmp_path / "t.tex", "mape")
    assert read.scores.iloc[0].to_dict() == {"SVR": 0.32, "Ridge": 0.41}
    assert "not used" not in read.how_read


def test_titles_across_a_table_tell_datasets_apart(tmp_path):
    rows = "PSO & {}1 & 2 \\\\\nGA & {}3 & 1 \\\\\n"
    blocks = [f"\\multicolumn{{3}}{{c}}{{D = {d}}} \\\\\n{rows.format(d, d)}" for d in (30, 50)]
    text = "\\begin{tabular}{lrr}\nAlgorithm & Ackley & Sphere \\\\\n" + "".join(blocks)
    (tmp_path / "t.tex").write_text(text + "\\end{tabular}")
    read = read_results(tmp_path / "t.tex", "fitness", greater_is_better=False)
    assert read.strategies == ("PSO", "GA")
    assert read.datasets == (
        "D = 30: Ackley", "D = 30: Sphere", "D = 50: Ackley", "D = 50: Sphere",
    )  # fmt: skip
    assert read.scores["GA"].tolist() == [303, 1, 503, 1]


def test_rows_of_a_folder_are_numbered_in_each_file_and_folds_may_name_datasets(tmp_path):
    for file, score in (("10K", 0.7), ("100K", 0.8)):
        rows = [f"{i},{name},{score},{score}" for i, name in enumerate(["ACSF1", "Adiac", "Beef"])]
        (tmp_path / f"{file}.csv").write_text("\n".join([",folds:,0,1", *rows]))
    with pytest.raises(QuestionError) as raised:
        read_results(tmp_path, "accuracy")
    first = next(iter(raised.value.readings.values()))
    assert (len(first.strategies), len(first.datasets)) == (2, 3)


def test_a_sheet_without_names_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("Bath,910,18560\nBelfast,1700,62617\nBristol,1569,47522\n")
    with pytest.raises(AnalysisError, match="its first line has values"):
        read_results(tmp_path / "t.csv", "best", greater_is_better=False)


def test_columns_that_go_on_below_are_of_the_same_rows(tmp_path):
    rows = [
        "| Tools | HDFS | Spark |",
        "|---|---|---|",
        "| Drain | .9 | .8 |",
        "| Spell | .7 | .6 |",
    ]
    more = ["| **Tools** | Linux | Mac |", "| Drain | .3 | .4 |", "| Spell | .5 | .1 |"]
    (tmp_path / "t.md").write_text("\n".join([*rows, *(x.replace("**", "") for x in more)]))
    read = read_results(tmp_path / "t.md", "accuracy")
    assert read.datasets == ("HDFS", "Spark", "Linux", "Mac")
    assert read.scores["Spell"].tolist() == [0.7, 0.6, 0.5, 0.1]


def test_a_log_may_begin_with_a_word_in_brackets(tmp_path):
    log = "[LightGBM] [Info] done\n\ndataset  svm  tree\niris  0.9  0.8\nwine  0.7  0.6\n"
    assert read(tmp_path, log, name="t.log").scores.loc["wine"].tolist() == [0.7, 0.6]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("|svm\n|0.9\n|0.8\n", "no table in it"),
        ("|===\n|a |b\n|c\n|0.5\n|===\n", "a table without rows"),
    ],
)
def test_a_text_with_one_column_or_no_row_has_no_table(tmp_path, text, message):
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(AnalysisError, match=message):
        read_results(tmp_path / "t.txt", "accuracy")


@pytest.mark.parametrize(
    "sign",
    [r"$^{\S}$", r"$^\dag$", r"\textsuperscript{a}", r"$^{\mathrm{b, c}}$", r"$^{\clubsuit}$"],
)
def test_a_superscript_without_digits_is_no_part_of_a_number(sign, tmp_path):
    rows = (
        rf"a & \textbf{{67.0 $\pm$ 8.2}}{sign} & 5.1{sign} (2) \\ b & 60.2 $\pm$ 8.1 & 4.1 (1) \\"
    )
    text = rf"\begin{{tabular}}{{lcc}} Method & iris & wine \\ {rows} \end{{tabular}}"
    results = read(tmp_path, text, name="t.tex")
    assert results.scores["a"].tolist() == [0.67, 0.051]
    assert results.spreads[0, 0] == pytest.approx(0.082)


@pytest.mark.parametrize("sign", [r"\textsuperscript{1}", "$^{2}$", r"$^{\text{\ding{72}}}$"])
def test_a_superscript_with_digits_may_be_a_part_of_a_number(sign, tmp_path):
    rows = rf"a & 67{sign} & 5.1 \\ b & 60 & 4.1 \\ c & 61 & 4.0 \\"
    text = rf"\begin{{tabular}}{{lcc}} Method & iris & wine \\ {rows} \end{{tabular}}"
    assert "neither numbers nor known words" in refused(tmp_path, text, name="t.tex")


def test_ends_of_lines_in_a_cell_begin_no_row(tmp_path):
    size = r"\makecell{Size \\[1pt] MB$\downarrow$}"
    head = r"& \multicolumn{2}{c}{iris} & \multicolumn{2}{c}{wine}"
    rows = r"svm & .9 & 9 & .8 & 8 \\ {\bf tree & .7 & 7 & .6 & 6 \\} knn & .5 & 5 & .4 & 4 \\"
    head = rf"Model {head} \\ & acc & {size} & acc & {size}"
    text = rf"\begin{{tabular}}{{lcccc}} {head} \\ {rows} \end{{tabular}}"
    results = read(tmp_path, text, name="t.tex")
    assert results.scores.loc["wine"].tolist() == [0.8, 0.6, 0.4]
    assert "`iris / Size MB` (of size_mb)" in results.how_read


@pytest.mark.parametrize(
    "cell", ["(0.5{}, 0.7{})", "[0.5{} 0.7{}]", "0.5{}-0.7{}", "0.5{} to 0.7{}"]
)
def test_intervals_beside_their_means_name_nothing(cell, tmp_path):
    keys = ["pa", "pb", "qa", "qb"]
    rows = [f'{x},{m},0.6{i},"{cell.format(i, i)}"' for i, (x, m) in enumerate(keys, 1)]
    results = read(tmp_path, "\n".join(["site,model,AUC,AUC (CI)", *rows]), "auc")
    assert results.datasets == ("p", "q")
    assert "`AUC (CI)` (intervals)" in results.how_read


@pytest.mark.parametrize("name", ["range", "CI of the noise"])
def test_bins_are_no_intervals_of_means(name, tmp_path):
    above = name != "range"  # then the numbers are not in them
    cells = ["0.1-0.2", "0.2-0.3", "0.3-0.4"]
    rows = [f"{x},{i / 10 + 0.15 + above},{0.25 + i / 100 + above}" for i, x in enumerate(cells)]
    results = read(tmp_path, "\n".join([f"{name},svm,tree", *rows]), "mae")
    assert results.datasets == tuple(cells)


def test_a_table_in_an_item_of_a_list_has_its_names_and_a_dash_may_be_one(tmp_path):
    rows = "|-|-|-|\n  |svm|0.9|0.8|\n  |knn|0.7|0.6|\n"
    results = read(tmp_path, f"* | Model | iris | wine |\n  {rows}", name="t.md")
    assert results.scores.loc["iris", "svm"] == 0.9
    assert results.datasets == ("iris", "wine")
    plain = "- | iris | wine\n--|--|--\nsvm | 0.9 | 0.8\nknn | 0.7 | 0.6\n"
    results = read(tmp_path, plain, name="t.md", columns={"strategy": "-"})
    assert results.strategies == ("svm", "knn")


def test_rows_of_names_that_come_again_below_a_title_are_no_scores():
    rows = [["svm", "", ""]]
    for n in (1, 2):
        rows += [[f"({n})", "gap", "seconds"], ["a", "0.1", "3"], ["b", "0.2", "4"]]
    table = framed(rows)
    assert list(table) == ["", "", "gap", "seconds"]
    assert table["gap"].tolist() == ["0.1", "0.2"] * 2
    once = framed([["svm", "", ""], ["name", "gap", "seconds"], ["a", "1", "2"]])
    assert list(once) == ["name", "gap", "seconds"]
