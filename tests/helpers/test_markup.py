"""Text for terminals, Markdown, LaTeX, HTML, JSON and spreadsheets: names of a study are data."""

import ast
import json
from pathlib import Path

import pandas as pd
import pytest

import mlaut
from mlaut.analysis import Results
from mlaut.helpers.markup import csv_text, json_text
from mlaut.report import make_report, write_report

PACKAGE = Path(mlaut.__file__).parent
FORMULA = '=1+2*cmd("x")'
ESCAPE = "red\x1b[31m\u202e\x9b2J"


def _calls(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and node.attr in ("to_csv", "DictWriter", "to_excel"):
            yield node.attr
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "csv.writer":
            yield "csv.writer"


def test_one_module_writes_csv():
    assert list(_calls(PACKAGE / "helpers" / "markup.py")) == ["to_csv"]
    others = {str(path): list(_calls(path)) for path in PACKAGE.rglob("*.py")}
    assert [path for path, calls in others.items() if calls] == [
        str(PACKAGE / "helpers" / "markup.py")
    ]


def test_csv_keeps_numbers_and_names_of_levels():
    index = pd.MultiIndex.from_tuples([("@a", 1), ("b", 2)], names=["-k", None])
    table = pd.DataFrame({("=p", 0): [0.1 + 0.2, 1e-300], ("q", 1): [1, 2**53]}, index=index)
    assert csv_text(table).splitlines() == [
        ",,'=p,q",
        ",,0,1",
        "'-k,,,",
        "'@a,1,0.30000000000000004,1",
        "b,2,1e-300,9007199254740992",
    ]
    assert csv_text(pd.DataFrame({"=a": []}), index=False) == "'=a\n"


@pytest.fixture(scope="module")
def report():
    scores = pd.DataFrame(
        {ESCAPE: [0.5, 0.6, 0.7], FORMULA: [0.6, 0.7, 0.9]},
        index=[f"d{i}{ESCAPE}" for i in range(3)],
    )
    return make_report(Results.from_table(scores, metric="accuracy"), title=ESCAPE)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Glyph")
def test_no_form_of_a_report_controls_a_terminal(report, tmp_path):
    written = write_report(report, tmp_path / "out")
    assert {path.suffix for path in written} == {
        ".html",
        ".md",
        ".tex",
        ".csv",
        ".bib",
        ".svg",
        ".pdf",
    }
    texts = [path.read_text() for path in written if path.suffix not in (".bib", ".pdf")]
    comparison = report.sections[0].comparison
    texts += [str(report), repr(comparison), comparison.to_latex(), comparison._repr_html_()]
    for text in texts:
        assert not {"\x1b", "\u202e", "\x9b"} & set(text)
    assert any(r"red\x1b[31m" in text for text in texts)


def test_json_holds_no_invisible_sign():
    content = {ESCAPE: ["ü", "\U000e0041"]}
    assert json.loads(json_text(content, indent=1)) == content
    assert json_text(content).isprintable()
