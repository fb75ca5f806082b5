"""Argument ``results`` of every statistic: `Results`, or a table of scores with its metric."""

import re
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

import pandas as pd

from mlaut.analysis.common.arguments import checked, the_results
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.tables import as_table
from mlaut.analysis.scores.base import MLautScore
from mlaut.errors import AnalysisError

T = TypeVar("T")

TABLE_PARAMETERS = {"metric": ("", str | MLautScore), "greater_is_better": (None, bool | None)}
TABLE_TEXT = """\
    metric, greater_is_better
        Metric of the scores if ``results`` is a table, as in `mlaut.analysis.compare`.
"""


def takes_sources(function: Callable[..., T]) -> Callable[..., T]:
    """Mark a statistic that takes sources as its units, or needs no independent datasets."""
    function.takes_sources = True  # type: ignore[attr-defined]
    return function


def check_independent(results: Results, name: str) -> None:
    """Raise `AnalysisError` if datasets have sources, so that they are not independent."""
    if results.clusters is not None:
        raise AnalysisError(
            f"{name} takes datasets as independent, and these {len(results.datasets)} come from "
            f"{results.n_sources} sources: see compare, average_ranks, mean_estimates and "
            "probability_of_best, whose units are sources"
        )


def check_sources(results: Results) -> None:
    """Raise `AnalysisError` if all datasets have one source, so that nothing varies."""
    if results.n_sources < 2 <= len(results.datasets):
        raise AnalysisError(
            f"all {len(results.datasets)} datasets come from one source: claims about new sources "
            "need two or more"
        )


def results_of(
    given: Results | pd.DataFrame,
    metric: str | MLautScore = "",
    greater_is_better: bool | None = None,
    clusters: Mapping[str, Any] | pd.Series | str | None = None,
) -> Results:
    """Return `Results` unchanged, or the results of a table of scores with its metric.

    Raises
    ------
    AnalysisError
        A table comes without a metric, or results come with one.
    """
    given, column = as_table(given), clusters if isinstance(clusters, str) else ""
    if isinstance(given, pd.DataFrame):
        results = Results.from_table(
            given, metric=metric, greater_is_better=greater_is_better, clusters=column
        )
    else:
        results = the_results("results", given)
        if not isinstance(metric, str) or metric or greater_is_better is not None:
            raise AnalysisError(
                f"these results are of {results.metric.name}: "
                "metric and greater_is_better are for tables"
            )
        if column:
            raise AnalysisError("clusters is the name of a column for tables only: give a mapping")
    return results if isinstance(clusters, str | None) else results.with_clusters(clusters)


def of_results(function: Callable[..., T]) -> Callable[..., T]:
    """Wrap a function of `Results` so that it also takes a table, and checks its arguments.

    Examples
    --------
    >>> @of_results
    ... def best(results):
    ...     return results.losses.mean().idxmin()
    >>> best(pd.DataFrame({"A": [0.9, 0.8], "B": [0.7, 0.6]}), metric="accuracy")
    'A'
    """

    @wraps(function)
    def public(
        results: Results | pd.DataFrame,
        *args: Any,
        metric: str | MLautScore = "",
        greater_is_better: bool | None = None,
        **options: Any,
    ) -> T:
        given = results_of(results, metric, greater_is_better)
        if not getattr(function, "takes_sources", False):
            check_independent(given, function.__name__)
        return function(given, *args, **options)

    return checked(extend_signature(public, TABLE_PARAMETERS, TABLE_TEXT))


def extend_signature(
    public: Callable[..., T], added: Mapping[str, tuple[Any, Any]], text: str, returns: Any = None
) -> Callable[..., T]:
    """Return a wrapper with further keywords, which have a default and a type, and their text."""
    own = signature(public)
    results, *others = own.parameters.values()
    further = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (default, kind) in added.items()
    ]
    public.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[results.replace(annotation=Results | pd.DataFrame), *others, *further],
        return_annotation=returns or own.return_annotation,
    )
    document = public.__doc__ or ""
    section = re.search(r"\n    (Returns|Raises|Notes|Examples)\n    -", document)
    at = section.start() if section else len(document)
    head = document[:at].rstrip()
    if "\n    Parameters\n" not in head:
        head += "\n\n    Parameters\n    ----------\n    results : Results or DataFrame"
    public.__doc__ = f"{head}\n{text}{document[at:]}"
    return public
