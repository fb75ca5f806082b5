"""Several tables of a file: read together, or one of them, or asked about."""

from itertools import product

import pytest

from mlaut.analysis.importers.any_table import read_results
from mlaut.errors import AnalysisError


def markdown(*tables):
    """Return Markdown with a heading, a line of text and rows of cells for each table."""
    parts = []
    for heading, text, head, *rows in tables:
        lines = [f"## {heading}", "", text, "", head, "|".join("-" * (head.count("|") + 1)), *rows]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def read(tmp_path, *tables, metric="accuracy", **how):
    path = tmp_path / "t.md"
    path.write_text(markdown(*tables), encoding="utf-8")
    return read_results(path, metric, **how)


def asked(tmp_path, *tables, **how):
    with pytest.raises(AnalysisError) as caught:
        read(tmp_path, *tables, **how)
    return str(caught.value)


SMALL = ("model|iris|wine", "svm|0.9±0.01|0.8", "knn|0.7|OOM")
LARGE = ("model|iris|wine", "svm|0.6|0.5", "knn|0.4|0.3")


def test_tables_of_the_same_strategies_are_read_together_with_sources(tmp_path):
    results = read(tmp_path, ("Little noise", "", *SMALL), ("Much noise", "", *LARGE))
    assert results.datasets == (
        *("Little noise: iris", "Little noise: wine", "Much noise: iris", "Much noise: wine"),
    )
    assert results.scores.loc["Much noise: iris"].to_dict() == {"svm": 0.6, "knn": 0.4}
    assert "columns, with their headings of 2 tables) of 2 sources (names in each)" in (
        results.how_read
    )
    assert "failed: 1 'oom'" in results.how_read
    assert "Another reading: `mlaut report" in results.how_read
    assert results.spreads is not None


def test_tables_of_other_datasets_need_no_headings(tmp_path):
    other = (LARGE[0].replace("iris", "glass").replace("wine", "yeast"), *LARGE[1:])
    results = read(tmp_path, ("", "", *SMALL), ("", "", *other))
    assert results.datasets == ("iris", "wine", "glass", "yeast")
    assert results.n_sources == 4


def test_the_line_above_a_table_names_it_where_headings_repeat(tmp_path):
    rows = ("model|accuracy", "svm|0.9", "knn|0.8"), ("model|accuracy", "svm|0.7", "knn|0.6")
    each = (("Results", f"dataset: {x}", *y) for x, y in zip(("Ants", "Bees"), rows, strict=True))
    results = read(tmp_path, *each)
    assert results.datasets == ("Ants", "Bees")


TWO = "|model|accuracy|\n|-|-|\n|svm|0.{0}9|\n|knn|0.{0}1|\n"


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ("# A\n\n## Maze\n\n{}\n\n# B\n\n## Maze\n\n{}", ("A", "B")),  # parents
        ("# A\n\n### C\n\n## M\n\n{}\n\n# B\n\n## C\n\n## M\n\n{}", ("A", "B")),
        ("# A\n\nIt can do so.\n\n{}\n\n# B\n\nIt can do so.\n\n{}", ("A", "B")),
        ("# A\n\nHere is how:\n\n{}\n\n# B\n\n*We* see:\n\n{}", ("A", "B")),  # a sentence
        ("# A\n\nIt was slow, so we\nran this:\n\n{}\n\n# B\n\n{}", ("A", "B")),
        ("# R\n\n* ants:\n\n{}\n\n* bees\n\n{}", ("ants", "bees")),
        ("# R\n\n**ants**\n\n{}\n\n**bees:**\n\n{}", ("ants", "bees")),
        ("# R\n\nants:\n\n{}\n\n# S\n\nants:\n\n{}", ("R", "S")),
        ("# A\n\n```bash\n# run it\n```\n\n{}\n\n# B\n\n```\n# run\nb:\n```\n\n{}", ("A", "B")),
    ],
)
def test_a_table_is_called_after_headings_and_short_lines_that_tell_it_apart(
    lines, names, tmp_path
):
    path = tmp_path / "t.md"
    path.write_text(lines.format(TWO.format(2), TWO.format(3)), encoding="utf-8")
    assert read_results(path, "accuracy").datasets == names


