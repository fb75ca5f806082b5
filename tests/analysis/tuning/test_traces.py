"""The table of all candidates of a study's searches."""

import numpy as np
import pytest

from mlaut import Study
from mlaut.analysis import search_traces
from mlaut.errors import AnalysisError
from mlaut.files_io import StudyStore as Store
from mlaut.files_io import merge_studies


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    study = Study(tmp_path_factory.mktemp("traces") / "study.h5")
    study.add_datasets("starter/iris")
    study.run(["K_Neighbours", "SVC", "GaussianNaiveBayes"], split="kfold(2)", n_jobs=1, verbose=0)
    return study


def test_each_candidate_of_each_cell_has_a_row(study):
    table = search_traces(study.path)
    counts = table.groupby(["strategy", "fold"]).size()
    assert counts.to_dict() == {
        ("K_Neighbours", 0): 60, ("K_Neighbours", 1): 60, ("SVC", 0): 169, ("SVC", 1): 169
    }  # fmt: skip
    assert set(table["search"]) == {"grid"}
    assert set(table["clock"]) in ({"cpu"}, {"wall"})  # of mlaut-sharing, and of scikit-learn
    assert (table["seconds"] >= 0).all()
    scores = np.array(table["fold scores"].tolist())
    np.testing.assert_array_equal(scores.mean(axis=1), table["score"])
    assert not table["params"].map(str).duplicated().iloc[:60].any()


def test_the_chosen_candidate_has_the_best_score(study):
    table = search_traces(study.path, strategies=["SVC"])
    for record in Store(study.path).details("iris"):
        if record["strategy"] == "SVC":
            of_cell = table[table["fold"] == record["fold"]]
            assert of_cell["score"].max() == record["tuning_score"]
            best = of_cell.loc[of_cell["score"] == of_cell["score"].max(), "params"]
            assert record["best_params"] in best.tolist()


def test_folds_take_a_grid_in_different_orders(study):
    table = search_traces(study.path, strategies="SVC")
    first, second = (part["params"].tolist() for _, part in table.groupby("fold"))
    assert first != second
    assert sorted(map(str, first)) == sorted(map(str, second))


def test_names_are_checked_and_a_study_without_searches_has_an_empty_table(study):
    with pytest.raises(AnalysisError, match="SCV"):
        search_traces(study.path, strategies=["SCV"])
    assert search_traces(study.path, strategies=["GaussianNaiveBayes"]).empty


def test_traces_survive_merging_compacting_and_reruns(study, tmp_path):
    before = search_traces(study.path)
    other = Study(tmp_path / "other.h5")
    other.add_datasets("starter/wine")
    other.run("K_Neighbours", split="kfold(2)", n_jobs=1, verbose=0)
    merged = merge_studies([study.path, other.path], tmp_path / "merged.h5")
    merged.compact()
    after = search_traces(merged.path)
    assert after[after["dataset"] == "iris"].to_dict("records") == before.to_dict("records")
    assert len(after) == len(before) + 120
