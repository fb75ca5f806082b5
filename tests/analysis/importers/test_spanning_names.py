"""Names that stand for several rows, and rows of names that come again above each block."""

import pandas as pd
import pytest

from mlaut.analysis.importers.any_table import read_results
from mlaut.analysis.importers.grids.forms.framing import filled_down
from mlaut.analysis.importers.grids.sheet import QuestionError


def table_of(noises, score):
    """Return rows of LaTeX in which dataset, share and algorithm stand in their first row only."""
    rows = []
    for d, dataset in enumerate(["iris", "wine"]):
        for s, share in enumerate(["0.05", "0.15"]):
            for a, algorithm in enumerate(["svm", "knn", "cart"]):
                for i, noise in enumerate(noises):
                    names = (dataset * (s + a + i == 0), share * (a + i == 0), algorithm * (i == 0))
                    rows.append([*names, noise, f"{score(d, s, a, i):.3f}"])
    head = ["Dataset", "Share", "Algorithm", "Noise", "AUC"]
    return "\n".join(" & ".join(row) + r" \\" for row in [head, *rows])


def read(tmp_path, text, name, metric="AUC", **how):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_results(tmp_path / name, metric, **how)


def in_tabular(rows):
    return f"\\begin{{tabular}}{{lllll}}\n{rows}\n\\end{{tabular}}"


def test_names_of_several_levels_are_filled_down(tmp_path):
    rows = table_of(["nar", "ncar"], lambda d, s, a, i: (7 * d + 3 * s + 2 * a + i + 60) / 100)
    results = read(tmp_path, in_tabular(rows), "t.tex")
    assert (len(results.datasets), results.strategies) == (8, ("svm", "knn", "cart"))
    assert "`Dataset`, `Share`, `Algorithm` filled down" in results.how_read
    assert sorted(results.scores["cart"])[-1] == 0.75
    commas = read(tmp_path, rows.replace(" & ", ",").replace(r" \\", ""), "t.csv")
    assert commas.scores.equals(results.scores)


@pytest.mark.parametrize("average", [0.735, 0.6])
def test_rows_of_averages_in_one_of_several_names_are_left_out_if_they_are(average, tmp_path):
    scores = [average, 0.7, 0.77]
    noises = ["average", "nar", "ncar"]
    results = read(tmp_path, in_tabular(table_of(noises, lambda *x: scores[x[3]])), "t.tex")
    left_out = average == 0.735
    assert len(results.datasets) == (8 if left_out else 12)
    assert ("rows `average` in `Noise` (averages of the others)" in results.how_read) == left_out


def test_what_is_empty_below_no_name_stays_so():
    rows = [["a", "x", 1, None], ["a", None, 2, None], ["b", "y", 3, 0.5], ["b", None, 4, None]]
    table = pd.DataFrame(rows, columns=["model", "remark", "n", "score"], dtype=object)
    assert filled_down(table).isna().sum().sum() == 5
    uneven = [["a", "0.1", 1], [None, "0.2", 2], [None, None, 3], ["b", "0.3", 4]]
    table = pd.DataFrame(uneven, columns=["model", "share", "n"], dtype=object)
    filled = filled_down(table)
    assert filled["share"].isna().sum() == 1


def test_rows_of_names_that_come_again_are_of_each_block(tmp_path):
    lines = []
    for block in ("15K_V1", "15K_V2"):
        lines += [f"{block},,each run,,,,final,,,", ",,fold_1,,fold_2,,Hits@1,,MR,"]
        lines += [",,H@1,MR,H@1,MR,avg.,std.,avg.,std."]
        for d, dataset in enumerate(["EN-FR", "EN-DE", "D-W"]):
            for m, model in enumerate(["MTransE", "JAPE"]):
                score = (d + 2 * m + 10 * (block == "15K_V2")) / 100
                cells = [score, 250 + d, score, 260, score, 0.01, 255, 7]
                lines.append(",".join([dataset * (m == 0), model, *map(str, cells)]))
    with pytest.raises(QuestionError) as raised:
        read(tmp_path, "\n".join(lines), "t.csv", "Hits@1", greater_is_better=True)
    first = next(iter(raised.value.readings.values()))
    assert first.datasets[:2] == ("EN-FR 15K_V1", "EN-DE 15K_V1")
    assert len(first.datasets) == 6
    assert first.scores.loc["D-W 15K_V2", "JAPE"] == 0.14
    assert "spreads (`final / Hits@1 / std`" in first.how_read
