"""Store files of this version, which every later version has to read with the same numbers.

    python tools/freeze.py

It writes tests/acceptance/stored/VERSION.tar.xz: a study with models, its database of datasets, a
study that was killed and whose journal is not settled, a bundle, and the numbers that they hold.
It is a step of a release (docs/releasing.md); an archive never changes afterwards.
"""

import json
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd
from mlaut_exchange import open_bundle

from mlaut import Study, __version__, run_study
from mlaut.data import list_datasets
from mlaut.files_io import FilesIO

STORED = Path(__file__).resolve().parent.parent / "tests" / "acceptance" / "stored"
STUDY = """\
[study]
title = "Frozen files"
output = "study.h5"
seed = 3
[data]
input = "{input}"
collection = "starter"
datasets = ["iris", "zoo", "teaching", "new-thyroid"]
task = "Classification"
[split]
scheme = "kfold(2)"
seed = 1
[strategies]
file = "mine.py"
[run]
n_jobs = 1
save_models = true
[analysis]
question = "best"
metric = "accuracy"
"""
MINE = """\
from sklearn.ensemble import ExtraTreesClassifier
from mlaut import Generic_Estimator, instantiate_default_estimators


class Failing(ExtraTreesClassifier):
    def fit(self, X, y, sample_weight=None):
        if len(y) > 70:
            raise ValueError(f"too many rows: {len(y)}")
        return super().fit(X, y)


names = ["BaselineClassifier", "GaussianNaiveBayes", "LogisticRegression"]
small = {"n_estimators": 2, "max_depth": 2, "random_state": 0}
strategies = [
    *instantiate_default_estimators(names),
    Generic_Estimator(ExtraTreesClassifier(**small), name="trees"),
    Generic_Estimator(Failing(**small), name="failing"),
]
"""


def numbers_of(path: Path) -> dict[str, Any]:
    """Return the contents of a study: losses of each dataset by strategy, and cells by status."""
    study = Study(path)
    losses = study.results("accuracy").losses.sort_index()
    columns = {name: [None if pd.isna(x) else x for x in losses[name]] for name in losses}
    return {"losses": columns, "status": str(study.status()).splitlines()[0].split(": ", 1)[1]}


def numbers(folder: Path) -> dict[str, Any]:
    """Return the numbers in the files of an archive."""
    study, killed = "study.h5", "killed/study.h5"
    database = folder / "input.h5"
    prints = {row["name"]: row["path"] for row in list_datasets(database)}
    return {
        study: numbers_of(folder / study),
        killed: numbers_of(folder / killed),
        "bundle": open_bundle(folder / "bundle").digest,
        "datasets": {
            name: [list(one.frame.shape), info.fingerprint]
            for info in FilesIO(database).dataset_infos()
            for name in [next(name for name, path in prints.items() if path == info.path)]
            for one in [FilesIO(database).load_dataset(info.path)]
        },
    }


def kill_a_run(folder: Path) -> None:
    """Run a study in another process, and kill it when some cells, but not all, are stored."""
    path = folder / "study.h5"
    command = [sys.executable, "-m", "mlaut", "run", "study.toml", "--quiet"]
    run = subprocess.Popen(command, cwd=folder, start_new_session=True)
    while run.poll() is None and not (
        path.exists() and Path(f"{path}.journal").exists() and Study(path).status().n_done > 2
    ):
        time.sleep(0.02)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    done = Study(path).status()
    if not 0 < done.n_done < done.n_cells - 8 or not Path(f"{path}.journal").exists():
        sys.exit(f"the run was killed too late: {done}; call again")


def main() -> None:
    """Write the archive of this version."""
    target = STORED / f"{__version__}.tar.xz"
    if target.exists():
        sys.exit(f"{target} is there, and an archive never changes")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "killed").mkdir()
        for place, database in ((folder, "input.h5"), (folder / "killed", "input.h5")):
            (place / "study.toml").write_text(STUDY.format(input=database), encoding="utf-8")
            (place / "mine.py").write_text(MINE, encoding="utf-8")
        os.chdir(folder)
        run_study("study.toml", verbose=0)
        kill_a_run(folder / "killed")
        Study("study.h5", "input.h5").publish("bundle", title="Frozen files", authors=["Ada"])
        for name in ("input.h5", "mine.py"):
            (folder / "killed" / name).unlink(missing_ok=True)
        for lock in folder.rglob("*.lock"):
            lock.unlink()
        text = json.dumps(numbers(folder), indent=1) + "\n"
        (folder / "numbers.json").write_text(text, encoding="utf-8")
        with tarfile.open(target, "w:xz", preset=9) as archive:
            archive.add(folder, ".", filter=_plain)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return a member without the names of this machine's users."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
