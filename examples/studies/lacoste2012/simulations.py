"""Draw Figures 3 to 5 of Lacoste, Laviolette & Marchand (2012), and check the bimodal context.

Areas under the ROC curve of the Poisson binomial, the sign and the signed rank test on synthetic
contexts, with 100,000 studies drawn for each point; Figure 4 once more with a context that is
made of this study's own counts. A table that is there is not computed again::

    python simulations.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import contexts
import pandas as pd
from context_plots import auc_plot

import mlaut.analysis as ma

HERE = Path(__file__).parent
TESTS = ("poisson binomial", "sign", "signed rank")
STUDIES = 100_000
DATASETS = (3, 5, 7, 9, 11, 15, 21, 31, 41)
POINTS = (11, 31, 101, 301, 1001, 3001, 10_001, 100_001)


def own_context(folder: Path) -> contexts.Context:
    """Make a context of svm and parzen on the tasks of this study, as Table 5 is one of theirs."""
    counts = pd.read_csv(folder / "counts.csv")
    chosen = counts[(counts["first"] == "svm") & (counts["second"] == "parzen")]
    only = (chosen[f"only_{which}_wrong"] for which in ("first", "second"))
    return contexts.context_from_counts(*only, chosen["n"], name="svm and parzen here")


def areas(
    context: contexts.Context, n_datasets: object, n_points: object, studies: int
) -> pd.DataFrame:
    """Compute the areas of one figure, a row for each point."""
    table = contexts.auc_table(context, n_datasets, n_points, TESTS, studies)  # type: ignore[arg-type]
    return table.frame


def bimodal(studies: int) -> pd.DataFrame:
    """Compute the areas of section 6.4, where the differences of the risks are not symmetric."""
    return areas(contexts.BIMODAL, 14, 100_001, studies)


def figures(folder: Path) -> dict[str, Callable[[int], pd.DataFrame]]:
    """Name the tables and what computes each of them."""
    return {
        "figure3": lambda studies: areas(contexts.SINGLE, DATASETS, 1001, studies),
        "figure4": lambda studies: areas(contexts.MULTIPLE, DATASETS, 1001, studies),
        # With 41 datasets hardly a claim is wrong, so that there is no area to estimate.
        "figure4_here": lambda studies: areas(own_context(folder), DATASETS[:-1], 1001, studies),
        "figure5": lambda studies: areas(contexts.MULTIPLE, 21, POINTS, studies),
        "bimodal": bimodal,
    }


def simulate(folder: Path, studies: int = STUDIES) -> None:
    """Write the tables that are not there, and draw those that are lines."""
    for name, compute in figures(folder).items():
        path = folder / f"{name}.csv"
        if path.exists():
            continue
        begun = time.perf_counter()
        frame = compute(studies)
        if len(frame) > 1:
            drawn = auc_plot(ma.ResultTable(name=name, frame=frame, source=""))
            drawn.savefig(folder / f"{name}.png", dpi=80, pil_kwargs={"optimize": True})
        frame.to_csv(path, float_format="%.6g")
        sys.stdout.write(f"{name}: {time.perf_counter() - begun:.0f} s\n")


if __name__ == "__main__":
    simulate(HERE / "results")
