"""Guarded processes: what happens in one costs the cell that ran in it, and nothing else."""

import ctypes
import multiprocessing
import multiprocessing.forkserver
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from pathlib import Path

import cloudpickle
import learners
import numpy as np
import pytest
from in_workers import AllAtOnce, predictions, run, words
from learners import Deed, Hostile, Random, Traced, computes
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from mlaut.errors import DataError, StudyError
from mlaut.experiments.cells.memory import CpuSeconds
from mlaut.experiments.cells.messages import GarbledError
from mlaut.experiments.workers import process as worker_process
from mlaut.experiments.workers.batches import BatchQueue
from mlaut.experiments.workers.pool import Team, run_batches
from mlaut.experiments.workers.process import GuardedProcess
from mlaut.experiments.workers.sessions import is_running
from mlaut.experiments.workers.start import start_process
from mlaut.records import Status


@pytest.mark.parametrize("fold", range(4))
def test_death_costs_its_own_cell_only(batch, fold):
    outcomes = run(batch(Deed(lambda: os.kill(os.getpid(), signal.SIGKILL), fold)))
    assert [o.cell.fold for o in outcomes] == [0, 1, 2, 3]
    assert words(outcomes) == ["crashed" if i == fold else "done" for i in range(4)]
    assert outcomes[fold].reason == "its worker process was killed by SIGKILL"
    assert outcomes[fold].details["elapsed"] >= 0


def test_death_in_a_later_batch_costs_its_own_cell_too(batch):
    died = Deed(lambda: os.kill(os.getpid(), signal.SIGKILL), 2)
    with Team(threads=1) as team:
        queue = AllAtOnce([batch(Random()), batch(died)])
        outcomes = [o for part in run_batches(queue, team, 1, None) for o in part]
    found = {(o.cell.strategy, o.cell.fold): o.status.word for o in outcomes}
    assert len(found) == len(outcomes) == 8
    assert [key for key, word in found.items() if word == "crashed"] == [("Deed", 2)]


def test_time_limit_is_that_of_each_cell(batch, monkeypatch, tmp_path):
    """It counts from the begin of the cell, not from that of the process or the batch."""
    deadline, left, seen = GuardedProcess.deadline.fget, [], tmp_path / "seen"

    def noted(process):
        when = deadline(process)
        runs = len(process._begun) > process._n_ended
        if runs:
            left.append(when - process._begun[-1])
            seen.touch()
        return when

    def waits_until_seen():
        while not seen.exists():
            time.sleep(0.01)

    monkeypatch.setattr(GuardedProcess, "deadline", property(noted))
    outcomes = run(batch(Deed(waits_until_seen, fold=None)), timeout=3600)
    assert words(outcomes) == ["done"] * 4
    assert {round(seconds, 6) for seconds in left} == {3600}


@pytest.fixture
def over_time(monkeypatch, tmp_path):
    """Let the time of a cell be over once it says so, however fast the machine is."""
    told, deadline = tmp_path / "over", GuardedProcess.deadline.fget

    def of(process):
        is_over = told.exists() and str(process.pid) in told.read_text().split()
        when = deadline(process)  # after that: it then knows that the cell has begun
        return 0.0 if is_over else when

    def says_so():
        told.write_text(f"{os.getppid()} ")

    monkeypatch.setattr(GuardedProcess, "deadline", property(of))
    return says_so


def test_cell_over_time_says_where_it_was(batch, over_time):
    def waits_for_ever():
        over_time()
        ctypes.PyDLL(None).sleep(3600)  # holds the interpreter's lock

    outcomes = run(batch(Deed(waits_for_ever, 2)), timeout=3600)
    assert words(outcomes) == ["done", "done", "timeout", "done"]
    assert outcomes[2].reason == "took longer than 3600 s and was ended"
    assert "in waits_for_ever" in outcomes[2].details["traceback"]


def test_the_running_cell_is_blamed_and_not_one_whose_outcome_waits_in_the_worker(batch):
    """A worker sends outcomes of short cells together, and those it still has end with it."""
    with Team(threads=1) as team:
        process = team.begin([batch(GaussianNB())], 3600)
        process._begun, process._n_ended = [time.monotonic()] * 3, 1  # outcome 1 has not come
        (blamed,) = process._over_time("")
        assert (blamed.cell.fold, blamed.status) == (2, Status.TIMEOUT)
        assert [rest.cells for rest in process.rest] == [((0, 1), (0, 3))]


