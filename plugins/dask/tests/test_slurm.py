"""Workers of Dask that are jobs of a Slurm of one node."""

import re
from pathlib import Path

import pytest
from comparing import arrays, assert_same
from on_slurm import call, mlaut, slurm, until  # noqa: F401 - a fixture
from one_node import what_is_missing

from mlaut.files_io import StudyStore

for package in ("dask_jobqueue", "cryptography"):
    pytest.importorskip(package, reason="needs mlaut-dask[slurm]")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(what_is_missing()), reason=what_is_missing()),
]

STUDY = """
[data]
collection = "starter"
datasets = ["iris", "zoo"]
[split]
scheme = "kfold(2)"
[strategies]
names = ["BaselineClassifier"]
"""


def test_jobs_of_workers_come_when_cells_wait(slurm, tmp_path):  # noqa: F811 - the fixture
    """The example of the page: Dask makes the jobs; nothing listens but on loopback, with TLS."""
    page = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r'```toml\n(\[run\]\nengine = "dask".*?)```', page, re.DOTALL)
    asked = 'jobs = 2\ntime = "5m"\nmemory = "3GB"\ninterface = "lo"\n'
    for name, more in {"here": "[run]\nn_jobs = 2\n", "jobs": f"{example}[slurm]\n{asked}"}.items():
        (tmp_path / name).mkdir()
        study = STUDY + more
        (tmp_path / name / "study.toml").write_text(study)
        told = mlaut(slurm, tmp_path / name, "run", "study.toml", "-q")
    assert "4 of 4 cells" in told
    assert_same(*(arrays(StudyStore(tmp_path / name / "study.h5")) for name in ("here", "jobs")))
    script = "\n".join(log.read_text() for log in (tmp_path / "jobs" / ".dask").glob("*.err"))
    assert "tls://127.0.0.1" in script
    until(lambda: not call(slurm, tmp_path, "squeue", "-h"), patience=60)
