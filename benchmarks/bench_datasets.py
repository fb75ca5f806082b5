"""Measure what each dataset of a study costs: CPU seconds of calls by the number of datasets.

The tables have 100 rows and 5 columns, the two strategies learn next to nothing, and the split has
five folds. Every call is a fresh process; counted is the CPU time of all its processes, and, after
"/", that of the process of the call from the end of its imports. The memory is the largest of a
process.

    OMP_NUM_THREADS=1 python benchmarks/bench_datasets.py [--datasets 100 300 1000]
    OMP_NUM_THREADS=1 python benchmarks/bench_datasets.py --datasets 300 --profile run
    OMP_NUM_THREADS=1 python benchmarks/bench_datasets.py --strategies 100 --folds 10
"""

import argparse
import cProfile
import ctypes
import os
import pstats
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
COMMANDS = {
    "status": ["status", "one.h5"],
    "report": ["report", "one.h5"],
    "verify": ["verify", "one.h5"],
    "publish": ["publish", "one.h5", "-o", "bundle", "--licence", "CC-BY-4.0"],
    "merge": ["merge", "one.h5", "other.h5", "-o", "all.h5"],
}
ADDED = ("add mapping", "add list", "add generator")
CALLS = (*ADDED, "run", "run nothing", "run more", "run other", *COMMANDS)


def tables(n_datasets: int) -> dict[str, Any]:
    """Return small tables by name."""
    import numpy as np
    import pandas as pd

    random = np.random.default_rng(0)
    found = {}
    for i in range(n_datasets):
        X = random.normal(size=(100, 5))
        labels = np.array(["no", "yes"])[(X[:, 0] + random.normal(size=100) > 0).astype(int)]
        found[f"table {i}"] = pd.DataFrame(X, columns=[*"abcde"]).assign(target=labels)
    return found


def learners(first: int, last: int) -> dict[str, Any]:
    """Return strategies that learn next to nothing."""
    from sklearn.dummy import DummyClassifier
    from sklearn.naive_bayes import GaussianNB

    found: dict[str, Any] = {
        f"dummy {i}": DummyClassifier(strategy="stratified", random_state=i)
        for i in range(first, last)
    }
    return {**found, "bayes": GaussianNB()} if last == 2 else found


def prepared(call: str, given: argparse.Namespace) -> Any:
    """Import what a call needs, and return what does its work."""
    if call in COMMANDS:
        from mlaut.cli import cli

        return lambda: cli.main(COMMANDS[call], standalone_mode=False)
    from mlaut import Study

    if call in ADDED:
        several: Any = tables(given.datasets[0])
        if call != "add mapping":
            several = [{name: table} for name, table in several.items()]
        several = iter(several) if call == "add generator" else several
        study = Study(f"{call.split()[1]}.h5")
        return lambda: study.add_datasets(several)
    import mlaut.experiments.runs.execution  # noqa: F401

    n = given.strategies
    models = (
        learners(n, n + 1)
        if call == "run more"
        else learners(*((n, 2 * n) if call == "run other" else (0, n)))
    )
    how: dict[str, Any] = {"n_jobs": given.jobs, "verbose": 0}
    if call in ("run", "run other"):
        how["split"] = f"kfold({given.folds})"

    def run() -> None:
        name = "other.h5" if call == "run other" else "one.h5"
        Study(name, datasets="mapping.datasets.h5", seed=0).run(models, **how)

    return run


def in_this_process(call: str, given: argparse.Namespace) -> None:
    """Do the work of one call in this process; print its CPU time from the end of the imports."""
    work = prepared(call, given)
    profile, begun = cProfile.Profile(), time.process_time()
    if given.profile:
        profile.runcall(work)
        pstats.Stats(profile, stream=sys.stderr).sort_stats("cumulative").print_stats(90)
    else:
        work()
    print(f"\n{time.process_time() - begun}")


def measured(call: str, given: argparse.Namespace, n_datasets: int, folder: Path) -> str:
    """Do one call in a fresh process, and return a cell of the table."""
    command = [sys.executable, __file__, "--call", call, "--datasets", str(n_datasets)]
    for name in ("strategies", "folds", "jobs"):
        command += [f"--{name}", str(getattr(given, name))]
    if call == given.profile:
        command += ["--profile", call]
    before = os.times()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    own, peak = process.stdout.read().split()[-1], 0
    with suppress(ChildProcessError):
        while True:  # also what the process left behind: this process adopts its children
            _, _, used = os.wait4(-1, 0)
            peak = max(peak, used.ru_maxrss)
    after = os.times()
    used_all = sum(after[2:4]) - sum(before[2:4])
    return f"{used_all:.2f} / {float(own):.2f}, {peak // 1000} MB"


def main(given: argparse.Namespace) -> None:
    """Print a table of all calls by the number of datasets."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    ctypes.CDLL(None).prctl(SUBREAPER, 1)
    print("load", os.getloadavg())
    for n_datasets in given.datasets:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            for call in given.calls or CALLS:
                told = measured(call, given, n_datasets, Path(folder))
                print(f"| {call} | {n_datasets} | {told} |", flush=True)
                if call == "run":
                    size = Path(folder, "one.h5").stat().st_size
                    print(f"| study, bytes a dataset | {n_datasets} | {size // n_datasets} |")
            print("load", os.getloadavg())


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--strategies", type=int, default=2)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--calls", nargs="+", choices=CALLS)
    parser.add_argument("--folder", type=Path, help="place of the files; default a temporary one")
    parser.add_argument("--profile", choices=CALLS, default="")
    parser.add_argument("--call", choices=CALLS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.call:
        in_this_process(options.call, options)
    else:
        main(options)
