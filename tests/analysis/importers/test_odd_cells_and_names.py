"""Cells and names that were misread: bounds, struck-out scores, plurals, further headers."""

import numpy as np
import pandas as pd
import pytest
from small_tables import ALPHA, BETA, LONG, NAMES, WIDE, is_wide, read, refused

from mlaut.analysis import read_results
from mlaut.analysis.importers.grids.sheet import QuestionError
from mlaut.analysis.scores.metric_names import direction
from mlaut.errors import AnalysisError

FRACTIONS = ["recall@20", "ndcg", "hr@10", "mrr", "map", "precision@10", "dsc", "mIoU", "c-index"]


# ------------------------------------------------------------------- the range of a metric


@pytest.mark.parametrize("metric", FRACTIONS)
def test_a_cell_beyond_a_fraction_is_named_with_what_is_likely_meant(tmp_path, metric):
    wide = WIDE.assign(gamma=[0.8512, 0.8111, *ALPHA[2:]])
    wide.loc["d3", "beta"] = 8400
    asked = refused(tmp_path, wide, metric)
    assert "`beta` has 8400 on 'd3'" in asked
    assert "mend the cell (0.8400 is likely meant) or empty it" in asked
    long = LONG.rename(columns={"acc": metric}).round(4)
    long.loc[4, metric] = 82
    text = refused(tmp_path, long, metric)
    assert "has 82 on 'd3': mend it (0.82 is likely meant), or empty it" in text


def test_an_empty_cell_in_its_place_has_no_result_and_other_numbers_have_no_guess(tmp_path):
    wide = WIDE.assign(beta=[0.8, None, *BETA[2:]])
    assert "no result in 1 of 12 cells" in read(tmp_path, wide, "recall@20").how_read
    wide.loc["d2", "beta"] = 7.82
    assert "mend it, or empty it" in refused(tmp_path, wide.T.T, "hits@3").replace("the cell", "it")
    assert read(tmp_path, wide, "hits").scores.loc["d2", "beta"] == 7.82  # may be counted
    assert read(tmp_path, wide, "reward").scores.loc["d2", "beta"] == 7.82


def test_fractions_in_percent_are_read_and_checked_as_such(tmp_path):
    assert is_wide(read(tmp_path, 100 * WIDE, "ndcg@10"))
    low = read(tmp_path, 8 * WIDE, "ndcg@10")  # of few percent: their units stay
    assert low.scores.loc["d1", "alpha"] == pytest.approx(8 * 0.91)
    percent = 100 * WIDE
    percent.loc["d3", "beta"] = 8450
    for metric in ("ndcg@10", "accuracy"):
        text = refused(tmp_path, percent, metric)
        assert "within 0 and 100, and 'beta' has 8450 on 'd3': mend it, or empty it" in text


def test_one_dataset_that_is_too_hard_makes_no_several_scales(tmp_path):
    hard = pd.concat([WIDE, WIDE.set_axis([f"e{i}" for i in range(6)])]).rename_axis("dataset")
    hard.loc["e1"] = [0.003, 0.004]
    for metric in ("dsc", "normalized score", "reward"):
        assert "scales" not in read(tmp_path, hard, metric).how_read
    hard.loc["e2"] = [0.003, 0.004]
    assert "scales" not in read(tmp_path, hard, "dsc").how_read
    assert "scales" not in read(tmp_path, hard, "normalized score").how_read
    assert "scores of several scales" in read(tmp_path, hard, "reward").how_read


# ------------------------------------------------------------------- struck-out scores


@pytest.mark.parametrize(
    "mark", ["~~{}~~", "<s>{}</s>", "<del>{}</del>", r"\st{{{}}}", r"\sout{{{}}}"]
)
def test_a_score_that_is_struck_out_is_no_result(tmp_path, mark):
    text = WIDE.astype(str)
    text.loc["d2", "beta"] = mark.format("0.86")
    results = read(tmp_path, text)
    assert np.isnan(results.scores.loc["d2", "beta"])
    assert "no result in 1 of 12 cells" in results.how_read
    assert "what is struck out is no result, as in " in results.how_read
    text.loc["d2", "beta"] = mark.format("0.99") + " 0.86"  # and another stands for it
    assert is_wide(read(tmp_path, text))
    text.loc["d2", "beta"] = mark.format("0.5") + " → 0.86"
    assert is_wide(read(tmp_path, text))
    text["gamma"] = mark.format("0.9")
    assert "`gamma` (struck out)" in read(tmp_path, text).how_read


