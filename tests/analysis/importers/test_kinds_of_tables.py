"""Kinds of tables that people bring, made up here: spreads, scales, corners, forms of programs."""

import json

import numpy as np
import pandas as pd
import pytest
from small_tables import ALPHA, BETA, LONG, NAMES, WIDE, is_wide, read, refused

from mlaut.analysis import read_results
from mlaut.errors import AnalysisError
from mlaut.report import make_report, write_report

SPREAD = WIDE.map(lambda x: f"{x}±0.01").reset_index()
BORDERS = """Study
=====

Accuracy
--------

+---------+---------+------+
| dataset | alpha   | beta |
+=========+=========+======+
| d1      | 0.91    | 0.85 |
+---------+---------+------+
| d2      | **0.9** | 0.86 |
+---------+---------+------+

Seconds
-------

=======  =====  ====
dataset  alpha  beta
=======  =====  ====
d1       1.5    2.5
d2       3      4
=======  =====  ====
"""


@pytest.mark.parametrize(
    "table",
    [
        SPREAD,
        WIDE.assign(alpha_std=0.01, beta_std=0.01),
        WIDE.add_suffix("_mean").assign(alpha_std=0.01, beta_std=0.01),
        LONG.assign(acc_std=0.01),
        LONG.assign(std=0.01),
        LONG.rename(columns={"acc": "mean"}).assign(std=0.01),
    ],
)
def test_spreads_are_kept_and_shown_beside_the_scores(table, tmp_path):
    results = read(tmp_path, table)
    assert is_wide(results)
    assert "median 0.01) are shown and not used" in results.how_read
    report = make_report(results)
    assert report.sections[0].tables["spreads"].loc["d1", "alpha"] == pytest.approx(0.01)
    for name in ("report.html", "report.txt"):
        (page,) = write_report(report, tmp_path / name)
        assert "0.91 ± 0.01" in page.read_text("utf-8")


def test_spreads_follow_percentages_choices_and_averages(tmp_path):
    percent = (100 * WIDE).round(1).map(lambda x: f"{x}({1.0})").reset_index()
    results = read(tmp_path, percent).select(strategies=["beta"], datasets=["d2", "d1"])
    assert results.spreads.ravel().tolist() == [0.01, 0.01]
    runs = pd.concat([LONG.assign(seed=i, acc_std=0.01) for i in range(3)])
    lacking = runs[(runs["model"] != "alpha") | (runs["seed"] < 2)]
    assert read(tmp_path, lacking).spreads is None


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([0.9, 0.8, -0.3, -0.2], "2 datasets below 0, 2 not"),
        ([0.9, 0.8, 41.0, 72.0], "2 within 0 and 1, 2 up to 72"),
        ([2.0, 3.0, 400.0, 5000.0], "about 2 on d0, 5e+03 on d3"),
    ],
)
def test_datasets_of_several_scales_are_noticed_and_have_no_mean(scores, said, tmp_path):
    table = pd.DataFrame({"alpha": scores, "beta": scores})
    table.insert(0, "dataset", [f"d{i}" for i in range(4)])
    results = read(tmp_path, table, "gain", greater_is_better=True)
    assert f"scores of several scales ({said}), so means over datasets" in results.how_read
    assert said in results.incomparable
    assert not read(tmp_path, LONG, "acc", greater_is_better=True).incomparable


