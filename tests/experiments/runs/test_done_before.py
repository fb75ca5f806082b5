"""A run that finds nothing to do does not import scikit-learn, and says what it always said."""

import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from mlaut import Study
from mlaut.errors import StudyError
from mlaut.experiments.runs import done_before
from mlaut.experiments.runs.done_before import named_before, nothing_to_do
from mlaut.files_io import FilesIO, StudyStore

NAMES = ["BaselineClassifier", "GaussianNaiveBayes"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    study = Study(tmp_path_factory.mktemp("made") / "study.h5")
    study.add_datasets(["starter/iris", "starter/wine"])
    study.run(NAMES, split="kfold(2)", engine="inline", verbose=0)
    return study.path.parent


@pytest.fixture
def done(made, tmp_path, monkeypatch):
    """A study that is done, in a process that seems to have loaded no library."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(done_before, "_has_loaded_libraries", lambda: False)
    return Study(tmp_path / "study.h5")


def known(study, strategies=NAMES, **options):
    return named_before(StudyStore(study.path), strategies, options)


def left(study, tasks):
    return nothing_to_do(StudyStore(study.path), FilesIO(study.datasets_path), tasks)


def test_nothing_to_do_needs_no_scikit_learn(done):
    again = done.run(NAMES, split="kfold(2)", n_jobs=1, verbose=0)
    script = f"""
import sys
from mlaut import Study
from mlaut.errors import StudyError
summary = Study({str(done.path)!r}).run({NAMES}, split="kfold(2)", n_jobs=1, verbose=0)
assert "sklearn" not in sys.modules
assert Study({str(done.path)!r}).run("BaselineClassifier", verbose=0).n_cells == 4
print(summary)
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True, timeout=300
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.split(" in ")[0] == str(again).split(" in ")[0]
    assert "8 of 8 cells done; this run: nothing to do" in ran.stdout


def test_strategies_by_name_are_known(done):
    assert known(done) == {name: ["Classification"] for name in NAMES}
    assert known(done, "GaussianNaiveBayes", n_jobs=-1, timeout="1m").keys() == {NAMES[1]}
    assert left(done, known(done)).before.n_done == 8


@pytest.mark.parametrize("given", ["Naive_Bayes", "SVC", ["BaselineClassifier", object()], []])
def test_what_must_be_looked_at_is_not_known(done, given):
    assert not known(done, given)


@pytest.mark.parametrize(
    "option",
    [
        {"retry": "error"},
        {"overwrite_predictions": True},
        {"search": "random(3)"},
        {"save_models": True},
        {"n_jobs": "many"},
        {"timeout": "soon"},
        {"engine": "inline", "timeout": 1},
        {"misspelt": 1},
    ],
)
def test_what_an_option_may_change_is_not_known(done, option):
    assert not known(done, **option)


@pytest.mark.parametrize("change", ["code", "version"])
def test_other_code_or_versions_are_not_known(done, change, monkeypatch):
    if change == "code":
        monkeypatch.setattr(done_before, "_code", lambda: "other")
    else:
        monkeypatch.setattr(done_before, "installed_version", lambda _: "0.1")
    assert not known(done)


def test_open_cells_and_changed_tables_leave_something_to_do(done):
    tasks, store = known(done), StudyStore(done.path)
    names, status = store.statuses()["iris"]
    status[0, 0, 0], status[1:] = 1, 0
    status[0, 0, 1:] = 0
    with store.writing() as writer:
        writer.forget("iris", names, status.astype(bool))
    assert left(done, tasks) is None
    assert done.run(NAMES, verbose=0, engine="inline").counts.total() == 1
    assert left(done, tasks) is not None
    data = FilesIO(done.datasets_path, "a")
    wine = data.load_dataset("starter/wine")
    data.save_datasets([replace(wine, frame=wine.frame[1:])], "starter", overwrite=True)
    assert left(done, tasks) is None
    with pytest.raises(StudyError, match="wine"):
        done.run(NAMES, verbose=0, engine="inline")
