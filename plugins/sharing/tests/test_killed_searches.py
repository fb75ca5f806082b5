"""Runs that are killed in the middle of a search, with all their processes, and resumed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from learners import Traced

from mlaut import Study
from mlaut.analysis import search_traces
from mlaut.estimators import Generic_Estimator
from mlaut.files_io import StudyStore as Store
from mlaut.sharing import Floats

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PLACES = (3, 22)  # fits after which a run is killed: the searches here have 24 or more
GRID = {"var_smoothing": [10.0**-k for k in range(8)], "seconds": [0.02]}
SPACE = GRID | {"var_smoothing": Floats(1e-9, 10, log=True)}
SCRIPT = """
import sys
from pathlib import Path
sys.path[:0] = {here!r}, {learners!r}
from test_killed_searches import run
run(Path({folder!r}), {search!r}, n_jobs=1)
"""


def run(folder, search, **options):
    folder.mkdir(exist_ok=True)
    study = Study(folder / "study.h5")
    study.add_datasets("starter/wine")
    learner = Traced(str(folder / "fits"))
    space = GRID if search == "grid" else SPACE
    strategy = Generic_Estimator(learner, name="traced", param_grid=space, cv=4)
    study.run(strategy, search=search, verbose=0, **options)
    return study.path


def killed(folder, search, place):
    """Run a study in another process, and kill it with all its workers after some fits."""
    places = {"here": str(HERE), "learners": str(ROOT / "tests" / "experiments")}
    script = SCRIPT.format(**places, folder=str(folder), search=search)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script]
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    fits = folder / "fits"
    while process.poll() is None:
        if fits.exists() and len(fits.read_text().splitlines()) >= place:
            os.killpg(process.pid, signal.SIGKILL)
            break
        time.sleep(0.002)
    assert process.wait() == -signal.SIGKILL


def check_killed(search, tmp_path):
    """Check that a run that is killed in a search, and resumed, leaves the same trace."""
    whole = run(tmp_path / "whole", search, engine="inline")
    wanted = search_traces(whole).drop(columns="seconds").to_json()
    for place in PLACES:
        folder = tmp_path / str(place)
        killed(folder, search, place)
        path = run(folder, search, engine="inline")
        assert search_traces(path).drop(columns="seconds").to_json() == wanted
        predictions = [Store(one).block("wine").predictions for one in (whole, path)]
        assert (predictions[0] == predictions[1]).all()
    (record,) = Store(path).details("wine")
    assert record["scores_resumed"] > 0


@pytest.mark.slow
def test_a_run_that_is_killed_in_a_search_leaves_the_same_trace(tmp_path):
    check_killed("grid", tmp_path)
