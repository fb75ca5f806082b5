"""The server of processes: when it starts, and whom it serves."""

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
        from mlaut.experiments.workers.start import start_process, start_server

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
        "mlaut.experiments.workers.start.start_server", lambda *given: begun.append(given)
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
