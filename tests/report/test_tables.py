"""The registry of tables: one entry makes a table known to the page, text, LaTeX and CSV."""

import numpy as np
import pandas as pd
import pytest
from made_up import made_up_study

from mlaut.report import content, make_report, page, terminal, write_report, writing
from mlaut.report.drawing import FIGURES
from mlaut.report.latex import as_latex
from mlaut.report.records import LATEX, PAGE, TEXT, ReportTable
from mlaut.report.state import STATE_TABLES
from mlaut.report.tables import TABLES


def test_one_entry_shows_a_table_in_every_form(tmp_path, monkeypatch, draw_only):
    draw_only()

    def by_word(section):
        return pd.DataFrame({"length": {name: len(name) for name in section.results.strategies}})

    table = ReportTable(
        "lengths", by_word, (PAGE, TEXT, LATEX), "Lengths by {metric}", heading="Words"
    )
    more = (*TABLES, table)
    monkeypatch.setattr(content, "TABLES", more)
    for module in (page, writing, terminal, "mlaut.report.latex"):
        target = f"{module}.TABLES" if isinstance(module, str) else f"{module.__name__}.TABLES"
        monkeypatch.setattr(target, more)
    report = make_report(made_up_study(tmp_path / "s.h5", ["one", "three"], ["a", "b"]))
    assert report.sections[0].tables["lengths"]["length"].tolist() == [3, 5]
    shown = page.as_html(report)
    assert "<h3>Words</h3>" in shown
    assert "Lengths by accuracy" in shown
    assert "lengths:" in terminal.as_text(report)
    assert "Lengths by accuracy" in as_latex(report)
    write_report(report, tmp_path / "out")
    read = pd.read_csv(tmp_path / "out" / "lengths.csv", index_col=0)
    assert read["length"].tolist() == [3, 5]


def test_entries_are_whole():
    names = [table.name for table in (*TABLES, *STATE_TABLES)]
    assert len(set(names)) == len(names)
    assert all(table.caption for table in (*TABLES, *STATE_TABLES) if table.forms)
    afters = {after for _, _, after in FIGURES.values()}  # empty: on the first screen
    assert afters - {""} <= {table.name for table in TABLES}


def test_the_standing_has_the_probability_of_the_best_and_elo(tmp_path, draw_only):
    draw_only()
    study = made_up_study(tmp_path / "s.h5", ["one", "two", "three"], [*"abcdef"])
    report = make_report(study)
    table = report.sections[0].tables["standing"]
    assert table["P(best)"].sum() == pytest.approx(1)
    assert table["Elo"].mean() == pytest.approx(1000)
    assert table["average rank"].is_monotonic_increasing
    assert {"Elo low", "rank high", "won duels low"} <= set(table)
    shown = page.as_html(report)
    assert "<h3>Other ways to rank them</h3>" in shown
    assert "normalised score low" not in shown


def test_no_caption_ends_with_two_full_stops():
    table = pd.DataFrame({"A": np.linspace(0.5, 0.9, 10), "B": np.linspace(0.4, 0.8, 10)})
    table = table.astype(object).rename("d{}".format).rename_axis("dataset")
    table.iloc[0, 1] = "failed"  # what was never run is left out, and this is not
    text = as_latex(make_report(table, "accuracy"))
    assert "of these, use the likeliest.}" in text
    assert "..}" not in text
