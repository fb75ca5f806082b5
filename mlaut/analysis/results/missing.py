"""Missing cells: their treatments, and the conclusions that depend on the treatment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import checked, position
from mlaut.analysis.common.display import Shown
from mlaut.analysis.common.result_types import Pairwise, TestResult
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError
from mlaut.records import NOT_PLANNED, Status

__all__ = ["TREATMENTS", "Robustness", "treat_missing", "under_treatments", "with_means"]

TREATMENTS = {
    "raise": "an error that says how many cells are missing, and which",
    "drop datasets": "datasets with a missing cell are left out",
    "drop strategies": "strategies with a missing cell are left out",
    "worst": "a missing cell gets the largest loss that any strategy has there",
    "row mean": "a missing cell gets the mean loss of the strategies there, which is kind to it",
    "row median": "a missing cell gets the median loss of the strategies there, likewise",
    "worst rank": "a missing cell gets a loss just above that, so that it ranks last",
    "failures last": "a failed cell ranks last; datasets that were not run by all, and strategies "
    "without any result, are left out",
}
_RANKS_ONLY = "a missing cell counts as last, which is a rank and no value"
_NOT_RUN = (Status.MISSING.word, NOT_PLANNED)
_MOST_NAMED = 3  # strategies in a sentence


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
        Complete results. A note states the treatment, and every test repeats it; ``imputed`` marks
        the filled-in cells. Results without missing cells are returned unchanged.

    Raises
    ------
    MissingCellsError
        Cells are missing, and ``how`` is ``"raise"``.
    AnalysisError
        ``how`` is unknown, would leave no dataset or strategy, or cannot fill every cell; or
        strategies left a race, so that no treatment makes tests of the full table valid.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [0.1, 0.2], "B": [0.3, np.nan]}, index=["iris", "wine"])
    >>> results = Results.from_table(table, greater_is_better=False)
    >>> treat_missing(results, "worst").losses.loc["wine", "B"]
    np.float64(0.2)
    >>> treat_missing(results, "drop datasets").notes
    ('1 of 2 datasets left out for missing cells: wine',)
    >>> treat_missing(results)
    Traceback (most recent call last):
    mlaut.errors.MissingCellsError: 1 of 4 cells have no loss (1 missing): strategies B (1), \
datasets wine; say how to treat them: missing='failures last', 'drop datasets', \
'drop strategies', 'worst', 'worst rank', or the name of a fallback strategy
    """
    holes = _holes(results)
    _check_known(results, how)
    if not holes.any():
        return results
    results.check_not_raced()
    if how == "raise":
        results.complete()
    if how == "drop datasets":
        return _without(results, "datasets", np.any(holes, axis=(1, 2, 3)), _whose(results))
    if how == "drop strategies":
        return _without(results, "strategies", np.any(holes, axis=(0, 2, 3)), _whose(results))
    if how == "worst":
        seen = "the largest loss seen there"
        return _filled(results, _worst_seen(results), seen, f"such cells get {seen}")
    if how in ("row mean", "row median"):
        loss = f"the {how.removeprefix('row ')} loss of the strategies there"
        return _filled(results, _middle_seen(results, how), loss, f"such cells get {loss}")
    if how == "worst rank":
        return _ranked_last(results)
    if how == "failures last":
        return _failures_last(results)
    stand_in = results.cell_losses[:, [results.strategies.index(how)]]
    return _filled(results, stand_in, f"the loss of {how}", f"{how} stands in")


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


def _check_known(results: Results, how: str) -> None:
    """Raise `AnalysisError` for a treatment that is neither a key nor the name of a strategy."""
    if how in TREATMENTS:
        return
    try:
        position("strategy", how, results.strategies)
    except AnalysisError as error:
        choices = ", ".join(map(repr, TREATMENTS))
        raise AnalysisError(
            f"treatment {how!r} is neither one of {choices} nor a strategy"
        ) from error


def _holes(results: Results) -> np.ndarray:
    return np.isnan(results.cell_losses) & results.expected[:, None]


def _with_holes(results: Results) -> list[str]:
    """Return the strategies that have a missing cell."""
    holes = _holes(results)
    return [name for k, name in enumerate(results.strategies) if holes[:, k].any()]


def _whose(results: Results) -> str:
    """Return the words for which strategies lack cells, and on how many datasets."""
    holes = np.any(_holes(results), axis=(2, 3))
    counts = {name: int(holes[:, k].sum()) for k, name in enumerate(results.strategies)}
    whose = [f"of {name} on {n}" for name, n in counts.items() if n]
    more = len(whose) - _MOST_NAMED
    whose = [*whose[:_MOST_NAMED], f"of {more} more strategies"] if more > 0 else whose
    return f"no {results.metric.name} {', '.join(whose)}"


