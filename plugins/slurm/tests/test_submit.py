"""Submission of studies: what is asked of Slurm, for which a stand-in answers."""

import json
import os
import runpy
import shutil
import stat
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from mlaut_slurm.queue import cancel, job_name
from mlaut_slurm.script import JobScripts
from mlaut_slurm.submit import submit_study

from mlaut.cli import cli
from mlaut.errors import StudyError
from mlaut.experiments import run_study
from mlaut.files_io import merge_studies
from mlaut.plugins import SlurmOptions, open_shards

PLUGIN = Path(__file__).parents[1]
SCHEMAS = runpy.run_path(str(PLUGIN / "schemas.py"))
STUDY = """
[data]
collection = "starter"
datasets = ["iris", "zoo"]
[split]
scheme = "kfold(4)"
[strategies]
names = ["BaselineClassifier", "GaussianNaiveBayes"]
[run]
n_jobs = 1
[slurm]
jobs = 2
memory = "1GiB"
time = "90m"
"""
SBATCH = """#!/bin/sh
n=$(cat {folder}/count 2> /dev/null || echo 100); echo $((n + 1)) > {folder}/count
cp "$1" {folder}/job-$((n + 1)).sh
echo "Submitted batch job $((n + 1))"
"""


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """A folder that holds the queue (``queue``), the submitted scripts and the calls of scancel."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    (folder / "queue").touch()
    commands = {
        "sbatch": SBATCH,
        "squeue": "#!/bin/sh\ncat {folder}/queue\n",
        "scancel": '#!/bin/sh\necho "$@" >> {folder}/cancelled\n',
    }
    for name, text in commands.items():
        (folder / name).write_text(text.format(folder=folder))
        (folder / name).chmod((folder / name).stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def put_in_queue(slurm, study, *tasks):
    name = job_name(study.with_suffix(".h5"))
    lines = [f"{job}|{name}-{part}|{state}|{node}" for job, part, state, node in tasks]
    lines.append("99_1|of another study, perhaps|RUNNING|node8")
    (slurm / "queue").write_text("\n".join(lines) + "\n" * bool(lines))


def test_a_study_becomes_an_array_of_shards_and_a_merge(slurm, study):
    done = submit_study(study)
    assert (done.shards, done.submitted, done.job, done.merge) == (2, (1, 2), "101", "102")
    assert "no times of cells are known yet" in done.notes[0]
    assert (study.parent / "input.h5").exists()
    array, merge = ((slurm / f"job-{n}.sh").read_text().splitlines() for n in (101, 102))
    for line in (
        "#SBATCH --array=1,2",
        "#SBATCH --cpus-per-task=1",
        "#SBATCH --mem=1024M",
        "#SBATCH --time=90",
        "#SBATCH --signal=USR2@120",
        "#SBATCH --requeue",
        f'srun --cpus-per-task="$SLURM_CPUS_PER_TASK" {sys.executable} -m mlaut run --no-trial '
        '--shard "$SLURM_ARRAY_TASK_ID/2" study.toml',
    ):
        assert line in array
    assert "#SBATCH --dependency=afterok:101" in merge
    assert "#SBATCH --kill-on-invalid-dep=yes" in merge
    assert [line for line in merge if line][-1].endswith(
        "mlaut merge study.shard-{1..2}-of-2.h5 -o .study.merging.h5 && "
        "mv -f .study.merging.h5 study.h5"
    )


def test_asked_again_it_submits_what_is_unfinished_and_not_in_the_queue(slurm, study):
    submit_study(study)
    run_study(study, shard="1/2", verbose=0)
    put_in_queue(slurm, study, ("101_2", "2", "RUNNING", "node7"), ("102", "merge", "PENDING", ""))
    again = submit_study(study)
    assert (again.submitted, again.job, again.merge, again.finished) == ((), "", "", (1,))
    assert again.waiting == {2: "job 101_2 running on node7"}
    assert "nothing to submit" in str(again)

    put_in_queue(slurm, study, ("102", "merge", "PENDING", ""))  # the second has failed
    again = submit_study(study, jobs=7)
    assert again.notes == ("it goes on with its 2 shards",)
    assert (again.submitted, again.job, again.merge) == ((2,), "103", "104")
    assert (slurm / "cancelled").read_text() == "102\n"  # it waited for what has failed

    put_in_queue(slurm, study)
    run_study(study, shard="2/2", verbose=0)
    again = submit_study(study)
    assert (again.submitted, again.job, again.merge) == ((), "", "105")
    assert "dependency" not in (slurm / "job-105.sh").read_text()
    shards = [study.with_name(f"study.shard-{n}-of-2.h5") for n in (1, 2)]
    merge_studies(shards, study.with_name("study.h5"))
    assert open_shards(study.with_name("study.h5")) == []
    assert "nothing to submit" in str(submit_study(study))

    study.write_text(STUDY.replace('"zoo"', '"zoo", "wine"'))  # more to do than was planned
    assert submit_study(study).submitted == (1, 2)


def test_the_status_of_a_study_file_sums_its_shards(slurm, study):
    submit_study(study)
    run_study(study, shard="1/2", verbose=0)
    put_in_queue(slurm, study, ("101_2", "2", "PENDING", ""))
    lines = CliRunner().invoke(cli, ["status", "study.toml"]).stdout.splitlines()
    assert lines[0] == "study.h5: 2 parts, 8 cells: 8 done"
    assert lines[1] == "no file yet, and their cells not counted: study.shard-2-of-2.h5"
    assert lines[-2].split() == ["study.shard-1-of-2.h5", "8", "8", "0", "0", "finished"]
    assert lines[-1].split()[-3:] == ["job", "101_2", "pending"]
    shutil.copy("study.shard-1-of-2.h5", "copy.h5")
    both = CliRunner().invoke(cli, ["status", "study.shard-1-of-2.h5", "copy.h5"]).stdout
    assert both.startswith("2 files: 2 parts, 16 cells: 16 done")


def test_a_study_that_only_waits_keeps_its_number_of_shards(slurm, study):
    """Before, jobs=3 submitted the third of three shards beside two of two in the queue."""
    waits = [(f"101_{n}", "2", "PENDING", "(PartitionConfig)") for n in (1, 2)]
    submit_study(study)
    put_in_queue(slurm, study, *waits, ("102", "merge", "PENDING", ""))
    again = submit_study(study, jobs=3)
    assert (again.shards, again.submitted, again.job, again.merge) == (2, (), "", "")
    lines = CliRunner().invoke(cli, ["status", "study.toml"]).stdout.splitlines()
    assert lines[0].startswith("study.h5: 2 parts")
    assert [line.split()[-4:] for line in lines[-2:]] == [
        ["job", f"101_{n}", "pending", "(PartitionConfig)"] for n in (1, 2)
    ]
    study.with_name("study.shard-1-of-3.h5").touch()
    with pytest.raises(StudyError, match="shards of 2 and of 3, which cannot be merged; remove"):
        submit_study(study)


def test_jobs_are_cancelled(slurm, study):
    put_in_queue(slurm, study, ("5_2", "2", "RUNNING", "a"), ("6", "merge", "PENDING", ""))
    told = CliRunner().invoke(cli, ["submit", "study.toml", "--cancel"])
    assert told.stdout == "study.h5: 2 tasks cancelled; what they have done is stored\n"
    assert (slurm / "cancelled").read_text() == "5_2 6\n"


def test_the_script_is_printed_without_slurm_and_with_all_that_can_be_set(study, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    study.write_text(
        STUDY
        + 'partition = "long"\nsetup = ["module load python"]\nscratch = "$TMPDIR"\n'
        + 'options = { account = "x", exclusive = true, requeue = false }\nimage = "my.sif"\n'
    )
    told = CliRunner().invoke(cli, ["submit", "study.toml", "--script", "--cpus", "4"])
    assert told.exit_code == 0, told.stderr
    lines = told.stdout.splitlines()
    for line in ("account=x", "exclusive", "partition=long", "cpus-per-task=4"):
        assert f"#SBATCH --{line}" in lines
    assert "#SBATCH --requeue" not in lines
    assert "module load python" in lines
    assert 'work="$TMPDIR"/mlaut-"$SLURM_JOB_ID"' in lines
    image = Path("my.sif").absolute()
    assert f'apptainer exec --bind "$PWD" --bind "$home" {image} mlaut run' in told.stdout
    assert not study.with_name("input.h5").exists()


def test_shards_are_no_smaller_than_ten_minutes_by_the_times_that_are_known(slurm, study):
    run_study(study, verbose=0)
    study.write_text(
        STUDY.replace("kfold(4)", "repeated_kfold(4, 2)").replace("jobs = 2", "jobs = 9")
    )
    done = submit_study(study)
    assert done.shards == 2
    assert "9 shards would take less than ten minutes each" in done.notes[0]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("[race]\n", "a race decides on the results of all cells, and has no shards"),
        ("jobbs = 3\n", r"unknown key 'jobbs' in \[slurm\]; did you mean 'jobs'"),
        ("cpus = 0.5\n", r"cpus in \[slurm\] is 0.5, and must be a number"),
    ],
)
def test_mistakes_are_named_before_anything_is_submitted(slurm, study, more, message):
    study.write_text(STUDY + more)
    with pytest.raises(StudyError, match=message):
        submit_study(study)
    assert not (slurm / "count").exists()


def test_what_slurm_refuses_is_one_line(slurm, study):
    refusal = f"""#!/bin/sh
