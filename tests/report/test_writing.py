"""The forms of a report: text, Markdown, CSV and LaTeX."""

import csv
import errno
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from made_up import made_up_study
from matplotlib import rc_context, rcParams

from mlaut.analysis.common.display import number
from mlaut.analysis.plots.canvas import NotebookFigure
from mlaut.cli import cli
from mlaut.errors import AnalysisError, StoreError
from mlaut.report import make_report, write_report
from mlaut.report.drawing import figures, file_of, pictures
from mlaut.report.shown import ShownTable
from mlaut.report.terminal import as_text, first_screen, lines_of
from mlaut.report.writing import as_markdown

NAMES = ["good", "K_Neighbours", "50% & <b>$x$</b> #{~}^\\"]
SETS = [f"set_{i}" for i in range(6)]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "s.h5"
    return make_report(made_up_study(path, NAMES, SETS, failed=[("set_0", "good")]))


@pytest.fixture(scope="module")
def written(report, tmp_path_factory):
    """Return a folder with all of the report, and the paths that `write_report` returned."""
    folder = tmp_path_factory.mktemp("written")
    return folder, write_report(report, folder)


def test_a_terminal_has_all_rows_rather_than_what_columns_mean():
    rng = np.random.default_rng(0)
    means = 0.9 - 0.02 * np.arange(20)
    frame = pd.DataFrame(rng.normal(means, 0.01, (20, 20)), columns=[*"ABCDEFGHIJKLMNOPQRST"])
    few, many = (make_report(frame[[*names]], "accuracy") for names in ("ABC", frame))
    assert "Rank: the average place among 3" in first_screen(few)
    screen = first_screen(many)
    assert all(re.search(rf"^{name}  ", screen, re.M) for name in frame)
    assert "Rank: " not in screen
    assert "What the columns mean: --format full." in " ".join(screen.split())
    assert "Rank: the average place among 20" in " ".join(as_text(many).split())
    long = frame[[*"ABCDEF"]].add_prefix("a strategy of two lines, which is long as ")
    screen = first_screen(make_report(long, "accuracy"))
    assert len(re.findall(r"^a strategy", screen, re.M)) == 6
    assert len(screen.splitlines()) <= 40


def test_what_columns_mean_with_copies_sources_and_missing_results():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal([0.9, 0.89, 0.8], 0.01, (12, 3)), columns=[*"ABC"])
    frame = frame.set_axis([*"abcdefghijkl"]).rename_axis("dataset")

    def told(table, **how):
        return " ".join(first_screen(make_report(table, "accuracy", **how)).split())

    assert "the average place among 3 (copies count as one); 1" in told(frame.assign(D=frame["B"]))
    sources = dict(zip(frame.index, [*"aaaabcdefghi"], strict=True))
    apart = " ".join(first_screen(make_report(frame, "accuracy", clusters=sources)).split())
    for what in ("place among 3", "Accuracy: the average", "that of A, the average"):
        assert f"{what}, each source once" in apart
    assert "each source" not in told(frame)
    frame = frame.astype(object)
    frame.loc["c", "B"] = "failed"
    last = told(frame)
    assert "blank without all results." in last
    assert "datasets without a result; each counts as last place." in last
    for missing in ("worst", "row mean", "C"):
        other = told(frame, missing=missing)
        assert "with what stands in for missing results." in other
        assert "Missing: datasets without a result. " in other


def test_no_heading_stands_above_nothing():
    one = pd.DataFrame({"A": [0.8], "B": [0.7]}, index=pd.Index(["iris"], name="dataset"))
    report = make_report(one, "accuracy")
    assert "nothing tells how much of a difference is chance" in first_screen(report)
    assert "How sure" not in first_screen(report) + as_markdown(report)


def test_csv_is_unrounded(report, tmp_path):
    write_report(report, tmp_path / "summary.csv")
    read = pd.read_csv(tmp_path / "summary.csv", index_col=0, dtype=str).astype(float)
    expected = report.sections[0].tables["summary"].astype(float)
    pd.testing.assert_frame_equal(read, expected, rtol=1e-15)


