"""Published results that are downloaded: each function reads the files of one benchmark.

`mlaut.analysis.PUBLISHED` names the function of a benchmark, its address and its options.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.error import HTTPError

import pandas as pd

from mlaut.analysis.importers.automlbenchmark import read_automlbenchmark
from mlaut.analysis.importers.openml import read_openml_evaluations
from mlaut.analysis.importers.tabarena import read_tabarena
from mlaut.analysis.results.results import Results
from mlaut.downloads import downloaded
from mlaut.errors import AnalysisError, DataError

_PAGE = 10_000  # evaluations in an answer: the most that OpenML's API gives
_MOST_PAGES = 1000
_NONE = 412  # HTTP status by which the API says that there are no results, or no more


def amlb(url: str, name: str, **options: Any) -> Results:
    """Return the results of the AutoML benchmark; see `read_automlbenchmark` for the options."""
    return read_automlbenchmark(downloaded(url, name), **options)


def tabarena(url: str, name: str, **options: Any) -> Results:
    """Return the results of TabArena; see `read_tabarena` for the options."""
    return read_tabarena(downloaded(url, name), **options)


def openml_suite(
    url: str,
    name: str,
    *,
    suite: int,
    metric: str = "predictive_accuracy",
    strategy: str = "flow_name",
    coverage: float = 0.5,
) -> Results:
    """Return what users of OpenML have uploaded for the tasks of a suite.

    Parameters
    ----------
    url : str
        Address of the API.
    name : str
        Name of the benchmark, for error messages and the cache.
    suite : int
        Number of the suite, for example 99 (OpenML-CC18).
    metric : str, default "predictive_accuracy"
        Name of OpenML's evaluation measure.
    strategy : {"flow_name", "setup_id"}, default "flow_name"
        What counts as one strategy: a flow with any parameters, of which the last run counts, or
        one setting of its parameters.
    coverage : float, default 0.5
        Strategies with results on a smaller share of the tasks are left out; a note counts them.

    Raises
    ------
    AnalysisError
        The suite has no evaluation by this measure, or no strategy covers so many tasks.
    DataError
        The API cannot be reached, or its answer is not of its form.
    """
    tasks = _answer(f"{url}/study/{suite}", name, "study", "tasks", "task_id")
    rows = list(_evaluations(url, name, ",".join(map(str, tasks)), metric))
    if not rows:
        raise AnalysisError(f"{name}: OpenML has no evaluation by {metric!r} of suite {suite}")
    results = read_openml_evaluations(pd.DataFrame(rows), strategy=strategy)
    share = results.scores.notna().sum() / len(tasks)
    kept = [str(one) for one in share.index[share >= coverage]]
    if not kept:
        raise AnalysisError(
            f"{name}: no {strategy} has results on {coverage:.0%} of the {len(tasks)} tasks (the "
            f"most: {share.max():.0%}); lower coverage"
        )
    left_out = len(results.strategies) - len(kept)
    note = f"{left_out} strategies with results on fewer than {coverage:.0%} of the tasks left out"
    chosen = results.select(strategies=kept)
    return replace(chosen, notes=(*chosen.notes, note))


def _evaluations(url: str, name: str, tasks: str, metric: str) -> Iterator[dict[str, Any]]:
    """Yield all evaluations of tasks, page by page."""
    for offset in range(0, _MOST_PAGES * _PAGE, _PAGE):
        page = f"{url}/evaluation/list/function/{metric}/task/{tasks}/limit/{_PAGE}/offset/{offset}"
        try:
            rows = _answer(page, name, "evaluations", "evaluation")
        except DataError as error:
            if isinstance(error.__cause__, HTTPError) and error.__cause__.code == _NONE:
                return
            raise
        yield from rows
        if len(rows) < _PAGE:
            return
    raise DataError(f"{name}: {url} does not come to an end; do not trust it")


def _answer(url: str, name: str, *keys: str) -> list[Any]:
    """Return a list in an answer of the API."""
    path = downloaded(url, name)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        for key in keys:
            content = content[key]
        return list(content)
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}: no answer of OpenML's API with {'/'.join(keys)} ({type(error).__name__}); "
            "delete it, and load it again"
        ) from error
