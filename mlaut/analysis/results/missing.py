"""Treatments of missing cells."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mlaut.analysis.common.arguments import checked
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError, nearest, some_of
from mlaut.helpers.markup import counted
from mlaut.records import NO_RESULT, NOT_RUN, Status

TREATMENTS = {
    "raise": "an error that says how many cells are missing, and which",
    "drop datasets": "datasets with a missing cell are left out",
    "drop strategies": "strategies with a missing cell are left out",
    "worst": "a missing cell gets the largest loss that any strategy has there",
    "row mean": "a missing cell gets the mean loss of the strategies there, which is kind to it",
    "row median": "a missing cell gets the median loss of the strategies there, likewise",
    "worst rank": "a missing cell gets a loss just above that, so that it ranks last",
    "failures last": "a failed cell ranks last; datasets that were not run by all, and strategies "
    "without any result or above their size limit on most datasets, are left out, and, instead of "
    "most datasets of a table, the few strategies (one of eight at most) that lack results there",
}
COUNTED_LAST = "there they count as last"  # how the gap ends of cells that fail
_RANKS_ONLY = "a missing cell counts as last, which is a rank and no value"
_MOST_NAMED = 3  # strategies in a sentence
MOST_LEFT_OUT = 1 / 2  # share of the datasets, above which nothing holds over all
_FEW = 1 / 8  # share of the strategies


@checked
def treat_missing(results: Results, how: str = "raise") -> Results:
    """Return results without missing cells.

    Parameters
    ----------
    results : Results
        Results that may have missing cells.
    how : str, default "raise"
        A key of `TREATMENTS`, or the name of a strategy whose losses replace missing losses (a
        fallback, for example the baseline).

    Returns
    -------
    Results
        Complete results, without strategies that have no result at all, unless another stands in. A
        note states the treatment, and every test repeats it; ``imputed`` marks the filled-in cells.
        Results without missing cells are returned unchanged.

    Raises
    ------
    MissingCellsError
        Cells are missing, and ``how`` is ``"raise"``.
    AnalysisError
        ``how`` is unknown, would leave no dataset or strategy, or cannot fill every cell; or
        strategies left a race, so that no treatment makes tests of the full table valid.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [0.1, 0.2], "B": [0.3, np.nan]}, index=["iris", "wine"])
    >>> results = Results.from_table(table, greater_is_better=False)
    >>> treat_missing(results, "worst").losses.loc["wine", "B"]
    np.float64(0.2)
    >>> treat_missing(results, "drop datasets").notes
    ('1 of 2 datasets left out for missing cells: wine',)
    >>> treat_missing(results)
    Traceback (most recent call last):
    mlaut.errors.MissingCellsError: 1 of 4 cells have no loss (1 missing): strategies B (1), \
