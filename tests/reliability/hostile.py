"""Eleven hostile strategies beside three good ones on five datasets, under limits.

    python tests/reliability/hostile.py [--timeout 3] [--memory 300MB] [--n-jobs 2]

Prints the statuses of each strategy's cells, the seconds that the run took and how many processes
it left behind.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE.parent / "experiments")]

EXPECTED = {
    "sleep_in_c": "timeout",
    "loop": "timeout",
    "svc": "timeout",
    "children": "timeout",
    "allocate": "memory",
    "segfault": "crashed",
    "kill": "crashed",
    "leave": "crashed",
    "raise": "error",
    "short": "error",
    "nan": "error",
    "bayes": "done",
    "tree": "done",
    "neighbours": "done",
}


def study(folder: Path, n_jobs: int, **limits: str) -> None:
    """Run all of them, as a user would."""
    from learners import Hostile
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    from mlaut import Data, Orchestrator

    data = Data()
    input_io = data.open_hdf5(folder / "input.h5", mode="a")
    out_io = data.open_hdf5(folder / "study.h5", mode="a")
    names = ["iris", "wine", "glass", "ecoli", "ionosphere"]
    data.load_collection("starter", hdf5_io=input_io, names=names)
    paths = input_io.list_datasets("starter")[1]
    data.split_datasets(hdf5_in=input_io, hdf5_out=out_io, dataset_paths=paths)
    good = [GaussianNB(), DecisionTreeClassifier(), KNeighborsClassifier()]
    bad = [deed for deed, status in EXPECTED.items() if status != "done"]
    strategies = {deed: Hostile(deed) for deed in bad}
    strategies |= dict(zip(["bayes", "tree", "neighbours"], good, strict=True))
    Orchestrator(input_io, out_io).run(strategies, n_jobs=n_jobs, verbose=0, **limits)


def figures(n_jobs: int, **limits: str) -> dict[str, object]:
    """Run the study in a process of its own, and tell what came of it."""
    from processes import marked, none_left

    from mlaut.files_io import StudyStore

    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(prefix="mlaut-hostile-") as folder:
        given = [folder, str(n_jobs), json.dumps(limits)]
        begun = time.monotonic()
        subprocess.run(
            [sys.executable, __file__, "--inside", *given],
            check=True,
            env={**os.environ, "MLAUT_HOSTILE": mark},
        )
        seconds = time.monotonic() - begun
        gone = none_left(f"MLAUT_HOSTILE={mark}")
        told = [
            d for _, details in StudyStore(Path(folder, "study.h5")).all_details() for d in details
        ]
    statuses = {deed: Counter() for deed in EXPECTED}
    for cell in told:
        statuses[cell["strategy"]][cell["status"]] += 1
    return {
        "statuses": statuses,
        "reasons": {d["strategy"]: d["reason"] for d in told},
        "seconds": round(seconds, 1),
        "processes left": 0 if gone else len(marked(f"MLAUT_HOSTILE={mark}")),
    }


def main() -> None:
    """Read the command line, run, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--timeout", default="3")
    parser.add_argument("--memory", default="300MB")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--inside", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        folder, n_jobs, limits = given.inside
        study(Path(folder), int(n_jobs), **json.loads(limits))
        return
    found = figures(given.n_jobs, timeout=given.timeout, memory=given.memory)
    sys.stdout.write(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
