"""Scores against the budget of tuning, and whether budgets were kept."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from mlaut import Study
from mlaut.analysis import budget_use, score_against_budget, search_traces
from mlaut.analysis.methods.tuning import results_at_budget
from mlaut.analysis.methods.tuning.budgets import _kept, _sizes
from mlaut.errors import AnalysisError
from mlaut.estimators import as_strategies
from mlaut.files_io import FilesIO
from mlaut.files_io import StudyStore as Store
from mlaut.records import Trace

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


def test_a_study_without_searches_says_so(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets("starter/iris")
    study.run("GaussianNaiveBayes", engine="inline", verbose=0)
    with pytest.raises(AnalysisError, match="no trace of a search"):
        score_against_budget(study.path, "accuracy")
    assert budget_use(study.path).empty


def test_where_a_budget_was_not_kept_is_said(study):
    table = budget_use(study.path)
    assert table["kept"].to_dict() == {
        "K_Neighbours": "yes",
        "LogisticRegression": "less: no more candidates",
    }
    assert table["candidates"].to_dict() == {"K_Neighbours": 20, "LogisticRegression": 13}
    assert set(table["search"]) == {"random"}


@pytest.mark.parametrize(
    ("allowed", "spent", "kept"),
    [
        ({}, [{}], "no budget"),
        ({"evaluations": 20.0}, [{"evaluations": 20.0}, {"evaluations": 12.0}], "yes"),
        ({"evaluations": 20.0}, [{"evaluations": 13.0}], "less: no more candidates"),
        ({"cpu": 1.0}, [{"cpu": 1.3, "wall": 9.0}, {"cpu": 0.9}], "1 of 2 cells used more"),
        ({"wall": 1.0}, [{"cpu": 0.2, "wall": 1.05}], "yes"),
        ({"cpu": 9.0}, [{"cpu": 0.5}], "less: no more candidates"),
    ],
)
def test_words_on_a_budget(allowed, spent, kept):
    one = np.ones(1)
    traces = [
        Trace("random", ({},), one[:, None], one, one, one, allowed=allowed, spent=used)
        for used in spent
    ]
    assert _kept(traces)[1] == kept


def test_one_cell_with_many_candidates_does_not_stretch_the_table():
    def trace(n):
        return Trace("random", ({},) * n, np.ones((n, 1)), np.ones(n), np.ones(n), np.arange(n))

    of_wine = {("A", 0, fold): trace(n) for fold, n in enumerate((5, 300, 6))}
    of_iris = {("A", 0, 0): trace(6), ("B", 0, 0): trace(2)}
    assert _sizes({"wine": of_wine, "iris": of_iris}) == ({"A": 6, "B": 2}, 300)