def test_words_behind_numbers_are_told(tmp_path):
    text = "| Model | A | B |\n|---|---|---|\n| x | 0.7 (pro) | 0.5 |\n| y | 0.6 | 0.4 (±0.1) |\n"
    assert "words behind numbers are not used, as in '0.7 (pro)'" in read(tmp_path, text).how_read
    assert "words behind" not in read(tmp_path, text.replace(" (pro)", "")).how_read


def test_names_may_be_struck_out_and_tables_of_html_have_such_scores(tmp_path):
    table = WIDE.astype(str).rename({"d1": "~~d1~~"}).rename_axis("dataset")
    assert len(read(tmp_path, table).datasets) == 6
    html = WIDE.astype(str).replace("0.86", "<del>0.86</del>").reset_index()
    html = html.to_html(index=False, escape=False)
    assert np.isnan(read(tmp_path, html, name="t.html").scores.loc["d2", "beta"])


# ------------------------------------------------------------------- names and headings


def test_a_plural_is_a_metric_in_headings_and_as_a_word_of_the_user(tmp_path):
    other = (WIDE * 70).round(2).reset_index().to_markdown(index=False)
    text = f"## Last Scores\n\n{other}\n\n## Regrets\n\n"
    text += WIDE.reset_index().to_markdown(index=False)
    for metric in ("regret", "Regrets"):
        results = read(tmp_path, text, metric, name="t.md")
        assert is_wide(results)
        assert not results.metric.greater_is_better
    assert direction("errors") is False
    assert direction("regress") is None


@pytest.mark.parametrize(
    "heading", ["<details>\n<summary>{}</summary>\n", "<h3>{}</h3>\n", "**{}**\n", "<b>{}</b>\n"]
)
def test_summaries_and_bold_lines_are_headings(tmp_path, heading):
    parts = [
        heading.format(name)
        + f"\n| model | DSC |\n|---|---|\n| a | {x} |\n| b | {y} |\n\n"
        + "</details>\n" * heading.startswith("<details")
        for name, x, y in (("Liver", 86.5, 84.4), ("Aorta", 96.1, 95.2), ("Spleen", 91.0, 92.5))
    ]
    results = read(tmp_path, "# Leaderboard\n\n" + "".join(parts), "dsc", name="t.md")
    assert results.datasets == ("Liver", "Aorta", "Spleen")
    assert results.scores["a"].tolist() == [0.865, 0.961, 0.91]


def test_a_summary_names_nothing_below_what_it_folds(tmp_path):
    table = "\n| model | x | y |\n|---|---|---|\n| a | 0.8 | 0.7 |\n| b | 0.7 | 0.6 |\n\n"
    text = f"# All\n<details>\n<summary>One</summary>\n{table}</details>\n\n{table}"
    with pytest.raises(QuestionError, match=r"1: 'One' .*; 2: 'All' "):
        read(tmp_path, text, "dsc", name="t.md")


def test_all_tables_of_one_heading_cannot_be_told_apart(tmp_path):
    table = "\n| model | DSC |\n|---|---|\n| a | 0.8 |\n| b | 0.7 |\n\nSome text, and more.\n"
    asked = refused(
        tmp_path, f"# All\n{table}{table}", "dsc", name="t.md", columns={"table": "all"}
    )
    assert "have one heading, so nothing tells their rows apart: choose one" in asked


# ------------------------------------------------------------------- runs, and further headers


