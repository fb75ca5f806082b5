"""The contact matrix: its script runs, and what is stored shows no fault."""

import runpy
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


def test_what_is_stored_has_no_fault_and_makes_the_page():
    tool = runpy.run_path(str(ROOT / "tools/contact_matrix.py"))
    matrices = tool["stored"]()
    for states in matrices.values():
        assert states.map(lambda state: state.startswith(("=", "runs", "refused: "))).all(axis=None)
    page = tool["page"](matrices)
    for learner in ("RandomForestClassifier", "XGBClassifier", "CatBoostRegressor", "Ridge"):
        assert f"| {learner} " in page
    assert "\n1. refused: " in page


def test_what_is_measured_again_replaces_its_cells_only():
    tool = runpy.run_path(str(ROOT / "tools/contact_matrix.py"))
    kept = tool["stored"]()["Classification"]
    found = pd.DataFrame({"gaps": {"GaussianNB": "FAULT: other predictions"}})
    joined = tool["joined"](found, kept)
    assert joined.loc["GaussianNB", "gaps"] == "FAULT: other predictions"
    joined.loc["GaussianNB", "gaps"] = kept.loc["GaussianNB", "gaps"]
    assert joined.equals(kept)


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
