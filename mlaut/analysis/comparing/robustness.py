"""Conclusions of a comparison under several treatments of missing cells."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from mlaut.analysis.common.arguments import Share, checked
from mlaut.analysis.common.display import Shown
from mlaut.analysis.common.result_types import Pairwise, TestResult
from mlaut.analysis.results.missing import check_treatment, favouring, treat_missing, with_holes
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError
from mlaut.helpers.markup import counted

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
        rows = self.frame.to_numpy(dtype=object).tolist()
        differs = pd.Series([len({*row} - {""}) > 1 for row in rows], self.frame.index, dtype=bool)
        return self.frame[differs]

    def title(self) -> str:  # noqa: D102 - inherited
        treatments = counted(self.frame.shape[1], "treatment")
        return f"{self.name} under {treatments} of {counted(self.n_missing, 'missing cell')}"

    def to_frame(self) -> pd.DataFrame:
        """Return the conclusions, with a column on whether they differ between treatments."""
        return self.frame.assign(flips=self.frame.index.isin(self.flips.index))

    def sentence(self) -> str:  # noqa: D102 - inherited
        n, flips = len(self.frame), self.flips
        if not n:
            why = "; ".join(f"{how}: {reason}" for how, reason in self.not_applied.items())
            return f"{self.title()}: nothing can be concluded ({why})."
        if flips.empty:
            all_hold = "the one conclusion holds" if n == 1 else f"all {n} conclusions hold"
            return f"{self.title()}: {all_hold} at level {self.alpha:g}."
        which = "; ".join(
            " - ".join(key) if isinstance(key, tuple) else str(key) for key in flips.index[:10]
        )
        count = f"{len(flips)} of {counted(n, 'conclusion')} flip at level {self.alpha:g}"
        bounds = self.frame.filter(regex="^best for").columns
        only = len(flips) - len(replace(self, frame=self.frame.drop(columns=bounds)).flips)
        extreme = f" ({only} of them only in the best or the worst case)" * (only > 0)
        return f"{self.title()}: {count}{extreme}: {which}."


@checked
def under_treatments(
    results: Results,
    comparison: Callable[[Results], Any],
    *,
    treatments: Sequence[str] = ("drop datasets", "worst rank"),
    bounds: bool = True,
    alpha: Share = 0.05,
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
        Treatments of `treat_missing`, with the names of fallback strategies.
    bounds : bool, default True
        Whether to add two extreme treatments of each pair. The first gives the missing cells of the
        pair's first strategy the best possible loss, and all other missing cells the worst; the
        second does this for the pair's second strategy. The losses are the ends of the metric's
        range; if the range has no end, they are just beyond the observed losses.
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
    >>> table = pd.DataFrame({"A": [0.1] * 6 + [None], "B": [0.3] * 7})
    >>> results = Results.from_table(table, greater_is_better=False)
    >>> robustness = under_treatments(results, sign_test)
    >>> robustness.frame.loc[("A", "B")].to_dict()
    {'drop datasets': 'A better', 'worst rank': 'no difference shown', \
'best for the first': 'A better', 'best for the second': 'no difference shown'}
    """
    columns: dict[str, Conclusions] = {}
    not_applied: dict[str, str] = {}
    name = getattr(comparison, "__name__", "The comparison")
    for how in treatments:
        check_treatment(how, results.strategies)
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
    cells = {how: [column.get(key, "") for key in keys] for how, column in columns.items()}
    frame = pd.DataFrame(cells, index=pd.Index(keys))
    refused = (f"treatment {how!r} cannot be applied: {why}" for how, why in not_applied.items())
    return Robustness(
        name=name,
        frame=frame,
        n_missing=len(results.missing),
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
    favoured = [None, *with_holes(results)]
    try:
        filled = {name: favouring(results, name) for name in favoured}
    except AnalysisError as error:
        raise _NotApplicableError(str(error)) from error
    runs = {name: conclusions(comparison(results), alpha) for name, results in filled.items()}
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
    for better, worse in (pair, pair[::-1]):
        if result.value("P(row better)", better, worse) >= 1 - alpha:
            return f"{better} better"
    return "no difference shown"