def test_tables_of_the_same_datasets_below_two_headings_are_not_mixed(tmp_path):
    table = "|task|svm|knn|\n|-|-|-|\n|{0}|0.{1}|0.2|\n|{0}2|0.{1}5|0.3|\n"
    parts = ["# Offline"]
    for n, kind in enumerate(("Last", "Best"), 4):
        parts += [f"## {kind}"]
        for name in ("ant", "bee"):
            parts += [f"### {name}", table.format(name, n)]
    path = tmp_path / "t.md"
    path.write_text("\n\n".join(parts), encoding="utf-8")
    with pytest.raises(AnalysisError) as caught:
        read_results(path, "return", greater_is_better=True)
    text = str(caught.value)
    assert "1: 'Last: ant' (2 x 3); 2: 'Last: bee' (2 x 3); 3: 'Best: ant'" in text
    assert "--columns table=Last " in text
    assert "table=all" not in text
    best = read_results(path, "return", greater_is_better=True, columns={"table": "Best"})
    assert best.datasets == ("ant", "ant2", "bee", "bee2")
    assert best.scores["svm"].tolist() == [0.5, 0.55] * 2
    assert "2 other tables of the file" in best.how_read


def test_long_names_of_tables_are_cut_where_they_differ(tmp_path):
    names = ["a long name of a part of the results in " + x for x in ("Rome", "Oslo")]
    text = asked(tmp_path, *((x, "", *SMALL) for x in names))
    assert all(repr(x) in text for x in names)


def test_tables_of_the_metric_that_are_not_read_are_named_with_the_reason(tmp_path):
    range_of = ("Main", "", "model|accuracy", "svm|0.9-0.8", "knn|0.7", "mlp|0.6")
    one = ("One", "", "model|accuracy", "svm|0.9")
    other = ("More", "", "model|accuracy", "a|0.9", "b|0.6")
    text = asked(tmp_path, range_of, one, other)
    assert "table 1 (column 'accuracy' has '0.9-0.8', neither a number nor a word for none)" in text
    assert ", table 2 (one strategy) are not read: choose one" in text
    assert "and 1 more are not read" in asked(tmp_path, range_of, range_of, range_of, other)


@pytest.mark.parametrize(
    "above", ["Metric: RMSE, lower the better.", "**Evaluation metric** is RMSE", "## RMSE"]
)
def test_tables_below_the_name_of_another_measure_are_not_offered(above, tmp_path):
    table = "|model|a{0}|b{0}|\n|-|-|-|\n|svm|0.{0}|0.3|\n|knn|0.5|0.4|\n"
    own = "# One\n\nMetric: AUC\n\n## Few\n\n{}\n\n## Many\n\n{}\n\n"
    text = own.format(table.format(1), table.format(2))
    text += f"# Two\n\n{above}\n\n### Few\n\n{table.format(3)}\n\n### Many\n\n{table.format(4)}"
    path = tmp_path / "t.md"
    path.write_text(text, encoding="utf-8")
    results = read_results(path, "auc")
    assert results.datasets == ("a1", "b1", "a2", "b2")
    assert "2 other tables of the file" in results.how_read