def test_a_folder_has_every_table_and_every_form(report, written):
    folder, paths = written
    names = {path.name for path in paths}
    assert {"report.html", "report.md", "report.tex", "failures.csv", "runs.csv"} <= names
    assert {f"{name.replace(' ', '-')}.csv" for name in report.sections[0].tables} <= names
    methods = (folder / "methods.tex").read_text()
    sources = (folder / "references.bib").read_text()
    assert "\\cite{wilcoxon1945}" in methods
    assert "@article{wilcoxon1945," in sources
    pairs = pd.read_csv(
        folder / "pairs.csv", header=[0, 1], index_col=[0, 1], dtype=str
    )  # pandas may be an ulp off
    expected = report.sections[0].tables["pairs"]
    read = [float(p) for p in pairs["signed rank", "p_value"]]
    assert read == expected["signed rank", "p_value"].tolist()


def included(folder):
    """Return the caption of each figure that the LaTeX of a folder includes, in its order."""
    text = (folder / "report.tex").read_text()
    return dict(re.findall(r"\\includegraphics\[.*\]\{(.*)\}\n\\caption\{(.*)\}", text))


def test_a_folder_has_every_figure_and_its_latex_includes_them(report, written, tmp_path):
    folder, paths = written
    names = {path.name for path in paths}
    captions = included(folder)
    drawn = figures(report.sections[0])
    assert [*captions] == [f"{name}.pdf" for name in drawn]
    assert "; line: the average" in captions["decision.pdf"]
    assert "mean accuracy against mean seconds" in captions["times.pdf"]
    for name in drawn:
        assert {f"{name}.pdf", f"{name}.svg"} <= names
        assert (folder / f"{name}.pdf").read_bytes()[:5] == b"%PDF-"
        root = ElementTree.parse(folder / f"{name}.svg").getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
    write_report(report, tmp_path / "alone.tex")
    assert "includegraphics" not in (tmp_path / "alone.tex").read_text()


def test_figures_of_several_metrics_are_named_by_metric(report, tmp_path, draw_only):
    draw_only("scores")
    metrics = ("accuracy", "balanced_accuracy")
    made = make_report(report.source, metrics, only=NAMES[1:])
    names = {path.name for path in write_report(made, tmp_path)}
    expected = [f"{metric}-{name}.pdf" for metric in metrics for name in ("decision", "scores")]
    captions = included(tmp_path)
    assert [*captions] == expected
    assert ". A dot for each dataset: " in captions["accuracy-decision.pdf"]
    assert {*expected, *(name.replace(".pdf", ".svg") for name in expected)} <= names


@pytest.mark.parametrize("form", ["svg", "pdf"])
def test_a_figure_has_the_same_bytes_each_time(report, form):
    first, second = (figures(replace(report.sections[0]))["decision"][0] for _ in range(2))
    assert file_of(first, form) == file_of(second, form)


@pytest.mark.parametrize("form", ["svg", "pdf"])
def test_no_setting_of_a_user_changes_a_figure(report, form, draw_only):
    draw_only()

    def drawn():
        section = replace(report.sections[0])  # whose figures are not drawn yet
        return file_of(figures(section)["decision"][0], form), pictures(section, "p")

    plain = drawn()
    settings = {
        "text.usetex": True,
        "axes.facecolor": "black",
        "font.size": 20,
        "lines.marker": "x",
    }
    with rc_context(settings):  # no LaTeX is called
        assert drawn() == plain
        assert rcParams["font.size"] == 20