def _without(results: Results, what: str, drop: np.ndarray, why: str) -> Results:
    """Return results without some datasets or strategies.

    The first sentence of every conclusion includes the reason ``why``.
    """
    names = getattr(results, what)
    kept = [name for name, gone in zip(names, drop, strict=True) if not gone]
    if not kept:
        raise AnalysisError(
            f"every one of the {len(names)} {what} has a missing cell, so none would be left: "
            "choose 'worst' or a fallback strategy"
        )
    if len(kept) == len(names):
        return results
    gone = ", ".join(name for name, out in zip(names, drop, strict=True) if out)
    count = f"{len(names) - len(kept)} of {len(names)} {what} left out"
    chosen = (
        results.select(datasets=kept) if what == "datasets" else results.select(strategies=kept)
    )
    return replace(
        chosen,
        notes=(*results.notes, f"{count} for missing cells: {gone}"),
        gaps=(*results.gaps, f"{count}: {why}"),
    )


def _failures_last(results: Results) -> Results:
    """Return results in which failed cells rank last.

    A failed cell counts against its strategy; a cell that was not run does not, so its dataset is
    left out. A strategy without any result is left out too: it cannot be ranked, and would only add
    a rank to every other.
    """
    results = _without_empty(results)
    not_run = np.zeros(results.cells.shape, dtype=bool)
    for at, reason in results.reasons.items():
        not_run[at] = reason in _NOT_RUN
    results = _without(results, "datasets", np.any(not_run, axis=(1, 2, 3)), "not run by all")
    nobody = np.any(np.isnan(results.cells).all(axis=1) & results.expected, axis=(1, 2))
    name = results.metric.name
    results = _without(results, "datasets", nobody, f"no strategy has {name} on all folds")
    results = _without_empty(results)
    return _ranked_last(results) if _holes(results).any() else results


def _without_empty(results: Results) -> Results:
    empty = np.all(np.isnan(results.cells), axis=(0, 2, 3))
    names = ", ".join(name for name, none in zip(results.strategies, empty, strict=True) if none)
    return _without(results, "strategies", empty, f"no {results.metric.name} of {names} anywhere")


def _ranked_last(results: Results) -> Results:
    filled = _filled(
        results,
        _above_worst(results),
        "a loss just above the largest seen there",
        "such cells count as last",
    )
    return replace(filled, ranks_only=_RANKS_ONLY)


def _worst_seen(results: Results) -> np.ndarray:
    """Return the largest loss of each cell, or of its dataset if it has none: (N, 1, R, F)."""
    losses = np.where(np.isnan(results.cell_losses), -np.inf, results.cell_losses)
    here = losses.max(axis=1, keepdims=True)
    anywhere = losses.max(axis=(1, 2, 3), keepdims=True)
    worst = np.where(np.isfinite(here), here, anywhere)
    return np.where(np.isfinite(worst), worst, np.nan)


def _middle_seen(results: Results, how: str) -> np.ndarray:
    """Return the mean or median loss of the strategies in each cell: (N, 1, R, F)."""
    seen = np.ma.masked_invalid(results.cell_losses)
    middle = (np.ma.mean if how == "row mean" else np.ma.median)(seen, axis=1, keepdims=True)
    return np.asarray(middle.filled(np.nan))


def _above_worst(results: Results) -> np.ndarray:
    """Return losses that rank last, so near the largest loss that means hardly change."""
    size = np.nanmax(np.abs(results.cell_losses), axis=(1, 2, 3), keepdims=True, initial=0.0)
    return _worst_seen(results) + 1e-6 * np.where(size > 0, size, 1.0)


def _below_best(results: Results) -> np.ndarray:
    """Return losses that rank first, so near the smallest loss that means hardly change."""
    return -_above_worst(replace(results, cell_losses=-results.cell_losses))


