"""The rows of the table "Where do I add ..." lead to what is there, and what they say suffices."""

import re
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from mlaut.analysis import Results, compare
from mlaut.analysis import metric as find_metric
from mlaut.analysis.common.tests import TESTS, PrimaryTest
from mlaut.analysis.comparing.compare import PAIR_TESTS
from mlaut.analysis.deciding.terms import chosen_now
from mlaut.analysis.pairwise.effects import mean_difference
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.pairwise.runner import PairStatistics, pair_test
from mlaut.analysis.scores.base import MLautScore
from mlaut.analysis.scores.metrics import OWN, named
from mlaut.cli import cli
from mlaut.cli.inputs import with_options_of_a_run
from mlaut.data.sources.references import load_reference, parse_reference
from mlaut.data.sources.sources import SOURCES, Source
from mlaut.errors import AnalysisError
from mlaut.estimators import as_strategies
from mlaut.experiments import RunOptions
from mlaut.records import Dataset
from mlaut.report import content, page
from mlaut.report.records import PAGE, ReportTable

ROOT = Path(__file__).parents[2]
PAGE_TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROWS = PAGE_TEXT.partition("### Where do I add")[2].partition("\n#")[0].split("\n| ")[2:]
SCORES = pd.DataFrame(np.random.default_rng(0).random((8, 3)), columns=["A", "B", "C"])


@pytest.fixture(scope="module")
def sources():
    places = ("mlaut/**/*.*", "plugins/**/*.*", "tests/**/*.py", "tools/*.py", "pyproject.toml")
    files = [file for place in places for file in ROOT.glob(place)]
    return files, "\n".join(f.read_text("utf-8") for f in files if f.suffix in (".py", ".js"))


@pytest.mark.parametrize("row", ROWS, ids=[row.partition(" |")[0] for row in ROWS])
def test_files_and_names_of_a_row_exist(row, sources):
    files, code = sources
    spans = re.findall(r"`([^`]+)`", row)
    for span in spans:
        if re.fullmatch(r"[\w/<>]+\.(py|html|js|toml)", span):
            pattern = "*/" + re.sub(r"<\w+>", "*", span)
            assert any(file.match(pattern) for file in files), span
        elif re.fullmatch(r"@?[\w.]+", span):
            name = span.rpartition(".")[2].removeprefix("@")
            defined = rf"^ *(?:def|class) {name}\b|^{name}\b.*=|^ *{name}\(.*\{{$"
            assert re.search(defined, code, re.MULTILINE), span
    assert len(spans) >= 2


def test_a_score(monkeypatch):
    monkeypatch.setitem(OWN, "half_right", None)

    @named("half_right")
    class HalfRight(MLautScore):
        task, greater_is_better, bounds = "Classification", True, (0.0, 0.5)

        def points(self, truth, predictions):
            return (predictions == truth) / 2

    score = find_metric("half_right")
    assert score.calculate(np.array([0, 1, 1, 1]), np.array([0, 1, 0, 1])) == 0.375


def test_a_loader(monkeypatch):
    def load_own(key, *, target=""):
        return Dataset(
            key, pd.DataFrame({"x": [1, 2], "y": ["a", "b"]}), target or "y", "Classification"
        )

    monkeypatch.setitem(SOURCES, "own", Source(load_own))
    dataset = load_reference(parse_reference("own/iris"))
    assert (dataset.name, dataset.target) == ("iris", "y")


def test_a_test_of_pairs(monkeypatch):
    @pair_test(name="Mean", null="none", source="", statistic_name="mean")
    def mean_test(results, *, confidence=0.95):
        d = paired_losses(results).differences
        p = np.full(d.shape[1], 0.25)
        return PairStatistics(
            tables={"statistic": (d.mean(axis=0), -d.mean(axis=0))},
            effects={"mean difference": mean_difference(d, confidence)},
            p=lambda _: p,
        )

    monkeypatch.setitem(PAIR_TESTS, "mean", mean_test)
    found = compare(SCORES, metric="accuracy", n_samples=0)
    assert found.pairs["mean"].value("p_value", "A", "B") == 0.75  # by Holm's method
    leading = compare(SCORES, metric="accuracy", test="mean").sentences()
    assert any("by the mean test" in line for line in leading)
    with pytest.raises(AnalysisError, match="test 'mean' is not known"):
        found.decision(test="mean")
    monkeypatch.setitem(TESTS, "mean", PrimaryTest("the mean test", "the mean test {nobody1999}"))
    decided = compare(SCORES, metric="accuracy", test="mean").methods(test="mean")
    with pytest.raises(AnalysisError, match=r"'nobody1999' is cited, and .*references.bib has no"):
        str(decided)


def test_a_flag_of_a_run(monkeypatch):
    item = RunOptions.__dataclass_fields__["budget"]
    given = dict(item.metadata) | {"flags": ("--budget",), "text": "Budget of a search."}
    monkeypatch.setattr(item, "metadata", given)

    @click.command()
    @with_options_of_a_run
    def command(**given):
        click.echo(given["budget"])

    assert CliRunner().invoke(command, ["--budget", "10m"]).output == "10m\n"


def test_every_source_is_in_the_help_of_load():
    shown = CliRunner().invoke(cli, ["load", "--help"]).output
    assert [name for name in SOURCES if f" {name}/" not in shown] == []


def test_a_table_of_the_report(monkeypatch):
    spread = lambda s: s.results.scores.std().to_frame("spread")  # noqa: E731 - as an entry has it
    table = ReportTable("spread", spread, (PAGE,), "Spread")
    for module in (content, page):
        monkeypatch.setattr(module, "TABLES", (*module.TABLES, table))
    results = Results.from_table(SCORES, metric="accuracy")
    assert content.section(results, chosen_now()).tables["spread"].shape == (3, 1)


def test_a_wrapper(monkeypatch):
    from mlaut.estimators.strategy import wrappers

    word = next(iter(wrappers.WRAPPERS))
    monkeypatch.setitem(wrappers.WRAPPERS, "mine", wrappers.WRAPPERS[word])
    (strategy,) = as_strategies("mine(RandomForestClassifier)")
    assert type(strategy) is type(as_strategies(f"{word}(RandomForestClassifier)")[0])
