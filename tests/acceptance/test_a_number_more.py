"""The recipe for a number stored for each cell, followed in a copy of the package."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mlaut
from mlaut.files_io.outcomes import study_records

# A run; with "kill", its process ends when the outcomes are in the journal and nowhere else.
RUN = """
import os, sys
import numpy as np, pandas as pd
from sklearn.naive_bayes import GaussianNB
from mlaut import Data, Orchestrator
from mlaut.data import from_frame
from mlaut.files_io.studies.study_arrays import ArrayWriter

where, shard, kill = sys.argv[1:]
if kill:
    ArrayWriter.put = lambda *_: os._exit(9)
frame = pd.DataFrame({"x": np.arange(40.0), "y": np.arange(40) % 2})
data = Data()
given, out = data.open_hdf5(where + "-in.h5", "a"), data.open_hdf5(where + ".h5", "a")
if not given.list_datasets()[0]:
    given.save_datasets([from_frame(frame, "y", name="d")])
    data.split_datasets(given, out, scheme="kfold(4)")
Orchestrator(given, out).run([GaussianNB()], verbose=0, engine="inline", shard=shard)
"""
READ = """
import json, sys
from mlaut.files_io import StudyStore, merge_studies
from mlaut.files_io.outcomes.study_records import USAGE
if len(sys.argv) > 2:
    merge_studies(sys.argv[2:], sys.argv[1])
study = StudyStore(sys.argv[1])
study.settle()
((_, _, numbers),) = study.numbers()
found = {k: values.tolist() for k, values in zip(USAGE, numbers["usage"][0, 0].T)}
told = {row["fold"]: row.get("energy") for row in study.details("d")}
done = int(sum(block.status[0, 0].sum() for block in study.blocks()))
print(json.dumps([found, told, done]))
"""


def changed(path, old, new):
    text = path.read_text("utf-8")
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), "utf-8")


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """The folder of this version, and that of one which stores a number more."""
    folder, here = tmp_path_factory.mktemp("longer"), Path(mlaut.__file__).parent
    shutil.copytree(here, folder / "mlaut", ignore=shutil.ignore_patterns("__pycache__"))
    package = folder / "mlaut"
    records, usage = package / "files_io/outcomes/study_records.py", study_records.USAGE
    changed(
        records,
        f"USAGE = {usage}".replace("'", '"'),
        f"USAGE = {(*usage, 'energy')}".replace("'", '"'),
    )
    changed(
        package / "experiments/cells/cell.py",
        '"peak_memory": limits.peak_memory(),',
        '"peak_memory": limits.peak_memory(), "energy": 7.5,',
    )
    return {"today": here.parent, "longer": folder}


def call(folder, code, *arguments, ends=0):
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == ends, done.stderr
    return json.loads(done.stdout.splitlines()[-1]) if code == READ else None


@pytest.mark.slow
@pytest.mark.parametrize("order", [("today", "longer"), ("longer", "today")])
def test_runs_that_were_killed_are_read_resumed_and_merged_by_both(versions, tmp_path, order):
    first, second = (versions[name] for name in order)
    one, two = tmp_path / "1", tmp_path / "2"
    call(first, RUN, one, "1/2", "kill", ends=9)
    usage, told, killed = call(second, READ, f"{one}.h5")
    assert killed >= 1
    assert sum(value > 0 for value in usage["elapsed"]) == killed == len(told)
    # A study keeps the fields that it began with; what it has of another version is read.
    energy = 7.5 if order[0] == "longer" else None
    assert set(told.values()) == {energy}
    call(second, RUN, one, "1/2", "")
    call(second, RUN, two, "2/2", "")
    usage, told, done = call(
        versions["longer"], READ, tmp_path / "all.h5", f"{one}.h5", f"{two}.h5"
    )
    assert done == len(told) == 4
    assert all(value > 0 for value in usage["elapsed"])
    assert usage["energy"].count(7.5) == {"today": 2, "longer": killed}[order[0]]