def test_a_signal_that_wakes_the_cell_makes_it_no_less_late(batch, over_time):
    """Asking a process where it is interrupts a sleep in C, and the cell would end well."""

    def sleeps():
        over_time()
        ctypes.CDLL(None).sleep(3600)

    outcomes = run(batch(Deed(sleeps, 0)), timeout=3600)
    assert words(outcomes) == ["timeout", "done", "done", "done"]


def test_crash_says_where_it_was(batch):
    def reads_nowhere():
        ctypes.string_at(0)

    (outcome, *_) = run(batch(Deed(reads_nowhere)))
    assert outcome.reason == "its worker process was killed by SIGSEGV"
    assert "Segmentation fault" in outcome.details["traceback"]
    assert "in reads_nowhere" in outcome.details["traceback"]


def test_what_a_strategy_prints_decides_no_status(batch):
    def aborts():
        os.write(2, b"RuntimeError: out of memory, std::bad_alloc, MemoryError\n")
        os.abort()

    (outcome, *_) = run(batch(Deed(aborts)))
    assert outcome.status is Status.CRASHED
    assert outcome.reason == "its worker process was killed by SIGABRT"


def test_kill_by_the_system_for_lack_of_memory_is_told_as_that(batch, monkeypatch):
    """The kernel's count of such kills is all that tells it from any other SIGKILL."""
    kills = iter(range(1000))
    monkeypatch.setattr(worker_process, "oom_kills", lambda: next(kills))
    (outcome, *_) = run(batch(Deed(lambda: os.kill(os.getpid(), signal.SIGKILL))))
    assert outcome.status is Status.MEMORY
    assert "by the system, for lack of memory" in outcome.reason


def test_memory_limit_holds_in_libraries_too(batch):
    def allocates():
        raise RuntimeError("failed to grow") from MemoryError()

    def hoards():
        hoard = []
        while True:
            hoard.append(np.ones(2**20))

    for deed in (allocates, hoards):
        outcomes = run(batch(Deed(deed, 1), memory=200 * 2**20))
        assert words(outcomes) == ["done", "memory", "done", "done"]


def test_what_a_cell_prints_is_not_shown(batch, capfd):
    def prints():
        sys.stdout.write("x" * 2**20 + "\n" * 99)
        os.write(2, b"\033last words\n \n")
        os._exit(3)

    (outcome, *others) = run(batch(Deed(prints)))
    assert words(others) == ["done"] * 3
    assert outcome.reason == (
        "its worker process ended with exit code 3, and printed last: last words"
    )
    assert "last words" in outcome.details["traceback"]
    assert capfd.readouterr() == ("", "")


def test_copies_that_a_cell_makes_of_its_process_send_nothing(batch):
    def forks():
        for _ in range(3):
            if os.fork() == 0:
                break

    outcomes = run(batch(Deed(forks, fold=None)), timeout=None)
    assert words(outcomes) == ["done"] * 4


def test_daemons_that_a_cell_starts_end_with_it(batch, tmp_path):
    told = tmp_path / "pids"
    program = textwrap.dedent(
        f"""
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                with open({str(told)!r}, "a") as file: file.write(str(os.getpid()) + "\\n")
                time.sleep(3600)
            os._exit(0)
        time.sleep(0.5)
        """
    )

    def starts_a_daemon():
        subprocess.run([sys.executable, "-c", program], check=True)

    assert words(run(batch(Deed(starts_a_daemon)))) == ["done"] * 4
    (pid,) = map(int, told.read_text().split())
    assert not is_running(pid)


def test_a_process_serves_one_strategy_of_foreign_code(batch):
    """What a cell leaves behind, such as a thread, ends with the copy that ran it."""

    def leaves_a_thread():
        threading.Thread(target=time.sleep, args=[3600], daemon=True).start()

    with Team(threads=1) as team:
        pids = []
        for estimator in (Random(), Random(), Deed(leaves_a_thread), Random(), Random(2)):
            process = team.begin([batch(estimator).part([(0, 0)])], None)
            pids.append(process.pid)
            while process.busy:
                process.receive()
            team.take_back(process)
    assert pids[0] == pids[1] == pids[3]
    assert len({pids[0], pids[2], pids[4]}) == 3


