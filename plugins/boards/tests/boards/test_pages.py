import shutil
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from mlaut_boards.pages import build_leaderboard
from mlaut_boards.site import _of_strategy
from mlaut_exchange import extend_bundle
from mlaut_exchange.publishing import _sealed, _with_files
from sklearn.tree import DecisionTreeClassifier

from mlaut.analysis import Results
from mlaut.cli import main
from mlaut.errors import StudyError
from mlaut.files_io import StrategyEntry
from mlaut.files_io import StudyStore as Store
from mlaut.plugins import ranks_of

ODD = '<b>tree "&'


def crafted(published, folder, study=None, **changes):
    """Return a bundle with the study of another file, and other values in its manifest."""
    shutil.copytree(published.folder, folder)
    (folder / "study.h5").unlink()
    (folder / "bundle.json").unlink()
    if study is not None:
        study.copy_to(folder / "study.h5", dict)
    return replace(published, folder=folder, files={}, **changes)


def changed(published, folder, change):
    """Return a bundle whose study has other splits."""
    made = crafted(published, folder)
    Store(made.study).save_splits(map(change, Store(published.study).load_splits().values()))
    return _sealed(_with_files(made)).folder


@pytest.fixture(scope="module")
def bundles(published, tmp_path_factory):
    """A folder with two bundles: the published one, and one with a strategy of an odd name."""
    folder = tmp_path_factory.mktemp("bundles")
    shutil.copytree(published.folder, folder / "z-first")
    mine = folder / "mine.h5"
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    extend_bundle(published.folder, [(ODD, tree)], mine, verbose=0, engine="inline")
    about = {"title": "<script>", "authors": ("Eve\u202e",), "date": "2999-01-01"}
    _sealed(_with_files(crafted(published, folder / "a-second", Store(mine), **about)))
    mine.unlink()
    return folder


@pytest.fixture(scope="module")
def site(bundles, tmp_path_factory):
    return build_leaderboard([bundles], tmp_path_factory.mktemp("site") / "new").parent


class Page(HTMLParser):
    """The tags, the links and the tables of a page."""

    def __init__(self, path):
        super().__init__()
        self.tags, self.links, self.policy = set(), [], ""
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        about = dict(attributes)
        self.links += [about[name] for name in ("href", "src") if name in about]
        if about.get("http-equiv") == "Content-Security-Policy":
            self.policy = about["content"]


def test_the_index_has_all_strategies_with_who_added_them(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    for name in ("BaselineClassifier", "GaussianNaiveBayes", "&lt;b&gt;tree &#34;&amp;"):
        assert f">{name}</a></th>" in text
    assert text.count("Ada, Charles, 20") == 2  # strategies that the first bundle added
    assert "Eve\\u202e, 2999-01-01" in text
    assert text.count("<table>") == 3


def test_there_is_a_page_for_each_strategy_and_dataset(site):
    names = sorted(path.name for path in site.iterdir())
    assert [name.rpartition("-")[0] for name in names if name.count("-") > 1] == [
        "dataset-iris",
        "dataset-zoo",
        "strategy-BaselineClassifier",
        "strategy-GaussianNaiveBayes",
        "strategy-b-tree",
    ]
    assert {"index.html", "report.html", "scores.csv"} <= set(names)


def test_pages_lead_only_to_each_other_and_hold_no_script(site):
    for path in site.glob("*.html"):
        if path.name == "report.html":
            continue
        page = Page(path)
        assert not {"script", "b", "iframe", "form", "img"} & page.tags
        assert {link for link in page.links if not link.startswith("data:")} <= {
            other.name for other in site.iterdir()
        }
        assert page.policy.startswith("default-src 'none'; style-src 'sha256-")


def test_a_page_of_a_strategy(site):
    (path,) = site.glob("strategy-b-tree-*")
    text = path.read_text(encoding="utf-8")
    assert "with the bundle &lt;script&gt; (CC-BY-4.0, digest" in text
    assert "DecisionTreeClassifier" in text
    assert 'href="dataset-iris-' in text


def test_a_page_of_a_dataset(site):
    (path,) = site.glob("dataset-iris-*")
    text = path.read_text(encoding="utf-8")
    assert "<li>rows: 150</li>" in text
    assert "<li>reference: starter/iris</li>" in text
    first = text.index('href="strategy-')
    assert text[first:].startswith('href="strategy-GaussianNaiveBayes')  # the best on iris


def test_the_scores_are_those_of_the_bundles(site, published):
    table = pd.read_csv(site / "scores.csv")
    assert len(table) == 6
    before = pd.read_csv(published.folder / "scores.csv")
    means = before.groupby(["dataset", "strategy"])["score"].mean()
    found = table.set_index(["dataset", "strategy"])["score"]
    pd.testing.assert_series_equal(found[means.index], means, check_names=False)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1400, 390])
