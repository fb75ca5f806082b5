"""Two strategies on the same items: paired differences over items and over their tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import stdtr

from mlaut.analysis.common.display import SMALLEST_P
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.methods.aggregates.skill import ends, mean_by_source
from mlaut.analysis.methods.frequentist.mcnemar import mcnemar_p
from mlaut.analysis.results.given import of_results, takes_sources
from mlaut.analysis.results.results import Results


@of_results
@takes_sources
def paired_items(
    results: Results, first: str, second: str, *, confidence: float = 0.95
) -> ResultTable:
    """Compare two strategies on the same items: over items, and over tasks.

    Scenario (a) over items: new items of these tasks. Scenario (c) over tasks: new tasks.

    Parameters
    ----------
    results : Results or DataFrame
        Scores of single items: items are the datasets, and their tasks the sources, as
        `mlaut.analysis.read_results` reads them.
    first, second : str
        Names of the strategies.
    confidence : float, default 0.95
        Confidence of the intervals.

    Returns
    -------
    ResultTable
        A row for each scenario, that over tasks only where there are several: ``difference`` is the
        mean loss of the first minus that of the second, each item once, with its ``standard error``
        and the interval ``low``, ``high``; ``p`` is the two-sided p-value, ``units`` the number of
        items or tasks. Standard errors over tasks are clustered by task.

    Raises
    ------
    MissingCellsError
        A strategy has no score of an item.
    AnalysisError
        A strategy is not known, or there is one item.

    Notes
    -----
    Null hypothesis: equal mean losses on new items of these tasks, or on new tasks. Over items the
    p-value is that of McNemar's exact test where all scores are 0 or 1 (McNemar 1947), else that of
    Student's t. Over tasks it is that of Student's t, with the jackknife variance that leaves out
    one task at a time (CR3 of Cameron and Miller 2015, section VI). An unpaired test of two
    accuracies ignores that items are the same, and finds less.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [1, 1, 1, 1, 1, 1, 1, 0], "B": [1, 0, 0, 0, 0, 0, 0, 0]})
    >>> found = paired_items(table, "A", "B", metric="accuracy").frame
    >>> found.loc["over items", ["difference", "p"]].tolist()
    [-0.75, 0.03125]
    """
    pair = results.select(strategies=[first, second])
    losses = pair.complete(datasets=2).to_numpy()
    difference = losses[:, :1] - losses[:, 1:]
    over = {"over items": replace(pair, clusters=None)}
    if pair.n_sources < len(pair.datasets) and pair.n_sources > 1:
        over["over tasks"] = pair
    rows = {}
    for scenario, units in over.items():
        found = mean_by_source(units, difference)
        mean, low, high = ends(units, found, confidence)[:, 0]
        error, n = found[1, 0], units.n_sources
        p = 2 * stdtr(n - 1, -np.abs(mean) / error) if error > 0 else float(mean == 0)
        if scenario == "over items" and np.isin(pair.scores, (0, 1)).all():
            p = mcnemar_p((difference > 0).sum(), (difference < 0).sum(), "exact")
        rows[scenario] = [mean, error, low, high, max(float(p), SMALLEST_P), n]
    columns = ["difference", "standard error", "low", "high", "p", "units"]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=columns).astype({"units": int})
    lone = ("all items are of one task, or of a task each: nothing is said of new tasks",)
    return ResultTable(
        name=f"{first} minus {second} on the same items",
        frame=frame,
        source="McNemar 1947; Cameron and Miller 2015",
        metric=pair.metric.loss_name,
        scenario="(a)" if len(rows) == 1 else "(c)",
        notes=(*pair.notes_text(), *(lone if len(rows) == 1 else ())),
    )
