"""The first screen: strips of dots, groups of many strategies, and what a browser shows of it."""

import re
from dataclasses import replace
from pathlib import Path

import made_up
import numpy as np
import pandas as pd
import pytest
from browser import CHROMIUM, chromium
from made_up import made_up_study

from mlaut.analysis import compare
from mlaut.analysis.deciding.strips import Strips
from mlaut.analysis.deciding.verdicts import VERDICTS
from mlaut.report import make_report, write_report
from mlaut.report.screen import screen_of
from mlaut.report.shown import ShownTable, TableColumn, decision_groups


def table(n, worse, *, seed=0, noise=0.02):
    generator = np.random.default_rng(seed)
    scores = generator.uniform(0.7, 0.8, (n, 1)) - np.array(list(worse.values()))
    scores = scores + generator.normal(0, noise, scores.shape)
    return pd.DataFrame(scores, [f"d{i}" for i in range(n)], list(worse))


def test_every_dot_is_drawn_or_named_at_its_edge():
    scores = table(20, {"A": 0.0, "B": 0.05, "C": 0.06, "baseline": 0.4})
    scores.loc["d3", "B"] = scores.loc["d3", "A"] + 2.0
    scores.loc["d4", "C"] = scores.loc["d4", "A"] - 3.0
    compared = compare(scores, metric="gain", greater_is_better=True, n_samples=0)
    strips = Strips.of(compared.decision(), compared.results)
    assert strips.edges("B") == ("", "1 dot \u25b8")
    assert strips.edges("C") == ("\u25c2 1 dot", "")
    left, right = strips.edges("baseline")
    assert re.fullmatch("\u25c2 mean \u22120\\.\\d+; 20 dots", left)
    assert right == ""


@pytest.mark.parametrize("metric", ["accuracy", "rmse"])
def test_right_is_better_and_the_mark_is_the_average_of_the_table(metric):
    scores = table(12, {"A": 0.0, "B": 0.05, "C": 0.1})
    scores = scores if metric == "accuracy" else 1.5 - scores
    compared = compare(scores, metric=metric, n_samples=0)
    decision = compared.decision()
    strips = Strips.of(decision, compared.results)
    size = "ratio" if metric == "rmse" else "difference"
    assert strips.kind == size
    assert strips.marks["B"] == decision.frame[size]["B"]
    zero = strips.across(1.0 if metric == "rmse" else 0.0)
    assert 0 < strips.across(strips.marks["C"]) < strips.across(strips.marks["B"]) < zero < 1
    places, texts = zip(*strips.ticks, strict=True)
    assert list(places) == sorted(places)
    assert ("1\u00d7" if metric == "rmse" else "0") in texts


def test_few_datasets_are_letters_with_their_scores():
    scores = 1.5 - table(3, {"A": 0.0, "B": 0.05})
    screen = screen_of(make_report(scores, "rmse").sections[0])
    headers = [column.header for column in screen.columns]
    assert headers[-3:] == ["rmse on d0 (A)", "rmse on d1 (B)", "rmse on d2 (C)"]
    (group,) = screen.groups
    assert {letter for letter, *_ in group.rows[1].letters} == {*"ABC"}
    assert group.rows[1].words.startswith("B divided by A: mean 1.")


def test_many_strategies_stand_by_verdict_and_what_to_avoid_is_folded():
    worse = {f"s{i:02}": 0.0 if i < 14 else 0.3 for i in range(40)}
    decision = make_report(table(30, worse), "accuracy").sections[0].decision
    groups = decision_groups(decision)
    assert sorted(name for _, names, _ in groups for name in names) == sorted(worse)
    title, names, folded = groups[-1]
    assert folded
    assert title.startswith(f"avoid ({len(names)}): accuracy 0.")
    few = make_report(table(30, {"A": 0, "B": 0.3}), "accuracy").sections[0].decision
    assert decision_groups(few) == [("", ["A", "B"], False)]


def test_the_first_screen_computes_no_table_of_the_folds(monkeypatch):
    def never(*_):
        raise AssertionError("computed")

    report = make_report(table(12, {"A": 0.0, "B": 0.05}), "accuracy")
    section = report.sections[0]
    for name in ("comparison", "estimates", "robustness", "notes", "tables"):
        monkeypatch.setattr(type(section.later), name, never)
    assert "use A" in str(report)
    assert "<svg" in report._repr_html_()