def test_a_report_is_drawn_where_the_backend_of_a_notebook_is_not_installed(tmp_path):
    (tmp_path / "t.csv").write_text("dataset,A,B\na,0.1,0.2\nb,0.3,0.5\n")
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\n")
    command = "import os, sys; from mlaut.cli import main; main(sys.argv[1:])"
    command += "; print(os.environ['MPLBACKEND'])"
    given = ["report", "t.csv", "--metric", "error", "-o", "r.html"]
    ended = subprocess.run(
        [sys.executable, "-c", command, *given],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "not_installed"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.endswith("r.html\nnot_installed\n")


def test_a_page_and_its_folder_draw_each_figure_once_for_svg(report, monkeypatch, tmp_path):
    drawn, draw = [], NotebookFigure.draw
    monkeypatch.setattr(
        NotebookFigure, "draw", lambda self, renderer: drawn.append(self) or draw(self, renderer)
    )
    section = replace(report.sections[0])
    shown = pictures(section, "p")
    assert len({*drawn}) == len(drawn) == len(shown)
    drawn.clear()
    write_report(replace(report, sections=(section,)), tmp_path)  # the PDFs, and the first figure
    assert len(drawn) == len(shown) + 2
    for name, (figure, *_) in figures(section, page=True).items():
        file = file_of(figure, "svg").decode()
        places = (
            re.findall(r"translate\(([\d.]+) ([\d.]+)\)", svg) for svg in (file, shown[name].svg)
        )
        in_file, on_page = (np.array([*of], dtype=float) for of in places)
        assert len(in_file) > 10, name
        np.testing.assert_allclose(on_page, in_file, atol=0.01, err_msg=name)


def test_an_unknown_ending_and_a_place_that_cannot_be_written(report, tmp_path):
    with pytest.raises(AnalysisError, match=r"r\.doc: reports are written to \.html, \.md, \.tex"):
        write_report(report, tmp_path / "r.doc")
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="a file stands where a folder must be, while writing"):
        write_report(report, tmp_path / "file" / "r.html")


def full_disk(monkeypatch, after):
    """Have the disk be full after some bytes of what MLaut writes."""
    left, write = [after], Path.write_bytes

    def limited(path, content):
        left[0] -= len(content)
        if left[0] < 0:
            write(path, content[: max(0, left[0] + len(content))])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", limited)