MODELS = WIDE.T.rename_axis("Model")


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"chat (ppl)": [12.5, 8.25]}, "`chat (ppl)` is of perplexity by its name"),
        ({"chat bits": [0.671, 0.542]}, "`chat bits` has 0.671 on 'alpha', and `d1` is within"),
    ],
)
def test_a_dataset_of_another_measure_is_asked_about(more, text, tmp_path):
    table = (100 * MODELS).round(1).assign(**more)
    asked = refused(tmp_path, table)
    assert text.partition(" is of")[0] in asked
    name = next(iter(more))
    assert f"--columns 'unused={name}'" in asked
    assert is_wide(read(tmp_path, table, columns={"unused": name}))


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (WIDE.describe().T, "summarise scores that are not in it"),
        (
            pd.DataFrame({"Language": ["C", "D"], "Time, s": [1.5, 2], "Energy, J": [3.5, 4]}),
            "`Time, s` is the metric",
        ),
        (
            pd.DataFrame({"Model": ["a", "b"], "BLEU-4": [4.5, 4], "Zeta": [15.5, 14]}),
            "`BLEU-4` is the metric",
        ),
        (
            pd.DataFrame({"Model": ["cifar10", "imagenet"], "B16": [0.9, 0.8], "L16": [0.9, 0.85]}),
            "they look like datasets by their names",
        ),
        (
            pd.DataFrame(
                {"filename": ["x1", "x2"], "Method": ["A", "A"], "u": ALPHA[:2], "v": 0.5}
            ),
            "all rows are of one strategy, 'A' in `Method`",
        ),
    ],
)
def test_what_is_no_comparison_or_unclear_is_no_verdict(table, text, tmp_path):
    metric = {"Time, s": "time", "BLEU-4": "bleu"}.get(str(table.columns[1]), "accuracy")
    assert text in refused(tmp_path, table, metric)


def test_files_of_models_are_no_datasets_where_a_mean_goes_over_the_columns(tmp_path):
    table = MODELS.assign(Avg=MODELS.mean(axis=1).round(4)).reset_index()
    table = table.assign(Model="net", filename=["net-1", "net-2"])
    results = read(tmp_path, table)
    assert results.strategies == ("net net-1", "net net-2")
    assert results.datasets == tuple(NAMES)


def test_rows_may_have_names_in_several_columns(tmp_path):
    parts = WIDE.reset_index().assign(dataset=list("aabbcc"))
    texts = parts.assign(**{"Entity type": list("xyxyxy"), "Card": NAMES})
    levels = parts.assign(Horizon=[96, 192] * 3)
    assert read(tmp_path, texts.drop(columns="Card")).datasets[:2] == ("a x", "a y")
    assert read(tmp_path, levels).datasets[:2] == ("a 96", "a 192")


def test_measures_may_be_of_different_datasets(tmp_path):
    table = pd.DataFrame({"Tool": ["alpha", "beta"], "Time[s] 1K": [1, 2], "Time[s] 1M": [9, 8]})
    table = table.assign(**{"AUC 1M": ["0.76", "0.73?!"], "AUC 1G": [0.77, 0.74]})
    results = read(tmp_path, table, "auc")
    assert results.scores.loc["1M"].tolist() == [0.76, 0.73]
    assert results.datasets == ("1M", "1G")


def test_a_letter_for_none_and_a_column_all_are_no_scores(tmp_path):
    table = MODELS.assign(ALL=[0.908, 0.838]).astype(object)
    table.loc["beta", "d6"] = "N"
    results = read(tmp_path, table)
    assert results.datasets == tuple(NAMES)
    assert "no result in 1 of 12 cells" in results.how_read


R = "\n".join(
    ['"alpha" "beta"', *(f'"{n}" {a} {b}' for n, a, b in zip(NAMES, ALPHA, BETA, strict=True))]
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.txt", R),  # write.table of R
        ("r.csv", R.replace(" ", ",")),
        ("print.txt", WIDE.to_string()),
        ("titled.csv", "Table 2: all methods\n\n" + WIDE.to_csv()),
    ],
)
def test_tables_as_other_programs_write_them(name, text, tmp_path):
    how = {} if "dataset" in text else {"columns": {"strategy": "columns"}}
    assert is_wide(read(tmp_path, text, name=name, **how))


def test_tables_with_borders_are_chosen_by_the_metric_of_their_heading(tmp_path):
    accuracy = read(tmp_path, BORDERS, name="study.rst")
    assert accuracy.scores.loc["d2"].tolist() == [0.9, 0.86]
    assert "tables of the file other than 'Accuracy' (1)" in accuracy.how_read
    times = read(
        tmp_path, BORDERS, "time", name="study.rst", greater_is_better=False, columns={"table": "2"}
    )
    assert times.scores.loc["d2"].tolist() == [3, 4]


