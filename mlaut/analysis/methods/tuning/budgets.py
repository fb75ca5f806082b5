"""Traces of searches, and scores against the budget of tuning, which show how much is enough."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import positions
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.study_results import open_study
from mlaut.errors import AnalysisError
from mlaut.records import Block, Status, Trace

Cells = Mapping[tuple[str, int, int], Trace]


@dataclass(frozen=True, eq=False)
class _EarlyChoice:
    """Choice that a search would have made among its first candidates.

    Attributes
    ----------
    score : float
        Mean inner score of the choice; NaN if no candidate was scored on all folds.
    evaluations, seconds : float
        Cost of these candidates.
    predictions : tuple of ndarray, or None
        Predictions and probabilities of the choice; None where they were not stored.
    final : bool
        Whether the cell itself made this choice.
    """

    score: float
    evaluations: float
    seconds: float
    predictions: tuple[np.ndarray, np.ndarray | None] | None
    final: bool

    @classmethod
    def of(cls, trace: Trace, n: int) -> Self:
        best, whole = trace.best(n), trace.best(len(trace.params))
        scored = np.isfinite(trace.scores[:n]).mean(axis=1) * trace.shares[:n]
        return cls(
            score=np.nan if best is None else float(trace.means[best]),
            evaluations=float(scored.sum()),
            seconds=float(trace.seconds[:n].sum()),
            predictions=None if best is None else trace.incumbents.get(best),
            final=n >= len(trace.params) or (best is not None and best == whole),
        )


def score_against_budget(
    study: Any,
    metric: Any,
    *,
    strategies: Iterable[str] | None = None,
    datasets: Iterable[str] | None = None,
) -> pd.DataFrame:
    """Return the score of each strategy with smaller budgets of tuning, without fitting again.

    Scenario (c): means over datasets. Budgets are 1, 2, 4, ... candidates, in the order of the
    search (for a grid, in a random order of each cell), and the whole search. The whole search is
    in the row of the median number of candidates of the strategy's cells.

    Parameters
    ----------
    study : Study, FilesIO, or path-like
    metric : str or MLautScore
        Metric of the outer score, on the test rows.
    strategies, datasets : iterable of str, optional
        Names to include. Default: all strategies that tune, and all datasets of the metric's task.

    Returns
    -------
    DataFrame
        One row for each strategy and number of candidates, which are the index. ``evaluations`` and
        ``seconds`` (of CPU time, but see `search_traces`) are the mean cost of these candidates.
        ``inner score`` is the mean score on the tuning folds of the candidate that would have been
        chosen; greater is better, and the upward bias grows with the budget. ``honest score`` is
        the score of the whole search without the bias (bootstrap bias corrected cross-validation,
        see `mlaut.sharing.GridSearchCV`); NaN if it is not valid for a cell. ``outer score`` is the
        metric on the test rows; NaN if predictions of smaller budgets were not stored
        (``trace_predictions``). ``standard error`` is that of the outer score over datasets, and
        ``datasets`` is their number. A strategy has no row for larger budgets than its search.

    Raises
    ------
    AnalysisError
        The study has no trace of a search.

    Notes
    -----
    If candidates share work, the seconds of each are those that it added to the whole search; a
    search with a smaller budget alone could take more or less. A random or grid search with the
    smaller budget would have the same scores. Halving and Optuna would begin in the same way if
    their numbers of candidates were the same; halving with a smaller number draws fewer candidates.

    Examples
    --------
    >>> from mlaut import Study
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> study = Study(folder.name + "/study.h5")
    >>> _ = study.add_datasets("starter/iris")
    >>> options = {"engine": "inline", "verbose": 0, "trace_predictions": True}
    >>> _ = study.run("K_Neighbours", search="random(5)", **options)
    >>> table = score_against_budget(study.path, "accuracy")
    >>> table.loc["K_Neighbours", "evaluations"].to_dict()
    {1: 1.0, 2: 2.0, 4: 4.0, 5: 5.0}
    >>> folder.cleanup()
    """
    stored = open_study(study)
    traces = _traces(stored, strategies, datasets)
    sizes, most = _sizes(traces)
    rows: list[dict[str, Any]] = []
    for n in (2**k for k in range(most.bit_length() + 1) if 2**k < 2 * most):
        results = _results(stored, metric, traces, n, datasets, sizes)
        whole = n >= most
        rows += [
            _row(name, size if whole else n, n, traces, results)
            for name, size in sizes.items()
            if n < size or whole
        ]
    table = pd.DataFrame(rows).set_index(["strategy", "candidates"]).loc[list(sizes)]
    honest = _honest_scores(stored, traces, sizes)
    column = [honest[name] if n == sizes[name] else np.nan for name, n in table.index]
    table.insert(list(table).index("inner score") + 1, "honest score", column)
    return table


def _honest_scores(study: Any, traces: Mapping[str, Cells], names: Iterable[str]) -> pd.Series:
    """Return the mean honest score of each strategy's searches; NaN where a cell has none."""
    rows = [
        (record["strategy"], dataset, record.get("honest_score"))
        for dataset, records in study.all_details(list(traces), only=[Status.DONE])
        for record in records
        if (record["strategy"], record["repeat"], record["fold"]) in traces[dataset]
    ]
    frame = pd.DataFrame(rows, columns=["strategy", "dataset", "score"]).astype({"score": float})
    whole = partial(pd.Series.mean, skipna=False)  # an unknown score makes a mean unknown
    means = frame.groupby(["strategy", "dataset"])["score"].agg(whole)
    return means.groupby("strategy").agg(whole).reindex(list(names))


