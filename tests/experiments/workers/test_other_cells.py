"""Tests that what a cell leaves behind, or writes into pipes, reaches no other cell."""

import contextlib
import multiprocessing
import multiprocessing.forkserver
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from in_workers import AllAtOnce, predictions, run, words
from learners import Deed, Random
from sklearn.naive_bayes import GaussianNB
from spoilers import Spoiler, write_to_pipes

from mlaut.experiments.cells import messages
from mlaut.experiments.cells.cell_input import cell_seed
from mlaut.experiments.cells.messages import encode_outcome, frame
from mlaut.experiments.workers import process as worker_process
from mlaut.experiments.workers.pool import Team, run_batches
from mlaut.experiments.workers.process import GuardedProcess
from mlaut.records import Cell, Outcome, Status

# ------------------------------------------------------ what reaches other cells, and what not


@pytest.mark.parametrize("deed", ["counts_in_its_class", "replaces_modules"])
def test_a_cell_finds_nothing_of_the_cell_before(batch, deed):
    outcomes = run(batch(Spoiler(deed)))
    assert [o.predictions.tolist() for o in outcomes] == [[0] * 5] * 4


@pytest.mark.parametrize("deed", ["patches_a_method", "patches_when_loaded", "leaves_a_thread"])
def test_a_patched_library_is_whole_in_other_strategies(batch, deed):
    """As sklearnex patches scikit-learn: the neighbour gives what it gives alone."""
    with Team(threads=1) as team:
        queue = AllAtOnce([batch(Spoiler(deed)), batch(GaussianNB())])
        both = [o for part in run_batches(queue, team, 1, None) for o in part]
    beside = [o for o in both if o.cell.strategy == "GaussianNB"]
    assert words(both) == ["done"] * 8
    assert predictions(beside) == predictions(run(batch(GaussianNB())))


def test_what_loading_draws_is_the_same_in_each_process(batch):
    """A strategy that draws while it is unpickled gives in a resumed run what it gave before."""

    class Drawn(Random):
        def __setstate__(self, state):
            self.__dict__.update(state)
            self.drawn = np.random.randint(2**30)  # noqa: NPY002

        def __sklearn_clone__(self):
            return self

        def predict(self, X):
            return (self.drawn >> np.arange(len(X))) % 2

    assert predictions(run(batch(Drawn()))) == predictions(run(batch(Drawn())))


def test_a_strategy_that_starts_threads_when_it_is_loaded_is_not_copied(batch):
    class Threaded(Random):
        def __setstate__(self, state):
            self.__dict__.update(state)
            threading.Thread(target=time.sleep, args=[3600], daemon=True).start()

        def predict(self, X):
            return np.full(len(X), int(threading.active_count() == 2))

    outcomes = run(batch(Threaded()))
    assert [o.predictions.tolist() for o in outcomes] == [[1] * 5] * 4


def test_sets_of_text_have_one_order_in_all_workers(batch, tmp_path):
    trace = tmp_path / "trace"

    def tells():
        with Path(trace).open("a") as file:
            file.write(f"{hash('text')}\n")

    assert words(run(batch(Deed(tells, fold=None)))) == ["done"] * 4
    told = {int(line) for line in trace.read_text().splitlines()}
    program = "print(hash('text'))"
    env = {**os.environ, "PYTHONHASHSEED": "0"}
    here = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    assert told == {int(here.stdout)}


# --------------------------------------------------------------- garbage in the pipes


GARBAGE = {
    "a length of a message that never comes": b"mlaut>o\x00\xff\xff\x00\0\0\0\0\0",
    "zeros": bytes(4096),
    "less than a message has": b"\0" * 7,
    "no numbers": np.array([np.nan, np.inf, -1e300]).tobytes(),
    "a death, without the secret": frame(b"d", b"\x09\0\0\0"),
    "deep JSON": frame(b"o", b"\x00\x00\x01\x00" + b"[" * 65536),
}


