"""Budgets of tuning in a report."""

import pytest

from mlaut import Study
from mlaut.errors import PluginWarning
from mlaut.plugins import finding
from mlaut.report.terminal import as_text


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    study = Study(tmp_path_factory.mktemp("tuning") / "study.h5")
    for name in ("iris", "wine"):
        study.add_datasets(f"starter/{name}")
    study.run(
        ["K_Neighbours", "LogisticRegression", "GaussianNaiveBayes"], search="random",
        budget="16 evaluations", engine="inline", verbose=0,
    )  # fmt: skip
    return study


def test_the_report_shows_where_a_budget_was_not_kept(study, tmp_path):
    report = study.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "less: no more candidates" in page
    assert "3 strategies, 2 of them tuned over " in report.state.studied()
    text = as_text(report)
    assert "16 evaluations" in text


def test_scores_by_budget_name_the_plugin_that_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(finding, "found", lambda _: {})
    study = Study(tmp_path / "study.h5")
    study.add_datasets(["starter/iris", "starter/wine"])
    study.run(
        ["K_Neighbours", "GaussianNaiveBayes"], search="random(4)", split="kfold(2)",
        trace_predictions=True, engine="inline", verbose=0,
    )  # fmt: skip
    with pytest.warns(PluginWarning, match="budget of tuning are told by the plug-in mlaut-races"):
        text = as_text(study.report())
    assert "score against budget:" not in text


def test_a_study_without_budgets_shows_neither(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets("starter/iris")
    study.run(["K_Neighbours", "GaussianNaiveBayes"], engine="inline", verbose=0)
    text = as_text(study.report())
    assert "Budgets of tuning" not in text
    assert "score against budget:" not in text
