"""Status of a study: whether a run of it is making progress."""

import os
import time
import warnings

import pytest
from sklearn.dummy import DummyClassifier

from mlaut import Data, Orchestrator
from mlaut.cli import main
from mlaut.experiments import read_study_file
from mlaut.experiments.engines.engine import InlineEngine, LocalEngine
from mlaut.experiments.following.status import check_alive, study_status, warnings_of
from mlaut.files_io import StudyStore
from mlaut.files_io.safe_files.lock import beat, holder_of, lock_path, locked


def age(path, seconds):
    """Let the last sign of progress lie so many seconds back."""
    then = time.time() - seconds
    os.utime(lock_path(path), (then, then))


@pytest.fixture
def orchestrator(databases):
    input_io, out_io = databases
    Data().split_datasets(input_io, out_io, ["tables/iris"], scheme="kfold(3)")
    return Orchestrator(input_io, out_io)


def test_a_run_is_alive_until_it_shows_no_progress_for_too_long(orchestrator):
    path = orchestrator.hdf5_output_io.path
    with locked(path, for_run=True):
        alive, line = check_alive(path)
        assert alive
        assert line.startswith(f"{path}: process {os.getpid()} on ")
        assert " is running; last progress " in line
        age(path, 1000)
        assert holder_of(path)["silent"] == pytest.approx(1000, abs=60)
        assert study_status(path).to_dict()["running"]["silent"] > 900
        alive, line = check_alive(path)
        assert not alive
        assert " has shown no progress for 1" in line
        assert " s (allowed: 300 s); look at its output, or stop it and make the same" in line
        assert check_alive(path, within=5000)[0]
        beat(path)
        assert check_alive(path)[0]


def test_without_a_run_a_study_is_healthy_if_it_is_finished(orchestrator):
    path = orchestrator.hdf5_output_io.path
    assert check_alive(path.with_name("none.h5")) == (
        False,
        f"{path.with_name('none.h5')}: there is no study yet, and no run; start one with "
        "'mlaut run'",
    )
    assert not check_alive(path)[0]
    orchestrator.run(["GaussianNaiveBayes", "BaselineClassifier"], engine="inline", verbose=0)
    assert check_alive(path) == (True, f"{path}: finished, all 6 cells have an outcome")
    StudyStore(path).allocate(orchestrator.plan("DecisionTreeClassifier").entries)
    assert check_alive(path) == (
        False,
        f"{path}: no run is active, and 3 of 9 cells have no outcome; 'mlaut run' resumes it",
    )


def test_a_run_shows_progress_whenever_its_engine_does(orchestrator):
    path, silences = orchestrator.hdf5_output_io.path, []

    class Waiting(InlineEngine):
        def run(self, groups):
            age(path, 1000)
            silences.append(holder_of(path)["silent"])
            yield []
            silences.append(holder_of(path)["silent"])
            yield from super().run(groups)

    orchestrator.run("GaussianNaiveBayes", engine=Waiting(), verbose=0)
    assert silences[0] > 900
    assert silences[1] < 60


def test_the_local_engine_shows_progress_while_no_cell_ends(orchestrator, tmp_path):
    from learners import Traced

    parts = []

    class Watched(LocalEngine):
        def run(self, groups):
            for outcomes in super().run(groups):
                parts.append(len(outcomes))
                yield outcomes

    slow = Traced(str(tmp_path / "trace"), seconds=1.2)
    summary = orchestrator.run(slow, engine=Watched(), n_jobs=3, verbose=0)
    assert summary.n_done == sum(parts) == 3
    assert 0 in parts


STUDY = """
[data]
folder = "tables"
[split]
scheme = "kfold(2)"
[strategies]
names = ["GaussianNaiveBayes"]
[run]
engine = "inline"
"""


def code_of(arguments):
    """Return the exit code of the command line."""
    try:
        main(arguments)
    except SystemExit as left:
        return left.code
    return 0


def test_the_health_check_and_the_models_of_the_command_line(tmp_path, capsys):
    (tmp_path / "tables").mkdir()
    rows = "\n".join(f"{x},{'ab'[x % 2]}" for x in range(20))
    (tmp_path / "tables" / "small.csv").write_text(f"x,class\n{rows}\n")
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    assert code_of(["status", str(path), "--alive"]) == 1
    assert "there is no study yet" in capsys.readouterr().out
    assert code_of(["study", "models", str(path)]) == 5
    assert "nothing was run yet, so there are no models" in capsys.readouterr().err
    assert code_of(["run", str(path), "-q"]) == 0
    capsys.readouterr()
    assert code_of(["status", str(path), "--alive", "--within", "1m"]) == 0
    assert "finished, all 2 cells have an outcome" in capsys.readouterr().out
    study = read_study_file(path).output
    for given, number in ((path, 2), (path, 0)):
        assert code_of(["study", "models", str(given), "-j", "1"]) == 0
        assert capsys.readouterr().out == f"{number} models saved in {study}.models\n"
    assert len([*tmp_path.joinpath("study.h5.models").rglob("*.*")]) >= 2


class Warns(DummyClassifier):
    """Warns twice in a fit, or three times, depending on the rows."""

    def fit(self, X, y):
        for _ in range(2 + int(X.iloc[:, 0].mean() > 5.84)):  # the mean of all rows
            warnings.warn("still learning", UserWarning, stacklevel=1)
        return super().fit(X, y)


def test_a_warning_is_one_line_however_often_a_cell_gave_it(orchestrator):
    orchestrator.run({"dummy": Warns()}, engine="inline", verbose=0)
    path = orchestrator.hdf5_output_io.path
    told = {text for _, _, texts in StudyStore(path).warnings() for text in texts}
    assert told == {
        "UserWarning: still learning (2 times)",
        "UserWarning: still learning (3 times)",
    }
    (row,) = warnings_of(path)
    assert (row["strategy"], row["warning"]) == ("dummy", "UserWarning: still learning")
