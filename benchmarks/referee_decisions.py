"""Compute decisions on two leaderboards and on the published benchmarks that come with MLaut.

    PYTHONPATH=<MLaut> python benchmarks/referee_decisions.py FOLDER OUTPUT.json [sources]

FOLDER has GIFT-Eval and fev-bench as tables (tasks in rows, models in columns, and a column
``source``). If it is run with two versions of MLaut, the table compares their decisions.
``sources`` states that the version knows sources.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from mlaut.analysis import Results, compare

BOARDS = {
    "GIFT-Eval, CRPS": "gift_eval_97x120_crps.csv",
    "GIFT-Eval, MASE": "gift_eval_97x120_mase.csv",
    "fev-bench, SQL": "fev_bench_100x26_sql.csv",
}
PUBLISHED = ("mlaut2018", "demsar2006", "garcia2008", "benavoli2017", "wainer2023", "delgado2014")


def tables(folder: Path, sources: bool) -> Iterator[tuple[str, Results]]:
    """Yield the results that are decided."""
    for name, file in BOARDS.items():
        table = pd.read_csv(folder / file, index_col=0)
        source = table.pop("source")
        metric = name.rpartition(" ")[2]
        results = Results.from_table(table, metric=metric, greater_is_better=False)
        yield name, results.with_clusters(source.to_dict()) if sources else results
    try:
        from mlaut.analysis import published
    except ImportError:  # before
        published = Results.published
    for name in PUBLISHED:
        yield name, published(name)


def decided(results: Results) -> dict[str, Any]:
    """Return the parts of a decision as plain values."""
    found = compare(results, missing="failures last", n_samples=0)
    decision = found.decision()
    frame = decision.frame
    return {
        "advice": decision.answer(),
        "P(best) of the leader": round(float(frame["P(best)"][decision.leader]), 2),
        "avoid": len(decision.named("avoid")),
        "pairs shown": int(found.leading_pairs.differ(0.05).sum()) // 2,
    }


if __name__ == "__main__":
    folder, output, *sources = sys.argv[1:]
    found = {name: decided(results) for name, results in tables(Path(folder), bool(sources))}
    Path(output).write_text(json.dumps(found, indent=1), encoding="utf-8")
