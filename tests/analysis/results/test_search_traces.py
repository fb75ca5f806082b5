"""Tests of what searches used of their budgets, in words; mlaut-sharing has searches with one."""

import numpy as np
import pytest

from mlaut import Study
from mlaut.analysis import budget_use
from mlaut.analysis.results.search_traces import _kept
from mlaut.records import Trace


def test_a_study_without_searches_used_no_budget(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets("starter/iris")
    study.run("GaussianNaiveBayes", engine="inline", verbose=0)
    assert budget_use(study.path).empty


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
