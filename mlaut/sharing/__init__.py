"""Exact grid search that shares work between candidates; it needs no study.

`GridSearchCV` replaces scikit-learn's class. What candidates share, families know, which are
subclasses of `interface.Sharer` in plug-ins: mlaut-sharing has those of scikit-learn, and
pipelines. Only `private` uses private names of scikit-learn.
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
