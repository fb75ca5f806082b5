"""Scores against the budget of tuning, which show how much is enough, and their figure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mlaut.analysis import Look, Results
from mlaut.analysis import metric as find_metric
from mlaut.errors import AnalysisError
from mlaut.plugins import (
    FONT,
    PALETTE,
    PLAIN,
    Size,
    canvas,
    checked,
    log_scale,
    open_study,
    shown,
    style,
)
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
        ``seconds`` (of CPU time, but see `mlaut.analysis.search_traces`) are the mean cost of these
        candidates. ``inner score`` is the mean score on the tuning folds of the candidate that
        would have been chosen; greater is better, and the upward bias grows with the budget.
        ``honest score`` is the score of the whole search without the bias (bootstrap bias corrected
        cross-validation, see `mlaut.sharing.GridSearchCV`); NaN if it is not valid for a cell.
        ``outer score`` is the metric on the test rows; NaN if predictions of smaller budgets were
        not stored (``trace_predictions``). ``standard error`` is that of the outer score over
        datasets, and ``datasets`` is their number. A strategy has no row for larger budgets than
        its search.

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


# ------------------------------------------------------------------- the figure

_AXES = {
    "evaluations": "evaluations in tuning (candidates on all rows)",
    "candidates": "candidates in tuning",
    "seconds": "CPU seconds of tuning",
}
_NEEDED = ("evaluations", "seconds", "inner score", "outer score")


@checked
def budget_plot(
    budgets: pd.DataFrame,
    *,
    x: str = "evaluations",
    ax: Axes | None = None,
    figsize: Size | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Draw the score of each strategy against the budget of its tuning.

    Parameters
    ----------
    budgets : DataFrame
        Result of `score_against_budget`.
    x : {"evaluations", "candidates", "seconds"}, default "evaluations"
        Unit of the budget.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        One line for each strategy, with its outer scores if they are known. If only the whole
        search has an outer score, a dashed line shows the inner score, which is biased upwards. The
        horizontal axis is logarithmic.

    Raises
    ------
    AnalysisError
        The table is of another kind, or ``x`` is not a unit.

    Examples
    --------
    >>> index = pd.MultiIndex.from_product([["SVC"], [1, 2, 4]])
    >>> columns = ["evaluations", "seconds", "inner score", "outer score"]
    >>> rows = [[1, 0.1, 0.8, 0.7], [2, 0.2, 0.9, 0.8], [4, 0.4, 0.95, 0.8]]
    >>> figure = budget_plot(pd.DataFrame(rows, index, columns))
    >>> figure.axes[0].get_ylabel()
    'outer score'
    """
    if x not in _AXES:
        raise AnalysisError(f"x = {shown(x)} is no unit of a budget; use {', '.join(_AXES)}")
    if not isinstance(budgets, pd.DataFrame) or budgets.empty or {*_NEEDED} - {*budgets.columns}:
        raise AnalysisError("budgets: not what score_against_budget returned; pass its result")
    of_index = pd.Series(budgets.index.get_level_values(-1), index=budgets.index, dtype=float)
    used = of_index if x == "candidates" else budgets[x]
    names = list(dict.fromkeys(budgets.index.get_level_values(0)))
    drawn = look.shown(_best_first(budgets, names))
    look = look.apart(drawn)
    figure, axes = canvas(ax, figsize, (7.5, 4.5), names=look.labels(drawn))
    kinds = set()
    for place, name in enumerate(drawn):
        rows = budgets.loc[[name]]
        outer = bool(rows["outer score"].iloc[:-1].notna().any()) or len(rows) == 1
        kind = "outer score" if outer else "inner score"
        kinds.add(kind)
        axes.plot(
            used.loc[[name]].to_numpy(dtype=float),
            rows[kind].to_numpy(dtype=float),
            "o-" if outer else "o--",
            color=look.colour(name, PALETTE[place % len(PALETTE)]),
            markersize=4,
            linewidth=1.4,
            label=look.label(name),
        )
    known = used[used > 0]
    style(axes, _AXES[x], " or ".join(sorted(kinds, reverse=True)))
    log_scale(axes, float(np.max(known) / np.min(known)) if len(known) else 1.0)
    look.finish(axes, drawn, "")
    axes.legend(fontsize=FONT, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


def _best_first(table: pd.DataFrame, names: list[str]) -> list[str]:
    """Return the strategies in the order in which their lines end, the highest first."""
    last = table.groupby(level=0, sort=False).last()
    ends = last["outer score"].fillna(last["inner score"])
    return sorted(names, key=lambda name: -float(ends[name]))
