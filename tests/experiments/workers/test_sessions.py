"""What a cell has started is ended with it."""

import subprocess
import sys

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
        timeout=60,
        check=True,
    )
    assert run.stdout == "none is left\n"