def reports(folder):
    """Yield the name and the report of cases that a first screen must fit."""
    names = {f"org/model-with-a-long-name-{i}b-instruct": i / 300 for i in range(40)}
    yield "many", make_report(table(30, names), "accuracy")
    yield "units", make_report(1.5 - table(3, {"A": 0.0, "B": 0.05, "C": 0.2}), "rmse")
    yield "few", make_report(1.5 - table(2, {"A": 0.0, "B": 0.05}), "rmse")
    yield "open", make_report(table(80, dict.fromkeys("ABCDE", 0.0)), "accuracy")
    far = table(25, {"SupportVectors": 0.0, "Forest": 0.01, "baseline": 0.6})
    far.iloc[2, 1] += 3
    yield "far", make_report(far, "gain", greater_is_better=True)
    sets = [f"set {i}" for i in range(9)]
    failed = [(name, "poor") for name in sets[:2]]
    names = ["good", "middling", "poor"]
    yield "failures", make_report(made_up_study(folder / "s.h5", names, sets, failed=failed))
    one = made_up_study(folder / "one.h5", ["good", "middling"], sets[:1], folds=5)
    yield "one", make_report(one)


DRAWN = """[...document.querySelectorAll('.board tbody tr:not(.group)')].map(row => {
    const dots = row.querySelector('.dots'), box = row.querySelector('.strip');
    const places = dots ? [...dots.getAttribute('d').matchAll(/M([\\d.]+) /g)] : [];
    return { name: row.cells[0].textContent, dots: places.map(m => Number(m[1])),
        letters: row.querySelectorAll('.strip b').length, words: box.ariaLabel,
        edges: [...box.children].filter(x => x.tagName === 'SPAN').map(x => x.innerHTML) };
})"""
CUT = """[...document.querySelectorAll('.screen :is(th, td, p, dd, dt, i, b, span):not(.g)')]
    .filter(one => one.getClientRects().length && one.textContent.trim()
        && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline')
    .map(one => one.outerHTML.slice(0, 90))"""
ACROSS = """(() => {
    const found = [], named = 'th, .pill, .n, .wins, .strip > span, .labels > i';
    for (const row of document.querySelectorAll('.board tr')) {
        const parts = [...row.querySelectorAll(named)]
            .filter(one => one.getClientRects().length && one.textContent.trim()
                && !one.querySelector('.labels'))
            .map(one => [one.getBoundingClientRect(), one.textContent.trim()]);
        parts.forEach(([a, text], i) => parts.slice(i + 1).forEach(([b, other]) => {
            const beside = a.left >= b.right - 1 || b.left >= a.right - 1;
            if (!beside && a.top < b.bottom - 1 && b.top < a.bottom - 1) found.push([text, other]);
        }));
    }
    return found;
})()"""
PALE = """(() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const light = (colours) => {
        for (const colour of colours) {
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
        }
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(x => x / 255)
            .map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (one) => one
        ? [...behind(one.parentElement), getComputedStyle(one).backgroundColor] : [];
    return [...document.querySelectorAll('.screen :is(p, th, td, dt, dd, .pill, span)')]
        .filter(one => one.getClientRects().length
            && [...one.childNodes].some(x => x.nodeType === 3 && x.data.trim()))
        .map(one => {
            const a = light([...behind(one), getComputedStyle(one).color]), b = light(behind(one));
            const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            return [contrast, one.outerHTML.slice(0, 80)];
        }).filter(([contrast]) => contrast < 4.5);
})()"""
STRIPS = """[...document.querySelectorAll('.board .strip > div')]
    .filter(one => one.getClientRects().length)
    .map(one => one.getBoundingClientRect()).map(box => [box.left, box.right])"""
WIDE = "document.documentElement.scrollWidth"


def looked_at(page, file, report):
    """Check what a browser shows of a first screen at one width."""
    assert page.value(CUT) == []
    assert page.value(ACROSS) == []
    assert page.value(PALE) == []
    ends = np.array(page.value(STRIPS))
    np.testing.assert_allclose(ends, ends[:1].repeat(len(ends), axis=0), atol=0.5)  # and the axis
    section = report.sections[0]
    strips = Strips.of(section.decision, section.results)
    for row in page.value(DRAWN):
        name = row["name"]
        known = strips.across(strips.dots[name]).dropna()
        assert name in row["words"]
        if name == strips.reference:
            continue
        inside = known[(known >= 0) & (known <= 1)]
        if strips.named:
            assert row["letters"] == len(inside)
        elif len(known) <= 60:
            np.testing.assert_allclose(row["dots"], sorted(1000 * inside), atol=0.51)
        assert told_beyond(row["edges"]) == len(known) - len(inside), row


def told_beyond(edges):
    """Return how many dots the texts at the edges of a row tell."""
    lines = [line for text in edges for line in text.split("<br>") if line and "mean" not in line]
    return sum(int(re.search(r"(\d+) dots?", line)[1]) for line in lines)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: the page was not opened")
