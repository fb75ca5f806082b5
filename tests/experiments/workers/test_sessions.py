"""What a cell has started is ended with it, and its CPU time counts."""

import subprocess
import sys

from mlaut.experiments.workers import sessions

CHILDREN = """
import os
from mlaut.experiments.workers.sessions import end_children

reader, writer = os.pipe()
for _ in range(150):  # more than the rounds in which running children are killed
    if os.fork() == 0:
        os._exit(0)
os.close(writer)
os.read(reader, 1)  # until all have ended
end_children()
try:
    print(os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("none is left")
"""


def test_children_that_ended_are_cleared_away_in_any_number():
    run = subprocess.run(
        [sys.executable, "-c", CHILDREN],
        start_new_session=True,  # all processes of the session are killed
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert run.stdout == "none is left\n"


def test_the_time_of_a_session_has_that_of_its_children_that_have_ended():
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    parent = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', sys.argv[1]])\n"
    parent += "print(flush=True)\nsys.stdin.read()"
    arguments = [sys.executable, "-c", parent, burn]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(arguments, **pipes, start_new_session=True) as process:
        process.stdout.readline()
        assert sessions.cpu_seconds_of_session(process.pid) >= 0.29
        process.stdin.close()
    assert sessions.cpu_seconds_of_session(process.pid) == 0
