"""A study on a Slurm of one node: killed, cancelled and out of time, and equal to a plain run."""

import os
import re
import sys
import time
from pathlib import Path

import pytest
from comparing import arrays, assert_same
from on_slurm import call, mlaut, slurm, until  # noqa: F401 - a fixture
from one_node import what_is_missing

from mlaut.files_io import StudyStore

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(what_is_missing()), reason=what_is_missing()),
]

MINE = '''
import os
import time
from pathlib import Path

import numpy as np
from sklearn.naive_bayes import GaussianNB


class Slow(GaussianNB):
    """Takes its time; one fit of all takes 3 GiB, which kills a job that has less."""

    def fit(self, X, y):
        time.sleep(5)
        try:
            with (Path(os.environ["SLURM_SUBMIT_DIR"]) / "met").open("x") as file:
                file.write(os.environ["SLURM_JOB_ID"])
        except (KeyError, FileExistsError):
            return super().fit(X, y)
        much = np.ones(3 * 2**27)
        time.sleep(30)
        return super().fit(X, y) if much.all() else self


strategies = {"slow": Slow()}
'''
STUDY = """
[data]
collection = "starter"
datasets = ["iris", "wine", "glass", "zoo"]
[split]
scheme = "repeated_kfold(5, 3)"
[strategies]
names = ["BaselineClassifier"]
file = "mine.py"
[run]
n_jobs = 1
memory = "8GiB"
[slurm]
jobs = 3
time = "2m"
memory = "1500MB"
"""


waiting = {}


def queue(environment, folder):
    """Return the state of each task of an array in the queue; a requeued one need not wait."""
    states = {}
    for line in call(environment, folder, "squeue", "-hr", "-o", "%i %T %r").splitlines():
        job, state, reason = line.split(maxsplit=2)
        if "_" in job:
            states[job] = state
        if reason != "BeginTime":
            waiting.pop(job, None)
        elif time.monotonic() > waiting.setdefault(job, time.monotonic()) + 5:  # else two minutes
            call(environment, folder, "scontrol", "update", f"JobId={job}", "StartTime=now")
    return states


def _wait_for_the_end_of_memory(environment, folder, logs):
    """Wait until Slurm kills the task; at times its watch of the memory does not see a step."""
    try:
        until(lambda: "exceeded memory limit" in logs(), patience=20)
    except AssertionError:  # what the kernel does where memory is limited by a cgroup
        job = (folder / "met").read_text()
        call(environment, folder, "scancel", "--signal=KILL", job)


def test_a_study_that_is_killed_cancelled_and_out_of_time_equals_a_plain_run(slurm, tmp_path):  # noqa: F811 - the fixture
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "study.toml").write_text(STUDY)
    told = mlaut(slurm, tmp_path, "submit", "study.toml")
    assert "submitted 3 shards as job" in told
    assert "nothing to submit" in mlaut(slurm, tmp_path, "submit", "study.toml")
    until((tmp_path / "met").exists)

    def logs():
        return "\n".join(log.read_text() for log in (tmp_path / "study.slurm").glob("*_*.log"))

    named = r"study\.shard-.-of-3\.h5 .* (process \d+ of job 1_. on|job 1_. running on) "
    until(lambda: re.search(named, mlaut(slurm, tmp_path, "status", "study.toml")))
    _wait_for_the_end_of_memory(slurm, tmp_path, logs)  # the task is put into the queue again
    until(lambda: "RUNNING" in queue(slurm, tmp_path).values())
    one = next(job for job, state in queue(slurm, tmp_path).items() if state == "RUNNING")
    call(slurm, tmp_path, "scancel", one)
    until(lambda: not queue(slurm, tmp_path))
    assert "the time of the job is over; stopped after" in logs()
    assert "1 cells at a time may take 8 GiB each, and the Slurm job has 1.4 GiB" in logs()
    assert "exit code 130" in logs()
    assert not (tmp_path / "study.h5").exists()

    told = mlaut(slurm, tmp_path, "submit", "study.toml", "--mem", "6GB", "--time", "20m")
    assert "it goes on" not in told
    assert re.search("[12] of 3 shards finished", told)
    until((tmp_path / "study.h5").exists)
    until(lambda: not queue(slurm, tmp_path))
    assert "nothing to submit" in mlaut(slurm, tmp_path, "submit", "study.toml")
    plain = tmp_path / "plain"
    plain.mkdir()
    for name in ("study.toml", "mine.py"):
        (plain / name).write_text((tmp_path / name).read_text())
    mlaut(dict(os.environ), plain, "run", "study.toml", "-j", "8", "-q")
    assert_same(*(arrays(StudyStore(x / "study.h5")) for x in (tmp_path, plain)))
    assert mlaut(slurm, tmp_path, "verify", "study.h5")