def test_strategies_of_scikit_learn_share_a_process_and_change_no_bit_of_one_another(batch):
    strategies = [GaussianNB(), DummyClassifier(strategy="stratified"), GaussianNB()]
    with Team(threads=1) as team:
        queue = AllAtOnce([batch(strategy) for strategy in [*strategies, Random()]])
        together = [o for part in run_batches(queue, team, 1, None) for o in part]
        assert len(team._members) == 2  # one for all of them, and one for the foreign code
    assert words(together) == ["done"] * 16
    for name, strategy in {type(one).__name__: one for one in strategies}.items():
        alone = predictions(run(batch(strategy)))
        beside = predictions([o for o in together if o.cell.strategy == name])
        assert set(beside) == set(alone)


@pytest.fixture
def ahead(batch):
    """A team and a stopped process that has begun one batch and holds two more."""
    with Team(threads=1) as team:
        process = team.begin([batch(RandomForestClassifier(100))], 3600)
        _until(lambda: process.deadline and process.takes_another)
        os.kill(process.pid, signal.SIGSTOP)
        for sent in (batch(DummyClassifier()), batch(GaussianNB())):
            team.send_ahead(process, [sent])
        yield team, process


def test_batches_that_were_sent_ahead_run_in_order(ahead):
    _, process = ahead
    os.kill(process.pid, signal.SIGCONT)
    outcomes = []
    _until(lambda: outcomes.extend(process.receive()) or not process.busy)
    names = ["RandomForestClassifier"] * 4 + ["DummyClassifier"] * 4 + ["GaussianNB"] * 4
    assert [(o.cell.strategy, o.cell.fold) for o in outcomes] == list(
        zip(names, [*range(4)] * 3, strict=True)
    )
    assert words(outcomes) == ["done"] * 12


@pytest.mark.parametrize("how", ["killed", "over time"])
def test_what_was_sent_ahead_of_a_process_that_ends_runs_elsewhere(ahead, how):
    team, process = ahead
    if how == "killed":
        os.kill(process.pid, signal.SIGKILL)
        outcomes = []
        _until(lambda: outcomes.extend(process.receive()) or not process.busy)
    else:
        outcomes = process._over_time("")
    assert words(outcomes)[-1] == ("crashed" if how == "killed" else "timeout")
    assert [rest.name for rest in process.rest][-2:] == ["DummyClassifier", "GaussianNB"]
    queue = AllAtOnce([])
    for rest in process.rest:
        queue.again(rest)
    others = [o for part in run_batches(queue, team, 1, None) for o in part]
    assert words(others) == ["done"] * len(others)
    assert len({o.cell for o in outcomes + others}) == len(outcomes + others) == 12


def test_a_process_that_leaves_leaves_what_was_sent_ahead_to_others(ahead):
    _, process = ahead
    process._take(b"l", b"")
    assert not process.busy
    assert not process.stands
    assert [len(rest.cells) for rest in process.rest][-2:] == [4, 4]


@pytest.mark.parametrize("shared", [None, b"", b"xgboost"])
def test_cells_of_known_code_end_in_whatever_process_they_run(batch, shared):
    """A process shared with others of the same library, or of a strategy that is given as bytes."""
    outcomes = run(replace(batch(GaussianNB()), shared=shared), timeout=30)
    assert words(outcomes) == ["done"] * 4


def test_what_is_no_outcome_ends_a_process_that_sends_several_together(ahead):
    """Of how many cells it was is unknown, and the run would wait for them."""
    _, process = ahead
    with pytest.raises(GarbledError, match="something else"):
        process._take(b"o", b"no outcome")
    assert process.busy


def test_strategy_that_a_worker_cannot_load_is_an_error(batch):
    class Broken(Random):
        def __setstate__(self, state):
            raise ImportError("no module named 'elsewhere'")

    outcomes = run(batch(Broken()))
    assert words(outcomes) == ["error"] * 4
    assert outcomes[0].reason == "ImportError: no module named 'elsewhere'"


