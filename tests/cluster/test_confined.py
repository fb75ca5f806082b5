"""Runs go on as in a container: with a root that is read only, little shared memory and a limit.

No engine is needed: a mount namespace and a control group are what an engine would make.
"""

import contextlib
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

GROUPS = Path("/sys/fs/cgroup")
READ_ONLY = """
mount --make-rprivate / && mount --bind {folder} {folder} || exit 99
mount -t tmpfs -o size=64k none /dev/shm && mount -o remount,ro,bind / || exit 99
! touch /etc/mlaut-writes /tmp/mlaut-writes 2> /dev/null || exit 98
cd {folder} && for words in "run study.toml -q" "report study.h5" "verify study.h5"; do
  {python} -m mlaut $words || exit 1
done
"""
STUDY = """
[data]
collection = "starter"
datasets = ["iris", "wine"]
[split]
scheme = "kfold(3)"
[strategies]
names = ["BaselineClassifier", "GaussianNaiveBayes"]
[run]
n_jobs = 2
"""
GREEDY = """
import numpy as np
from sklearn.naive_bayes import GaussianNB

class Greedy(GaussianNB):
    def fit(self, X, y):
        return super().fit(X, y) if np.ones(2**28).all() else self

strategies = {"greedy": Greedy()}
"""


def call(folder, script):
    names = {"folder": shlex.quote(str(folder)), "python": shlex.quote(sys.executable)}
    command = ["unshare", "--mount", "sh", "-c", script.format(**names)]
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    except FileNotFoundError:
        pytest.skip("needs unshare (util-linux)")


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount")
def test_a_root_that_is_read_only_and_little_shared_memory_hinder_no_run(tmp_path):
    if call(tmp_path, "mount -t tmpfs none /dev/shm").returncode:
        pytest.skip("no file system can be mounted here")
    folder = tmp_path / "as_long_as_that_of_a_job_may_be" / "in_which_no_socket_has_a_place"
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(STUDY)
    told = call(folder, READ_ONLY)
    assert told.returncode == 0, (told.stdout, told.stderr)
    assert "12 of 12 cells done" in told.stdout


@pytest.fixture
def group():
    """A control group with one GiB of memory, in which a process can be put."""
    version_1 = (GROUPS / "memory").is_dir()
    group = GROUPS / ("memory" if version_1 else "") / f"mlaut-test-{os.getpid()}"
    limit = "memory.limit_in_bytes" if version_1 else "memory.max"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        try:
            (group / limit).write_text(str(2**30))
        except OSError as error:
            pytest.skip(f"no control group limits memory here: {error}")
        yield group
    finally:
        end = time.monotonic() + 60
        while group.exists() and time.monotonic() < end:  # until its last process has ended
            with contextlib.suppress(OSError):
                group.rmdir()
            time.sleep(0.1)


@pytest.mark.slow
def test_the_limit_of_a_container_ends_the_cell_that_goes_beyond_and_no_other(group, tmp_path):
    (tmp_path / "mine.py").write_text(GREEDY)
    text = STUDY.replace("[run]", 'file = "mine.py"\n[run]\nmemory = "8GiB"')
    (tmp_path / "study.toml").write_text(text.replace("n_jobs = 2", "n_jobs = 1"))
    put = f"echo $$ > {group}/cgroup.procs || exit 99\n"
    done = call(tmp_path, put + "exec {python} -m mlaut run study.toml -q")
    if done.returncode == 99:
        pytest.skip("no process can be put into a control group here")
    told = call(tmp_path, "{python} -m mlaut status --why study.h5")
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "may take 8 GiB each, and the container or its control group has 1 GiB" in done.stderr
    assert "12 done" in told.stdout
    assert "killed by SIGKILL, by the system, for lack of memory" in " ".join(told.stdout.split())
