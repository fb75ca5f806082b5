"""Data of the explorer for one metric: scores and losses, and what the report found."""

from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis import Results
from mlaut.analysis.common.display import SCENARIOS
from mlaut.analysis.deciding.margins import own_scores
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.scores.base import IN_TARGET_UNITS
from mlaut.report.explorer.packing import Packer
from mlaut.report.records import Section
from mlaut.report.tables import seconds_of_done

_NO_REASON = "no score"  # of a gap in a table
_MOST_CELLS = 1_000_000  # scores; intervals of more take too much room


def view(section: Section, packer: Packer) -> dict[str, Any]:
    """Return the record of a section that is compared; its arrays go to the packer.

    ``losses`` are those that the report compares, NaN where it compares none; ``numbers`` has what
    the page does not compute. ``holes`` has a number for each dataset and strategy: 0 where there
    is a score, else one more than the place of its reason.
    """
    decision, results, scored = section.decision, section.results, section.scored.in_order
    assert decision is not None
    reasons, missing = _reasons(scored)
    estimates = section.tables.get("estimates by dataset")
    methods = set() if estimates is None else set(estimates.get("method", ())) - {""}
    scenario = "(b)" if methods - {"hold-out"} else "(a)"
    names: dict[str, Any] = {"index": list(scored.datasets), "columns": list(scored.strategies)}
    known = pd.DataFrame(paired_losses(results).snapped, results.datasets, results.strategies)
    scores = own_scores(results).reindex(**names).fillna(scored.scores.reindex(**names))
    return {
        "metric": scored.metric.name,
        "title": section.title,
        "up": scored.metric.greater_is_better,
        "incomparable": scored.metric.incomparable,
        "ratios": scored.metric.incomparable == IN_TARGET_UNITS,
        "strategies": scored.strategies,
        "verdicts": decision.frame["verdict"].to_dict(),
        "numbers": _numbers(section, list(scored.strategies)),
        "datasets": scored.datasets,
        "reasons": list(reasons),
        "scores": packer.add(scores.to_numpy(dtype=float)),
        "losses": packer.add(known.reindex(**names).to_numpy(dtype=float)),
        "holes": packer.add(missing),
        "seconds": packer.add(seconds_of_done(scored)),
        "scenario": scenario,
        "of": SCENARIOS[scenario],
        "intervals": packer.add(_intervals(scored, estimates)),
    }


def _numbers(section: Section, names: list[str]) -> dict[str, list[float | None]]:
    """Return what the report knows of each strategy, over all datasets, by the name of a column."""
    assert section.decision is not None
    frame, standing = section.decision.frame, section.tables.get("standing")
    columns = {"failed": frame["failures"].replace(0, np.nan)}
    columns |= {"seconds": frame["training seconds"]} if "training seconds" in frame else {}
    if section.decision.leader and standing is not None:
        columns |= {name: standing[name] for name in ("P(best)", "Elo") if name in standing}
    return {
        name: [None if x != x else float(x) for x in column.reindex(names)]
        for name, column in columns.items()
    }


def _intervals(scored: Results, estimates: pd.DataFrame | None) -> np.ndarray:
    """Return the ends of the intervals of each dataset: shape (N, K, 2), or empty."""
    if estimates is None or scored.scores.size > _MOST_CELLS:
        return np.zeros(0)
    index = pd.MultiIndex.from_product([scored.datasets, scored.strategies])
    return np.asarray(estimates[["low", "high"]].reindex(index).to_numpy(dtype=float))


def _reasons(scored: Results) -> tuple[dict[str, int], np.ndarray]:
    """Return the reasons why cells are missing, and the first of each dataset and strategy."""
    numbers = np.zeros(scored.cells.shape[:2], dtype=np.uint32)
    places: dict[str, int] = {}
    for d, s, r, f in np.argwhere(np.isnan(scored.cells) & scored.expected[:, None]).tolist():
        reason = scored.reasons.get((d, s, r, f), _NO_REASON)
        numbers[d, s] = numbers[d, s] or places.setdefault(reason, len(places)) + 1
    return places, numbers
