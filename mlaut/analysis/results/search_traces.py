"""Traces of searches, and what these used of their budgets."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import positions
from mlaut.analysis.results.study_results import open_study
from mlaut.records import Trace


def budget_use(study: Any) -> pd.DataFrame:
    """Return how much of its search budget each strategy used, and whether the budget was kept.

    Parameters
    ----------
    study : Study, FilesIO, or path-like

    Returns
    -------
    DataFrame
        One row for each strategy that tuned and each of its searches. The columns are ``search``,
        ``budget`` (empty for none), ``cells``, and means over cells: ``candidates`` (scored on one
        fold or more; those of halving count once for each part), ``evaluations`` and ``seconds``
        (of CPU time; of wall time if scikit-learn itself did the search). ``most`` is the largest
        use of a cell in the unit of the budget, and ``kept`` is ``"yes"`` or the kind of excess.
    """
    rows: dict[tuple[str, str, str], list[Trace]] = {}
    for _, cells in open_study(study).traces():
        for (strategy, _, _), trace in cells.items():
            rows.setdefault((strategy, trace.search, trace.budget), []).append(trace)
    uses = []
    for (strategy, search, budget), traces in sorted(rows.items()):
        scored = [np.isfinite(trace.scores) for trace in traces]
        candidates = [folds.any(axis=1).sum() for folds in scored]
        parts = [t.shares * folds.mean(axis=1) for t, folds in zip(traces, scored, strict=True)]
        evaluations = [float(part.sum()) for part in parts]
        seconds = [float(trace.seconds.sum()) for trace in traces]
        means = [np.mean(numbers) for numbers in (candidates, evaluations, seconds)]
        uses.append((strategy, search, budget, len(traces), *means, *_kept(traces)))
    columns = ["strategy", "search", "budget", "cells", "candidates", "evaluations", "seconds"]
    return pd.DataFrame(uses, columns=[*columns, "most", "kept"]).set_index("strategy")


_SLACK = 1.1  # a search ends with the fit that runs when its budget ends


def _kept(traces: Sequence[Trace]) -> tuple[float, str]:
    """Return the largest use of a budget by a cell, and a text on whether the budget was kept."""
    unit, amount = next(iter(traces[0].allowed.items()), ("", np.nan))
    used = np.array([trace.spent.get(unit, np.nan) for trace in traces])
    most = float(used.max())
    if not unit:
        return most, "no budget"
    over = int((used > amount * _SLACK).sum())
    if over:
        return most, f"{over} of {len(used)} cells used more"
    spare = unit == "evaluations"  # which a search does not begin if it would exceed the budget
    return most, "less: no more candidates" if most < amount / _SLACK - spare else "yes"


def search_traces(
    study: Any, *, strategies: Iterable[str] | None = None, datasets: Iterable[str] | None = None
) -> pd.DataFrame:
    """Return every candidate of every search of a study, in order.

    Parameters
    ----------
    study : Study, FilesIO, or path-like
    strategies, datasets : iterable of str, optional
        Names to include; default all.

    Returns
    -------
    DataFrame
        One row for each candidate, in the order in which a smaller budget would take them: the
        order of the search, or for a grid a random order of each cell. The columns are ``dataset``,
        ``strategy``, ``repeat`` and ``fold``; ``candidate``, its number from 1; ``search``;
        ``params`` (dict); ``score``, the mean inner score (greater is better; NaN unless all folds
        were scored); ``fold scores`` (list); ``seconds``, the CPU time that it added to the search
        (wall time if scikit-learn itself did the search; see ``clock``); and ``share``, the share
        of the training rows that it was fitted on. Cells of an older MLaut have no trace.

    Examples
    --------
    >>> from mlaut import Study
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> study = Study(folder.name + "/study.h5")
    >>> _ = study.add_datasets("starter/iris")
    >>> _ = study.run("K_Neighbours", engine="inline", verbose=0)
    >>> table = search_traces(study.path)
    >>> len(table), sorted(table["params"][0])
    (60, ['n_neighbors', 'p'])
    >>> folder.cleanup()
    """
    stored = open_study(study)
    names = list(stored.datasets)
    chosen = [names[i] for i in positions("dataset", datasets, names)]
    known = [entry.name for entry in stored.strategies]
    wanted = {known[i] for i in positions("strategy", strategies, known)}
    parts = [
        pd.DataFrame(
            {
                "dataset": dataset,
                "strategy": strategy,
                "repeat": repeat,
                "fold": fold,
                "candidate": np.arange(1, len(trace.params) + 1),
                "search": trace.search,
                "params": list(trace.params),
                "score": trace.means,
                "fold scores": trace.scores.tolist(),
                "seconds": trace.seconds.astype(float),
                "clock": trace.clock,
                "share": trace.shares.astype(float),
            }
        )
        for dataset, cells in stored.traces(chosen)
        for (strategy, repeat, fold), trace in sorted(cells.items())
        if strategy in wanted
    ]
    columns = ["dataset", "strategy", "repeat", "fold", "candidate", "search", "params", "score"]
    empty = pd.DataFrame(columns=[*columns, "fold scores", "seconds", "clock", "share"])
    return pd.concat(parts, ignore_index=True) if parts else empty
