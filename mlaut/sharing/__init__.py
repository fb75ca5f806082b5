"""Exact grid search that resumes, stops in time, and has an honest score; it needs no study.

`GridSearchCV` replaces scikit-learn's class. What candidates share, and how they are scored then,
the plug-in mlaut-sharing knows. Only `private` uses private names of scikit-learn.
"""

from mlaut.sharing.private import SharingWarning
from mlaut.sharing.search.search import GridSearchCV
from mlaut.sharing.search_limits import IncompleteSearchWarning, search_limits
from mlaut.sharing.spaces import Floats, Integers

__all__ = [
    "Floats",
    "GridSearchCV",
    "IncompleteSearchWarning",
    "Integers",
    "SharingWarning",
    "search_limits",
]
