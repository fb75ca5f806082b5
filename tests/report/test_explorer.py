"""The explorer shows the numbers of the report, in a real browser."""

import base64
import json
import string
import time
import zlib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from browser import CHROMIUM, chromium
from made_up import made_up_study

from mlaut.analysis import (
    Results,
    average_ranks,
)
from mlaut.analysis.methods.ratings.elo import duels
from mlaut.analysis.results.missing import NOT_RUN
from mlaut.report import make_report, write_report
from mlaut.report.explorer.packing import Packer

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


def made_up_results(n, k, folds, seed, *, holes=0.0, digits=2):
    """Return results with ties, gaps of two kinds, and times."""
    generator = np.random.default_rng(seed)
    skill = generator.normal(0.8, 0.03, k)
    scores = (skill + generator.normal(0, 0.05, (n, folds, k))).clip(0, 1).round(digits)
    scores[generator.uniform(size=scores.shape) < holes] = np.nan
    index = pd.MultiIndex.from_product(
        [[f"set {i}" for i in range(n)], range(folds)], names=["dataset", "fold"]
    )
    frame = pd.DataFrame(scores.reshape(-1, k), index, [f"S{s}" for s in range(k)])
    results = Results.from_table(frame, metric="accuracy")
    seconds = generator.lognormal(size=(*results.cells.shape, 3))
    gaps = np.argwhere(np.isnan(results.cells)).tolist()
    reasons = {tuple(at): "error" if place % 3 else NOT_RUN[0] for place, at in enumerate(gaps)}
    return replace(results, seconds=seconds, reasons=reasons)


@pytest.fixture
def opened(tmp_path):
    """Return a function that opens the page of results, and gives the page."""
    with chromium(tmp_path / "profile") as page:

        def of(results, **how):
            (file,) = write_report(make_report(results, **how), tmp_path / "report.html")
            page.open(file, 1000)
            return page

        yield of


STANDING = """(async () => {
  const view = (await loaded()).views[0], table = compared(view, %s, %s);
  const keys = ["name", "rank", "mean", "wins", "ties", "losses"];
  return standing(view, table).map((row) => keys.map((key) => row[key]));
})()"""


@pytest.mark.slow
def test_means_wins_and_ranks_of_a_selection_are_those_of_python(opened):
    results = made_up_results(16, 7, 3, 1).in_order
    page = opened(results)
    for datasets, strategies in ((range(16), range(7)), ((0, 3, 4, 9, 11), (1, 2, 5))):
        names = [results.strategies[s] for s in strategies]
        chosen = results.select(datasets=[results.datasets[i] for i in datasets], strategies=names)
        found = {
            row[0]: row[1:] for row in page.value(STANDING % (list(datasets), list(strategies)))
        }
        ranks, outcomes = average_ranks(chosen).frame["average_rank"], duels(chosen)
        for at, name in enumerate(names):
            won, lost = ((outcomes[:, at] == sign).sum() for sign in (1, -1))
            tied = len(datasets) * (len(names) - 1) - won - lost
            expected = [ranks[name], chosen.scores[name].mean(), won, tied, lost]
            np.testing.assert_allclose(found[name], expected, rtol=1e-9)
    assert page.complaints() == []


ODD = "<b>odd</b></script><script>alert(1)</script> & {{ 7 * 7 }}"
TEXT = "document.querySelector('{}').textContent"
COLUMN = """[...document.querySelectorAll('#explorer table.live tbody tr')]
    .map(row => row.cells[{}].textContent.replace(/^[☆★]/, ''))"""


def until(page, expression):
    """Wait until an expression is true."""
    for _ in range(400):
        if page.value(expression):
            return
        time.sleep(0.025)
    raise AssertionError(f"never true: {expression}")


def explore(page, file, link="#explore"):
    """Open the explorer of a page and wait for its first numbers."""
    page.open(file, 1000, link=link)
    until(page, "!!document.querySelector('#explorer .status')?.textContent")


