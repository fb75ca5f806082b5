"""Draw Figures 3 to 5 of Lacoste, Laviolette & Marchand (2012), and check the bimodal context.

Areas under the ROC curve of the Poisson binomial, the sign and the signed rank test on synthetic
contexts, with 100,000 studies drawn for each point.

    python benchmarks/lacoste_figures.py figures/
"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from mlaut.analysis import (
    BIMODAL,
    MULTIPLE,
    SINGLE,
    Context,
    ResultTable,
    auc_plot,
    auc_table,
    judge_on_context,
    roc_plot,
)

TESTS = ("poisson binomial", "sign", "signed rank")
STUDIES = 100_000
DATASETS = (3, 5, 7, 9, 11, 15, 21, 31, 41)
POINTS = (11, 31, 101, 301, 1001, 3001, 10_001, 100_001)
FIGURES: dict[str, tuple[Context, object, object]] = {
    "figure 3": (SINGLE, DATASETS, 1001),
    "figure 4": (MULTIPLE, DATASETS, 1001),
    "figure 5": (MULTIPLE, 21, POINTS),
}


def table(name: str) -> ResultTable:
    """Compute the areas of one figure."""
    context, datasets, points = FIGURES[name]
    return auc_table(context, datasets, points, TESTS, STUDIES)  # type: ignore[arg-type]


def bimodal() -> dict:
    """Compute the curves of section 6.4."""
    return judge_on_context(BIMODAL, 14, 100_001, TESTS, STUDIES)


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "figures")
    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    with ProcessPoolExecutor(2) as pool:
        curves = pool.submit(bimodal)
        tables = dict(zip(FIGURES, pool.map(table, FIGURES), strict=True))
        rocs = curves.result()
    for name, areas in tables.items():
        auc_plot(areas).savefig(folder / f"{name.replace(' ', '_')}.png", dpi=110)
        print(f"{name}\n{areas}\n")
    roc_plot(rocs).savefig(folder / "bimodal.png", dpi=110)
    for name, roc in rocs.items():
        print(f"bimodal, {name}: AUC {roc.auc:.4f} +- {roc.auc_error:.4f}")
    print(f"all in {time.perf_counter() - start:.0f} s")
