"""Measure CPU time and memory of `mlaut report` of tables, each report in a process of its own.

    python benchmarks/bench_reports.py [--beside FOLDER] [--rounds 3] [--rows "100 x 100 page" ...]

``--beside`` names the root of another version of MLaut; both take turns. Seconds include Python's
start and all imports; of several rounds the smallest are printed, as other programs add to both.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
RUN = "import sys; from mlaut.cli import main; sys.exit(main())"
FORMS = {"text": (), "page": ("-o", "report.html"), "folder": ("-o", "tables/")}
ROWS = (
    *(f"{size} {form}" for size in ("10 x 5", "30 x 10", "100 x 100") for form in FORMS),
    *(f"{size} text" for size in ("217 x 97", "300 x 100", "1000 x 100", "100 x 300")),
    *("1000 x 300 text", "6 x 1557 text"),
)


def scores(n_datasets: int, n_strategies: int) -> pd.DataFrame:
    """Return a table of accuracies; strategies of few datasets differ as models of images do."""
    rng = np.random.default_rng(0)
    rows, noise = rng.normal(0.7, 0.08, (n_datasets, 1)), rng.normal(0, 0.03, n_strategies)
    own = rng.normal(0, 0.01 if n_datasets < 10 else 0.03, (n_datasets, n_strategies))
    table = pd.DataFrame((rows + noise * (n_datasets < 10) + own).clip(0, 1).round(4))
    return table.add_prefix("s").rename_axis("dataset").rename(index=lambda x: f"d{x}")


def measured(package: Path, folder: Path, table: str, form: str) -> tuple[float, float]:
    """Return CPU seconds and the largest memory in MB of one report."""
    lasting = {name: x for name, x in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    lasting |= {"PYTHONPATH": str(package), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", RUN, "report", table, "--metric", "accuracy", *FORMS[form]]
    silent = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=folder, env=lasting, stdout=silent) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{table} {form} of {package} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", nargs="+", default=ROWS, metavar="ROW")
    given = parser.parse_args()
    packages = [*([given.beside.resolve()] if given.beside else []), ROOT]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for package in packages:  # compiles the modules
            scores(10, 5).to_csv(folder / "10 x 5.csv")
            measured(package, folder, "10 x 5.csv", "page")
        print("datasets x strategies,form" + ",CPU seconds,MB" * len(packages))
        for row in given.rows:
            size, _, form = row.rpartition(" ")
            scores(*map(int, size.split(" x "))).to_csv(folder / f"{size}.csv")
            turns = [
                [measured(package, folder, f"{size}.csv", form) for package in packages]
                for _ in range(given.rounds)
            ]
            best = np.min(turns, axis=0)
            print(f"{size},{form}" + "".join(f",{s:.2f},{mb:.0f}" for s, mb in best), flush=True)