def press(page, key):
    codes = {"Enter": 13, "ArrowRight": 39, "ArrowLeft": 37}
    text = {"text": "\r"} if key == "Enter" else {}
    known = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
    page.ask("Input.dispatchKeyEvent", type="keyDown", **known, **text)
    page.ask("Input.dispatchKeyEvent", type="keyUp", **known)


def typed(page, selector, value):
    place = f"document.querySelector({json.dumps(selector)})"
    page.value(f"{place}.value = {json.dumps(value)}")
    kind = "change" if selector.startswith("select") else "input"
    page.value(f"{place}.dispatchEvent(new Event('{kind}', {{bubbles: true}}))")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explored")
    names = ["good", "middling", ODD, "poor"]
    sets = [f"set {i}" for i in range(14)]
    failed = [("set 3", ODD), ("set 4", ODD)]
    study = made_up_study(folder / "s.h5", names, sets, failed=failed, folds=2)
    report = make_report(study)
    (file,) = write_report(report, folder / "report.html")
    return file, report


def _chance(p):
    return "< 0.01" if p < 0.01 else "> 0.99" if p > 0.99 else f"{p:.2f}"


@pytest.mark.slow
def test_filters_sorting_pins_links_and_keys(written, tmp_path):
    file, report = written
    section = report.sections[0]
    with chromium(tmp_path / "profile") as page:
        explore(page, file)
        assert "14 of 14 datasets, 4 of 4 strategies." in page.value(TEXT.format(".status"))
        ranks = section.comparison.ranks.frame["average_rank"]
        assert page.value(COLUMN.format(0)) == list(ranks.index)
        verdicts = list(section.decision.frame["verdict"][ranks.index])
        assert page.value(COLUMN.format("row.cells.length - 1")) == verdicts
        likely = section.decision.chances.frame["P(best)"][ranks.index]
        heads = page.value(
            "[...document.querySelectorAll('#explorer thead th')].map(x => x.textContent)"
        )
        chances = page.value(COLUMN.format(heads.index("P(best)")))
        assert chances == [_chance(p) for p in likely]

        page.value("document.querySelectorAll('#explorer th button')[1].focus()")
        press(page, "Enter")  # the other direction
        assert page.value(COLUMN.format(0)) == list(ranks.index[::-1])
        page.value(f"document.querySelector('.pin[aria-label=\"Pin {ranks.index[0]}\"]').click()")
        assert page.value(COLUMN.format(0))[0] == ranks.index[0]
        pin = f"document.querySelector('.pin[aria-label=\"Pin {ranks.index[1]}\"]')"
        page.value(f"{pin}.focus()")
        for pressed in ("true", "false"):
            press(page, "Enter")
            assert page.value(f"{pin} === document.activeElement")  # the focus stays
            assert page.value(f"{pin}.getAttribute('aria-pressed')") == pressed

        typed(page, "input[name=find]", "SET 1")
        chosen = [name for name in section.scored.datasets if "set 1" in name]
        until(page, f"{TEXT.format('.status')}.startsWith('{len(chosen)} of 14 datasets')")
        count = page.value(TEXT.format(".status"))
        assert (
            "Means, wins and ranks are of this selection; all else is of the whole report" in count
        )
        link = page.value("location.hash")
        pin = section.scored.strategies.index(ranks.index[0])
        assert link == f"#explore?find=SET+1&pins={pin}&sort=1%2Cdescending"
        shown = page.value(COLUMN.format(1))

        explore(page, file, link)  # a link keeps the view
        assert page.value(COLUMN.format(1)) == shown
        assert page.value("document.querySelector('input[name=find]').value") == "SET 1"

        page.value("document.getElementById('tab-strategies').focus()")
        press(page, "ArrowRight")
        assert page.value("document.activeElement.id") == "tab-compare"
        assert page.complaints() == []
        assert {url for url in page.requests() if not url.startswith("data:")} <= {
            file.as_uri(),
            file.as_uri() + link,
        }