def _filled(results: Results, values: np.ndarray, words: str, gap: str = "") -> Results:
    """Return results whose missing cells have ``values``, which broadcast to all cells.

    ``words`` describe the values in the notes; ``gap`` describes them in the first sentence of
    every conclusion.
    """
    holes = _holes(results)
    losses = np.where(holes, values, results.cell_losses)
    empty = np.isnan(losses) & results.expected[:, None]
    if empty.any():
        names = [results.datasets[i] for i in np.flatnonzero(empty.any(axis=(1, 2, 3)))]
        raise AnalysisError(
            f"{int(empty.sum())} missing cells on {', '.join(names[:5])} cannot get {words}, which "
            "is missing too: leave these datasets out, or choose another treatment"
        )
    note = f"{int(holes.sum())} missing cells of {', '.join(_with_holes(results))} got {words}"
    cells = np.where(holes, results.metric.loss(losses), results.cells)
    return replace(
        results,
        cells=cells,
        cell_losses=losses,
        reasons={},
        notes=(*results.notes, note),
        gaps=(*results.gaps, f"{_whose(results)}: {gap or words}"),
        imputed=holes if results.imputed is None else holes | results.imputed,
    )


def _favouring(results: Results, strategy: str | None) -> Results:
    """Return results in which missing cells favour one strategy.

    Its missing cells get the best possible loss, those of the others the worst: an end of the
    metric's range, or where the range has no end a loss just beyond the observed ones.
    """
    low, high = results.metric.loss_bounds
    best = _below_best(results)
    worst = _above_worst(results)
    best = np.full_like(best, low) if np.isfinite(low) else best
    worst = np.full_like(worst, high) if np.isfinite(high) else worst
    mine = np.array([name == strategy for name in results.strategies])[None, :, None, None]
    return _filled(results, np.where(mine, best, worst), "the best or the worst loss there can be")


# ------------------------------------------------------- conclusions that hold

Conclusions = Mapping[Any, str]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Robustness(Shown):
    """Conclusions of a comparison under several treatments of missing cells.

    Attributes
    ----------
    name : str
        Name of the comparison.
    frame : DataFrame
        Conclusions in words, one row for each pair or test and one column for each treatment; empty
        text where a treatment leaves the pair out.
    n_missing : int
        Number of missing cells.
    alpha : float
        Level of the conclusions.
    notes : tuple of str
        Notes of the results, and notes on the treatments that cannot be applied.
    not_applied : mapping of str to str
        Treatments that cannot be applied to these results, with the reason.
    """

    name: str
    frame: pd.DataFrame
    n_missing: int
    alpha: float
    notes: tuple[str, ...] = ()
    not_applied: Mapping[str, str] = field(default_factory=dict)

    @property
    def flips(self) -> pd.DataFrame:
        """Conclusions that are not the same under all treatments."""
        if self.frame.empty:
            return self.frame
        differs = self.frame.apply(lambda row: len({text for text in row if text}) > 1, axis=1)
        return self.frame[differs.astype(bool)]

    def title(self) -> str:  # noqa: D102 - inherited
        n = self.frame.shape[1]
        treatments = f"{n} treatment{'s' * (n != 1)} of {self.n_missing} missing cells"
        return f"{self.name} under {treatments}"

    def to_frame(self) -> pd.DataFrame:
        """Return the conclusions, with a column on whether they differ between treatments."""
        return self.frame.assign(flips=self.frame.index.isin(self.flips.index))

    def sentence(self) -> str:  # noqa: D102 - inherited
        n, flips = len(self.frame), self.flips
        if not n:
            why = "; ".join(f"{how}: {reason}" for how, reason in self.not_applied.items())
            return f"{self.title()}: nothing can be concluded ({why})."
        if flips.empty:
            return f"{self.title()}: all {n} conclusions hold at level {self.alpha:g}."
        which = "; ".join(
            " - ".join(key) if isinstance(key, tuple) else str(key) for key in flips.index[:10]
        )
        count = f"{len(flips)} of {n} conclusions flip at level {self.alpha:g}"
        return f"{self.title()}: {count}: {which}."