datasets wine; treat them by treat_missing(results, 'failures last'), or by missing='failures \
last' where there is the option (also 'drop datasets' or the name of a fallback; TREATMENTS has all)
    """
    check_treatment(how, results.strategies)
    if not _holes(results).any():
        return results
    results.check_not_raced()
    if how == "raise":
        results.complete()
    if how in results.strategies and how not in TREATMENTS:
        stand_in = results.cell_losses[:, [results.strategies.index(how)]]
        return _filled(results, stand_in, f"the loss of {how}", f"{how} stands in")
    results = without_empty(results)
    return _TREATED[how](results) if _holes(results).any() else results


def with_means(results: Results) -> Results | None:
    """Return the results of the strategies whose means over datasets have a meaning.

    Parameters
    ----------
    results : Results
        Results without missing cells.

    Returns
    -------
    Results or None
        All strategies; or, where missing cells rank last, the strategies without a missing cell.
        None if there is no such strategy, or if the scales of the datasets are not comparable.
    """
    if not results.incomparable:
        return results
    if results.imputed is None or not results.ranks_only:
        return None
    own = ~np.any(results.imputed, axis=(0, 2, 3))
    valued = replace(results, ranks_only="", gaps=())
    if valued.incomparable or not own.any():
        return None
    kept = [name for name, ok in zip(results.strategies, own, strict=True) if ok]
    return valued.select(strategies=kept)


def check_treatment(how: str, strategies: Collection[str]) -> None:
    """Raise `AnalysisError` for a treatment that is neither a key nor the name of a strategy."""
    known = (*TREATMENTS, *strategies)
    if how not in known:
        hint = nearest(how, known) or f"; use one of {', '.join(map(repr, TREATMENTS))}"
        raise AnalysisError(f"missing {how!r} is neither a treatment nor a strategy{hint}")


def _holes(results: Results) -> np.ndarray:
    return np.isnan(results.cell_losses) & results.expected[:, None]


def with_holes(results: Results) -> list[str]:
    """Return the strategies that have a missing cell."""
    holes = _holes(results)
    return [name for k, name in enumerate(results.strategies) if holes[:, k].any()]


def _whose(results: Results) -> str:
    """Return a phrase that names the strategies without a score, and their numbers of datasets."""
    holes = np.any(_holes(results), axis=(2, 3))
    counts = {name: int(holes[:, k].sum()) for k, name in enumerate(results.strategies)}
    whose = [f"of {name} on {counted(n, 'dataset')}" for name, n in counts.items() if n]
    more = len(whose) - _MOST_NAMED
    if more > 0:
        whose[_MOST_NAMED:] = [f"and of {counted(more, 'more strategy', 'more strategies')}"]
    return f"no {results.metric.name} {', '.join(whose)}"


def _without(results: Results, what: str, drop: np.ndarray, why: str) -> Results:
    """Return results without some datasets or strategies.

    The first sentence of every conclusion includes the reason ``why``.
    """
    names = getattr(results, what)
    kept = [name for name, gone in zip(names, drop, strict=True) if not gone]
    if np.isnan(results.cells).all():
        why = "; ".join(sorted(set(results.reasons.values()))[:2]) or "no cell has a result"
        raise AnalysisError(f"no cell has a {results.metric.name}: {why}")
    if not kept:
        raise AnalysisError(
            f"every one of the {len(names)} {what} has a missing cell, so none would be left: "
            "choose 'worst' or a fallback strategy"
        )
    if len(kept) == len(names):
        return results
    gone = some_of(name for name, out in zip(names, drop, strict=True) if out)
    count = f"{len(names) - len(kept)} of {len(names)} {what} left out"
    chosen: dict[str, Any] = {what: kept}
    return replace(
        results.select(**chosen),
        notes=(*results.notes, f"{count} for missing cells: {gone}"),
        gaps=(*results.gaps, f"{count}: {why}"),
    )


def _failures_last(results: Results) -> Results:
    """Return results in which failed cells rank last.

    A failed cell counts against its strategy; a cell that was not run does not, so its dataset is
    left out.
    """
    results = without_seldom_run(_without_too_large(results))
    not_run = np.any(with_reason(results, NOT_RUN), axis=1)
    results = _without(results, "datasets", not_run, "not run by all")
    nobody = np.any(np.isnan(results.cells).all(axis=1) & results.expected, axis=(1, 2))
    name = results.metric.name
    results = _without(results, "datasets", nobody, f"no strategy has {name} on all folds")
    results = without_empty(results)
    return _ranked_last(results) if _holes(results).any() else results


def with_reason(results: Results, reasons: Collection[str]) -> np.ndarray:
    """Return whether a cell has one of these reasons, by dataset and strategy: shape (N, K)."""
    has = np.zeros(results.cells.shape[:2], dtype=bool)
    for (i, k, _, _), reason in results.reasons.items():
        has[i, k] |= reason in reasons
    return has


def _without_too_large(results: Results) -> Results:
    """Return results without the datasets above the size limit of a strategy.

    If most datasets exceed the limit of a strategy, the strategy is left out instead: without the
    datasets, the other strategies would lose more than this strategy is worth.
    """
    skipped = with_reason(results, (Status.SKIPPED.word,))
    often = np.greater(2 * skipped.sum(axis=0), len(results.datasets))
    for what in ("strategies", "datasets"):
        skipped = with_reason(results, (Status.SKIPPED.word,))
        each = np.any(skipped, axis=1), np.any(skipped, axis=0)
        drop, whose = (often, often) if what == "strategies" else each
        left = _without(results, what, drop, "")
        if left is results:
            continue
        gaps = [
            f"{results.strategies[k]} was not run on "
            f"{counted(int(skipped[:, k].sum()), 'dataset')} above its size limit"
            for k in np.flatnonzero(whose).tolist()
        ]
        compared = f"strategies are compared on the other {len(left.datasets)}"
        end = compared if what == "datasets" else "left out"
        results = replace(left, gaps=(*results.gaps, f"{' and '.join(gaps)}: {end}"))
    return results


def without_seldom_run(results: Results) -> Results:
    """Return results without the few strategies for which most datasets would be left out.

    They are at most one of eight, and have no result on some dataset, which nobody tried to get.
    """
    never = with_reason(results, (NO_RESULT,))
    never &= ~never.all(axis=0)  # those without any result are left out anyway
    lack, ran = np.asarray(never.any(axis=0)), ~np.isnan(results.cells).all(axis=(0, 2, 3))
    if never.any(axis=1).mean() <= MOST_LEFT_OUT or lack.sum() > _FEW * ran.sum():
        return results
    return _without(results, "strategies", lack, f"{_whose(results)}; run them there to judge them")


def without_empty(results: Results) -> Results:
    """Return results without the strategies that have none: values for them would be a copy's."""
    empty = np.all(np.isnan(results.cells), axis=(0, 2, 3))
    names = some_of(name for name, none in zip(results.strategies, empty, strict=True) if none)
    return _without(results, "strategies", empty, f"no {results.metric.name} of {names} anywhere")