def results_at_budget(
    study: Any,
    metric: Any,
    n: int,
    *,
    strategies: Iterable[str] | None = None,
    datasets: Iterable[str] | None = None,
) -> Results:
    """Return the results of a study as if every search had ended after ``n`` candidates.

    All analyses accept these results, for example `mlaut.compare`. Strategies that do not tune,
    and searches with fewer candidates, are unchanged. Cells are missing if their predictions were
    not stored: the study needs ``trace_predictions``, and ``n`` must be a power of two.

    Parameters
    ----------
    study : Study, FilesIO, or path-like
    metric : str or MLautScore
    n : int
        Number of candidates: 1, 2, 4, ...
    strategies, datasets : iterable of str, optional
        As for `Results.from_study`.

    Raises
    ------
    AnalysisError
        ``n`` is not a power of two, or the study has no trace of a search.
    """
    if not isinstance(n, int) or n < 1 or n & (n - 1):
        raise AnalysisError(f"n = {n!r}: predictions are stored for 1, 2, 4, 8, ... candidates")
    stored = open_study(study)
    traces = _traces(stored, None, datasets)
    return _results(stored, metric, traces, n, datasets, strategies)


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
        used = [_EarlyChoice.of(trace, len(trace.params)) for trace in traces]
        candidates = [np.isfinite(trace.scores).any(axis=1).sum() for trace in traces]
        spent = [[use.evaluations for use in used], [use.seconds for use in used]]
        means = [np.mean(numbers) for numbers in (candidates, *spent)]
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


def _traces(
    study: Any, strategies: Iterable[str] | None, datasets: Iterable[str] | None
) -> dict[str, Cells]:
    chosen = None if strategies is None else {*strategies}
    traces: dict[str, Cells] = {
        dataset: {cell: t for cell, t in cells.items() if chosen is None or cell[0] in chosen}
        for dataset, cells in study.traces(None if datasets is None else list(datasets))
    }
    if not any(traces.values()):
        raise AnalysisError(
            "no trace of a search: none of these strategies tunes, or an older MLaut ran them; "
            "run a study with strategies that tune"
        )
    return traces


def _sizes(traces: Mapping[str, Cells]) -> tuple[dict[str, int], int]:
    """Return the median number of candidates of each strategy's cells, and the largest of all."""
    lengths: dict[str, list[int]] = {}
    for cells in traces.values():
        for (strategy, _, _), trace in cells.items():
            lengths.setdefault(strategy, []).append(len(trace.params))
    middle = {name: sorted(sizes)[len(sizes) // 2] for name, sizes in sorted(lengths.items())}
    return middle, max(map(max, lengths.values()))


def _results(
    study: Any,
    metric: Any,
    traces: Mapping[str, Cells],
    n: int,
    datasets: Iterable[str] | None,
    strategies: Iterable[str] | None,
) -> Results:
    """Return the results with the predictions of the choices among ``n`` candidates."""
    names = list(traces) if datasets is None else list(datasets)
    blocks = (_at_budget(study.block(name), traces[name], n) for name in names)
    return Results.from_blocks(_of_one_task(blocks, metric), metric, strategies=strategies)


def _of_one_task(blocks: Iterable[Block], metric: Any) -> Iterator[Block]:
    from mlaut.analysis.scores.metric_names import metric as find_metric

    task = find_metric(metric).task
    return (block for block in blocks if task in (None, block.task))


def _at_budget(block: Block, cells: Cells, n: int) -> Block:
    """Return a block with the predictions of its searches after ``n`` candidates."""
    predictions, status = block.predictions.copy(), block.status.copy()
    probabilities = None if block.probabilities is None else block.probabilities.copy()
    for (strategy, repeat, fold), trace in cells.items():
        s = block.strategies.index(strategy)
        choice = _EarlyChoice.of(trace, n)
        if choice.final or status[s, repeat, fold] != Status.DONE:
            continue
        if choice.predictions is None:
            status[s, repeat, fold] = Status.MISSING
            continue
        test = block.split.rows(repeat, fold)[1]
        predictions[s, repeat, test] = choice.predictions[0]
        if probabilities is not None:
            given = choice.predictions[1]
            probabilities[s, repeat, test] = np.nan if given is None else given
    return replace(block, predictions=predictions, probabilities=probabilities, status=status)


def _row(
    name: str, n: int, budget: int, traces: Mapping[str, Cells], results: Results
) -> dict[str, Any]:
    of_cells = {
        dataset: [_EarlyChoice.of(trace, budget) for (s, _, _), trace in cells.items() if s == name]
        for dataset, cells in traces.items()
        if dataset in results.datasets
    }
    means = pd.DataFrame(
        [
            [np.mean([getattr(use, key) for use in uses]) for key in _COSTS]
            for uses in of_cells.values()
            if uses
        ],
        columns=list(_COSTS),
    ).mean()
    known = name in results.strategies
    scores = results.scores[name] if known else pd.Series(dtype=float)
    whole = known and bool(scores.notna().all())
    return {
        "strategy": name,
        "candidates": n,
        "evaluations": means["evaluations"],
        "seconds": means["seconds"],
        "inner score": means["score"],
        "outer score": scores.mean() if whole else np.nan,
        "standard error": scores.sem() if whole else np.nan,
        "datasets": len(scores) if whole else sum(map(bool, of_cells.values())),
    }


_COSTS = ("evaluations", "seconds", "score")


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