def test_a_folder_may_have_a_file_of_metrics_for_each_run(tmp_path):
    for name in NAMES:
        for model in WIDE:
            folder = tmp_path / "runs" / model / name
            folder.mkdir(parents=True)
            scores = {"acc": float(WIDE.loc[name, model]), "time": 2.5}
            (folder / "metrics.json").write_text(json.dumps(scores), encoding="utf-8")
    how = {"dataset": "file part 2", "strategy": "file part 1"}
    assert is_wide(read_results(tmp_path / "runs", "accuracy", columns=how))


def test_repeated_names_are_told_apart_by_the_numbers_below_them(tmp_path):
    text = ",noise,noise,blur,blur\n,1,2,1,2\nalpha,.9,.8,.7,.6\nbeta,.5,.4,.3,.2\n"
    results = read(tmp_path, text, columns={"strategy": "rows"})
    assert results.datasets == ("noise / 1", "noise / 2", "blur / 1", "blur / 2")


def test_sheets_of_excel_and_titles_above_them(tmp_path):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        WIDE.to_excel(book, sheet_name="acc", startrow=2, startcol=1)
        (1 - WIDE).to_excel(book, sheet_name="other")
        pd.DataFrame({"note": ["x", "y"]}).to_excel(book, sheet_name="notes", index=False)
        book.sheets["acc"].cell(1, 2, "Our results")
    assert is_wide(read_results(tmp_path / "book.xlsx", "accuracy"))
    other = read_results(tmp_path / "book.xlsx", "accuracy", columns={"table": "other"})
    assert np.allclose(other.scores, 1 - WIDE)


@pytest.mark.parametrize(
    ("ending", "package"), [(".xlsx", "openpyxl"), (".xls", "xlrd"), (".ods", "odf")]
)
def test_sheets_need_their_package(ending, package, tmp_path, monkeypatch):
    monkeypatch.setattr("mlaut.helpers.optional.find_spec", lambda _: None)
    (tmp_path / f"book{ending}").write_bytes(b"")
    with pytest.raises(Exception, match=rf"needs {package}.*pip install 'mlaut\[excel\]'"):
        read_results(tmp_path / f"book{ending}", "accuracy")


def test_sheets_of_open_document(tmp_path):
    pytest.importorskip("odf")
    WIDE.to_excel(tmp_path / "book.ods", engine="odf")
    assert is_wide(read_results(tmp_path / "book.ods", "accuracy"))


def test_numbers_with_several_units_of_one_kind_are_converted(tmp_path):
    table = pd.DataFrame({"alpha": ["5 ms", "2 s"], "beta": ["4 ms", "900 ms"]}, index=NAMES[:2])
    results = read(tmp_path, table.rename_axis("dataset"), "time", greater_is_better=False)
    assert results.scores.to_numpy().tolist() == [[5, 4], [2000, 900]]
    assert "time, units converted to ms" in results.how_read
    rates = pd.DataFrame({"Tool": ["a", "b"], "x": ["1.5 GB/s", "2 GB/s"], "y": ["900 MB/s", "x"]})
    results = read(tmp_path, rates, "rate", greater_is_better=True)
    assert results.scores.loc["y"].tolist()[0] == 0.9
    mixed = rates.assign(compile=["5.5 us", "2.5 us"])
    asked = refused(tmp_path, mixed, "rate", greater_is_better=True)
    assert "`x` is in bytes/s, and `compile` in s" in asked
    assert "unused=compile" in asked
    both = rates.assign(z=["1.5 us", "2.5 GB/s"])
    assert "neither numbers nor known words" in refused(
        tmp_path, both, "rate", greater_is_better=True
    )


def test_a_reference_behind_a_number_is_no_spread(tmp_path):
    cited = WIDE.map(lambda x: f"{x} [2]").reset_index()
    results = read(tmp_path, cited)
    assert is_wide(results)
    assert results.spreads is None