@pytest.mark.parametrize("name", ["r.html", "r.csv", "r.json", "folder"])
def test_a_full_disk_leaves_the_old_report(report, tmp_path, monkeypatch, name):
    old = {path: path.read_bytes() for path in write_report(report, tmp_path / name)}
    full_disk(monkeypatch, after=sum(map(len, old.values())) // 2)
    with pytest.raises(StoreError, match=r"is full while writing .*what was stored before is int"):
        write_report(replace(report, title="new"), tmp_path / name)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == old


def test_text_and_markdown_say_the_same(report, tmp_path):
    write_report(report, tmp_path / "r.txt")
    write_report(report, tmp_path / "r.md")
    marked = (tmp_path / "r.md").read_text()
    assert r"50% & \<b>$x$\</b> #{~}^\\ " in marked
    assert r"ValueError: \<b>no\</b> & no" in marked
    shown = re.sub(r"\\([\\`\[<|])", r"\1", marked)  # as Markdown reads it
    for text in (tmp_path / "r.txt").read_text(), shown:
        joined = " ".join(text.split())
        assert all(sentence in joined for sentence in report.sections[0].sentences)
        assert "ValueError: <b>no</b> & no" in joined


@pytest.mark.parametrize("long", ["n" * 120, "a name of many words " * 6])
def test_no_line_of_a_text_is_wider_than_a_terminal(long):
    generator = np.random.default_rng(0)
    names = [*(f"Strategy{i}" for i in range(39)), long]
    scores = generator.uniform(0.5, 0.9, (12, 1)) + generator.normal(0, 0.01, (12, 40))
    scores[:, 2] = scores[:, 1] = scores[:, 0]
    report = make_report(pd.DataFrame(scores, columns=names), "accuracy")
    text = as_text(report)
    assert max(map(len, text.splitlines())) <= 100
    screen = repr(report).splitlines()
    assert max(map(len, screen)) <= 100
    assert len(screen) <= 40
    joined = " ".join(text.split())
    assert "Strategy0, Strategy1 and Strategy2 are equal to the last digit on" in joined
    assert re.search(r"\.\.\. and \d+ further columns", joined)  # of the scores by dataset


def test_latex_has_the_numbers_and_no_bare_sign(report, tmp_path):
    write_report(report, tmp_path / "r.tex")
    text = (tmp_path / "r.tex").read_text()
    summary = report.sections[0].tables["summary"]
    value = number(summary.loc["K_Neighbours", "mean accuracy"])
    assert re.search(rf"^K\\_Neighbours & .* & {re.escape(value)} &", text, re.M)
    assert r"50\% \& \textless{}b\textgreater{}\$x\$" in text
    assert text.count(r"\begin{longtable}") == 3


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(written, tmp_path):
    shutil.copytree(written[0], tmp_path, dirs_exist_ok=True)
    packages = r"\usepackage[T1]{fontenc}\usepackage{textcomp,booktabs,longtable,graphicx}"
    tmp_path.joinpath("paper.tex").write_text(
        rf"\documentclass[landscape]{{article}}{packages}"
        r"\begin{document}\input{report.tex}\end{document}"
    )
    told = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert told.returncode == 0, told.stdout[-2000:]
    assert tmp_path.joinpath("paper.pdf").stat().st_size > 10_000


def test_the_command_line_writes_a_page(report, tmp_path, draw_only):
    draw_only()
    told = CliRunner().invoke(cli, ["report", str(report.study), "-o", str(tmp_path / "r.html")])
    assert told.exit_code == 0, told.output
    assert told.output.strip() == str(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_demo_ends_by_naming_the_page(report, tmp_path, monkeypatch, draw_only):
    draw_only()
    monkeypatch.setattr("mlaut.cli.runs.run_file", lambda *_given, **_how: None)
    monkeypatch.setattr(
        "mlaut.cli.runs.database_and_options", lambda _path: (report.study, {"metric": "accuracy"})
    )
    told = CliRunner().invoke(cli, ["demo", "-o", str(tmp_path)])
    page = tmp_path / "report" / "report.html"
    lines = told.output.splitlines()
    assert lines[-1] == f"The report:     {page}  (open it in a browser)"
    assert report.sections[0].decision.answer() in " ".join(lines)
    assert page.exists()


def test_a_report_in_a_folder_is_written_through_no_link(tmp_path, draw_only):
    draw_only("scores")
    made = make_report(made_up_study(tmp_path / "s.h5", ["one", "two"], ["a", "b"]))
    other, folder = tmp_path / "diary.txt", tmp_path / "out"
    other.write_text("mine")
    folder.mkdir()
    for name in ("report.html", "losses.csv", "scores.svg", "scores.pdf"):
        (folder / name).symlink_to(other)
    write_report(made, folder)
    assert other.read_text() == "mine"
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")


def test_no_text_of_a_study_is_a_formula_in_a_spreadsheet(tmp_path, draw_only):
    draw_only()
    names = ['=HYPERLINK("http://x","y")', "+1+1", "@SUM(A1)", "-good", "plain - one"]
    made = make_report(made_up_study(tmp_path / "s.h5", names, ["=a", "-1", "b"]))
    for path in write_report(made, tmp_path / "out"):
        if path.suffix == ".csv":
            with path.open(newline="") as file:
                cells = [cell for row in csv.reader(file) for cell in row]
            assert not [c for c in cells if c[:1] in tuple("=+-@") and not _is_number(c)], path
    losses = pd.read_csv(tmp_path / "out" / "losses.csv", index_col=0, dtype=str)
    assert set(losses) == {*("'" + name for name in names[:4]), "plain - one"}
    assert set(losses.index) == {"'=a", "-1", "b"}  # a number is no formula
    expected = made.sections[0].tables["losses"]
    assert losses.map(float).to_numpy().tolist() == expected.to_numpy().tolist()


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(("n", "told"), [(7, ""), (9, ": column 8"), (40, "")])
def test_columns_without_room_are_named_and_leave_no_blank_line(n, told):
    frame = pd.DataFrame([[1.0] * n], [("long " * 20).strip()], [f"column {k}" for k in range(n)])
    lines = [*lines_of(ShownTable.of(frame))]
    assert max(map(len, lines)) <= 100
    assert "" not in lines
    assert ("further column" in lines[-1]) == (n > 7)
    assert lines[-1].endswith(told)
    assert lines[0].split()[-1] == f"{min(n, 8) - 1}"


def test_long_names_break_where_a_part_ends():
    names = ["RandomForestClassifier", "a_longer_name_of_a_strategy", "x" * 45]
    frame = pd.DataFrame([[1.0] * 9] * 3, names, [f"column {k}" for k in range(9)])
    shown = [line[:20].strip() for line in lines_of(ShownTable.of(frame))]
    parts = ["RandomForest", "Classifier", "a_longer_name_of_a_", "strategy"]
    assert shown[2:-1] == [*parts, "x" * 20, "x" * 20, "x" * 5]