def test_a_heading_of_a_measure_above_all_tables_is_no_reason_to_read_none(tmp_path):
    path = tmp_path / "t.md"
    tables = (
        "|model|iris|\n|-|-|\n|svm|0.9|\n|knn|0.8|",
        "|model|wine|\n|-|-|\n|svm|0.7|\n|knn|1|",
    )
    path.write_text("# Accuracy\n\n## A\n\n{}\n\n## B\n\n{}".format(*tables), encoding="utf-8")
    assert read_results(path, "f1").datasets == ("iris", "wine")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("Test", "", *SMALL), ("Validation", "", *LARGE)),  # parts of the data
        (("Everything", "", *SMALL), ("Averages", "", *LARGE)),
        (("Few", "", *SMALL), ("Few, f1 and more", "", *LARGE)),  # another measure
        (("One", "", *SMALL), ("Two", "", *SMALL)),  # the same numbers
        (("One", "", *SMALL), ("One", "", *LARGE)),  # what are they of?
        (("One", "", *SMALL), ("Two", "", LARGE[0], "mlp|0.5|0.4", "gbm|0.3|0.2")),
    ],
)
def test_tables_that_may_not_belong_together_are_asked_about(first, second, tmp_path):
    text = asked(tmp_path, first, second)
    assert "it has 2 tables" in text
    assert "--columns table=1" in text


def test_a_table_of_times_is_of_no_other_metric(tmp_path):
    results = read(tmp_path, ("All", "", *SMALL), ("Training, seconds", "", *LARGE))
    assert results.datasets == ("iris", "wine")
    assert "tables of the file other than 'All' (1)" in results.how_read


def test_the_table_whose_rows_name_the_metric_counts(tmp_path):
    head = ("data|Metric|svm|knn", "iris|Error|0.1|0.2", "wine|Error|0.3|0.4", "cars|RMSE|5|6")
    results = read(tmp_path, ("Quality", "", *head), ("More", "", *LARGE), metric="error")
    assert results.datasets == ("iris", "wine")


def test_another_table_is_read_where_that_of_the_metric_compares_nothing(tmp_path):
    one = ("Ours", "", "language|F1|recall", "fr|0.9|0.8", "de|0.7|0.6")
    results = read(tmp_path, one, ("Systems", "", *LARGE), metric="f1")
    assert "tables of the file other than 'Systems' (1)" in results.how_read


def test_numbers_of_another_measure_do_not_make_a_column_of_shares_a_dataset(tmp_path):
    table = ("Ours", "", "Model|Tuned Acc|LEEP", "net|82.5|-4.3", "vgg|80.5|-4.2", "mine|81|-1.5")
    results = read(tmp_path, table)
    assert (results.scores.shape, results.scores.loc[results.datasets[0], "net"]) == ((1, 3), 0.825)
    assert "not used: `LEEP`" in results.how_read


def test_cells_of_several_numbers_beside_the_metric_are_left_out(tmp_path):
    head = "model|accuracy|NLL/ECE", "svm|0.9|1.5 / 0.1", "knn|0.8|1.4 / 0.2"
    results = read(tmp_path, ("All", "", *head))
    assert "`NLL/ECE` (several numbers in a cell)" in results.how_read


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            ("Emotion|precision|recall|f1|support", "sad|0.9|0.8|0.85|10", "shy|0.8|0.7|0.75|9"),
            "its rows are classes, as `precision`, `recall`, `support` show, of one model",
        ),
        (("Model|# params|FLOPs", "a|125M|4G", "b|355M|9G"), "are sizes or times, and no f1"),
    ],
)
def test_what_has_no_scores_of_strategies_is_refused(rows, text, tmp_path):
    assert text in asked(tmp_path, ("One", "", *rows), metric="f1")


def test_shares_of_a_table_that_no_latex_wrote_are_no_comments(tmp_path):
    path = tmp_path / "t.tex"
    body = "model & iris & wine \\\\\nsvm & 91.5% & 80% \\\\\nknn & 70% & 60.5% \\\\ % the last\n"
    path.write_text("\\begin{tabular}{lll}\n" + body + "\\end{tabular}\n", encoding="utf-8")
    results = read_results(path, "accuracy")
    assert results.scores.loc["wine"].to_dict() == {"svm": 0.8, "knn": 0.605}


def test_arrows_behind_a_letter_are_no_count(tmp_path):
    results = read(tmp_path, ("All", "", "method|N → C|N → S", "a|0.2|0.3", "b|0.1|0.4"))
    assert results.datasets == ("N → C", "N → S")


