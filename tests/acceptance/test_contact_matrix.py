"""The contact matrix: its script runs, and the page in the docs shows no fault."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_page_shows_no_fault():
    page = (ROOT / "docs/contact-matrix.md").read_text(encoding="utf-8")
    assert "FAULT" not in page
    for learner in ("RandomForestClassifier", "XGBClassifier", "CatBoostRegressor", "Ridge"):
        assert f"| {learner} " in page


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_script_compares_learners_with_a_plain_fit():
    tool = runpy.run_path(str(ROOT / "tools/contact_matrix.py"))
    found = tool["matrix"]("Classification", "^(GaussianNB|KNeigh|Stack)", "text|gaps|weights")
    refused = "refused: its fit takes no sample_weight"
    assert found.loc["GaussianNB"].tolist() == ["=", "runs", "runs", "="]
    assert found.loc["KNeighborsClassifier"].tolist() == ["=", "runs", "runs", refused]
    assert found.loc["StackingClassifier"].tolist()[:3] == ["=", "runs", "runs"]
    assert list(found) == ["text labels", "gaps", "texts", "weights"]
