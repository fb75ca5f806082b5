"""Time computations that evaluma or aeon and MLaut have in common.

    OMP_NUM_THREADS=1 python benchmarks/bench_peers.py

The times are CPU seconds of one process and its children, medians of three rounds in turn. A
package that is not installed is left out (`pip install evaluma aeon`). It takes about five minutes.
"""

import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import matplotlib as mpl
import numpy as np
import pandas as pd

from mlaut.analysis import Results, multi_comparison, probability_of_best
from mlaut.report import make_report, write_report

N, K = 40, 10


def cpu() -> float:
    """Return the CPU seconds of this process and of its children that ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def seconds(function: Callable[[], object]) -> float:
    """Return the CPU time of one call."""
    start = cpu()
    with Path(os.devnull).open("w") as quiet, redirect_stdout(quiet):
        function()
    return cpu() - start


def fresh() -> Results:
    """Return new results, without values cached in the round before."""
    return Results.from_table(TABLE, metric="accuracy")


def evaluma_views() -> None:
    """Compute the views of evaluma that need neither runs nor a second condition."""
    import evaluma

    bench = evaluma.load_df(LONG, metric_direction={"accuracy": "max"})
    bench.aggregate_ranking()
    bench.performance_profiles()
    bench.frequentist_comparison()
    bench.bayesian_comparison()
    bench.elo_ranking()
    bench.improvability_ranking()


def aeon_matrix(folder: Path) -> None:
    """Draw aeon's multi-comparison matrix."""
    from aeon.visualisation import create_multi_comparison_matrix

    create_multi_comparison_matrix(TABLE, save_path=str(folder / "mcm"))


def our_report(folder: Path) -> None:
    """Write the whole page of MLaut."""
    write_report(make_report(TABLE, "accuracy"), folder / "report.html")


PAIRS = {
    "evaluma: six views of a table, no page": ("evaluma", lambda _: evaluma_views()),
    "aeon: multi-comparison matrix, as a file": ("aeon", aeon_matrix),
    "MLaut: the whole report as a page": ("mlaut", our_report),
    "MLaut: multi-comparison matrix, numbers": ("mlaut", lambda _: multi_comparison(fresh())),
    "MLaut: P(best), 2,048 draws": ("mlaut", lambda _: probability_of_best(fresh())),
}


if __name__ == "__main__":
    mpl.use("Agg")
    warnings.simplefilter("ignore")  # of the peers
    rng = np.random.default_rng(0)
    scores = 0.8 + rng.normal(0, 0.08, (N, 1)) + rng.normal(0, 0.03, (N, K)) + np.arange(K) * 0.003
    TABLE = pd.DataFrame(scores.clip(0, 1).round(4), columns=[f"s{i}" for i in range(K)])
    TABLE.index = pd.Index([f"d{i}" for i in range(N)], name="dataset")
    LONG = TABLE.stack().rename_axis(["dataset", "model"]).rename("score").reset_index()  # noqa: PD013
    LONG["metric"] = "accuracy"
    spent: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as place:
        for _ in range(3):
            for name, (package, function) in PAIRS.items():
                if find_spec(package) is not None:
                    spent.setdefault(name, []).append(seconds(lambda f=function: f(Path(place))))
                    print(f"{name}: {spent[name][-1]:.2f} s", file=sys.stderr)
    print(f"| {N} datasets, {K} strategies | CPU seconds |\n|---|---:|")
    for name, of_name in spent.items():
        print(f"| {name} | {median(of_name):.2f} |")