def test_answers_of_tables_that_ask_are_shown_beside_those_that_are_read(tmp_path):
    asks = ("Results", "", "Model|B16|L16", "ImageNet|0.9|0.8", "CIFAR|0.7|0.6")
    text = asked(
        tmp_path, ("Needs", "", "Model|B16|L16", "chips|0.1|0.2", "days|0.3|0.1"), asks, asks
    )
    assert "--columns table=1" in text
    assert "--columns table=2," in text


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (("||svm|knn", "size|#rows|5|6", "size|#columns|3|2"), "within 0 and 1, and 'svm'"),
        (("|de|en|fr", "de|0|2|3", "en|4|0|2", "fr|1|2|0"), "it compares them in pairs"),
    ],
)
def test_tables_of_counts_or_pairs_are_refused(rows, text, tmp_path):
    assert text in asked(tmp_path, ("One", "", *rows))


def test_a_text_of_paragraphs_has_a_table_in_each(tmp_path):
    path = tmp_path / "run.log"
    parts = [
        f"It began at 9\n\n-- Noise {n} --\nmodel  iris  wine\nsvm  0.{n}  0.8\nknn  0.7  0.{n}\n"
        for n in "12"
    ]
    path.write_text("\n\n".join(parts), encoding="utf-8")
    results = read_results(path, "accuracy")
    assert results.datasets[:2] == ("Noise 1: iris", "Noise 1: wine")
    lines = [f"Fold {n}:\nxgboost: 0.{n}\nridge = 0.5" for n in "12"]
    path.write_text("\n\n".join(["Scores", *lines]), encoding="utf-8")
    assert read_results(path, "accuracy").scores["xgboost"].tolist() == [0.1, 0.2]
    path.write_text("nothing at all\n\nto see", encoding="utf-8")
    with pytest.raises(AnalysisError, match="no table in it"):
        read_results(path, "accuracy")


def test_headings_of_markdown_name_tables_of_html(tmp_path):
    row = "<tr><td>{}<td>{}".format
    tables = [
        f"## {name}\n\n<table>{row('model', 'acc')}{row('svm', x)}{row('knn', '0.5')}</table>\n"
        for name, x in (("Ants", "0.9"), ("Bees", "0.8"))
    ]
    (tmp_path / "t.md").write_text("\n".join(tables), encoding="utf-8")
    assert read_results(tmp_path / "t.md", "acc").datasets == ("Ants", "Bees")


def test_one_of_several_tables_of_the_metric_does_not_count_while_another_asks(tmp_path):
    asks = ("More", "", "Model|Img/sec|Imagenet accuracy", "B16|100.5|90.5%", "L16|50|80%")
    rows = [f"{x}|{y}|0.{i}" for i, (x, y) in enumerate(product(("a", "b"), ("svm", "knn")), 5)]
    reads = ("Few", "", "dataset|model|accuracy", *rows)
    assert "--columns table=2" in asked(tmp_path, asks, reads)


def test_a_table_of_all_others_is_left_out_whatever_their_columns_of_the_best_are_called(tmp_path):
    head = "Instance|V|BEST|GA cost|SA cost|GA dev"
    rows = [f"g{i}|{10 * i}|{i}|{i + 1}|{i + 2}|0.{i}" for i in range(1, 9)]
    parts = [("Paths", "", head.replace("BEST", "OPT"), *rows[:4]), ("Trees", "", head, *rows[4:])]
    parts.append(("Both kinds", "", head, *rows))
    results = read(tmp_path, *parts, metric="cost", greater_is_better=False)
    assert len(results.datasets) == 8
    assert "2 tables" in results.how_read
    assert "not used: 'Both kinds' (all of it is in others)" in results.how_read


def test_a_larger_table_of_the_metric_that_is_not_read_is_asked_about(tmp_path):
    large = ("Detection", "", "model|mAP", *(f"net {i}|4{i}<br>5{i}" for i in range(6)))
    small = ("Segmentation", "", "model|mAP box|mAP mask", "svm|40|30", "knn|45|35")
    text = asked(tmp_path, large, small, metric="map")
    assert "1: 'Detection'" in text
    assert "--columns table=2" in text
    assert read(tmp_path, small, ("About", "", "a|b", "x|y"), metric="map").datasets