def test_each_first_screen_fits_every_width_light_and_dark(tmp_path, draw_only):
    draw_only()
    with chromium(tmp_path / "profile") as page:
        for name, report in reports(tmp_path):
            (file,) = write_report(report, tmp_path / f"{name}.html")
            for width, scheme in ((1400, "light"), (800, "light"), (390, "light"), (1400, "dark")):
                features = [{"name": "prefers-color-scheme", "value": scheme}]
                page.ask("Emulation.setEmulatedMedia", features=features)
                page.open(file, width)
                assert page.value(WIDE) == width, (name, width)
                looked_at(page, file, report)
                assert page.complaints() == []


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: the page was not opened")
def test_a_row_opens_its_comparison_and_a_group_unfolds(tmp_path, draw_only):
    draw_only()
    worse = {f"s{i:02}": 0.0 if i < 4 else 0.3 for i in range(20)}
    report = make_report(table(12, worse), "accuracy")
    (file,) = write_report(report, tmp_path / "report.html")
    rows = "document.querySelectorAll('.board tbody tr:not(.group)')"
    seen = f"[...{rows}].filter(row => row.getClientRects().length).length"
    with chromium(tmp_path / "profile") as page:
        page.open(file, 1200)
        folded = page.value(seen)
        assert folded < 20
        box = "document.querySelector('.board .folded input')"
        page.value(f"{box}.focus()")
        known = {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "text": " "}
        page.ask("Input.dispatchKeyEvent", type="keyDown", **known)
        page.ask("Input.dispatchKeyEvent", type="keyUp", **known)
        assert page.value(seen) == 20
        first = report.sections[0].decision.first[0]
        other = next(name for name in worse if name != first)
        page.value(f"document.querySelector('.board a[title=\"{other}\"]').click()")
        told = "document.querySelector('#explorer .lead')?.textContent"
        look = f"const look = () => {told} ? done({told}) : setTimeout(look, 20)"
        answer = page.value(f"new Promise(done => {{ {look}; look(); }})")
        assert answer.startswith(f"{other} is better on ")
        top = "document.getElementById('explore').getBoundingClientRect().top"
        assert page.value(f"new Promise(done => setTimeout(() => done({top}), 300))") < 400
        legend = page.value("document.querySelector('#explorer figcaption').textContent")
        assert f"blue where {other} is better, orange where it is worse" in legend
        assert page.complaints() == []


def test_the_glossary_has_the_words_of_the_first_screen():
    text = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = set(re.findall(r"^(\S.*)\n    ", text, re.MULTILINE))
    report = make_report(table(12, {"A": 0.0, "B": 0.0, "C": 0.3}), "accuracy")
    screen = screen_of(report.sections[0])
    headers = {x.header for x in screen.columns} - {"accuracy"}
    assert headers >= {"rank", "difference", "costs at most", "chance"}
    said = {"other analyses", "main test", "verdict", "strategy"}
    assert {*VERDICTS, *headers, *said, "ratio", "won/tied/lost", "band"} <= terms


def test_the_screen_says_strategy_as_the_table_does(tmp_path):
    scores = table(12, {"A": 0.0, "B": 0.3})
    scores.rename_axis("dataset").reset_index().melt(
        "dataset", var_name="Classifier", value_name="accuracy"
    ).to_csv(tmp_path / "scores.csv", index=False)
    report = make_report(tmp_path / "scores.csv", "accuracy")
    (file,) = write_report(report, tmp_path / "report.html")
    page = file.read_text(encoding="utf-8")
    screen = page[page.index("<header>") : page.index('id="explore"')]
    assert "trateg" not in screen
    assert "accuracy of 2 classifiers on 12 datasets" in screen
    assert '<th scope="col">classifier</th>' in screen
    assert re.search(r"\nclassifier +verdict.*\n-{10} +-", str(report))
    (file,) = write_report(make_report(scores, "accuracy"), tmp_path / "report.html")
    assert '<th scope="col">strategy</th>' in file.read_text(encoding="utf-8")


def test_what_a_row_says_is_not_said_again_above_it():
    scores = table(20, {"A": 0.0, "B": 0.05, "baseline": 0.3})
    scores.iloc[:4, 1] = np.nan
    section = make_report(scores, "accuracy").sections[0]
    screen = screen_of(section)
    assert screen.mind == (
        "Bear in mind",
        "4 of 20 datasets left out: not run by all.",
    )
    assert screen.notes == ()
    assert [row.name for row in screen.rows if row.yardstick] == ["baseline"]


def test_a_verdict_that_numbers_seem_to_contradict_has_its_reason(tmp_path, draw_only):
    draw_only()
    scores = table(14, {"A": 0.0, "B": 0.001, "C": 0.1}, noise=0.0)
    scores.iloc[0, 1] = 1.0  # B is better on average, and worse on all others
    section = make_report(scores, "accuracy").sections[0]
    (row,) = [row for row in screen_of(section).rows if row.why]
    assert row.why == section.decision.frame["reason"][row.name]
    write_report(make_report(scores, "accuracy"), tmp_path / "page.html")
    assert f'title="{row.why}"' in (tmp_path / "page.html").read_text()


