"""A study that was run when identities were read from bytecode (by Python 3.11) is still usable."""

import shutil
from pathlib import Path

import pytest

from mlaut.experiments import plan_study, run_study, verify_study
from mlaut.experiments.plans.entries import AS_COMPILED, NOT_COMPARED
from mlaut.files_io import Study, merge_studies
from mlaut.identity.describer import python_version
from mlaut.identity.former import has_compiled_code

OWN = ["stretched", "partial", "lambda", "nearest"]
OF_LIBRARIES = ["GaussianNaiveBayes", "DecisionTreeClassifier"]


@pytest.fixture
def older(tmp_path):
    folder = tmp_path / "older"
    shutil.copytree(Path(__file__).with_name("older"), folder)
    return folder


def told(folder):
    """Return the plan's reasons for each strategy."""
    rows = plan_study(folder / "study.toml").plan.why()
    return {name: [r["because"] for r in rows if r["strategy"] == name] for name in OWN}


def change(folder, old, new):
    path = folder / "strategies.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_it_is_recognised_and_its_identities_become_those_of_today(older):
    how = AS_COMPILED if python_version() == "3.11" else NOT_COMPARED
    preview = plan_study(older / "study.toml")
    assert (preview.plan.n_todo, preview.plan.refusals) == (0, ())
    found = told(older)
    assert found["stretched"] == ["done", f"recognised: {how}"]
    assert run_study(older / "study.toml", n_jobs=1, verbose=0).complete
    study = Study(older / "study.h5")
    assert not any(has_compiled_code(entry.identity) for entry in study.strategies)
    by_name = {entry.name: entry for entry in study.strategies}
    assert list(by_name["stretched"].formerly.values()) == [how]
    assert not any(by_name[name].formerly for name in OF_LIBRARIES)
    assert told(older) == {name: ["done"] for name in OWN}


def test_from_then_on_a_changed_helper_is_noticed(older):
    run_study(older / "study.toml", n_jobs=1, verbose=0)
    change(older, "POWER = 2", "POWER = 3")
    assert told(older) == {
        **{name: ["done"] for name in OWN},
        "stretched": ["parameters changed: reads.<run_path>.POWER: 2 -> 3 (refused)"],
    }
    change(older, "POWER = 3", "POWER = 2")
    change(older, "** power", "** abs(power)")
    found = told(older)
    assert found["stretched"][0].startswith("parameters changed: reads.<run_path>.to_power.syntax:")
    assert "parameters changed" in found["partial"][0]
    assert found["nearest"] == found["lambda"] == ["done"]


@pytest.mark.skipif(
    python_version() != "3.11", reason="what another Python compiled is not compared"
)
def test_code_that_changed_since_the_older_run_is_refused(older):
    change(older, "1 / (1 + d)", "1 / (2 + d)")
    assert told(older)["lambda"] == [
        "parameters changed: code: as it was compiled -> another (refused)"
    ]


def test_a_parameter_that_changed_since_the_older_run_is_named(older):
    change(older, "shrink=0.1", "shrink=0.2")
    assert told(older)["nearest"] == [
        "parameters changed: assembled.parameters.steps.estimator.parameters.shrink: 0.1 -> 0.2 "
        "(refused)"
    ]


def test_what_another_python_compiled_is_not_held_against_a_strategy(older, monkeypatch):
    """As after an upgrade: nothing that was compiled agrees, and nothing can be said of it."""
    monkeypatch.setattr("mlaut.experiments.plans.entries.python_version", lambda: "3.99")
    monkeypatch.setattr("mlaut.identity.former.code_digest", lambda _: "0" * 64)
    assert told(older)["stretched"] == ["done", f"recognised: {NOT_COMPARED}"]
    change(older, "shrink=0.1", "shrink=0.2")
    assert "shrink: 0.1 -> 0.2" in told(older)["nearest"][0]


def test_it_can_be_fitted_again_and_gives_the_same(older):
    plan_study(older / "study.toml")
    run_study(older / "study.toml", n_jobs=1, verbose=0, retry=[])
    found = verify_study(older / "study.toml", refit=1.0, engine="inline")
    assert (found.ok, found.refitted) == (True, 6)


@pytest.mark.parametrize("order", [1, -1])
def test_it_merges_with_itself_as_it_is_stored_today(older, order):
    before = older / "before.h5"
    shutil.copy(older / "study.h5", before)
    run_study(older / "study.toml", n_jobs=1, verbose=0)
    merged = merge_studies([before, older / "study.h5"][::order], older / "merged.h5")
    assert merged.strategies == Study(older / "study.h5").strategies