def test_tables_of_other_metrics_alone_are_offered(tmp_path):
    rows = ("dataset|metric|svm|knn", "iris|MASE|0.9|0.8", "iris|time|2|3", "wine|MASE|1.9|2.8")
    text = asked(tmp_path, ("Main", "", *rows), ("Data", "", "dataset|n", "iris|5"), metric="smape")
    assert "--metric MASE --columns table=1" in text


def test_files_of_a_folder_with_a_table_below_each_of_many_headings(tmp_path):
    table = "### {}\n\n|metric|value|\n|-|-|\n|all rmse|{}|\n|hard rmse|9.5|\n\n"
    for n, name in enumerate(("svm", "knn"), 1):
        parts = [f"# {name.upper()}\n"]
        for seed in (1, 2):
            parts += [f"## Seed {seed}\n", table.format("ants", n + seed), table.format("bees", n)]
        (tmp_path / f"{name}.md").write_text("\n".join(parts), encoding="utf-8")
    results = read_results(tmp_path, "all rmse", greater_is_better=False)
    assert results.scores.to_dict() == {
        "knn": {"ants": 3.5, "bees": 2.0},
        "svm": {"ants": 2.5, "bees": 1.0},
    }
    assert "means of 2 repeats (`Seed`)" in results.how_read
    text = (tmp_path / "svm.md").read_text(encoding="utf-8")
    for file in tmp_path.iterdir():
        file.write_text(text + "\n## Sizes\n\n|a|b|\n|-|-|\n|1|2|\n", encoding="utf-8")
    with pytest.raises(AnalysisError) as caught:
        read_results(tmp_path, "all rmse", greater_is_better=False)
    assert "results: 5 in knn.md (metric, value), 5 in svm.md (metric, value); give" in str(
        caught.value
    )


def first_command(text):
    """Return the columns of the first command of a question."""
    return text.partition("choose one: ")[2].partition("; or ")[0].partition("--columns ")[2]


@pytest.mark.parametrize("headings", [("Validation results", "Test results"), ("Dev set", "Test")])
def test_the_table_of_the_test_part_is_offered_before_that_of_another(headings, tmp_path):
    text = asked(tmp_path, *((x, "", *y) for x, y in zip(headings, (LARGE, SMALL), strict=True)))
    assert first_command(text) == "table=2"
    results = read(tmp_path, ("From scratch training", "", *SMALL), ("Transfer", "", *LARGE))
    assert results.n_sources == 2  # training, and no part of data


def test_the_table_whose_datasets_are_the_headings_of_others_is_offered_first(tmp_path):
    path, parts = tmp_path / "t.md", []
    for n, kind in enumerate(("Small", "Large"), 1):
        parts += [f"# {kind}"]
        for at, name in enumerate(("ants", "bees", "Averages")):
            head = "ants|bees" if name == "Averages" else f"{name[0]}1|{name[0]}2|{name[0]}3"
            rows = [
                f"|{x}|" + "|".join(f"0.{n}{at}{i}{j}" for j in range(1, 4))
                for i, x in ((1, "a"), (2, "b"))
            ]
            wide = head.count("|") + 2
            rows = ["|".join(x.split("|")[: wide + 1]) + "|" for x in rows]
            parts += [f"## {name}", f"|model|{head}|\n" + "|-" * wide + "|\n" + "\n".join(rows)]
    path.write_text("\n\n".join(parts), encoding="utf-8")
    with pytest.raises(AnalysisError) as caught:
        read_results(path, "accuracy")
    assert first_command(str(caught.value)) == "table=3"


