"""The page: whole in itself, escaped, readable at any width, and it sorts."""

import base64
import hashlib
import html
import re
import shlex
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from browser import CHROMIUM, chromium
from click.testing import CliRunner
from made_up import made_up_study

from mlaut.cli import cli
from mlaut.report import make_report, write_report
from mlaut.report.drawing import figures
from mlaut.report.page import _breakable, as_html
from mlaut.report.shown import decision_groups

ODD = "<script>alert(\"$x$\")</script> & 'co' {{ 7 * 7 }} $\\bad$"
NAMES = ["good", "middling", ODD]
SETS = ["plain", "<i>odd</i> & $set$", "third", "fourth"]


class Outline(HTMLParser):
    """What a page is made of."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append((tag, given))
        self.ids += [given["id"]] if "id" in given else []


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "a & <b>.h5"
    failed, not_run = [(SETS[0], "good")], [(SETS[3], ODD)]
    study = made_up_study(path, NAMES, [*SETS, "5", "6", "7"], failed=failed, not_run=not_run)
    return make_report(study, title="a & <b>")


@pytest.fixture(scope="module")
def page(report):
    return as_html(report)


def test_names_are_text_and_never_markup(page):
    assert page.count("<script>") == page.count("</script>") - 1 == 2  # charts, MLaut's own, data
    assert "&lt;script&gt;alert(&#34;$x$&#34;)&lt;/script&gt; &amp;" in page
    assert "&lt;i&gt;odd&lt;/i&gt; &amp; $set$" in page
    assert "{{ 7 * 7 }}" in page
    assert '<h1 id="title">a &amp; &lt;b&gt;: accuracy</h1>' in page
    assert "ValueError: &lt;b&gt;no&lt;/b&gt; &amp; no" in page


def test_nothing_is_loaded_from_elsewhere(page):
    addresses = re.findall(r'https?://[^\s"\'<>)]+', page)
    named = "https://github.com/leeoniya/uPlot"  # in the comment of the library of charts
    assert set(addresses) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink", named}
    outline = Outline(page)
    assert not [tag for tag, given in outline.tags if tag == "script" and "src" in given]
    links = [
        given["href"]
        for tag, given in outline.tags
        if tag in ("a", "link", "use") and "href" in given
    ]
    assert all(link.startswith(("#", "data:")) for link in links)


def test_a_page_runs_its_own_scripts_only(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in scripts]
    assert len(scripts) == 2
    assert policy == (
        "default-src 'none'; script-src "
        + " ".join(f"'sha256-{digest}'" for digest in hashes)
        + "; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert "Permission is hereby granted" in scripts[0]  # the licence of the library of charts


def test_it_says_what_is_missing_and_what_failed(page):
    assert "PARTIAL: 1 of 21 cells were not run yet; what follows may change." in page
    assert "Does it change a conclusion? accuracy" in page
    assert "All 2 cells without accuracy" in page


def test_structure_serves_those_who_do_not_see_it(report, page):
    outline = Outline(page)
    assert len(outline.ids) == len(set(outline.ids))
    heads = [given.get("scope") for tag, given in outline.tags if tag == "th"]
    assert set(heads) == {"col", "row"}
    shown = sum(tag == "figure" for tag, _ in outline.tags)
    pictures = [given for _, given in outline.tags if "picture" in given.get("class", "")]
    alternatives = [given["aria-label"] for given in pictures if given["role"] == "img"]
    assert shown == len(alternatives) == len(figures(report.sections[0], page=True)) > 1
    assert alternatives[1].startswith(
        "Medians of accuracy over 7 datasets, best first, those that lack datasets last: middling "
    )
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert max(b - a for a, b in pairwise(levels)) == 1


def test_numbers_stand_unrounded_behind_what_is_read(tmp_path, draw_only):
    draw_only()
    report = make_report(made_up_study(tmp_path / "s.h5", NAMES[:2], SETS))
    value = float(report.sections[0].tables["summary"].loc["good", "mean accuracy"])
    assert f'data-value="{value!r}">' in as_html(report)


def test_one_strategy(tmp_path, draw_only):
    draw_only("scores", "pairs")
    told = as_html(make_report(made_up_study(tmp_path / "s.h5", NAMES[:1], SETS)))
    assert "One strategy has no other to be compared with." in told
    assert "Distribution of scores" in told
    assert "All pairs" not in told


def test_one_dataset_has_the_same_first_screen(tmp_path, draw_only):
    draw_only("decision", "calibration", "residuals", "scores")
    told = as_html(make_report(made_up_study(tmp_path / "s.h5", NAMES, SETS[:1])))
    assert f'<p class="answer">For new data like {SETS[0]}, ' in told
    # one test set has no dots
    assert "the interval of the difference</span>" in told
    for heading in ("All pairs</h3>", "What it confuses</h3>", "How was it tested?</h2>"):
        assert heading in told
    assert "Distribution of scores" not in told
    assert 'href="#explore"' not in told
    assert "<dt>main test</dt>" not in told  # its card tells the test


@pytest.mark.slow
def test_two_tasks_are_two_sections(tmp_path):
    study = made_up_study(tmp_path / "s.h5", NAMES, [*SETS, "5", "6"], regression=SETS[:3])
    report = make_report(study)
    told = as_html(report)
    outline = Outline(told)
    assert len(outline.ids) == len(set(outline.ids))
    assert "How good is each? Accuracy of 3 strategies on 3 datasets</h2>" in told
    assert told.count("<h3>All pairs</h3>") == 2
    paths = {path.name for path in write_report(report, tmp_path / "out")}
    assert {"accuracy-summary.csv", "datasets.csv", "report.html"} <= paths
    assert sum(path.endswith("-summary.csv") for path in paths) == 2


def test_a_notebook_shows_the_first_screen(tmp_path):
    report = make_report(made_up_study(tmp_path / "s.h5", NAMES, SETS))
    shown = report._repr_html_()
    assert '<p class="answer">Too few datasets to be sure' in shown
    assert shown.count('<tr class="undecided">') == shown.count("<svg") == 3
    assert "Was it planned?" in shown
    assert "<script>" not in shown
    assert len(shown) < 25_000


OVERFLOWING = """[...document.querySelectorAll("body *")].filter(one =>
    one.getClientRects().length && !one.closest(".scroll > *, pre > *")
    && one.getBoundingClientRect().right > document.documentElement.clientWidth + 1
).map(one => one.outerHTML.slice(0, 80))"""
OVERLAPPING = """(() => {
    const parts = [...document.querySelectorAll("h1, h2, h3, p, .scroll, figcaption, summary, li")]
        .filter(one => one.getClientRects().length && !one.closest(".scroll > *, summary > *"))
        .map(one => [one.getBoundingClientRect(), one.outerHTML.slice(0, 60)]);
    parts.sort((a, b) => a[0].top - b[0].top);
    return parts.slice(1).filter(([box], i) => {
        const before = parts[i][0];
        return box.top < before.bottom - 1 && box.left < before.right && before.left < box.right;
    }).map(part => part[1]);
})()"""


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: the page was not opened")
@pytest.mark.parametrize(
    ("n_strategies", "folds"), [(3, 1), pytest.param(30, 2, marks=pytest.mark.slow)]
)
def test_in_a_browser(tmp_path, n_strategies, folds):
    names = [f"A_strategy_with_a_long_name_{i}" for i in range(n_strategies)]
    sets = [f"dataset-{i}" for i in range(12)]
    study = made_up_study(tmp_path / "s.h5", names, sets, failed=[(sets[3], names[1])], folds=folds)
    (file,) = write_report(make_report(study), tmp_path / "report.html")
    with chromium(tmp_path / "profile") as page:
        for width in (1280, 360):
            page.open(file, width)
            assert page.value("document.documentElement.scrollWidth") == width
            page.value("document.querySelectorAll('details').forEach(one => one.open = true)")
            assert page.value("document.documentElement.scrollWidth") == width
            assert page.value(OVERFLOWING) == []
            assert page.value(OVERLAPPING) == []
            _sorts(page)
            assert page.complaints() == []
            asked = [url for url in page.requests() if not url.startswith("data:")]
            assert asked == [file.as_uri()]


def _sorts(page):
    """Click the heads of the summary: numbers go up, then down; names by the alphabet."""
    table = (
        "[...document.querySelectorAll('table.sortable')]"
        ".find(one => one.caption.textContent.startsWith('Average scores'))"
    )
    head, body = (
        f"{table}.tHead.rows[0].cells[{{}}]",
        f"[...{table}.tBodies[0].rows].map(row => {{}})",
    )
    for expected in ("ascending", "descending"):
        page.value(head.format(1) + ".querySelector('button').click()")
        assert page.value(head.format(1) + ".getAttribute('aria-sort')") == expected
        shown = [float(v) for v in page.value(body.format("row.cells[1].dataset.value"))]
        assert shown == sorted(shown, reverse=expected == "descending")
    page.value(head.format(0) + ".querySelector('button').click()")
    names = page.value(body.format("row.cells[0].textContent"))
    assert names == sorted(names, key=lambda name: int(name.rpartition("_")[2]))


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: the page was not opened")
def test_figures_are_for_the_dark_and_paper_has_what_the_answer_rests_on(tmp_path, draw_only):
    draw_only("ranks")
    study = made_up_study(tmp_path / "s.h5", NAMES[:2], [f"set {i}" for i in range(8)])
    (file,) = write_report(make_report(study), tmp_path / "report.html")
    figure = "getComputedStyle(document.querySelector('.picture svg')).filter"
    is_open = "[...document.querySelectorAll('details.part')].map(part => part.open)"
    with chromium(tmp_path / "profile") as page:
        for scheme, expected in (("light", "none"), ("dark", "invert(0.9) hue-rotate(180deg)")):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            page.ask("Emulation.setEmulatedMedia", features=features)
            page.open(file, 800)
            assert page.value(figure) == expected
        assert page.value(is_open) == [False] * 6
        page.value("dispatchEvent(new Event('beforeprint'))")
        detail = page.value(is_open.replace("part.open", "part.matches('.detail')"))
        assert detail == [False, False, False, True, True, True]  # pairs, tests, what was run
        printed = [False, *(not one for one in detail[1:])]  # the explorer is not for paper
        assert page.value(is_open) == printed
        page.value("dispatchEvent(new Event('afterprint'))")
        assert page.value(is_open) == [False] * 6


def test_the_first_screen_answers(tmp_path, draw_only):
    draw_only("ranks")
    names = [f"Strategy {i:02}" for i in range(20)]
    study = made_up_study(tmp_path / "s.h5", names, [f"set {i}" for i in range(20)])
    report = make_report(study, title="Twenty & more", question="control: Strategy 19")
    page = as_html(report)
    decision = report.sections[0].decision
    first = page[: page.index('<details class="part"')]
    assert '<h1 id="title">Twenty &amp; more: accuracy</h1>' in first
    answer = re.search(r'<p class="answer">(.*)</p>', first)[1]
    assert answer == (
        "On datasets like these, use one of Strategy 01, Strategy 00, Strategy 03, Strategy 02 and "
        "8 more in place of Strategy 19."
    )
    assert decision.answer() == f"{answer} Undecided: 7 others."  # the table of a page has these
    shown = re.findall(r'<th scope="row"><a href="#explore[^>]*>(.*)</a></th>', first)
    assert shown == [name for _, group, _ in decision_groups(decision) for name in group]
    assert sorted(shown) == names
    assert "undecided (7)" in first
    assert str(tmp_path) not in page  # a page is for sending


def test_numbers_of_a_column_have_as_many_decimals(tmp_path, draw_only):
    draw_only()
    study = made_up_study(tmp_path / "s.h5", NAMES, [f"set {i}" for i in range(8)])
    page = as_html(make_report(study))
    for name in ("rank", "accuracy", "difference"):
        shown = re.findall(rf'<td class="n" data-label="{name}">([^<]*)', page)
        assert len(shown) == len(NAMES) - (name == "difference")
        assert len({len(text.partition(".")[2]) for text in shown}) == 1, (name, shown)
        assert "-" not in "".join(shown)  # a minus sign is no hyphen


def test_too_few_datasets_have_a_page_that_names_no_best(tmp_path, draw_only):
    draw_only("ranks")
    page = as_html(make_report(made_up_study(tmp_path / "s.h5", NAMES, SETS)))
    first = page[: page.index('<details class="part"')]
    assert "Too few datasets to be sure (4, and at least 6 are needed). " in first
    for word in ("P(best)", "clearly worse", "probability", "has the best", "highest mean"):
        assert word not in first
    assert "highest mean" not in page


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: the page was not opened")
def test_the_browser_would_see_faults(tmp_path):
    file = tmp_path / "bad.html"
    file.write_text(
        '<meta name="viewport" content="width=device-width"><img src="missing.png">'
        '<p style="width: 900px">wide</p><p style="margin-top: -2rem">over</p>'
        "<script>console.error('no')</script>"
    )
    with chromium(tmp_path / "profile") as page:
        page.open(file, 360)
        assert len(page.value(OVERFLOWING)) == 1
        assert len(page.value(OVERLAPPING)) == 1
        assert page.complaints()
        assert page.requests()[-1].endswith("missing.png")


def test_the_command_in_the_footer_writes_the_tables(tmp_path, draw_only, monkeypatch):
    draw_only()
    monkeypatch.chdir(tmp_path)
    rows = [f"d{i},{0.2 + i / 100},{0.4 + i / 50}" for i in range(7)]
    (tmp_path / "my scores.csv").write_text("\n".join(["of what,A,B", *rows]))
    made = ["report", "my scores.csv", "--metric", "gain", "--greater-is-better", "-o", "r.html"]
    made += ["--columns", "dataset=of what,score=A+B"]
    CliRunner().invoke(cli, made, catch_exceptions=False)
    text = html.unescape((tmp_path / "r.html").read_text())
    (command,) = re.findall(r"<code>mlaut (report .*? -o tables/)</code>", text)
    CliRunner().invoke(cli, shlex.split(command), catch_exceptions=False)
    assert (tmp_path / "tables" / "scores.csv").exists()
    of_memory = make_report(pd.DataFrame({"A": [0.9, 0.8], "B": [0.8, 0.6]}), "accuracy")
    assert of_memory.command == "mlaut.report.write_report(report, 'tables/')"


def test_a_page_where_nothing_holds_over_all_says_how_its_table_was_read(tmp_path, draw_only):
    draw_only()
    table = pd.DataFrame({"A": [0.9, np.nan, 0.7, np.nan], "B": [np.nan, 0.8, 0.6, 0.7]})
    table.rename_axis("dataset").to_csv(tmp_path / "patchy.csv")
    write_report(make_report(tmp_path / "patchy.csv", "accuracy"), tmp_path / "r.html")
    assert "Read: 4 datasets" in (tmp_path / "r.html").read_text()


def test_a_line_breaks_between_the_words_of_a_name_but_in_no_command_date_or_number():
    whole = ["mlaut run --complete", "2026-11-28", "40 %"]
    text = "{} runs, on {}, 0.95 of Net_v1.a: {}."
    marked = text.replace("_", "_<wbr>").replace(".a", ".<wbr>a")
    marked = marked.format(*(f'<span class="whole">{part}</span>' for part in whole))
    assert str(_breakable(text.format(*whole))) == marked
