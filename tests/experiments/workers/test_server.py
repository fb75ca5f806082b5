"""The server of processes: when it starts, and whom it serves."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from mlaut import Study, run_study
from mlaut.errors import DataError, StrategyError


def test_the_server_starts_for_a_new_study_and_serves_its_processes(tmp_path):
    """It starts for no other engine, nor for a study that exists; its processes are as usual."""
    script = """
        import os, sys
        from multiprocessing.forkserver import _forkserver as server
        from pathlib import Path
        from mlaut.experiments.workers.server import start_server
        from mlaut.experiments.workers.start import start_process

        start_server(Path("new.h5"), "inline")
        start_server(Path("."))
        assert server._forkserver_pid is None
        start_server(Path("new.h5"))
        pid = server._forkserver_pid
        usual = "not gc.isenabled() or signal.getsignal(2) is not signal.default_int_handler"
        code = f"import gc, signal, sys; sys.exit({usual})"
        process = start_process(exec, code)
        process.join()
        assert pid is not None and pid == server._forkserver_pid
        if not (fork := os.fork()):  # of the script: it is no parent of the server
            other = start_process(exec, code)
            other.join()
            os._exit(other.exitcode)
        sys.exit(process.exitcode or os.waitpid(fork, 0)[1])
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        check=False,
        capture_output=True,
        timeout=300,
        # A shell lets what it runs in the background ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("begun_by", ["study", "study file"])
def test_the_server_starts_with_a_run_and_not_with_a_dataset(begun_by, tmp_path, monkeypatch):
    begun = []
    monkeypatch.setattr(
        "mlaut.experiments.workers.server.start_server", lambda *given: begun.append(given)
    )
    path = tmp_path / "new.h5"
    if begun_by == "study":
        Study(path).add_datasets("starter/iris")
        assert not begun
        with pytest.raises(StrategyError):
            Study(path).run("no such strategy", engine="inline")
    else:
        data, named = '[data]\ncollection = "none"', '[strategies]\nnames = ["SVC"]'
        file = f'[study]\noutput = "new.h5"\n{data}\n{named}\n'
        (tmp_path / "study.toml").write_text(file)
        with pytest.raises(DataError):
            run_study(tmp_path / "study.toml", engine="inline")
    assert begun == [(path, "inline")]


STUDY = """
[study]
output = "{name}.h5"
[data]
folder = "tables"
[split]
scheme = "kfold(2)"
[strategies]
file = "mine.py"
[run]
n_jobs = 1
"""
# What a cell sees of its process, and the command lines of its worker, of the server and above.
MINE = """
import gc, json, os, signal, sys, warnings
from pathlib import Path
from sklearn.base import BaseEstimator, ClassifierMixin

class Looks(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = ["a", "b"]
        here, pid, ancestors = Path(os.environ["LOOKED"]), os.getpid(), []
        while pid > 1:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            ancestors.append(Path(f"/proc/{pid}/cmdline").read_text())
        seen = {
            "environment": {name: os.environ[name] for name in os.environ if name != "LOOKED"},
            "order": [sys.flags.hash_randomization, hash("text")],
            "threads": len(os.listdir("/proc/self/task")),
            "open": sorted(os.readlink(f"/proc/self/fd/{x}").split(":")[0] for x in (0, 1, 2)),
            "n_open": len(os.listdir("/proc/self/fd")),
            "signals": [str(signal.getsignal(x)) for x in signal.valid_signals()],
            "collects": [gc.isenabled(), gc.get_threshold()],
            "shown": [warnings.showwarning.__module__, sys.unraisablehook.__module__],
            "main": sorted(vars(sys.modules["__main__"]).keys() - {"__annotations__"}),
        }
        here.write_text(json.dumps([seen, ancestors]))
        return self

    def predict(self, X):
        return ["a"] * len(X)

strategies = {"looks": Looks()}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the command line forks no server elsewhere")
def test_cells_of_the_command_line_see_what_those_of_a_script_see(tmp_path):
    """Its server is forked from it, and has no import of its own."""
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "d.csv").write_text("x,y\n" + "1,a\n2,b\n" * 10)
    (tmp_path / "mine.py").write_text(MINE)
    ways = {
        "script": ["-c", "import mlaut; mlaut.run_study('script.toml', verbose=0)"],
        "command": ["-m", "mlaut", "run", "-q", "command.toml"],
    }
    seen, ancestors = {}, {}
    for name, way in ways.items():
        (tmp_path / f"{name}.toml").write_text(STUDY.format(name=name))
        told = subprocess.run(
            [sys.executable, *way],
            env=os.environ | {"LOOKED": str(tmp_path / name), "OMP_NUM_THREADS": "2"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert told.returncode == 0, told.stderr
        seen[name], ancestors[name] = json.loads((tmp_path / name).read_text())
    servers = {name: "multiprocessing.forkserver" in found[1] for name, found in ancestors.items()}
    assert servers == {"script": True, "command": False}  # the second is forked from the run
    assert seen["command"] == seen["script"]
