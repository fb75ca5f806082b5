"""Tests of what searches used of their budgets, and of whether these were kept."""

import pytest

from mlaut import Study
from mlaut.analysis import budget_use

NAMES = ["K_Neighbours", "LogisticRegression", "GaussianNaiveBayes"]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    study = Study(tmp_path_factory.mktemp("budgets") / "study.h5")
    study.add_datasets("starter/iris")
    study.add_datasets("starter/wine")
    study.run(
        NAMES, split="kfold(2)", search="random", budget="20 evaluations",
        engine="inline", verbose=0,
    )  # fmt: skip
    return study


def test_where_a_budget_was_not_kept_is_said(study):
    table = budget_use(study.path)
    assert table["kept"].to_dict() == {
        "K_Neighbours": "yes",
        "LogisticRegression": "less: no more candidates",
    }
    assert table["candidates"].to_dict() == {"K_Neighbours": 20, "LogisticRegression": 13}
    assert set(table["search"]) == {"random"}