@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_in_the_pipes_costs_its_own_cells_only(batch, what, monkeypatch):
    monkeypatch.setattr(worker_process, "_MESSAGE_SECONDS", 0.3)
    garbage = GARBAGE[what]
    hostile, good = batch(Deed(lambda: write_to_pipes(garbage), 1)), batch(GaussianNB())
    with Team(threads=1) as team:
        queue = AllAtOnce([hostile, good])
        outcomes = [o for part in run_batches(queue, team, 1, None) for o in part]
    found = {(o.cell.strategy, o.cell.fold): o.status.word for o in outcomes}
    assert len(found) == len(outcomes) == 8
    assert [found["GaussianNB", fold] for fold in range(4)] == ["done"] * 4
    assert found["Deed", 1] == "crashed"
    beside = [o for o in outcomes if o.cell.strategy == "GaussianNB"]
    assert predictions(beside) == predictions(run(good))


def test_a_time_that_cannot_be_right_is_the_present_one():
    """A strategy that writes into the pipe of times puts off no limit."""
    process = object.__new__(GuardedProcess)
    process._clock, clock = multiprocessing.Pipe(duplex=False)
    process._due, process._begun, process._sent = [None] * 4, [], time.monotonic()
    made_up = [(np.nan, 1.0), (process._sent + 1e7, np.nan), (process._sent - 1, np.inf)]
    with process._clock, clock:
        os.set_blocking(process._clock.fileno(), False)
        os.write(clock.fileno(), b"".join(messages.CLOCK.pack(*times) for times in made_up))
        process._read_clock()
        assert process._used_before == 0
        os.write(clock.fileno(), messages.CLOCK.pack(process._sent, 0.25))
        process._read_clock()
    now = time.monotonic()
    assert process._begun[3] == process._sent
    assert all(process._sent <= begun <= now for begun in process._begun)
    assert (len(process._begun), process._used_before) == (4, 0.25)


def test_garbage_for_the_server_of_processes_costs_nothing(batch):
    def bothers():
        address = multiprocessing.forkserver._forkserver._forkserver_address
        for said in (b"", b"A", b"\xff" * 64):
            with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(BrokenPipeError):
                client.connect(address)
                client.sendall(said)
        with socket.socket(socket.AF_UNIX) as client:  # one descriptor, and it is no pipe
            client.connect(address)
            socket.send_fds(client, [b"\x01"], [0])
            with contextlib.suppress(ConnectionResetError):
                client.recv(1)

    with Team(threads=1) as team:
        queue = AllAtOnce([batch(Deed(bothers, fold=None)), batch(Random())])
        outcomes = [o for part in run_batches(queue, team, 2, None) for o in part]
    assert words(outcomes) == ["done"] * 8


def test_a_strategy_that_floods_its_pipe_is_a_crash(batch):
    def floods():
        while True:
            for descriptor in range(3, 64):
                with contextlib.suppress(OSError):
                    os.write(descriptor, b"x" * 2**16)

    (outcome, *others) = run(batch(Deed(floods)))
    assert outcome.status is Status.CRASHED
    assert words(others) == ["done"] * 3


def test_a_strategy_that_closes_all_descriptors_is_a_crash(batch):
    (outcome, *others) = run(batch(Deed(lambda: os.closerange(0, 4096))))
    assert outcome.status is Status.CRASHED
    assert words(others) == ["done"] * 3


def test_outcomes_of_other_cells_are_refused(batch):
    """A message that is well made, and not about the cell that runs."""

    def tells_of_another():
        cell = Cell("d", "Deed", 0, 3)
        forged = encode_outcome(Outcome(cell, Status.ERROR, seed=cell_seed(0, cell), reason="ha"))
        for descriptor in range(3, 64):
            with contextlib.suppress(OSError):
                os.write(descriptor, forged)
        os._exit(0)

    outcomes = run(batch(Deed(tells_of_another)))
    assert words(outcomes) == ["crashed", "done", "done", "done"]
    assert outcomes[0].reason == "its strategy sent the outcome of another cell"


def test_a_strategy_that_kills_the_server_of_processes_ends(batch):
    """It is not begun again and again, and its neighbour is what it is alone."""
    with Team(threads=1) as team:
        queue = AllAtOnce([batch(Spoiler("kills_the_server")), batch(GaussianNB())])
        both = [o for part in run_batches(queue, team, 1, None) for o in part]
    assert len(both) == 8
    beside = [o for o in both if o.cell.strategy == "GaussianNB"]
    assert predictions(beside) == predictions(run(batch(GaussianNB())))