def test_a_cell_that_tells_of_a_failure_is_one(tmp_path):
    table = WIDE.astype(object)
    table.loc["d2", "beta"] = "Training failure"
    results = read(tmp_path, table.reset_index())
    assert results.missing["reason"].tolist() == ["failed"]


def test_weighted_averages_beside_the_average_are_no_datasets(tmp_path):
    first = MODELS.assign(**{"wAvg. (inc)": [0.881, 0.837], "Avg.": MODELS.mean(axis=1).round(3)})
    assert read(tmp_path, first).datasets == tuple(NAMES)
    rng = np.random.default_rng(0)
    many = pd.DataFrame(rng.uniform(60, 99, (9, 6)).round(1), columns=NAMES)
    many.insert(0, "Model", [f"m{i}" for i in range(9)])
    mean = many[NAMES].mean(axis=1)
    results = read(tmp_path, many.assign(Avg=mean.round(1)))
    assert results.datasets == tuple(NAMES)
    assert "`Avg` (an average of the others)" in results.how_read


def test_a_name_of_a_known_strategy_is_no_time(tmp_path):
    table = WIDE.rename(columns={"beta": "InceptionTime"})
    assert read(tmp_path, table).strategies == ("alpha", "InceptionTime")


def test_a_setting_beside_other_metrics_is_not_offered_as_the_score(tmp_path):
    asked = refused(tmp_path, LONG.rename(columns={"acc": "rmse"}).assign(noise=0.5), "r2")
    assert "no column is of r2" in asked
    assert "score=noise" not in asked


METRICS = {"Model": ["a", "b", "c"], "ACC": [0.9, 0.8, 0.7], "F1": [0.5, 0.4, 0.6]}


@pytest.mark.parametrize(
    "more", [{"Train (s)": [1.5, 2, 3], "Test (s)": [4, 5, 6.5]}, {"MAE": 0.5}]
)
def test_metrics_and_times_of_one_dataset_are_no_datasets(more, tmp_path):
    table = pd.DataFrame(METRICS).rename(columns={"Model": ""}).assign(**more)
    asked = refused(tmp_path, table)
    assert "it is unclear whether `unnamed` names strategies" in asked
    assert asked.endswith("--columns strategy=unnamed")
    timed = pd.DataFrame({"dataset": NAMES, "accuracy": ALPHA, "time_test_seconds": BETA})
    assert "rows are of one strategy" in refused(tmp_path, timed)


def test_rows_that_are_metrics_are_told_before_their_cells(tmp_path):
    table = pd.DataFrame({"x": ["PSNR", "SSIM", "Time"], "s1": [30, 0.9, "3m9s"], "s2": [3, 1, 2]})
    table = table.rename(columns={"x": ""})
    assert "its rows (PSNR, SSIM, Time) are metrics" in refused(tmp_path, table, "psnr")


def test_a_method_called_average_stays_unless_it_is_one(tmp_path):
    fused = WIDE.assign(Average=[0.5, 0.93, 0.7, 0.8, 0.97, 0.6])
    assert read(tmp_path, fused).strategies == ("alpha", "beta", "Average")
    mean = WIDE.assign(Average=WIDE.mean(axis=1).round(4))
    assert read(tmp_path, mean).strategies == ("alpha", "beta")


def test_names_under_a_heading_of_times_are_names(tmp_path):
    table = pd.DataFrame({"Time (mins)": ["Theta", "ARIMA"], "d1": [0.2, 0.3], "d2": [0.5, 0.4]})
    results = read(tmp_path, table, "minutes", greater_is_better=False)
    assert results.strategies == ("Theta", "ARIMA")


def test_a_number_that_tells_strategies_apart_is_offered_as_part_of_the_name(tmp_path):
    table = pd.concat([MODELS, MODELS - 0.01]).reset_index().assign(lg=[15, 17, 100, 100])
    asked = refused(tmp_path, table)
    assert "`Model` names several rows, which `lg` tells apart" in asked
    assert "--columns strategy=Model+lg" in asked
    results = read(tmp_path, table, columns={"strategy": ["Model", "lg"]})
    assert results.strategies == ("alpha 15", "beta 17", "alpha 100", "beta 100")


