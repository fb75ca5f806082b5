"""Traces of the searches of a study, as one table."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import positions
from mlaut.analysis.results.sources import open_study


def search_traces(
    study: Any,
    *,
    strategies: Iterable[str] | None = None,
    datasets: Iterable[str] | None = None,
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
        One row for each candidate, in the order in which a smaller budget would take them: that of
        the search, and for a grid a random one of each cell. Columns: ``dataset``, ``strategy``,
        ``repeat``, ``fold``; ``candidate``, its number from 1; ``search``; ``params`` (dict);
        ``score``, the mean inner score (greater is better; NaN unless all folds were scored);
        ``fold scores`` (list); ``seconds`` that it added to the search, of CPU time (of wall time
        where scikit-learn itself did the search; see ``clock``); ``share`` of the training rows
        that it was fitted on. Cells that an older MLaut stored have no trace.

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