@pytest.mark.slow
def test_two_strategies_and_one_dataset(written, tmp_path):
    file, report = written
    losses = report.sections[0].results.losses
    gap = losses["middling"] - losses["good"]
    with chromium(tmp_path / "profile") as page:
        explore(page, file, "#explore?tab=compare&first=0&second=1")
        won, tied, lost = (int(n.sum()) for n in (gap > 1e-9, gap.abs() <= 1e-9, gap < -1e-9))
        assert page.value(TEXT.format("#explorer .lead")) == (
            f"good is better on {won}, equal on {tied} and worse on {lost} of 14 datasets."
        )
        until(page, "!!document.querySelector('.chart canvas')")
        page.value("document.querySelector('.chart').focus()")
        assert page.value("charts.size") == 1
        press(page, "ArrowRight")
        assert page.value(TEXT.format(".hint")).startswith("set ")
        press(page, "Enter")
        assert "Strategies on set " in page.value(TEXT.format("#explore-panel"))

        for tab in ("strategies", "compare"):
            page.value(f"document.getElementById('tab-{tab}').click()")
            until(page, "!!document.querySelector('.chart canvas')")
        until(page, "charts.size === 1")  # charts that left the page are gone
        place = report.sections[0].scored.datasets.index("set 3")
        explore(page, file, f"#explore?tab=datasets&dataset={place}")
        told = page.value(TEXT.format("#explore-panel"))
        assert ODD in told  # as text
        assert page.value("document.querySelectorAll('#explorer b').length") == 0
        assert "2 cells error: ValueError: <b>no</b> & no" in told
        page.value(
            "[...document.querySelectorAll('.open')].find(x => x.textContent === 'good').click()"
        )
        block = report.source.block("set 3")
        counts = np.zeros((2, 2), dtype=int)
        np.add.at(counts, (block.truth, block.predictions[0, 0]), 1)
        cells = (
            "[...document.querySelectorAll('.confusion td')].map(cell => Number(cell.textContent))"
        )
        assert page.value(cells) == counts.ravel().tolist()
        page.value("document.querySelector('#explore-panel p button').click()")
        assert page.value(COLUMN.format(0)) == [f"set {i}" for i in range(14)]
        assert page.complaints() == []


@pytest.mark.slow
def test_long_tables_have_the_rows_in_sight(opened):
    results = made_up_results(400, 21, 1, 3, digits=6)
    page = opened(results)
    page.value("document.getElementById('explore').open = true")
    until(page, "!!document.querySelector('#explorer .status')?.textContent")
    page.value("document.getElementById('tab-datasets').click()")
    rows = "document.querySelectorAll('#explorer tbody tr').length"
    until(page, f"{rows} > 20")
    assert page.value(rows) < 120
    assert page.value("document.querySelector('#explorer table').ariaRowCount ?? 0") is not None
    page.value("document.querySelector('#explorer .long').scrollTop = 1e6")
    until(page, "document.querySelector('#explorer table').textContent.includes('set 399')")
    pairs = "document.querySelector('.detail [data-late]')"
    page.value(f"{pairs}.closest('details').open = true; {pairs}.closest('.part').open = true")
    until(page, f"!!{pairs}.querySelector('tbody tr')")
    assert page.value(f"{pairs}.querySelector('table').getAttribute('aria-rowcount')") == "211"
    assert page.complaints() == []


def test_data_of_a_page_is_no_markup():
    packer = Packer()
    place = packer.add(np.array([[0.5, np.nan, 2.0]]))
    text = packer.text({"name": "</script>", "values": place})
    raw = zlib.decompress(base64.b64decode(text))
    size = int.from_bytes(raw[:8], "little")
    assert json.loads(raw[8 : 8 + size]) == {"name": "</script>", "values": place}
    start = 8 + size + place["at"]
    values = np.frombuffer(raw[start : start + 24])
    np.testing.assert_array_equal(values, [0.5, np.nan, 2.0])
    assert set(text) <= set(string.ascii_letters + string.digits + "+/=")
