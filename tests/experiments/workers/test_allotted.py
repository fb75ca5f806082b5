"""What a job or a container may use decides the limits of a run that names none."""

from types import SimpleNamespace

import pytest
from learners import Random

from mlaut import Data, Orchestrator
from mlaut.experiments.engines.engine import LocalEngine, cores
from mlaut.experiments.options import RunOptions
from mlaut.experiments.plans.run_options import beyond_the_job, cell_options
from mlaut.experiments.workers import allotted
from mlaut.experiments.workers.allotted import allotted_memory, oom_kills

GIB = 2**30


@pytest.fixture(autouse=True)
def no_limits(monkeypatch, tmp_path):
    """A machine without jobs and control groups."""
    for name in ("CPUS_PER_TASK", "MEM_PER_NODE", "MEM_PER_CPU", "CPUS_ON_NODE"):
        monkeypatch.delenv(f"SLURM_{name}", raising=False)
    monkeypatch.setattr(allotted, "_OWN_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(allotted, "_CGROUPS", tmp_path / "groups")
    monkeypatch.setattr(allotted, "_VMSTAT", tmp_path / "vmstat")
    return tmp_path


def test_every_core_means_those_of_the_job(monkeypatch):
    free = cores()
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "1")
    assert cores() == LocalEngine().of(RunOptions()).n_workers == 1
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "4096")
    assert cores() == free


@pytest.mark.parametrize(
    ("variables", "size"),
    [
        ({}, None),
        ({"MEM_PER_NODE": "2048"}, 2 * GIB),
        ({"MEM_PER_NODE": "0"}, None),  # all memory of the node
        ({"MEM_PER_CPU": "1024", "CPUS_ON_NODE": "8"}, 8 * GIB),
    ],
)
def test_the_memory_of_a_slurm_job(monkeypatch, variables, size):
    for name, value in variables.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    assert allotted_memory() == (size and (size, "the Slurm job"))


@pytest.mark.parametrize(
    ("line", "files", "size"),
    [
        ("0::/", {"memory.max": "max"}, None),
        ("0::/", {"memory.max": f"{GIB}"}, GIB),
        ("0::/job/step", {"job/memory.max": f"{3 * GIB}", "job/step/memory.max": "max"}, 3 * GIB),
        ("4:memory:/job", {"memory/job/memory.limit_in_bytes": f"{GIB}"}, GIB),
        ("4:memory:/", {"memory/memory.limit_in_bytes": "9223372036854771712"}, None),
        ("4:cpu,memory:/not/seen", {"memory/memory.limit_in_bytes": f"{GIB}"}, GIB),
    ],
)
def test_the_memory_of_a_container_in_both_versions_of_control_groups(no_limits, line, files, size):
    (no_limits / "cgroup").write_text(f"8:pids:/\n{line}\n")
    for name, content in files.items():
        (no_limits / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (no_limits / "groups" / name).write_text(f"{content}\n")
    found = allotted_memory()
    assert (found and found[0]) == size


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("0::/job/step", "groups/job/step/memory.events"),
        ("4:memory:/job", "groups/memory/job/memory.oom_control"),
        ("4:memory:/not/seen", "groups/memory/memory.oom_control"),
        ("0::/", "vmstat"),  # no group, so those of the whole machine
    ],
)
def test_only_kills_in_the_own_control_group_are_for_lack_of_memory(no_limits, line, file):
    assert oom_kills() == 0
    (no_limits / "cgroup").write_text(f"8:pids:/\n{line}\n")
    (no_limits / "vmstat").write_text("pgfault 5\noom_kill 9\n")
    (no_limits / file).parent.mkdir(parents=True, exist_ok=True)
    (no_limits / file).write_text("oom 4\noom_kill 3\n")
    assert oom_kills() == 3


def test_a_cell_without_a_limit_gets_what_its_job_leaves_it(monkeypatch, tmp_path):
    assert cell_options(RunOptions(), tmp_path).memory is None
    assert beyond_the_job(RunOptions(), 4) == []
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "2048")
    assert cell_options(RunOptions(), tmp_path).memory == 1.5 * GIB
    assert beyond_the_job(RunOptions(), 4) == [
        "a cell may take 1.5 GiB, of the 2 GiB of the Slurm job"
    ]
    assert cell_options(RunOptions(memory="1GiB"), tmp_path).memory == GIB
    assert beyond_the_job(RunOptions(memory="1GiB"), 2) == []
    cluster = RunOptions(engine=SimpleNamespace(elsewhere=True))  # its workers have their own
    assert beyond_the_job(cluster, 4) == []
    assert cell_options(cluster, tmp_path).memory is None
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "65536")
    assert cell_options(RunOptions(), tmp_path).memory == 63 * GIB


def test_a_study_that_asks_for_more_than_its_job_is_told_before_its_first_cell(
    monkeypatch, databases, capsys
):
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "2048")
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "1")
    Data().split_datasets(*databases, dataset_paths=["tables/iris"], scheme="kfold(2)")
    study = Orchestrator(*databases)
    study.run(Random(), n_jobs=2, memory="2GiB", verbose=0)
    cores_told, memory_told = capsys.readouterr().err.splitlines()
    assert cores_told.startswith("mlaut: 2 cells at a time with 1 threads each, and the job has 1 ")
    assert memory_told == (
        "mlaut: 2 cells at a time may take 2 GiB each, and the Slurm job has 2 GiB: beyond that "
        "the whole run is killed; ask for more, or lower memory or n_jobs"
    )
    study.run(Random(), n_jobs=2, memory="2GiB", verbose=0)  # nothing to do
    assert not capsys.readouterr().err
