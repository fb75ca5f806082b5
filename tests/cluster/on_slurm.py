"""A Slurm of one node for tests, and functions that call its commands."""

import contextlib
import subprocess
import sys
import time

import pytest
from one_node import NoSlurmError, one_node_slurm


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    with contextlib.ExitStack() as stack:
        try:
            node = one_node_slurm(tmp_path_factory.mktemp("slurm"))
            environment = stack.enter_context(node)
        except NoSlurmError as error:  # a container, for example, in which daemons may not start
            pytest.skip(str(error))
        yield environment


def call(environment, folder, *words, code=0):
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == code, (words, done.stdout, done.stderr)
    return done.stdout


def mlaut(environment, folder, *words, code=0):
    return call(environment, folder, sys.executable, "-m", "mlaut", *words, code=code)


def until(what, patience=300):
    end = time.monotonic() + patience
    while not what():
        assert time.monotonic() < end
        time.sleep(1)
