"""Kill a race with SIGKILL at random instants, and see that it decides what it would have decided.

    python tests/reliability/race_kills.py --kills 200 [--seed 0]

A life of a race is run by ``mlaut run`` until it ends, and killed on the way. At the end of each
life the order, the decisions and all arrays are compared with those of a life that nobody killed.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from mlaut.analysis.racing.study_race import StudyRace
from mlaut.files_io import Study

STUDY = """
[data]
folder = "tables"
[strategies]
names = ["BaselineClassifier", "GaussianNaiveBayes", "BernoulliNaiveBayes"]
[run]
n_jobs = 2
[race]
alpha = 0.05
"""


def write_study(folder: Path, n_datasets: int) -> None:
    """Write the study file and its tables."""
    (folder / "tables").mkdir(parents=True)
    for i in range(n_datasets):
        rng = np.random.default_rng(i)
        x = rng.normal(size=(60, 2))
        target = np.where(x.sum(axis=1) + 0.4 * rng.normal(size=60) > 0, "yes", "no")
        frame = pd.DataFrame(x, columns=["a", "b"]).assign(target=target)
        frame.to_csv(folder / "tables" / f"t{i:02}.csv", index=False)
    (folder / "study.toml").write_text(STUDY)


def run(folder: Path, seconds: float | None) -> bool:
    """Run the race; kill it after so many seconds. Return whether it ended by itself."""
    command = [sys.executable, "-m", "mlaut", "run", str(folder / "study.toml"), "-q"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return False
    if process.returncode:
        raise SystemExit(errors.decode())
    return True


def found(folder: Path) -> tuple[object, ...]:
    """Return order, decisions and arrays of a race."""
    study = Study(folder / "study.h5")
    race = StudyRace.of(study)
    blocks = [(b.dataset, b.strategies, b.status, b.predictions) for b in study.blocks()]
    return race.sealed, race.now().decisions, blocks


def same(one: tuple, other: tuple) -> bool:
    """Return whether two races are the same, to the last bit."""
    alike = one[:2] == other[:2] and len(one[2]) == len(other[2])
    return alike and all(
        a[:2] == b[:2] and np.array_equal(a[2], b[2]) and np.array_equal(a[3], b[3])
        for a, b in zip(one[2], other[2], strict=True)
    )


def main(kills: int, seed: int, folder: Path, longest: float, n_datasets: int) -> dict[str, int]:
    """Run lives until there were so many kills; return the numbers of lives and of kills."""
    draws = random.Random(seed)
    write_study(folder / "calm", n_datasets)
    shutil.copytree(folder / "calm", folder / "empty")
    assert run(folder / "calm", None)
    calm, killed, lives = found(folder / "calm"), 0, 0
    while killed < kills:
        life = folder / f"life {lives}"
        shutil.copytree(folder / "empty", life)
        while not run(life, draws.uniform(0.5, longest) if killed < kills else None):
            killed += 1
        if not same(found(life), calm):
            raise SystemExit(f"{life}: differs after {killed} kills")
        shutil.rmtree(life)
        lives += 1
    return {"kills": killed, "lives": lives, "decisions": len(calm[1])}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=float, default=6.0, help="seconds to a kill")
    parser.add_argument("--datasets", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        print(  # noqa: T201
            json.dumps(main(given.kills, given.seed, Path(place), given.longest, given.datasets))
        )