def test_tables_of_a_text_in_each_row_are_read_together_by_the_columns_they_share(tmp_path):
    rows = ("svm|no|0.{0}|run {1} a", "svm|yes|0.{0}5|run {1} b", "knn|no|0.{0}7|run {1} c")
    tables = []
    for n, (name, more) in enumerate((("Ants", "MAE"), ("Bees", "recall"), ("Cows", "bias")), 1):
        each = (f"{x.format(n, name)}|1{n}" for x in rows)
        tables.append((name, "", f"model|tuned|F1|script|{more}", *each))
    path = tmp_path / "t.md"
    path.write_text(markdown(*tables), encoding="utf-8")
    results = read_results(path, "f1", columns={"table": "all"})
    assert results.datasets == ("Ants", "Bees", "Cows")
    assert len(results.strategies) == 3
    assert "`script` (another text in each row)" in results.how_read


def test_a_table_of_a_strategy_that_others_lack_is_not_joined(tmp_path):
    head = "model|accuracy"
    tables = [(x, "", head, f"svm|0.{n}", f"knn|0.{n}5") for n, x in enumerate(("Ants", "Bees"), 1)]
    joined = read(tmp_path, *tables, ("Cows", "", head, "svm|0.7"))
    assert joined.datasets == ("Ants", "Bees", "Cows")
    assert read(tmp_path, *tables, ("Cows", "", head, "mlp|0.7")).datasets == ("Ants", "Bees")


def test_the_answer_to_the_questions_of_several_tables_reads_them_together(tmp_path):
    rows = ("u|{0}.5|3.5", "v|{0}.25|1.5")
    tables = [
        (x, "", f"|{a}|{b}", *(y.format(n) for y in rows))
        for n, (x, a, b) in enumerate((("One", "p", "q"), ("Two", "r", "s")), 1)
    ]
    text = asked(tmp_path, *tables, metric="gain", greater_is_better=True)
    assert "--columns table=all,strategy=unnamed" in text


def test_a_table_whose_numbers_need_units_is_offered_with_them(tmp_path):
    small = "model|p|q", "svm|54.25|0.5", "knn|40.5|100.5"
    text = asked(tmp_path, ("One", "", *small), ("Two", "", *small))
    assert "--columns table=1 --greater-is-better" in text


def test_a_column_of_scores_of_strategies_is_offered_where_columns_are_metrics(tmp_path):
    rows = ("svm|lr 1|90.5|91.5", "knn|lr 2|80.5|81.5")
    head = "Model Name|Best Configuration|Best Development Score|Best Test Score"
    text = "\n\n".join(
        f"## {x}\n\nAnd report averages over 5 runs:\n\n|{head}|\n|-|-|-|-|\n"
        + "\n".join(f"|{y.replace('.5', '.' + str(n))}|" for y in rows)
        for n, x in enumerate(("Tags", "Names"), 1)
    )
    (tmp_path / "t.md").write_text(text, encoding="utf-8")
    with pytest.raises(AnalysisError) as caught:
        read_results(tmp_path / "t.md", None, greater_is_better=True)
    assert "table=all,strategy=Model Name,score=Best Test Score" in str(caught.value)
    columns = {"table": "all", "score": "Best Test Score", "strategy": "Model Name"}
    results = read_results(tmp_path / "t.md", None, greater_is_better=True, columns=columns)
    assert results.datasets == ("Tags", "Names")


@pytest.mark.parametrize(
    "note", ["|{0} <br> {1}|{1} <br> {0}|", "|[link](x.org/1)|[log](x.org/2)|"]
)
def test_a_row_of_links_or_of_two_numbers_in_each_cell_is_left_out(note, tmp_path):
    row = f"both{note.format('75.5', '73.5').rstrip('|')}"
    results = read(tmp_path, ("One", "", "model|iris|wine", "svm|74.5|73", "knn|73.5|72", row))
    assert results.strategies == ("svm", "knn")
    assert "row 'both' (links, or several numbers in a cell)" in results.how_read
    other = read(
        tmp_path, ("One", "", "model|iris|wine", "svm|74.5|73", "knn|73.5|72", "mlp|OOM|-")
    )
    assert other.strategies == ("svm", "knn", "mlp")