def test_commands_for_three_columns_of_names_use_all_of_them(tmp_path):
    rows = [(c, r, t) for c in ("x", "y") for r, t in (("p", "u"), ("p", "v"), ("q", "u"))]
    table = pd.DataFrame(rows, columns=["Category", "Recipe", "Tokenizer"])
    table["acc"] = np.linspace(0.5, 0.9, 6)
    asked = refused(tmp_path, table)
    assert "--columns dataset=Category,strategy=Recipe+Tokenizer" in asked


def test_two_numbers_with_a_dash_are_no_single_number(tmp_path):
    table = pd.DataFrame({"Model": ["a", "b"], "x": ["68.5 - 82.8", "61.1 - 79.3"]})
    assert "is no single number" in refused(tmp_path, table)


def test_levels_of_columns_that_number_repeats_are_repeats(tmp_path):
    runs = pd.concat([LONG.assign(seed=i, acc=LONG["acc"] + i / 100, time=2.5) for i in (0, 1)])
    pivot = {"index": "dataset", "columns": ["model", "seed"]}
    tables = [runs.pivot_table(**pivot, values=x) for x in ("acc", ["acc", "time"])]
    tables[0].to_csv(tmp_path / "levels.csv")
    for source in (*tables, tmp_path / "levels.csv"):
        results = read_results(source, "accuracy")
        assert results.strategies == ("alpha", "beta")
        assert np.allclose(results.scores, WIDE + 0.005)
        assert "means of 2 repeats (`seed`)" in results.how_read


def test_a_metric_may_be_a_level_above_datasets():
    runs = LONG.assign(time=2.5)
    table = runs.pivot_table(index="model", columns="dataset", values=["acc", "time"])
    assert is_wide(read_results(table, "accuracy"))


def test_several_columns_of_scores_are_those_of_a_wide_table(tmp_path):
    table = WIDE.assign(seconds=1.5).reset_index()
    assert is_wide(read(tmp_path, table, columns={"score": ["alpha", "beta"]}))


def test_a_column_of_ones_is_asked_about(tmp_path):
    asked = refused(tmp_path, WIDE.assign(flag=1).reset_index())
    assert "`flag` may be no strategies (1 throughout)" in asked
    assert "--columns unused=flag" in asked


def test_one_table_for_each_dataset_is_read_with_headings_as_datasets(tmp_path):
    tables = [
        f"## {data}\n\n| model | accuracy |\n|---|---|\n| x | 0.{i}1 |\n| y | 0.{i}2 |\n"
        for i, data in enumerate(("iris", "wine", "glass"), 1)
    ]
    path = tmp_path / "t.md"
    path.write_text("\n".join([*tables, "## times\n\n| model | s |\n|---|---|\n| x | 1 |\n"]))
    for columns, other in (({}, " Another reading: `mlaut report"), ({"table": "all"}, "")):
        results = read_results(path, "accuracy", columns=columns)
        assert results.scores.loc["wine"].tolist() == [0.21, 0.22]
        assert "3 datasets (headings of 3 tables)" in results.how_read
        assert f"not used: 1 other table of the file.{other}" in results.how_read
    models = [f"## {x}\n\n|heading|accuracy|\n|-|-|\n|iris|0.{x}1|\n|wine|0.{x}2|\n" for x in "12"]
    path.write_text("\n".join(models))
    columns = {"table": "all", "dataset": "heading", "strategy": "heading of the table"}
    results = read_results(path, "accuracy", columns=columns)
    assert results.scores.loc["wine"].to_dict() == {"1": 0.12, "2": 0.22}
    assert "2 strategies (`heading of the table`)" in results.how_read
    path.write_text(tables[0] + "\n## b\n\n| model | f1 |\n|---|---|\n| x | 0.1 |\n| y | 0.2 |\n")
    with pytest.raises(AnalysisError, match="no two tables with headings have the same columns"):
        read_results(path, "accuracy", columns={"table": "all"})