def _without_holes(results: Results, what: str, axis: tuple[int, ...]) -> Results:
    return _without(results, what, np.any(_holes(results), axis=axis), _whose(results))


def _ranked_last(results: Results) -> Results:
    filled = _filled(
        results, _above_worst(results), "a loss just above the largest seen there", COUNTED_LAST
    )
    return replace(filled, ranks_only=_RANKS_ONLY)


def _worst_seen(results: Results) -> np.ndarray:
    """Return the largest loss of each cell, or of its dataset if it has none: (N, 1, R, F)."""
    losses = np.where(np.isnan(results.cell_losses), -np.inf, results.cell_losses)
    here = losses.max(axis=1, keepdims=True)
    anywhere = losses.max(axis=(1, 2, 3), keepdims=True)
    worst = np.where(np.isfinite(here), here, anywhere)
    return np.where(np.isfinite(worst), worst, np.nan)


def _middle_filled(results: Results, middle_of: Callable[..., Any], word: str) -> Results:
    """Return results whose missing cells have the mean or median loss of the others there."""
    seen = np.ma.masked_invalid(results.cell_losses)
    middle = np.asarray(middle_of(seen, axis=1, keepdims=True).filled(np.nan))
    return _filled(results, middle, f"the {word} loss of the strategies there")


def _above_worst(results: Results) -> np.ndarray:
    """Return losses that rank last, but are so near the largest that means hardly change."""
    size = np.nanmax(np.abs(results.cell_losses), axis=(1, 2, 3), keepdims=True, initial=0.0)
    return _worst_seen(results) + 1e-6 * np.where(size > 0, size, 1.0)


def _below_best(results: Results) -> np.ndarray:
    """Return losses that rank first, but are so near the smallest that means hardly change."""
    return -_above_worst(replace(results, cell_losses=-results.cell_losses))


def _filled(results: Results, values: np.ndarray, words: str, gap: str = "") -> Results:
    """Return results whose missing cells have ``values``, which broadcast to all cells.

    ``words`` describe the values in the notes, and ``gap`` in the first sentence of every
    conclusion; default "such cells get" them.
    """
    holes = _holes(results)
    losses = np.where(holes, values, results.cell_losses)
    empty = np.isnan(losses) & results.expected[:, None]
    if empty.any():
        names = [results.datasets[i] for i in np.flatnonzero(empty.any(axis=(1, 2, 3)))]
        count = counted(int(empty.sum()), "missing cell")
        raise AnalysisError(
            f"{count} on {', '.join(names[:5])} cannot get {words}, which "
            "is missing too: leave these datasets out, or choose another treatment"
        )
    count = counted(int(holes.sum()), "missing cell")
    note = f"{count} of {some_of(with_holes(results))} got {words}"
    cells = np.where(holes, results.metric.loss(losses), results.cells)
    return replace(
        results,
        cells=cells,
        cell_losses=losses,
        reasons={},
        notes=(*results.notes, note),
        gaps=(*results.gaps, f"{_whose(results)}: {gap or f'such cells get {words}'}"),
        imputed=holes if results.imputed is None else holes | results.imputed,
    )


def favouring(results: Results, strategy: str | None) -> Results:
    """Return results in which missing cells favour one strategy.

    Its missing cells get the best possible loss, and those of the others get the worst. These are
    the ends of the metric's range; without an end, they are just beyond the observed losses.
    """
    low, high = results.metric.loss_bounds
    best = _below_best(results)
    worst = _above_worst(results)
    best = np.full_like(best, low) if np.isfinite(low) else best
    worst = np.full_like(worst, high) if np.isfinite(high) else worst
    mine = np.array([name == strategy for name in results.strategies])[None, :, None, None]
    return _filled(results, np.where(mine, best, worst), "the best or the worst loss there can be")


_TREATED: Mapping[str, Callable[[Results], Results]] = {
    "drop datasets": lambda x: _without_holes(x, "datasets", (1, 2, 3)),
    "drop strategies": lambda x: _without_holes(x, "strategies", (0, 2, 3)),
    "worst": lambda x: _filled(x, _worst_seen(x), "the largest loss seen there"),
    "row mean": lambda x: _middle_filled(x, np.ma.mean, "mean"),
    "row median": lambda x: _middle_filled(x, np.ma.median, "median"),
    "worst rank": _ranked_last,
    "failures last": _failures_last,
}  # what a treatment does, by its name in `TREATMENTS`
