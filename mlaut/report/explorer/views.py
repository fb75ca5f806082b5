"""Data of the explorer for one metric: the scores of all cells, and how they are compared."""

from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis import Results
from mlaut.analysis.common.display import SCENARIOS
from mlaut.analysis.common.tests import FLIPPED
from mlaut.records import NOT_RUN, Status
from mlaut.report.explorer.packing import Packer
from mlaut.report.records import Section
from mlaut.report.tables import seconds_of_done

_NO_REASON = "no score"  # of a gap in a table, which counts as a failure and not as not run
_MOST_CELLS = 1_000_000  # scores of single folds; of larger studies the means are shipped (11 MB)


def view(section: Section, packer: Packer) -> dict[str, Any]:
    """Return the record of a section that is compared; its arrays go to the packer.

    Losses are ``offset + slope * score``. ``missing`` has a number for each cell: 0 where it has a
    score, else one more than the place of its reason.
    """
    assert section.decision is not None
    scored, chosen = section.scored.in_order, section.decision.chosen.analysis
    shape, whole = scored.cells.shape, scored.cells.size <= _MOST_CELLS
    cells = scored.cells if whole else scored.scores.to_numpy()[:, :, None, None]
    expected = scored.expected if whole else np.ones((shape[0], 1, 1), dtype=bool)
    reasons, missing = _reasons(scored, whole)
    offset = float(scored.metric.loss(0.0))
    estimates = section.tables.get("estimates by dataset")
    methods = set() if estimates is None else set(estimates.get("method", ())) - {""}
    scenario = "(b)" if methods - {"hold-out"} else "(a)"
    return {
        "metric": scored.metric.name,
        "loss": scored.metric.loss_name,
        "title": section.title,
        "up": scored.metric.greater_is_better,
        "offset": offset,
        "slope": float(scored.metric.loss(1.0)) - offset,
        "incomparable": scored.metric.incomparable,
        "noise": scored.noise,
        "missing": chosen.missing,
        "alpha": chosen.alpha,
        "least": chosen.least,
        "control": chosen.question.startswith("control"),
        "jointly": not chosen.question.startswith("control") and chosen.test in FLIPPED,
        "strategies": scored.strategies,
        "verdicts": section.decision.frame["verdict"].to_dict(),
        "datasets": scored.datasets,
        "repeats": cells.shape[2],
        "folds": cells.shape[3],
        "reasons": list(reasons),
        "not run": [(reason in NOT_RUN) + (reason == Status.SKIPPED.word) for reason in reasons],
        "scores": packer.add(cells),
        "expected": packer.add(expected),
        "holes": packer.add(missing),
        "seconds": packer.add(seconds_of_done(scored)),
        "scenario": scenario,
        "of": SCENARIOS[scenario],
        "intervals": packer.add(_intervals(scored, estimates)),
    }


def _intervals(scored: Results, estimates: pd.DataFrame | None) -> np.ndarray:
    """Return the ends of the intervals of each dataset: shape (N, K, 2), or empty."""
    if estimates is None or scored.scores.size > _MOST_CELLS:
        return np.zeros(0)
    index = pd.MultiIndex.from_product([scored.datasets, scored.strategies])
    return np.asarray(estimates[["low", "high"]].reindex(index).to_numpy(dtype=float))


def _reasons(scored: Results, whole: bool) -> tuple[dict[str, int], np.ndarray]:
    """Return the reasons why cells are missing, and the number of its reason for each cell."""
    shape = scored.cells.shape if whole else (*scored.cells.shape[:2], 1, 1)
    numbers = np.zeros(shape, dtype=np.uint32)
    places: dict[str, int] = {}
    at = np.argwhere(np.isnan(scored.cells) & scored.expected[:, None])
    for d, s, r, f in at.tolist():
        place = (d, s, r, f)
        reason = scored.reasons.get(place, _NO_REASON)
        where = place if whole else (*place[:2], 0, 0)
        numbers[where] = places.setdefault(reason, len(places)) + 1
    return places, numbers