def test_strategy_that_leaves_is_an_error(batch):
    outcomes = run(batch(Deed(lambda: sys.exit("bye"), 1)))
    assert words(outcomes) == ["done", "error", "done", "done"]
    assert outcomes[1].reason == "SystemExit: bye"


def test_changed_dataset_ends_the_run(batch):
    changed = batch(Random())
    object.__setattr__(changed.dataset, "fingerprint", "another")
    with pytest.raises(DataError, match="dataset 'd' was changed while the study runs"):
        run(changed)


def test_processes_that_cannot_begin_end_the_run(batch, monkeypatch):
    """The fifth in a row does; one that begins a cell begins the count again."""
    monkeypatch.setattr(worker_process, "_serve", learners.leaves_at_once)
    begun = []
    with Team(threads=1) as team:
        new = team._new
        monkeypatch.setattr(team, "_new", lambda strategy: begun.append(strategy) or new(strategy))
        with pytest.raises(StudyError, match=r"processes end before their first .* code 7"):
            list(run_batches(AllAtOnce([batch(Random())]), team, 1, None))
        assert len(begun) == 5


def test_a_process_that_serves_forgives_those_that_did_not_begin(batch, monkeypatch):
    begun, serve = [], worker_process._serve
    with Team(threads=1) as team:
        new = team._new

        def starts(strategy):
            begun.append(strategy)
            stumbles = len(begun) % 5 or len(begun) == 10
            monkeypatch.setattr(
                worker_process, "_serve", learners.leaves_at_once if stumbles else serve
            )
            return new(strategy)

        monkeypatch.setattr(team, "_new", starts)
        first = [
            o for part in run_batches(AllAtOnce([batch(Random())]), team, 1, None) for o in part
        ]
        assert (words(first), len(begun)) == (["done"] * 4, 5)
        other = AllAtOnce([batch(Random(1))])
        with pytest.raises(StudyError, match="end before their first cell"):
            list(run_batches(other, team, 1, None))
        assert len(begun) == 10


def test_killed_server_of_processes_costs_no_cell(batch):
    """Without it nobody can tell how a process ended; those that still run are not to blame."""
    outcomes = []
    with Team(threads=1) as team:
        queue = AllAtOnce([batch(Deed(lambda: time.sleep(0.3), None))])
        for part in run_batches(queue, team, 1, 9):
            if not outcomes:
                os.kill(multiprocessing.forkserver._forkserver._forkserver_pid, signal.SIGKILL)
            outcomes += part
    assert sorted(o.cell.fold for o in outcomes) == [0, 1, 2, 3]
    assert words(outcomes) == ["done"] * 4


def test_run_that_is_given_up_leaves_no_process(batch, tmp_path):
    trace = tmp_path / "trace"
    with Team(threads=1) as team:
        running = run_batches(BatchQueue([batch(Traced(str(trace), 0.05))]), team, 1, None)
        next(running)
        pids = [process.pid for process in team._members]
        running.close()
        assert not any(map(is_running, pids))


def test_a_process_that_leads_no_session_yet_is_ended(monkeypatch):
    def only_forked(_, *arguments):
        return start_process(time.sleep, 20)

    monkeypatch.setattr(worker_process, "start_process", only_forked)
    process = GuardedProcess(b"", threads=1)
    process.end()
    assert process._process.exitcode == -signal.SIGKILL
    GuardedProcess.close(process)


ORPHANS = """
    import sys
    sys.path[:0] = {path!r}
    import os, subprocess, time, ctypes, cloudpickle
    from mlaut.experiments.workers.pool import Team, run_batches
    from mlaut.experiments.workers.batches import BatchQueue
    batch = cloudpickle.loads(open({batch!r}, "rb").read())
    with Team(threads=1) as team:
        list(run_batches(BatchQueue([batch]), team, 1, None))
"""


