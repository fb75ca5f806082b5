"""Published results: the numbers that the papers printed come out of the tables that MLaut has."""

import gc
import shutil
import sys

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import (
    PUBLISHED,
    Results,
    average_ranks,
    friedman_test,
    published,
    treat_missing,
)
from mlaut.analysis.methods.cross_validation import cv_test_datasets
from mlaut.errors import AnalysisError

HOME = sys.modules[published.__module__]


def ranks(results):
    return average_ranks(results).frame["average_rank"]


def test_delgado_2014():
    """The paper's Table 3: a missing cell gets the mean of its dataset."""
    results = published("delgado2014")
    assert results.cells.shape == (121, 179, 1, 1)
    assert len(results.missing) == 449
    assert set(results.missing["reason"]) == {"no published result"}
    table = results.scores.T.fillna(results.scores.mean(axis=1)).T
    printed = {"parRF_caret": 32.9, "rf_caret": 33.1, "svm_C": 36.8, "svmPoly_caret": 38.0}
    printed |= {"rforest_R": 39.4, "elm_kernel_matlab": 39.6, "svmRadialCost_caret": 40.3}
    printed |= {"svmRadial_caret": 42.5, "C5.0_caret": 42.9, "avNNet_caret": 44.1}
    found = ranks(Results.from_table(table, metric="accuracy"))[:10]
    assert list(found.index) == list(printed)
    np.testing.assert_allclose(found, list(printed.values()), atol=0.07)
    assert table["parRF_caret"].mean() == pytest.approx(0.820, abs=5e-4)


def test_failures_of_delgado_2014_rank_last():
    treated = treat_missing(published("delgado2014"), "failures last")
    assert len(treated.datasets) == 121
    assert len(treated.strategies) == 179


def test_demsar_2006():
    printed = {"C4.5": 3.143, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}
    as_ranked = published("demsar2006_ranks")
    assert ranks(as_ranked).to_dict() == pytest.approx(printed, abs=5e-4)
    assert friedman_test(as_ranked, ties=False).statistic == pytest.approx(3.69, abs=5e-3)
    areas = published("demsar2006")
    assert areas.metric.name == "roc_auc"
    assert ranks(areas)["C4.5+cf"] == pytest.approx(2.9286, abs=1e-4)  # of the rounded areas


def test_garcia_2008():
    printed = {"C4.5": 2.1, "k-NN(k=1)": 3.25, "NaiveBayes": 2.2, "Kernel": 4.333, "CN2": 3.117}
    assert ranks(published("garcia2008")).to_dict() == pytest.approx(printed, abs=5e-4)


def test_benavoli_2017():
    """p-values of the correlated t-test of nbc and aode that the paper's tutorial prints."""
    results = published("benavoli2017")
    assert results.cells.shape == (54, 5, 10, 10)
    printed = [0.001, 0.622, 0.598, 0.338, 0.643, 0.479, 0.171, 0.781, 0.001, 0.258]
    chosen = results.select(datasets=results.datasets[:10], strategies=["nbc", "aode"])
    test = "corrected repeated k-fold"
    table = cv_test_datasets(chosen, test=test, df="default").frame
    np.testing.assert_allclose(table["p_value"], printed, atol=6e-4)


def test_wainer_2023():
    results = published("wainer2023")
    assert results.cells.shape == (132, 16, 1, 4)
    assert results.missing[["dataset", "strategy"]].drop_duplicates().to_numpy().tolist() == [
        ["lymphography", "qda"]
    ]


def test_mlaut_2018():
    results = published("mlaut2018")
    assert results.cells.shape == (121, 9, 1, 1)
    assert results.losses.loc["abalone", "SVC"] == 0.36186


@pytest.mark.parametrize("name", [name for name, one in PUBLISHED.items() if not one.url])
def test_each_names_its_protocol(name):
    results, benchmark = published(name), PUBLISHED[name]
    assert results.notes[0].endswith(f"mlaut.analysis.PUBLISHED['{name}']")
    text = str(benchmark)
    for word in ("source", "licence", "datasets", "splits", "tuning", "failures", "metric"):
        assert f"{word}: " in text
    low, high = results.metric.bounds
    scores = results.cells[~np.isnan(results.cells)]
    assert low <= scores.min() <= scores.max() <= high
    assert isinstance(results.scores, pd.DataFrame)


def test_an_unknown_name():
    with pytest.raises(AnalysisError, match="'delgado2015'; did you mean 'delgado2014'"):
        published("delgado2015")


def test_results_are_read_once_while_they_are_held(monkeypatch, tmp_path):
    table = tmp_path / "mine.csv.xz"
    shutil.copy(HOME._TABLES / "garcia2008.csv.xz", table)
    monkeypatch.setattr(HOME, "_TABLES", tmp_path)
    monkeypatch.setitem(PUBLISHED, "mine", PUBLISHED["garcia2008"])
    held = published("mine")
    table.unlink()
    assert published("mine") is held
    del held
    gc.collect()
    with pytest.raises(FileNotFoundError, match="mine"):
        published("mine")
