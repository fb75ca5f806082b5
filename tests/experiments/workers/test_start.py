"""The server of workers: what waits for it can be stopped."""

import multiprocessing.forkserver
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

from mlaut.experiments.workers import start

SCRIPT = """
    import os, signal, sys, threading, time
    from mlaut.experiments.workers import start
    from mlaut.experiments.workers.pool import Team
    from mlaut.experiments.workers.signals import interrupted_once
    from multiprocessing import forkserver

    with start.as_parent():
        forkserver.ensure_running()
    server = forkserver._forkserver._forkserver_pid
    os.kill(server, signal.SIGSTOP)  # it loads for ever
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM)).start()
    try:
        with interrupted_once():
            Team(1)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    os.kill(server, signal.SIGKILL)
"""


def test_a_stop_while_the_server_of_workers_loads_waits_for_nothing():
    """Before, the run waited for all imports of a server, which took 17 s on a busy machine."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)], capture_output=True, text=True, timeout=300
    )
    assert done.stdout == "stopped\n", done.stderr


def test_a_server_that_ended_is_started_again():
    start.await_server()
    first = multiprocessing.forkserver._forkserver._forkserver_pid
    os.kill(first, signal.SIGKILL)
    while start._ready == first:
        start.await_server()
    second = multiprocessing.forkserver._forkserver._forkserver_pid
    assert second not in (None, first)
    assert Path(f"/proc/{second}").exists()


def test_a_long_folder_for_temporary_files_hinders_no_worker(tmp_path):
    folder = tmp_path / ("long" * 20)
    folder.mkdir()
    program = "from mlaut.experiments.workers.pool import Team; Team(1).close(); print('started')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout == "started\n", done.stderr
