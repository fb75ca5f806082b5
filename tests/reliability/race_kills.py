"""Kill a race with SIGKILL at random instants, and see that it decides what it would have decided.

    python tests/reliability/race_kills.py --kills 200 [--seed 0]

A life of a race is run until it ends, and killed on the way, with rounds that overlap by one or, in
every other life, by cells. At the end of each life the order, the
decisions and all arrays are compared with those of a life that nobody killed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.append(str(Path(__file__).parents[2] / "plugins" / "races"))  # unless it is installed
from mlaut_races import StudyRace, run_race

from mlaut.experiments import Orchestrator  # noqa: F401 - imported before the processes are forked
from mlaut.files_io import StudyStore

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
_WRITES = 30  # changes of the files before a kill; a race of 12 datasets makes about 60
RACES = ("", "ahead_cells = 8\n")


def write_study(folder: Path, n_datasets: int, race: str) -> None:
    """Write the study file and its tables."""
    (folder / "tables").mkdir(parents=True)
    for i in range(n_datasets):
        rng = np.random.default_rng(i)
        x = rng.normal(size=(60, 2))
        target = np.where(x.sum(axis=1) + 0.4 * rng.normal(size=60) > 0, "yes", "no")
        frame = pd.DataFrame(x, columns=["a", "b"]).assign(target=target)
        frame.to_csv(folder / "tables" / f"t{i:02}.csv", index=False)
    (folder / "study.toml").write_text(STUDY + race)


def run(folder: Path, draws: random.Random | None) -> bool:
    """Run the race; kill it at a random instant. Return whether it ended by itself.

    The instant is close to one of the next writes, so that it is no question of the machine's load.
    """
    study_file = folder / "study.toml"
    # Forked, so that no kill is spent on a process that still imports.
    process = multiprocessing.get_context("fork").Process(
        target=run_race, args=(study_file,), kwargs={"verbose": 0}
    )
    process.start()
    if draws is not None:
        _wait_for_writes(process, folder, draws.randrange(_WRITES))
        time.sleep(draws.uniform(0, 0.05))
        process.kill()
    process.join()
    if process.exitcode > 0:
        raise SystemExit(f"{study_file}: the run has failed")
    return process.exitcode == 0


def _wait_for_writes(process: multiprocessing.Process, folder: Path, n: int) -> None:
    before = None
    while n and process.exitcode is None:
        time.sleep(0.002)
        with contextlib.suppress(FileNotFoundError):  # a file that has just been replaced
            now = [(path.name, path.stat().st_size) for path in sorted(folder.glob("study.h5*"))]
            n, before = n - (now != before), now


def found(folder: Path) -> tuple[object, ...]:
    """Return order, decisions and arrays of a race."""
    study = StudyStore(folder / "study.h5")
    race = StudyRace.of(study)
    blocks = [(b.dataset, b.strategies, b.status, b.predictions) for b in study.blocks()]
    return race.sealed(), race.now().decisions, blocks


def same(one: tuple, other: tuple) -> bool:
    """Return whether two races are the same, to the last bit."""
    alike = one[:2] == other[:2] and len(one[2]) == len(other[2])
    return alike and all(
        a[:2] == b[:2] and np.array_equal(a[2], b[2]) and np.array_equal(a[3], b[3])
        for a, b in zip(one[2], other[2], strict=True)
    )


def main(kills: int, seed: int, folder: Path, n_datasets: int) -> dict[str, int]:
    """Run lives until there were so many kills; return the numbers of lives and of kills."""
    draws = random.Random(seed)
    calm = []
    for place, race in enumerate(RACES):
        write_study(folder / f"calm {place}", n_datasets, race)
        shutil.copytree(folder / f"calm {place}", folder / f"empty {place}")
        assert run(folder / f"calm {place}", None)
        calm.append(found(folder / f"calm {place}"))
    killed = lives = 0
    while killed < kills:
        life, kind = folder / f"life {lives}", lives % len(RACES)
        shutil.copytree(folder / f"empty {kind}", life)
        while not run(life, draws if killed < kills else None):
            killed += 1
        if not same(found(life), calm[kind]):
            raise SystemExit(f"{life}: differs after {killed} kills")
        shutil.rmtree(life)
        lives += 1
        print(json.dumps({"kills": killed, "lives": lives}), flush=True)  # noqa: T201
    return {"kills": killed, "lives": lives, "decisions": sum(len(one[1]) for one in calm)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--datasets", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        figures = main(given.kills, given.seed, Path(place), given.datasets)
        print(json.dumps(figures))  # noqa: T201
