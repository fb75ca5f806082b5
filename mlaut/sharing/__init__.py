"""Exact grid search that shares work between candidates; it needs no study.

`GridSearchCV` replaces scikit-learn's class. Each family of estimators has a file whose docstring
states what its candidates share and why the scores are the same. A new family needs a subclass of
`interface.Sharer` with two methods, and an entry in `candidate_groups`. Only `private` uses private
names of scikit-learn.
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