def test_nothing_outlives_a_killed_run(batch, tmp_path):
    """A worker that holds the lock of its interpreter, its children, and one in its own session."""
    told = tmp_path / "pids"

    def starts():
        program = "import time; time.sleep(3600)"
        children = [
            subprocess.Popen([sys.executable, "-c", program], start_new_session=alone)
            for alone in (False, False, True)
        ]
        pids = [os.getpid(), *(child.pid for child in children)]
        Path(told).write_text(" ".join(map(str, pids)))
        ctypes.PyDLL(None).sleep(3600)

    stored = tmp_path / "batch"
    stored.write_bytes(cloudpickle.dumps(batch(Deed(starts))))
    script = textwrap.dedent(ORPHANS).format(batch=str(stored), path=sys.path)
    process = subprocess.Popen([sys.executable, "-c", script])
    _until(lambda: told.exists() and told.read_text())
    pids = [int(pid) for pid in told.read_text().split()]
    assert all(map(is_running, pids))
    process.kill()
    process.wait()
    _until(lambda: not any(map(is_running, pids)))


def test_a_janitor_that_a_strategy_kills_is_replaced_by_one_that_knows_all_workers(batch):
    with Team(threads=1) as team:
        first = team._janitor._process.pid
        list(run_batches(AllAtOnce([batch(Random())]), team, 1, None))
        (kept,) = (process.pid for process in team._members)
        os.kill(first, signal.SIGKILL)
        # The server of processes reports the end, a moment after it.
        _until(lambda: team._janitor._process.exitcode is not None)
        list(run_batches(AllAtOnce([batch(Deed(lambda: None))]), team, 1, None))
        assert team._janitor._process.pid != first
        assert is_running(kept)
        team._janitor._notes.close()  # as the end of this process would
        _until(lambda: not is_running(kept))


def test_a_janitor_that_a_strategy_has_stopped_holds_no_run_back(batch):
    with Team(threads=1) as team:
        parts = list(run_batches(AllAtOnce([batch(Random())]), team, 1, None))
        janitor = team._janitor._process.pid
        os.kill(janitor, signal.SIGSTOP)
    assert any(parts)
    assert not is_running(janitor)


def _until(holds, seconds=300):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.slow
def test_hostile_learner_of_children_is_cleared_away(batch):
    outcomes = run(batch(Hostile("children")), timeout=1.5)
    assert words(outcomes) == ["timeout"] * 4


# --------------------------------------------------------------- limits of CPU time


def test_a_cell_that_computes_without_end_is_ended_and_its_neighbours_are_not(batch, monkeypatch):
    monkeypatch.setattr(worker_process, "CPU_WAITS", 10**6)  # a busy machine delays it
    outcomes = run(batch(Deed(lambda: computes(1e9), 1)), timeout=CpuSeconds(0.6))
    assert words(outcomes) == ["done", "timeout", "done", "done"]
    assert outcomes[1].reason == "used more than 0.6 s of CPU time and was ended"
    assert "in computes" in outcomes[1].details["traceback"]


def test_the_time_of_processes_that_a_cell_starts_counts(batch, monkeypatch):
    monkeypatch.setattr(worker_process, "CPU_WAITS", 10**6)  # a busy machine delays it

    def has_others_compute():
        program = [sys.executable, "-c", "while True: pass"]
        others = [subprocess.Popen(program, start_new_session=alone) for alone in (True, False)]
        others[0].wait()

    (outcome, *others) = run(batch(Deed(has_others_compute)), timeout=CpuSeconds(0.6))
    assert outcome.reason == "used more than 0.6 s of CPU time and was ended"
    assert words(others) == ["done"] * 3


def test_the_limit_is_that_of_each_cell_and_waiting_does_not_count(batch, monkeypatch):
    monkeypatch.setattr(worker_process, "CPU_WAITS", 10**6)

    def computes_and_waits():
        computes(0.15)
        time.sleep(0.4)

    outcomes = run(batch(Deed(computes_and_waits, None)), timeout=CpuSeconds(0.5))
    assert words(outcomes) == ["done"] * 4


@pytest.mark.slow
def test_a_cell_that_only_waits_is_ended_by_the_clock(batch, monkeypatch):
    monkeypatch.setattr(worker_process, "CPU_WAITS", 1e-4)
    outcomes = run(batch(Deed(lambda: time.sleep(3600), None)), timeout=CpuSeconds(1e4))
    assert words(outcomes) == ["timeout"] * 4
    assert (
        outcomes[0].reason == "took longer than 0.0001 times its 10000 s of CPU time and was ended"
    )
