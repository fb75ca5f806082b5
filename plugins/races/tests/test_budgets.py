"""Scores against the budget of tuning, also in reports."""

import numpy as np
import pytest
from mlaut_races import results_at_budget, score_against_budget
from mlaut_races.budgets import _sizes
from sklearn.metrics import accuracy_score

from mlaut import Study
from mlaut.analysis import search_traces
from mlaut.errors import AnalysisError
from mlaut.estimators import as_strategies
from mlaut.files_io import FilesIO
from mlaut.files_io import StudyStore as Store
from mlaut.records import Trace
from mlaut.report import drawing
from mlaut.report.terminal import as_text

NAMES = ["K_Neighbours", "LogisticRegression", "GaussianNaiveBayes"]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    study = Study(tmp_path_factory.mktemp("budgets") / "study.h5")
    study.add_datasets("starter/iris")
    study.add_datasets("starter/wine")
    study.run(
        NAMES, split="kfold(2)", search="random", budget="20 evaluations",
        trace_predictions=True, engine="inline", verbose=0,
    )  # fmt: skip
    return study


def test_the_table_has_a_row_for_each_budget(study):
    table = score_against_budget(study.path, "accuracy")
    assert list(table.loc["K_Neighbours"].index) == [1, 2, 4, 8, 16, 20]
    assert list(table.loc["LogisticRegression"].index) == [1, 2, 4, 8, 13]  # all of its grid
    assert "GaussianNaiveBayes" not in table.index
    assert table.loc["K_Neighbours", "evaluations"].tolist() == [1, 2, 4, 8, 16, 20]
    seconds = table.loc["K_Neighbours", "seconds"]
    assert seconds.is_monotonic_increasing
    inner = table.loc["K_Neighbours", "inner score"]
    honest = table.loc["K_Neighbours", "honest score"]
    assert honest.notna().tolist() == [False] * (len(honest) - 1) + [True]
    assert 0.5 < honest.iloc[-1] <= inner.iloc[-1]
    assert inner.is_monotonic_increasing


def test_the_whole_budget_has_the_scores_of_the_study(study):
    table = score_against_budget(study.path, "accuracy")
    results = study.results("accuracy")
    for name, last in (("K_Neighbours", 20), ("LogisticRegression", 13)):
        assert table.loc[(name, last), "outer score"] == results.scores[name].mean()
        assert table.loc[(name, last), "standard error"] == results.scores[name].sem()


def test_a_smaller_budget_has_the_scores_of_what_it_would_have_chosen(study):
    traces = search_traces(study.path, strategies="K_Neighbours", datasets="wine")
    store = Store(study.path)
    block, entry = store.block("wine"), store.load_split("wine")
    table = FilesIO(study.datasets_path).load_dataset(entry.path)
    rows, labels = table.features, table.labels.to_numpy()
    scores = []
    for fold in range(2):
        first = traces[(traces["fold"] == fold) & (traces["candidate"] <= 4)]
        (strategy,) = as_strategies("K_Neighbours")
        strategy.set_params(params=first.loc[first["score"].idxmax(), "params"])
        train, test = entry.split.rows(0, fold)
        predicted = strategy.fit(rows.iloc[train], labels[train]).predict(rows.iloc[test])
        scores.append(accuracy_score(labels[test], predicted))
    results = results_at_budget(study.path, "accuracy", 4, datasets=["wine"])
    assert block.strategies[0] == "K_Neighbours"
    np.testing.assert_allclose(results.cells[0, 0, 0], scores)


def test_strategies_without_tuning_are_the_same_at_every_budget(study):
    few, whole = results_at_budget(study.path, "accuracy", 1), study.results("accuracy")
    assert few.scores["GaussianNaiveBayes"].equals(whole.scores["GaussianNaiveBayes"])
    assert not few.scores["K_Neighbours"].equals(whole.scores["K_Neighbours"])
    with pytest.raises(AnalysisError, match="1, 2, 4, 8"):
        results_at_budget(study.path, "accuracy", 3)


def test_probabilities_of_smaller_budgets_are_stored_too(study):
    assert np.isfinite(results_at_budget(study.path, "log_loss", 2).cells).all()


def test_without_stored_predictions_the_outer_score_is_unknown(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets("starter/iris")
    study.run("K_Neighbours", search="random(10)", engine="inline", verbose=0)
    table = score_against_budget(study.path, "accuracy").loc["K_Neighbours"]
    assert table["inner score"].notna().all()
    assert table.loc[10, "outer score"] == study.results("accuracy").scores.iloc[0, 0]
    chosen = search_traces(study.path)["score"].idxmax() + 1
    assert table.loc[[n for n in (1, 2, 4, 8) if n < chosen], "outer score"].isna().all()


def test_the_report_shows_scores_by_budget(study, tmp_path, monkeypatch):
    drawn = {name: drawing.FIGURES[name] for name in ("decision", "budgets")}
    monkeypatch.setattr(drawing, "FIGURES", drawn)
    report = study.report(tmp_path / "report")
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "How much tuning is enough" in page
    assert "Score against the budget of tuning" in page
    assert "score against budget:" in as_text(report)
    (table,) = (tmp_path / "report").rglob("*score*against*budget*.csv")
    assert table.read_text().startswith("strategy,candidates,evaluations,seconds")


def test_a_study_without_searches_says_so(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets("starter/iris")
    study.run("GaussianNaiveBayes", engine="inline", verbose=0)
    with pytest.raises(AnalysisError, match="no trace of a search"):
        score_against_budget(study.path, "accuracy")


def test_one_cell_with_many_candidates_does_not_stretch_the_table():
    def trace(n):
        return Trace("random", ({},) * n, np.ones((n, 1)), np.ones(n), np.ones(n), np.arange(n))

    of_wine = {("A", 0, fold): trace(n) for fold, n in enumerate((5, 300, 6))}
    of_iris = {("A", 0, 0): trace(6), ("B", 0, 0): trace(2)}
    assert _sizes({"wine": of_wine, "iris": of_iris}) == ({"A": 6, "B": 2}, 300)