@checked
def under_treatments(
    results: Results,
    comparison: Callable[[Results], Any],
    *,
    treatments: Sequence[str] = ("drop datasets", "worst rank"),
    bounds: bool = True,
    alpha: float = 0.05,
) -> Robustness:
    """Repeat a comparison under several treatments of missing cells, and find what differs.

    Parameters
    ----------
    results : Results
        Results with missing cells.
    comparison : callable
        Function of complete `Results`, for example `mlaut.analysis.wilcoxon_test`. It returns a
        `Pairwise`, a `TestResult`, or the conclusion itself as text.
    treatments : sequence of str
        Treatments of `treat_missing`; the names of fallback strategies are allowed.
    bounds : bool, default True
        Whether to add two extreme treatments of each pair. The first gives the missing cells of the
        pair's first strategy the best possible loss, and all other missing cells the worst; the
        second does this for the pair's second strategy. The losses are the ends of the metric's
        range, or where it has no end just beyond the observed losses.
    alpha : float, default 0.05
        Largest p-value (or one minus a probability) that shows a difference.

    Returns
    -------
    Robustness
        The conclusions. A treatment that cannot be applied (no dataset or strategy would be left,
        or a fallback itself has no result) has no column; ``not_applied`` and the notes have its
        reason.

    Raises
    ------
    AnalysisError
        A treatment is not known.

    Examples
    --------
    >>> from mlaut.analysis import sign_test
    >>> table = pd.DataFrame({"A": [0.1] * 6 + [np.nan], "B": [0.3] * 7})
    >>> results = Results.from_table(table, greater_is_better=False)
    >>> found = under_treatments(results, sign_test)
    >>> found.frame.loc[("A", "B")].to_dict()
    {'drop datasets': 'A better', 'worst rank': 'no difference shown', \
'best for the first': 'A better', 'best for the second': 'no difference shown'}
    """
    columns: dict[str, Conclusions] = {}
    not_applied: dict[str, str] = {}
    name = getattr(comparison, "__name__", "The comparison")
    for how in treatments:
        _check_known(results, how)
        try:
            result = _compare_treated(results, comparison, how)
        except _NotApplicableError as error:
            not_applied[how] = str(error)
        else:
            columns[how] = conclusions(result, alpha)
            name = getattr(result, "name", "The comparison")
    if bounds:
        try:
            columns |= _bounds(results, comparison, alpha)
        except _NotApplicableError as error:
            not_applied["bounds"] = str(error)
    keys = list(dict.fromkeys(key for column in columns.values() for key in column))
    index = (
        pd.MultiIndex.from_tuples(keys) if keys and isinstance(keys[0], tuple) else pd.Index(keys)
    )
    frame = pd.DataFrame(
        {how: [column.get(key, "") for key in keys] for how, column in columns.items()}, index=index
    )
    refused = (f"treatment {how!r} cannot be applied: {why}" for how, why in not_applied.items())
    return Robustness(
        name=name,
        frame=frame,
        n_missing=int(_holes(results).sum()),
        alpha=alpha,
        notes=(*results.notes_text(), *refused),
        not_applied=not_applied,
    )


class _NotApplicableError(AnalysisError):
    """Error for a treatment that cannot be applied to the results, or leaves too few of them."""


def _compare_treated(results: Results, comparison: Callable[[Results], Any], how: str) -> Any:
    try:
        treated = treat_missing(results, how)
    except AnalysisError as error:
        raise _NotApplicableError(str(error)) from error
    try:
        return comparison(treated)
    except AnalysisError as error:
        if treated.cells.shape == results.cells.shape:  # nothing left out: the fault lies elsewhere
            raise
        raise _NotApplicableError(str(error)) from error


def _bounds(
    results: Results, comparison: Callable[[Results], Any], alpha: float
) -> dict[str, Conclusions]:
    """Return the conclusions with the missing cells favouring each strategy in turn."""
    favoured = [None, *_with_holes(results)]
    try:
        filled = {name: _favouring(results, name) for name in favoured}
    except AnalysisError as error:
        raise _NotApplicableError(str(error)) from error
    runs = {name: conclusions(comparison(one), alpha) for name, one in filled.items()}
    if not all(isinstance(key, tuple) for key in runs[None]):
        return {f"best for {name or 'none'}": run for name, run in runs.items()}
    first, second = {}, {}
    for pair in runs[None]:
        one, other = (name if name in runs else None for name in pair)
        first[pair], second[pair] = runs[one][pair], runs[other][pair]
    return {"best for the first": first, "best for the second": second}


def conclusions(result: Any, alpha: float) -> Conclusions:
    """Return the conclusions of a result at level ``alpha``, in words, by pair or by test."""
    if isinstance(result, Pairwise):
        return {pair: _pair_conclusion(result, pair, alpha) for pair in result.pairs}
    if isinstance(result, TestResult):
        return {result.name: "rejected" if result.rejects(alpha) else "not rejected"}
    return {"conclusion": str(result)}


def _pair_conclusion(result: Pairwise, pair: tuple[str, str], alpha: float) -> str:
    first, second = pair
    if "p_value" in result.tables:
        if result.value("p_value", first, second) > alpha:
            return "no difference shown"
        return f"{first if result.value('better', first, second) > 0 else second} better"
    for one, other in (pair, pair[::-1]):
        if result.value("P(row better)", one, other) >= 1 - alpha:
            return f"{one} better"
    return "no difference shown"