def test_a_copy_of_the_first_ties_with_it_everywhere():
    scores = table(12, {"a": 0, "b": 0.05, "c": 0.1})
    copied = scores.assign(copy=scores.iloc[:, 0])
    screen = screen_of(make_report(copied, "accuracy").sections[0])
    first, copy, *_ = screen.groups[0].rows
    assert {first.name, copy.name} == {"copy", scores.columns[0]}
    assert (first.wins, copy.wins) == ((0, 0, 0, 0), (0, 12, 0, 0))
    place = [x.header for x in screen.columns].index("difference")
    assert float(copy.texts[place][0]) == 0


def test_one_score_of_each_has_no_intervals_and_the_screen_speaks_of_none():
    screen = screen_of(make_report(table(1, {"a": 0, "b": 0.02, "c": 0.1}), "accuracy").sections[0])
    assert "interval" not in [x.header for x in screen.columns]
    assert "interval" not in str(screen.words)


def test_seconds_of_a_column_have_the_same_decimals():
    seconds = pd.DataFrame({"training seconds": [2.549, 0.0211, 0.00376, 0.0]})
    column = TableColumn("training seconds", "seconds", "s", 2)
    texts = [text for _, text in ShownTable.of(seconds, [column]).texts]
    assert texts == ["2.55", "0.02", "< 0.01", "0.00"]


def test_series_of_different_lengths_are_told_from_the_shortest_on(tmp_path, monkeypatch):
    lengths = {"A": (24, 1800), "B": (90, 90), "C": (None, 50)}

    def entry(name, task, folds, plain=made_up._entry):
        shortest, longest = lengths[name]
        return replace(plain(name, task, folds), shape=(2, longest), shortest=shortest)

    monkeypatch.setattr(made_up, "_entry", entry)
    study = made_up_study(tmp_path / "study.h5", ["p", "q"], list(lengths))
    report = make_report(study)
    assert "3 datasets (rows of 2 x 24 to 2 x 1,800 values)" in report.studied
    rows = report.state.tables["datasets"]["values in a row"]
    assert rows.to_dict() == {"A": "2 x 24 to 1,800", "B": "2 x 90", "C": "2 x 50"}


def test_a_mean_of_fewer_datasets_is_not_shown_beside_means_of_all(tmp_path):
    sets = [f"set {i}" for i in range(9)]
    failed = [(name, "poor") for name in sets[:2]]
    study = made_up_study(tmp_path / "s.h5", ["good", "middling", "poor"], sets, failed=failed)
    section = make_report(study).sections[0]
    screen = screen_of(section)
    assert "accuracy" not in [x.header for x in screen.columns]


def test_what_weakens_the_answer_is_one_list_at_its_head(tmp_path, draw_only):
    draw_only()
    scores = table(12, {"A": 0.0, "B": 0.3})
    scores.index = [f"heart-{i}" if i < 4 else f"d{i}x" for i in range(12)]
    section = make_report(scores, "accuracy").sections[0]
    screen = screen_of(section)
    assert re.fullmatch("Why the doubt|Bear in mind", screen.mind[0])
    assert screen.mind[1].startswith("4 of 12 datasets may be related, by their names ('heart-0', ")
    assert screen.mind[1].endswith("; if related ones count as one, the choice is the same.")
    scores.index = [f"{'uvwx'[i % 4]}heart-{i}" for i in range(12)]
    screen = screen_of(make_report(scores, "accuracy").sections[0])
    few = "; if related ones count as one, there are 4, too few to be sure."
    assert any(x.endswith(few) for x in screen.mind)
    assert "clusters" not in " ".join((screen.answer, *screen.more, *screen.mind, *screen.notes))


def test_one_verdict_of_all_rows_is_no_column(tmp_path, draw_only):
    draw_only()
    few = make_report(1.5 - table(3, {"A": 0.0, "B": 0.05}), "rmse")
    (file,) = write_report(few, tmp_path / "report.html")
    page = file.read_text(encoding="utf-8")
    assert 'class="pill' not in page
    assert "undecided" not in dict(screen_of(few.sections[0]).words)


def test_the_command_of_another_reading_keeps_the_words_of_its_options(tmp_path):
    table = pd.DataFrame(
        [(d, m, k) for d in "abcd" for m in ("x", "y") for k in (0.1, 0.5)],
        columns=["dataset", "model", "share"],
    )
    table.assign(accuracy=np.linspace(0.3, 0.9, 16)).to_csv(tmp_path / "scores.csv", index=False)
    screen = " ".join(str(make_report(tmp_path / "scores.csv", "accuracy")).split())
    assert "2 models (`model`)" in screen
    assert "--columns dataset=dataset,strategy=model+share`." in screen
