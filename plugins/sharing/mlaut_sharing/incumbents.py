"""Fitted models of the choices that a search would have made with smaller budgets."""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

from sklearn.base import clone

from mlaut.plugins import trace_of
from mlaut.records import Trace


def fitted_incumbents(
    search: Any, order: int, X: Any, y: Any, fit_params: Mapping[str, Any]
) -> dict[int, Any]:
    """Return the choices of budgets of 1, 2, 4, ... candidates, fitted on all rows.

    Parameters
    ----------
    search : fitted search
    order : int
        The same as for `trace_of`; keys of the result are positions in that trace.
    X, y, fit_params
        Arguments with which the search was fitted.

    Returns
    -------
    dict of int to estimator
        Fitted estimators, without the candidate that the search itself chose, and without those
        whose fit fails. There are at most log2 of the number of candidates. ``search`` gets an
        attribute ``incumbent_seconds_``, the wall seconds of these fits.
    """
    started = perf_counter()
    models: dict[int, Any] = {}
    trace = trace_of(search, order)
    if trace is None:
        return models
    for candidate in _smaller_choices(trace, search.best_index_):
        params = search.cv_results_["params"][int(trace.order[candidate])]
        model = clone(search.estimator).set_params(**clone(params, safe=False))
        try:
            models[candidate] = model.fit(X, y, **fit_params)
        except Exception:
            continue  # a smaller budget would have failed; the reader shows a gap
    search.incumbent_seconds_ = perf_counter() - started
    return models


def _smaller_choices(trace: Trace, chosen: int) -> list[int]:
    n = len(trace.params)
    budgets = [2**k for k in range(n.bit_length()) if 2**k < n]
    choices = {trace.best(budget) for budget in budgets} - {None}
    return sorted(i for i in choices if i is not None and int(trace.order[i]) != chosen)
