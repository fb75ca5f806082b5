"""Strategies that try to change what their neighbours give, beside good ones that must not notice.

    python tests/reliability/neighbours.py [--folds 3] [--datasets iris wine]

Runs the good strategies alone; then all together with one worker and with two, and once more with
two, killed half-way and resumed. Prints how many cells of the good ones were compared bit by bit
with those of the first run, and how many differ; and the same for the cells of the others, which
must not depend on workers and kills either.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE.parent / "experiments")]

# What these do to their own process, or to the run, falls on a cell of theirs by chance of timing.
BY_CHANCE = {"kills_the_server", "kills_its_worker", "keeps_copies", "leaves_a_thread"}


def good() -> dict[str, Any]:
    """Return the strategies that must not notice, one of them of unknown code."""
    from learners import Random
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    return {
        "bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(),
        "forest": RandomForestClassifier(n_estimators=5),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        "random": Random(),
    }


def together() -> dict[str, Any]:
    """Return the hostile strategies with the good ones among them."""
    from spoilers import DEEDS, Spoiler

    deeds, others = list(DEEDS), good()
    apart = -(-len(deeds) // len(others))
    mixed: dict[str, Any] = {}
    for i, (name, strategy) in enumerate(others.items()):
        mixed |= {deed: Spoiler(deed) for deed in deeds[i * apart : (i + 1) * apart]}
        mixed[name] = strategy
    return mixed


def run(folder: Path, which: str, n_jobs: int) -> None:
    """Run or resume the study of this name."""
    from mlaut import Data, Orchestrator

    data = Data()
    input_io = data.open_hdf5(folder / "input.h5")
    out_io = data.open_hdf5(folder / f"{which}.h5", mode="a")
    strategies = good() if which == "alone" else together()
    Orchestrator(input_io, out_io).run(strategies, n_jobs=n_jobs, timeout=120, verbose=0)


def inside(folder: Path, which: str, n_jobs: int, mark: str) -> subprocess.Popen[bytes]:
    """Run a study in a process of its own."""
    given = ["--inside", str(folder), which, str(n_jobs)]
    environment = {**os.environ, "MLAUT_HOSTILE": mark}
    return subprocess.Popen([sys.executable, __file__, *given], env=environment)


def cells(study: Path) -> dict[tuple[str, str, int], tuple[str, bytes]]:
    """Return status and the bits of what was predicted, of each cell."""
    from mlaut.files_io import StudyStore
    from mlaut.records import Status

    found = {}
    for block in StudyStore(study).blocks():
        for s, name in enumerate(block.strategies):
            for fold in range(block.split.n_folds):
                test = block.split.rows(0, fold)[1]
                bits = block.predictions[s, 0, test].tobytes()
                if block.probabilities is not None:
                    bits += block.probabilities[s, 0, test].tobytes()
                word = Status(block.status[s, 0, fold]).word
                found[block.dataset, name, fold] = word, bits
    return found


def figures(folds: int, datasets: list[str]) -> dict[str, Any]:
    """Run all studies, and compare them."""
    from processes import none_left

    from mlaut import Data

    mark, begun = uuid.uuid4().hex, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mlaut-neighbours-") as name:
        folder, data = Path(name), Data()
        input_io = data.open_hdf5(folder / "input.h5", mode="a")
        data.load_collection("starter", hdf5_io=input_io, names=datasets)
        paths = input_io.list_datasets("starter")[1]
        runs = {"alone": 1, "one": 1, "two": 2, "killed": 2}
        for which, n_jobs in runs.items():
            out_io = data.open_hdf5(folder / f"{which}.h5", mode="a")
            data.split_datasets(input_io, out_io, paths, scheme=f"kfold({folds})", seed=1)
            process = inside(folder, which, n_jobs, mark)
            if which == "killed":
                while process.poll() is None and _done(folder / "killed.h5") < 0.5:
                    time.sleep(0.05)
                process.send_signal(signal.SIGKILL)
                process.wait()
                process = inside(folder, which, n_jobs, mark)
            if process.wait():
                raise SystemExit(f"the run {which!r} ended with exit code {process.returncode}")
        gone = none_left(f"MLAUT_HOSTILE={mark}")
        found = {which: cells(folder / f"{which}.h5") for which in runs}
    return _compared(found) | {
        "processes left": not gone,
        "seconds": round(time.monotonic() - begun, 1),
    }


def _done(path: Path) -> float:
    """Return the share of the cells of a study that were reported."""
    from mlaut.files_io import StudyStore

    statuses = [status.ravel() for _, status in StudyStore(path).statuses().values()]
    return sum((s > 0).sum() for s in statuses) / max(1, sum(s.size for s in statuses))


def _compared(found: dict[str, dict[tuple[str, str, int], tuple[str, bytes]]]) -> dict[str, Any]:
    reference, told = found["alone"], {}
    names = {name for _, name, _ in reference}
    for which in ("one", "two", "killed"):
        of_good = {cell: gave for cell, gave in found[which].items() if cell[1] in names}
        of_others = {
            cell: gave
            for cell, gave in found[which].items()
            if cell[1] not in names and cell[1] not in BY_CHANCE
        }
        told[which] = {
            "cells of good strategies": len(of_good),
            "of them different": sum(reference[cell] != gave for cell, gave in of_good.items()),
            "cells of the others": len(of_others),
            "of those different": [
                # Who kills the server of processes may take a neighbour's process with it.
                cell
                for cell, gave in of_others.items()
                if found["one"][cell] != gave and {gave[0], found["one"][cell][0]} == {"done"}
            ],
        }
    statuses: dict[str, Counter[str]] = {}
    for (_, name, _), (word, _) in found["two"].items():
        statuses.setdefault(name, Counter())[word] += 1
    return {**told, "hostile strategies": len(statuses) - len(names), "statuses": statuses}


def main() -> None:
    """Read the command line, run, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--datasets", nargs="+", default=["iris", "wine"])
    parser.add_argument("--inside", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        folder, which, n_jobs = given.inside
        run(Path(folder), which, int(n_jobs))
        return
    sys.stdout.write(json.dumps(figures(given.folds, given.datasets), indent=1) + "\n")


if __name__ == "__main__":
    main()
