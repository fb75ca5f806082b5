"""Traces of fitted searches of MLaut or scikit-learn."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV

from mlaut.estimators.searches.wanted import parse_budget
from mlaut.identity.digests import plain
from mlaut.records import Trace


def search_in(model: Any) -> Any:
    """Return the fitted search in a pipeline, strategy or transformed target; None without one."""
    if hasattr(model, "best_params_") and hasattr(model, "cv_results_"):
        return model
    inner = model.steps[-1][1] if hasattr(model, "steps") else None
    for attribute in ("estimator_", "regressor_"):
        inner = getattr(model, attribute, inner)
    return None if inner is None else search_in(inner)


def short_names(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without the prefixes of their names, except where names would clash."""
    last = {name: name.rpartition("__")[2] for name in params}
    number = Counter(last.values())
    return {last[n] if number[last[n]] == 1 else n: value for n, value in params.items()}


def trace_of(fitted: Any, order: int) -> Trace | None:
    """Return the trace of the search in a fitted model, or None if nothing was searched.

    Parameters
    ----------
    fitted : estimator
        A search, or a pipeline or strategy that contains one.
    order : int
        Seed of the random order in which a smaller budget would take the candidates of a grid. The
        candidates of other searches have the order in which they were tried.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from mlaut.estimators import GridSearch
    >>> search = GridSearch(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]})
    >>> trace = trace_of(search.fit(*load_iris(return_X_y=True)), order=0)
    >>> trace.params[0], trace.scores.shape
    ({'max_depth': 1}, (2, 5))
    """
    search = search_in(fitted)
    if search is None or not search.cv_results_["params"]:
        return None
    results, n_folds = search.cv_results_, search.n_splits_
    metric = "score" if "split0_test_score" in results else search.refit
    columns = [f"split{fold}_test_{metric}" for fold in range(n_folds)]
    if any(name not in results for name in columns):
        return None  # another program's search, or one by several metrics that a function judges
    n = len(results["params"])
    words, budget = getattr(search, "search", None), parse_budget(getattr(search, "budget", None))
    exchangeable = words is None and isinstance(search, GridSearchCV)
    rows = np.random.default_rng(order).permutation(n) if exchangeable else np.arange(n)
    cpu = getattr(search, "cpu_seconds_", None)
    wall = np.asarray(results["mean_fit_time"]) + np.asarray(results["mean_score_time"])
    seconds = wall * n_folds if cpu is None else np.asarray(cpu)
    params = [plain(short_names(point)) for point in results["params"]]
    return Trace(
        search=words or ("grid" if exchangeable else type(search).__name__),
        params=tuple(params[row] for row in rows),
        scores=np.column_stack([results[name] for name in columns])[rows].astype(float),
        seconds=seconds[rows].astype(np.float32),
        shares=_shares(search)[rows].astype(np.float32),
        order=rows.astype(np.int32),
        budget=str(getattr(search, "budget", None) or ""),
        clock="wall" if cpu is None else "cpu",
        allowed={} if budget is None else {budget.unit: budget.amount},
        spent=getattr(search, "spent_", {}),
    )


def _shares(search: Any) -> np.ndarray:
    """Return the share of the training rows that each candidate was fitted on."""
    if hasattr(search, "shares_"):
        return np.asarray(search.shares_)
    used = search.cv_results_.get("n_resources")  # of scikit-learn's halving searches
    n = len(search.cv_results_["params"])
    return np.ones(n) if used is None else np.asarray(used) / np.max(used)
