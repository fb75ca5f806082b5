"""A cell that kills its whole run: noted, run alone, and given up after three deaths."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from comparing import arrays
from learners import Deed, Random

from mlaut import Data, Orchestrator
from mlaut.errors import StudyError, TimeIsOver
from mlaut.experiments.runs.begun import _IN_VAIN, BegunCells
from mlaut.files_io import StudyStore
from mlaut.records import Cell, Status

HERE = Path(__file__).parents[1]


@pytest.fixture
def orchestrator(databases):
    input_io, out_io = databases
    names, paths = Data().list_datasets(hdf5_io=input_io, hdf5_group="tables")
    Data().split_datasets(
        hdf5_in=input_io, hdf5_out=out_io, dataset_paths=paths, scheme="kfold(3)", seed=1
    )
    return Orchestrator(input_io, out_io, names, "tables")


def _note(study, *lines):
    study.path.with_name("study.h5.begun").write_text("\n".join(map(json.dumps, lines)) + "\n{torn")


@pytest.fixture
def study(orchestrator):
    """A study whose cells have no outcome yet."""
    study = StudyStore(orchestrator.hdf5_output_io.path)
    orchestrator.run(Random(), engine="inline", verbose=0)
    with study.writing() as writer:
        for name in study.datasets:
            writer.forget(name, ["Random"], study.status(name) == Status.DONE)
    return study


def test_a_cell_during_which_the_run_died_three_times_is_crashed_and_the_rest_goes_on(
    orchestrator, study
):
    name = study.datasets[0]
    _note(study, [name, "Random", [[0, 1]], 2], [name, "Random", [[0, 1], [0, 2]], 0])
    done = orchestrator.run(Random(), n_jobs=2, verbose=0)
    assert (done.n_done, done.n_failed) == (8, 1)
    assert study.status(name)[0, 0].tolist() == [Status.DONE, Status.CRASHED, Status.DONE]
    assert "the run was killed 3 times while this cell ran" in str(done)
    assert not study.path.with_name("study.h5.begun").exists()


@pytest.mark.parametrize("count", [0, 1])
def test_a_run_with_nothing_to_do_removes_notes_of_one_that_was_killed_at_its_end(
    orchestrator, study, count
):
    orchestrator.run(Random(), engine="inline", verbose=0)
    name = study.datasets[0]
    _note(study, [_IN_VAIN, "", [], 1] if count else [name, "Random", [[0, 1]], 0])
    assert orchestrator.run(Random(), engine="inline", verbose=0).complete
    assert not study.path.with_name("study.h5.begun").exists()


@pytest.mark.parametrize("engine", ["local", "inline"])
def test_a_cell_during_which_the_run_died_twice_runs_alone_after_all_others(
    orchestrator, study, engine, monkeypatch
):
    begun = []
    begin = BegunCells.begin
    monkeypatch.setattr(
        BegunCells, "begin", lambda notes, batch: [begun.append(batch.keys), begin(notes, batch)]
    )
    name = study.datasets[0]
    _note(study, [name, "Random", [[0, 0]], 1], [name, "Random", [[0, 0]], 0])
    assert orchestrator.run(Random(), engine=engine, verbose=0).complete
    assert begun[-1] == (Cell(name, "Random", 0, 0),)
    assert len({key for keys in begun for key in keys}) == 9


def test_a_run_whose_time_is_over_twice_before_a_cell_ended_says_so(orchestrator, study):
    def stop(*_):
        signal.raise_signal(signal.SIGUSR1)

    again = [Random(), Deed(stop, fold=None)]
    orchestrator.run(Random(), engine="inline", verbose=0)
    with pytest.raises(TimeIsOver, match=r"^the time of the job is over; stopped before the first"):
        orchestrator.run(again, engine="inline", verbose=0)
    assert _IN_VAIN in study.path.with_name("study.h5.begun").read_text()
    with pytest.raises(StudyError, match="2 jobs in a row ended before a cell did; give the job"):
        orchestrator.run(again, engine="inline", verbose=0)


SCRIPT = """
    import os, sys
    sys.path.insert(0, {here!r})
    from learners import KillsTheRun, Random
    from mlaut import Data, Orchestrator
    os.environ["MLAUT_TEST_RUN"] = str(os.getpid())
    data = Data()
    orchestrator = Orchestrator(data.open_hdf5({input!r}), data.open_hdf5({output!r}, mode="a"))
    print(orchestrator.run([KillsTheRun(), Random()], n_jobs=2, verbose=0))
"""


@pytest.mark.slow
def test_a_run_that_a_cell_kills_ends_at_the_fourth_call(orchestrator, databases):
    """Before, it died at the same cell for ever."""
    input_io, out_io = databases
    script = textwrap.dedent(SCRIPT).format(
        here=str(HERE), input=str(input_io.path), output=str(out_io.path)
    )
    codes = []
    while len(codes) < 9 and (not codes or codes[-1]):
        call = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        codes.append(call.returncode)
    assert codes == [-signal.SIGKILL] * 3 + [0], call.stderr
    study = StudyStore(out_io.path)
    assert "17 of 18 cells done" in call.stdout
    assert sum((study.status(name) == Status.CRASHED).sum() for name in study.datasets) == 1
    assert arrays(study)
    assert not [*out_io.path.parent.glob("*.begun")]


SLEEPS = """
    import sys
    sys.path.insert(0, {here!r})
    from learners import TellsItsNumber
    from mlaut import Data, Orchestrator
    from mlaut.experiments.workers import process
    process._SIGNAL_SECONDS = 60  # however slowly this machine kills
    data = Data()
    orchestrator = Orchestrator(data.open_hdf5({input!r}), data.open_hdf5({output!r}, mode="a"))
    orchestrator.run([TellsItsNumber({told!r})], n_jobs=1, verbose=0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, -1])
def test_no_cell_is_blamed_where_its_process_dies_a_moment_before_the_run(
    orchestrator, databases, tmp_path, order
):
    """Slurm kills the processes of a job one after another."""
    input_io, out_io = databases
    told = tmp_path / "told"
    script = textwrap.dedent(SLEEPS).format(
        here=str(HERE), input=str(input_io.path), output=str(out_io.path), told=str(told)
    )
    run = subprocess.Popen([sys.executable, "-c", script])
    while not (told.exists() and told.read_text().endswith("\n")):
        assert run.poll() is None
        time.sleep(0.05)
    pids = [int(told.read_text())]
    while (parent := _parent(pids[-1])) != run.pid:
        pids.append(parent)
    for pid in pids[::order]:
        os.kill(pid, signal.SIGKILL)
        time.sleep(0.5)  # two looks of the run
    assert run.poll() is None
    run.kill()
    run.wait()
    study = StudyStore(out_io.path)
    assert {x for name in study.datasets for x in study.status(name).flat} == {Status.MISSING}


def _parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