def test_a_browser_shows_the_pages_without_a_request(site, tmp_path, width):
    sys.path.insert(0, str(Path(__file__).parents[4] / "tests" / "report"))
    from browser import CHROMIUM, chromium

    if CHROMIUM is None:
        pytest.skip("no chromium")
    with chromium(tmp_path) as page:
        for path in sorted(site.glob("*.html")):
            page.open(path, width)
            assert page.complaints() == []
            assert all(url.startswith(("file:", "data:")) for url in page.requests())
            assert page.value("document.documentElement.scrollWidth <= window.innerWidth")
            assert page.value("getComputedStyle(document.body).maxWidth") == "1344px"


@pytest.mark.slow
def test_a_leaderboard_is_made_anew_with_the_same_bytes(bundles, site, tmp_path):
    again = Path(shutil.copytree(site, tmp_path / "site"))
    (again / "strategy-gone-123456.html").write_text("old")
    build_leaderboard([bundles / "a-second", bundles / "z-first"], again)
    assert {path.name: path.read_bytes() for path in again.iterdir()} == {
        path.name: path.read_bytes() for path in site.iterdir()
    }


def test_another_folder_is_left_alone(bundles, tmp_path):
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(StudyError, match="exists, and is no leaderboard"):
        build_leaderboard([bundles], tmp_path)
    assert (tmp_path / "index.html").read_text() == "mine"


OTHERS = {
    "iris': the manifest and the study do not name the same table": lambda entry: replace(
        entry, fingerprint="0" * 64
    ),
    "iris' has another split": lambda entry: replace(
        entry, split=replace(entry.split, folds=1 - entry.split.folds)
    ),
    "do not name the same table": lambda entry: replace(entry, name=f"my {entry.name}"),
}


@pytest.mark.parametrize("text", OTHERS)
def test_what_does_not_share_splits_is_refused(published, tmp_path, text):
    other = changed(published, tmp_path / "other", OTHERS[text])
    with pytest.raises(StudyError, match=text):
        build_leaderboard([published.folder, other], tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_another_strategy_of_the_same_name_is_refused(published, tmp_path):
    other = changed(published, tmp_path / "other", lambda entry: entry)
    Store(other / "study.h5").allocate([StrategyEntry("GaussianNaiveBayes", "other")])
    (other / "bundle.json").unlink()
    _sealed(_with_files(replace(published, folder=other, files={})))
    with pytest.raises(StudyError, match="strategy 'GaussianNaiveBayes'"):
        build_leaderboard([published.folder, other], tmp_path / "site")


def test_no_bundle(tmp_path, capsys):
    with pytest.raises(StudyError, match="there is no bundle in these places"):
        build_leaderboard([tmp_path], tmp_path / "site")
    with pytest.raises(SystemExit):
        main(["leaderboard", "page", str(tmp_path / "nowhere"), "-o", str(tmp_path / "site")])
    assert "no bundle, and no folder of bundles; check the path" in capsys.readouterr().err


@pytest.mark.parametrize("gap", [False, True])
def test_a_page_ranks_hostile_ties_as_the_analysis_does(gap):
    table = pd.DataFrame({"A": [0.3, 1.0, 0.9], "B": [0.1 + 0.2, 1.0, 0.8], "C": [0.2, 0.5, 0.8]})
    table = table.assign(D=[np.nan, 1.0, 0.9]) if gap else table
    results = Results.from_table(table, metric="loss", greater_is_better=False)
    ranks = ranks_of(results)
    assert ranks["A"].tolist()[:1] == [2.5]
    for name in table:
        column = [
            cells[1].text
            for _, cells in _of_strategy(SimpleNamespace(scored=results), name).shown.rows
        ]
        np.testing.assert_allclose(pd.to_numeric(pd.Series(column), errors="coerce"), ranks[name])