def test_a_task_in_scratch_brings_its_shard_back_and_is_cancelled(slurm, tmp_path):  # noqa: F811 - the fixture
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "met").touch()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    text = STUDY.replace("jobs = 3", f'jobs = 2\nscratch = "{scratch}"').replace("2m", "20m")
    (tmp_path / "study.toml").write_text(text)
    mlaut(slurm, tmp_path, "submit", "study.toml")
    until(lambda: list(queue(slurm, tmp_path).values()) == ["RUNNING"] * 2)
    until(lambda: len([*scratch.glob("*/study.shard-*-of-2.h5")]) == 2)
    time.sleep(15)
    assert "3 tasks cancelled" in mlaut(slurm, tmp_path, "submit", "study.toml", "--cancel")
    until(lambda: len([*tmp_path.glob("study.shard-*-of-2.h5")]) == 2)
    until(lambda: not [*scratch.iterdir()])
    status = mlaut(slurm, tmp_path, "status", "study.toml")
    assert re.search("2 parts, .* done", status)
    mlaut(slurm, tmp_path, "verify", "study.shard-1-of-2.h5")


SMALL = """
[data]
collection = "starter"
datasets = ["iris"]
[split]
scheme = "kfold(2)"
[strategies]
names = ["BaselineClassifier"]
[run]
n_jobs = 1
"""
ACTIVATE = f'''export PATH="$PWD/bin:{Path(sys.executable).parent}:$PATH"'''
APPTAINER = """#!/bin/sh
echo "image $*"
while [ "$1" != mlaut ]; do shift; done
exec "$@"
"""


def test_the_example_of_the_page_runs(slurm, tmp_path, tmp_path_factory):  # noqa: F811 - the fixture
    """With an account, lines of setup, scratch, and a stand-in for Apptainer."""
    page = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    example = next(x for x in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if "setup" in x)
    commands = re.findall(r"^mlaut [^#\n]*", page.partition("```toml")[0], re.MULTILINE)
    (tmp_path / "study.toml").write_text(SMALL + example)
    for name, text in {"venv/bin/activate": ACTIVATE, "bin/apptainer": APPTAINER}.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
        file.chmod(0o755)
    there = tmp_path_factory.mktemp("t")
    here = slurm | {"TMPDIR": str(there), "BASH_FUNC_module%%": "() { echo $*; }"}
    told = [mlaut(here, tmp_path, *commands.pop(0).split()[1:])]
    until((tmp_path / "study.h5").exists)
    until(lambda: not queue(here, tmp_path))
    told += [mlaut(here, tmp_path, *command.split()[1:]) for command in commands]
    submitted, status, again, cancelled, report = told
    assert "submitted 2 shards as job" in submitted
    assert "2 cells: 2 done" in status
    assert "nothing to submit" in again
    assert "0 tasks cancelled" in cancelled
    assert "accuracy of 1 strategy on 1 dataset" in report
    (first, *_) = sorted((tmp_path / "study.slurm").glob("*_1.log"))
    assert "load python" in first.read_text()
    assert f"{tmp_path}/mlaut.sif mlaut run" in first.read_text()
    assert not [*there.iterdir()]