def test_numbered_columns_of_one_stem_may_be_repeats(tmp_path):
    table = pd.DataFrame({"instance": NAMES} | {f"z{i}": ALPHA for i in range(4)})
    for name, more in (("x", 0.0), ("y", -0.1)):
        (tmp_path / name).mkdir()
        shifted = table.set_index("instance") + more
        shifted.to_csv(tmp_path / name / "summary.csv")
    with pytest.raises(QuestionError) as caught:
        read_results(tmp_path, "accuracy")
    assert "--columns 'strategy=file,dataset=instance,repeat=z*'" in str(caught.value)
    results = read_results(tmp_path, "accuracy", columns={"repeat": "z*"})
    assert results.strategies == ("x", "y")
    assert results.cells.shape == (6, 2, 4, 1)
    assert "means of 4 repeats (columns `z0` to `z3`)" in results.how_read
    named = pd.concat([table.assign(model=x) for x in "ab"], ignore_index=True)
    assert "--columns 'repeat=z*'" in refused(tmp_path, named)
    other = named.rename(columns={"z3": "q3"})  # of two stems
    assert "repeat=" not in refused(tmp_path, other)


def test_a_second_header_is_named_with_its_line(tmp_path):
    lines = WIDE.to_csv().splitlines()
    text = "\n".join([*lines, "dataset,t1,t2", *lines[1:]])
    error = refused(tmp_path, text)
    assert "t.csv: line 8 is a second header (dataset, t1, t2), so it has two tables" in error
    (tmp_path / "u.csv").write_text("\n".join(lines))
    with pytest.raises(AnalysisError, match="line 8 is a second header"):
        read_results(tmp_path, "accuracy")
    (tmp_path / "u.csv").unlink()
    results = read(tmp_path, "\n".join([*lines[:4], lines[0], *lines[4:]]))
    assert is_wide(results)
    assert "not used: 1 row that repeats the names of columns" in results.how_read
    failed = read(tmp_path, "\n".join([*lines, "model,OOM,OOM"]))  # a name all the same
    assert failed.datasets == (*NAMES, "model")


# ------------------------------------------------------------------- directions


@pytest.mark.parametrize(
    "name",
    ["penalty score", "anomaly score", "distance measure", "drop in accuracy", "loss_of_acc"],
)
def test_the_direction_of_what_is_bad_or_a_change_is_asked_for(tmp_path, name):
    assert direction(name) is None
    assert "whether more or less is better" in refused(tmp_path, WIDE, name)
    assert [direction(x) for x in ("quality score", "robust accuracy", "noise error")] == [1, 1, 0]


# ------------------------------------------------------------- means beside other summaries


def test_of_means_and_medians_the_means_count_and_differences_do_not(tmp_path):
    rows = {"a": [0.811234567, 0.702345678], "b": [0.791234567, 0.719876543]}
    table = pd.DataFrame({"dataset": ["iris", "wine"]})
    for name, scores in rows.items():
        table[f"{name}_mean"], table[f"{name}_std"] = scores, 0.01
        table[f"{name}_median"] = [x - 0.003 for x in scores]
    table["diff_mean"] = table["a_mean"] - table["b_mean"]
    results = read(tmp_path, table)
    assert results.strategies == ("a", "b")
    assert "`diff_mean` (a ratio or a difference of two others)" in results.how_read
    assert "`a_median` (another summary than the mean)" in results.how_read


def test_space_of_the_width_of_a_sign_is_none_in_latex(tmp_path):
    cells = r"A & \phantom{-}0.71 & 0.6 \\ B & 0.65 & 0.5 \\"
    text = rf"\begin{{tabular}}{{lcc}} Model & iris & wine \\ {cells} \end{{tabular}}"
    path = tmp_path / "t.tex"
    path.write_text(text)
    assert read_results(path, "accuracy").scores.loc["iris", "A"] == 0.71


def test_a_percentage_of_100_but_for_rounding_is_one(tmp_path):
    table = pd.DataFrame({"dataset": ["iris", "wine"], "a": [100 + 1e-14, 70.0], "b": [91.0, 82.5]})
    assert read(tmp_path, table).scores.loc["iris", "a"] == 1