grep -q array= "$1" && exec {slurm}/accepts "$1"
echo 'sbatch: error: Memory specification can not be satisfied
sbatch: error: Batch job submission failed: Requested node configuration is not available' >&2
exit 1
"""
    (slurm / "sbatch").rename(slurm / "accepts")
    (slurm / "sbatch").write_text(refusal)
    (slurm / "sbatch").chmod(0o755)
    named = r"^Slurm refused the job: Memory .* satisfied; Batch job .* available; change .slurm."
    with pytest.raises(StudyError, match=named) as told:
        submit_study(study)
    assert "\n" not in str(told.value)
    assert (slurm / "cancelled").read_text() == "101\n"  # the array, which would wait for ever


def test_without_slurm_the_way_out_is_named(study, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    if Path("/usr/bin/sbatch").exists():
        monkeypatch.setenv("PATH", "/nowhere")
    for call in (submit_study, cancel):
        with pytest.raises(StudyError, match=r"there is no 'squeue' here: .*--script"):
            call(study)


def test_scratch_needs_the_study_beside_its_file(tmp_path):
    options = SlurmOptions(scratch="/tmp")
    jobs = JobScripts(tmp_path / "study.toml", tmp_path / "results" / "study.h5", 2, options)
    with pytest.raises(StudyError, match=r"scratch in .slurm. needs the output beside the study"):
        jobs.task([1])


def test_the_schema_is_that_of_the_tool_and_says_what_is_printed(slurm, study):
    (stored,) = (path.read_text() for path in SCHEMAS["FOLDER"].glob("*.json"))
    made = SCHEMAS["OF_MLAUT"].schemas(SCHEMAS["RESULTS"])
    assert made == {"submit.json": stored}, "run: python schemas.py"
    assert CliRunner().invoke(cli, ["submit", "--json-schema"]).stdout == stored
    for more in ([], ["--script"], ["--cancel"]):
        told = json.loads(CliRunner().invoke(cli, ["submit", "study.toml", "--json", *more]).stdout)
        Draft202012Validator(json.loads(stored)).validate(told)
