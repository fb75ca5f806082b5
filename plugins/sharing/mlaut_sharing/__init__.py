"""Searches for parameters that share work, resume, end in time, and have an honest score.

A plug-in of MLaut: its strategies then search grids by `GridSearchCV`, and beyond them by
`BudgetedSearch`.
"""

from importlib import import_module
from typing import Any

_ROOMS = {
    "BudgetedSearch": "budgeted",
    "FAMILIES": "families",
    "GridSearchCV": "search.search",
    "IncompleteSearchWarning": "limits",
    "SharingWarning": "search.private",
    "search_limits": "limits",
}


def __getattr__(name: str) -> Any:
    """Return what is imported when it is first asked for: families import scikit-learn's models."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
