"""The Dask engine: the same arrays as on one machine, whatever happens to the cluster."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from comparing import arrays as arrays_of
from comparing import assert_same
from learners import Hostile, Random, Traced
from mlaut_dask import engine as dask_engine
from mlaut_dask import loads
from mlaut_dask import worker as dask_worker
from mlaut_dask.blocks import encode_outcomes
from mlaut_dask.engine import DaskEngine
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from mlaut import Data, Orchestrator
from mlaut.errors import DataError, StudyError
from mlaut.experiments.cells.cell_input import CellOptions
from mlaut.experiments.engines.engine import make_engine
from mlaut.experiments.options import RunOptions
from mlaut.experiments.workers.batches import Batch, DatasetRef
from mlaut.files_io import StudyStore
from mlaut.helpers.optional import changed
from mlaut.records import Cell, Outcome, Status

ROOT = Path(__file__).parents[3]
HERE = ROOT / "tests" / "experiments"  # of the learners
SECONDS = 300  # longest wait


@contextlib.contextmanager
def two_processes():
    """Two workers in processes of their own, started as the command line of Dask does."""
    import dask
    from distributed import LocalCluster

    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    # Else a cluster gives up for good a worker that is not there 15 s after a kill.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"})
    with (
        changed(os.environ, PYTHONPATH=path),
        patient,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
    ):
        yield cluster


@pytest.fixture(scope="module")
def processes():
    """The workers that tests share which kill none."""
    with two_processes() as cluster:
        yield cluster


@pytest.fixture
def make(databases, tmp_path):
    """Return an orchestrator with an empty study, with as many folds as wanted."""
    input_io, _ = databases

    def orchestrator(name, scheme="kfold(3)"):
        out_io = Data().open_hdf5(tmp_path / f"{name}.h5", mode="a")
        Data().split_datasets(
            hdf5_in=input_io,
            hdf5_out=out_io,
            dataset_paths=input_io.list_datasets("tables")[1],
            scheme=scheme,
            seed=1,
        )
        return Orchestrator(input_io, out_io)

    return orchestrator


def arrays(orchestrator):
    return arrays_of(StudyStore(orchestrator.hdf5_output_io.path))


@pytest.mark.slow
def test_the_same_arrays_as_on_one_machine(processes, make):
    strategies = {
        "bayes": "GaussianNaiveBayes",
        "random": Random(),
        "forest": RandomForestClassifier(n_estimators=5),
    }
    there, here = make("there", "kfold(2)"), make("here", "kfold(2)")
    summary = there.run(
        strategies, engine="dask", scheduler=processes.scheduler_address, timeout=SECONDS, verbose=0
    )
    assert (summary.n_done, summary.complete) == (18, True)
    here.run(strategies, n_jobs=2, verbose=0)
    assert_same(arrays(there), arrays(here))
    (run,) = StudyStore(there.hdf5_output_io.path).runs
    assert run["engine"] == "dask"


def test_repeats_that_were_not_sent_with_a_dataset_are_sent_when_they_are_needed(
    cluster, make, monkeypatch
):
    """The first strategies have one repeat to do, and the last both; datasets are sent once."""
    datasets, table = [], dask_engine.load_table
    monkeypatch.setattr(dask_engine, "load_table", lambda ref: datasets.append(ref) or table(ref))
    monkeypatch.setattr(loads, "_FAR", 1)  # the last is not known when the dataset is sent
    there, here = make("there", "kfold(2)"), make("here", "repeated_kfold(2, 2)")
    # Learners without chance: threads of the cluster draw from the generator of this process too.
    first = {f"tree {depth}": DecisionTreeClassifier(max_depth=depth) for depth in (1, 2, 3)}
    there.run(first, engine="inline", verbose=0)
    make("there", "repeated_kfold(2, 2)")
    strategies = {**first, "bayes": "GaussianNaiveBayes"}
    there.run(strategies, engine="dask", scheduler=cluster, verbose=0)
    here.run(strategies, engine="inline", verbose=0)
    assert_same(arrays(there), arrays(here))
    assert len(datasets) == len(set(datasets)) > 0


def test_a_worker_of_dask_imports_no_scikit_learn():
    """Its guarded processes do, from one server; what it checks of versions needs none."""
    program = (
        "import sys\nfrom mlaut_dask import worker\n"
        "from mlaut.experiments.workers import pool, process, tables\n"
        "worker.versions()\n"
        "heavy = {'sklearn', 'scipy'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr


@pytest.mark.slow
def test_cells_are_guarded_in_the_workers(processes, make):
    """With the settings that Dask has by itself: its workers are daemonic processes."""
    from distributed import Client

    deeds = {
        "segfault": ("crashed", "its worker process was killed by SIGSEGV"),
        "leave": ("crashed", "its worker process ended with exit code 0"),
        "allocate": ("memory", "MemoryError"),
        "sleep_in_c": ("timeout", "took longer than 2 s and was ended"),
    }
    late = "sleep_in_c"  # alone under a limit, which others might be over on a busy machine
    orchestrator = make("study", "holdout")
    with Client(processes, set_as_default=False) as client:
        before = client.run(os.getpid)
        summary = orchestrator.run(
            {**{deed: Hostile(deed) for deed in deeds if deed != late}, "good": Random()},
            engine="dask",
            scheduler=client,
            memory="150MB",
            verbose=0,
        )
        slow = orchestrator.run(
            {late: Hostile(late)}, engine="dask", scheduler=client, timeout=2, verbose=0
        )
        assert client.run(os.getpid) == before
        assert client.status == "running"
        workers = list(before.values())
        _until(lambda: not [pid for pid in map(_guarded, workers) if pid])
    assert summary.counts == {
        Status.DONE: 3,
        Status.CRASHED: 6,
        Status.MEMORY: 3,
    }
    assert slow.counts == {Status.TIMEOUT: 3}
    study = StudyStore(orchestrator.hdf5_output_io.path)
    for told in study.details("iris"):
        if told["strategy"] in deeds:
            word, reason = deeds[told["strategy"]]
            assert (told["status"], told["reason"][: len(reason)]) == (word, reason)


def _guarded(worker):
    """Processes that run cells for a Dask worker: they are what its servers have forked."""
    running = {pid: _state_and_parent(pid) for pid in _all_processes()}
    servers = {pid for pid, found in running.items() if found and found[1] == worker}
    return [pid for pid, found in running.items() if found and found[1] in servers]


def _all_processes():
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]


def _state_and_parent(pid):
    """None for a process that has ended, whether or not somebody has asked for its exit code."""
    with contextlib.suppress(OSError):
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
        return None if state in "ZX" else (state, int(parent))
    return None


def _until(holds):
    """Wait; the bound is for a machine that many use, and ends a test that hangs."""
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def sent():
    """A run without a cluster, and a load of it: a batch of three cells, and one of one cell."""
    folds = {0: np.array([0, 1, 2], dtype=np.int16)}
    cells = tuple((0, fold) for fold in range(3))
    ref = DatasetRef("in.h5", "/d", "d", "f", ())
    first = Batch(ref, "s", b"", cells, folds, 0, CellOptions())
    run = object.__new__(dask_engine._Dispatch)
    run._queue = loads.LoadQueue([], 1.0, 1)
    return run, [first, replace(first, name="t", cells=cells[:1])]


def outcomes(*cells):
    return [Outcome(Cell("d", name, 0, fold), Status.ERROR, reason="no") for name, fold in cells]


def test_cells_that_a_worker_sent_no_outcome_of_are_queued_again(sent):
    run, load = sent
    content = encode_outcomes(outcomes(("s", 1), ("t", 0)))
    assert [str(one.cell.strategy) for one in run._received(load, content)] == ["s", "t"]
    (again,) = run._queue.next_load(1)
    assert (again.name, again.cells) == ("s", ((0, 0), (0, 2)))
    assert run._queue.next_load(1) == []


@pytest.mark.parametrize("cells", [(("s", 3),), (("u", 0),), (("s", 1), ("s", 1))])
def test_outcomes_of_other_cells_are_refused(sent, cells):
    run, load = sent
    with pytest.raises(StudyError, match="outcomes of cells that it was not given"):
        run._received(load, encode_outcomes(outcomes(*cells)))


def test_damaged_outcomes_are_refused(sent):
    run, load = sent
    content = encode_outcomes(outcomes(("s", 0), ("s", 1)))
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 0x10
        with pytest.raises(StudyError, match="a worker of the cluster sent no outcomes: "):
            run._received(load, bytes(damaged))
    with pytest.raises(StudyError, match="a part is missing"):
        run._received(load, content[:-1])


class Killer(threading.Thread):
    """Kills a worker of the cluster whenever cells have ended since the last kill."""

    def __init__(self, cluster, trace, seconds, kills):
        super().__init__(daemon=True)
        self.cluster, self.trace, self.seconds, self.kills = cluster, trace, seconds, kills
        self.ends, self.killed = threading.Event(), []

    def run(self):
        from distributed import Client

        with Client(self.cluster, set_as_default=False) as client:
            enough = 3
            while not self.ends.wait(self.seconds) and len(self.killed) < self.kills:
                if _lines(self.trace) < enough:
                    continue
                with contextlib.suppress(IndexError):  # there is none just now
                    pid = client.run(os.getpid, on_error="ignore").popitem()[1]
                    os.kill(pid, signal.SIGKILL)
                    self.killed.append(pid)
                    enough = _lines(self.trace) + 5


def _lines(path):
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "seconds", "kills"),
    [("kfold(6)", 0.1, 1), ("repeated_kfold(10, 4)", 3.0, 4)],
)
def test_workers_are_killed_and_every_cell_is_done(make, tmp_path, scheme, seconds, kills):
    trace = tmp_path / "trace"
    orchestrator = make("study", scheme)
    strategies = [Traced(str(trace), seconds=0.3), Random()]
    with two_processes() as cluster:
        killer = Killer(cluster, trace, seconds, kills)
        killer.start()
        try:
            summary = orchestrator.run(strategies, engine="dask", scheduler=cluster, verbose=0)
        finally:
            killer.ends.set()
            killer.join(SECONDS)
    assert (summary.complete, set(summary.counts)) == (True, {Status.DONE})
    assert len(set(killer.killed)) == kills
    reference = make("reference", scheme)
    reference.run([Traced(str(trace)), Random()], n_jobs=2, verbose=0)
    assert_same(arrays(orchestrator), arrays(reference))


def test_workers_that_live_shorter_than_a_cell_end_the_run(monkeypatch):
    """Each count finds another worker; the run ends after its patience, and not while cells end."""
    monkeypatch.setattr(dask_engine, "_COUNT_SECONDS", -1)
    run, counts = dask_engine._Dispatch.__new__(dask_engine._Dispatch), iter(range(100))
    run._engine = SimpleNamespace(patience=0)
    found = lambda: {f"tcp://{next(counts)}": 1}  # noqa: E731
    run._client = SimpleNamespace(status="running", nthreads=found, run=lambda *_, **__: {})
    run._workers, run._lost, run._counted, run._progressed = set(), 0, 0, -1
    for _ in range(dask_engine._LOST_IN_VAIN):
        run._look_after_cluster()
    with pytest.raises(StudyError, match=r"^10 workers of the cluster were lost .* no cell ended"):
        run._look_after_cluster()


@pytest.mark.parametrize(
    ("address", "warned"),
    [
        ("tcp://10.0.0.1:8786", True),
        ("tcp://scheduler:8786", True),
        ("ws://0.0.0.0:8786", True),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://[::1]:8786", False),
        ("tls://10.0.0.1:8786", False),
        ("inproc://10.0.0.1/7/1", False),
    ],
)
def test_an_open_scheduler_is_warned_of(address, warned):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dask_engine._warn_if_open(address)
    assert [w for w in caught if "whoever reaches it can run code" in str(w.message)] == caught
    assert bool(caught) == warned


def test_every_example_of_a_cluster_listens_on_loopback_or_speaks_tls():
    text = (ROOT / "plugins" / "dask" / "README.md").read_text()
    assert set(re.findall(r"tcp://([\w.]+)", text)) <= {"127.0.0.1"}
    for command in re.findall(r"^dask (?:scheduler|worker).*", text, re.MULTILINE):
        assert "--host 127.0.0.1" in command or ("tls://" in command and "$tls" in command)
        assert "--no-dashboard" in command


class Daemons:
    """A scheduler at a fixed address and a worker, as processes of their own."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self.folder = folder
        self.processes = []

    def start(self):
        port = self.address.rpartition(":")[2]
        self.scheduler = self._dask("scheduler", "--host", "127.0.0.1", "--port", port)
        self.start_worker()

    def start_worker(self, n_workers=1):
        """Return the process of a worker, once the scheduler knows of so many."""
        from distributed import Client

        worker = self._dask("worker", self.address, "--nthreads", "2", "--no-nanny")
        with Client(self.address, timeout=SECONDS, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=SECONDS)
        return worker

    def _dask(self, kind, *arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", kind, *arguments, "--no-dashboard"],
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])},
        )
        self.processes.append(process)
        return process

    def stop(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait(timeout=SECONDS)


@pytest.fixture
def daemons(tmp_path):
    daemons = Daemons(tmp_path)
    try:
        daemons.start()
        yield daemons
    finally:
        daemons.stop()


def _when_begun(trace, act, cells=4):
    """Do something once some cells have ended."""

    def wait():
        _until(lambda: _lines(trace) >= cells)
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


@pytest.mark.slow
def test_lost_scheduler_stops_the_run_and_nothing_is_lost(daemons, make, tmp_path):
    trace = tmp_path / "trace"
    strategies = [Traced(str(trace), seconds=0.3), Random()]
    orchestrator = make("study", "kfold(10)")
    thread = _when_begun(trace, lambda: daemons.scheduler.kill())
    with pytest.raises(StudyError, match="scheduler was lost and did not come back in 1 s") as told:
        orchestrator.run(strategies, engine=DaskEngine(daemons.address, patience=1), verbose=0)
    thread.join(SECONDS)
    assert "\n" not in str(told.value)
    study = StudyStore(orchestrator.hdf5_output_io.path)
    done = int(sum((study.status(name)[0] == Status.DONE).sum() for name in study.datasets))
    assert 1 <= done < 30
    trace.unlink()
    summary = orchestrator.run(strategies, n_jobs=2, verbose=0)
    assert (summary.n_before >= done, summary.complete) == (True, True)
    assert _lines(trace) == 30 - done
    reference = make("reference", "kfold(10)")
    reference.run([Traced(str(trace)), Random()], n_jobs=2, verbose=0)
    assert_same(arrays(orchestrator), arrays(reference))


@pytest.mark.slow
def test_scheduler_that_comes_back_is_found_again(daemons, make, tmp_path):
    trace = tmp_path / "trace"

    def restart():
        daemons.scheduler.kill()
        daemons.scheduler.wait(SECONDS)
        daemons.start()

    thread = _when_begun(trace, restart)
    summary = make("study", "kfold(10)").run(
        [Traced(str(trace), seconds=0.3), Random()],
        engine="dask",
        scheduler=daemons.address,
        verbose=0,
    )
    thread.join(SECONDS)
    assert (summary.n_done, summary.complete) == (60, True)


def _kill_in_turn(daemons, ends):
    """Kill the older of two workers when the run can have counted both, and start another."""
    first = daemons.processes[-1]
    while not ends.is_set():
        second = daemons.start_worker(n_workers=2)
        ends.wait(2 * dask_engine._COUNT_SECONDS)
        first.kill()
        first = second


@pytest.mark.slow
def test_workers_that_are_killed_again_and_again_end_the_run(daemons, make, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_engine, "_LOST_IN_VAIN", 2)  # each new worker costs seconds
    trace, ends, study = tmp_path / "trace", threading.Event(), make("study", "holdout")
    engine = DaskEngine(daemons.address, patience=20)  # a busy machine starts a worker in seconds
    killer = threading.Thread(target=_kill_in_turn, args=(daemons, ends), daemon=True)
    killer.start()
    try:
        with pytest.raises(StudyError, match=r"^[2-9] workers .* no cell ended: they li") as told:
            study.run(Traced(str(trace), seconds=3600.0), engine=engine, verbose=0)
    finally:
        ends.set()
        killer.join(SECONDS)
    assert "\n" not in str(told.value)
    assert not trace.exists()
    summary = study.run(Random(), engine="dask", scheduler=daemons.address, verbose=0)
    assert (summary.n_done, summary.counts) == (3, {Status.DONE: 3})


RUN = """
    import sys
    sys.path.insert(0, {here!r})
    from learners import Deed
    from pathlib import Path
    from mlaut import Data, Orchestrator
    import os, time
    def hangs():
        with Path({trace!r}).open("a") as file:
            file.write(str(os.getpid()) + "\\n")
        time.sleep(3600)
    data = Data()
    orchestrator = Orchestrator(data.open_hdf5({input!r}), data.open_hdf5({output!r}, mode="a"))
    orchestrator.run(Deed(hangs, None), engine="dask", scheduler={scheduler!r}, verbose=0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_cells_end_on_the_workers_when_the_run_does(processes, make, databases, tmp_path, stop):
    trace = tmp_path / "trace"
    program = textwrap.dedent(RUN).format(
        here=str(HERE),
        trace=str(trace),
        input=str(databases[0].path),
        output=str(make("study").hdf5_output_io.path),
        scheduler=processes.scheduler_address,
    )
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    try:
        _until(lambda: _lines(trace) >= 2 or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        pids = list(map(int, trace.read_text().split()))
        process.send_signal(stop)
        told = process.communicate(timeout=SECONDS)[1]
    finally:
        process.kill()
        process.wait()
    _until(lambda: not any(map(_state_and_parent, pids)))
    if stop == signal.SIGINT:
        assert "make the same call again to go on" in told.splitlines()[-1]


@pytest.mark.slow
def test_command_line_takes_engine_and_scheduler(processes, tmp_path):
    tmp_path.joinpath("study.toml").write_text(
        '[data]\ncollection = "starter"\ndatasets = ["iris"]\n'
        '[strategies]\nnames = ["GaussianNaiveBayes"]\n'
        f'[run]\nscheduler = "{processes.scheduler_address}"\n'
    )
    told = subprocess.run(
        [sys.executable, "-m", "mlaut", "run", "study.toml", "--set", "engine=dask", "--quiet"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    assert "1 of 1 cell done; this run: 1 done" in told.stdout


def test_workers_that_would_give_other_results_are_refused(cluster, make, monkeypatch):
    monkeypatch.setattr(dask_engine, "versions", lambda: {"numpy": "1.0"})
    with pytest.raises(StudyError, match=r"worker tcp://127.* has numpy \d.*, and the run 1\.0: "):
        make("study").run(Random(), engine="dask", scheduler=cluster, verbose=0)


def test_models_are_saved_where_all_machines_see_them(cluster, make, tmp_path):
    from distributed import Client

    orchestrator = make("study", "holdout")
    summary = orchestrator.run(
        Random(), engine="dask", scheduler=cluster, save_models=True, verbose=0
    )
    assert len(orchestrator.predict_all(trusted=True)["dataset"].unique()) == summary.n_done == 3
    nowhere = tmp_path / "nowhere"
    with (
        Client(cluster, set_as_default=False) as client,
        pytest.raises(StudyError, match="nowhere: models are saved by the workers; put the study"),
    ):
        client.submit(dask_worker._check_here, {}, nowhere).result()


def test_changed_dataset_ends_the_run(cluster, make, monkeypatch):
    monkeypatch.setattr(dask_engine, "load_table", _raises_changed)
    with pytest.raises(DataError, match="was changed while the study runs"):
        make("study").run(Random(), engine="dask", scheduler=cluster.scheduler_address, verbose=0)


def _raises_changed(ref):
    raise DataError(f"{ref.name} was changed while the study runs")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"engine": "dask"}, "engine 'dask': no scheduler; pass scheduler='tls://host:8786'"),
        ({"scheduler": "tcp://h:1"}, "engine 'local' takes no scheduler; use engine='dask'"),
        ({"engine": "desk"}, "engine 'desk': unknown; did you mean 'dask'?"),
    ],
)
def test_bad_request_is_one_line(make, arguments, message):
    with pytest.raises(StudyError, match=re.escape(message)):
        make("study").run(Random(), verbose=0, **arguments)


def test_scheduler_that_does_not_answer_is_named(make):
    engine = DaskEngine("tcp://127.0.0.1:1", patience=0.5)
    with pytest.raises(StudyError, match=r"scheduler tcp://127\.0\.0\.1:1: no answer") as told:
        make("study").run(Random(), engine=engine, verbose=0)
    assert "\n" not in str(told.value)


def test_cluster_without_workers_is_not_waited_for_for_ever(make):
    from distributed import LocalCluster

    with LocalCluster(n_workers=0, dashboard_address=":0") as empty:
        engine = DaskEngine(empty.scheduler_address, patience=1)
        with pytest.raises(StudyError, match="has had no worker for 1 s; start workers"):
            make("study").run(Random(), engine=engine, verbose=0)


def test_an_adaptive_cluster_without_workers_starts_them_for_a_run(make):
    """Before, the run waited for workers, and the cluster for tasks."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as cluster:
        cluster.adapt(minimum=0, maximum=1)
        done = make("study").run(Random(), engine=DaskEngine(cluster, patience=60), verbose=0)
    assert done.complete


WITHOUT_MLAUT = (
    "import sys; sys.modules['mlaut_dask'] = None; from dask.__main__ import main; main()"
)


def test_a_worker_without_mlaut_is_named(tmp_path, make):
    daemons = Daemons(tmp_path)
    try:
        port = daemons.address.rpartition(":")[2]
        daemons._dask("scheduler", "--host", "127.0.0.1", "--port", port)
        words = ["worker", daemons.address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        command = [sys.executable, "-c", WITHOUT_MLAUT, *words]
        daemons.processes.append(subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL))
        named = (
            r"worker tcp://127\.0\.0\.1:\d+ has no mlaut_dask; start workers with the Python that"
        )
        with pytest.raises(StudyError, match=named) as told:
            make("study").run(Random(), engine=DaskEngine(daemons.address), verbose=0)
        assert "\n" not in str(told.value)
    finally:
        daemons.stop()


def test_a_scheduler_that_needs_certificates_says_how_they_are_given(make):
    with pytest.raises(StudyError, match=r"needs certificates.*COMM__TLS__CA_FILE.*CLIENT__KEY"):
        make("study").run(Random(), engine=DaskEngine("tls://127.0.0.1:1"), verbose=0)


def test_dask_leaves_no_core_of_this_machine_free():
    with pytest.raises(StudyError, match="engine 'dask' cannot keep n_jobs=-2: use -1"):
        make_engine(RunOptions(engine="dask", scheduler="tcp://127.0.0.1:1", n_jobs=-2))
