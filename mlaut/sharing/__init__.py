"""Exact grid search that shares work between candidates; it needs no study.

`GridSearchCV` takes the place of scikit-learn's class. Each family of estimators has a file that
says what its candidates share and why the scores are the same. A new family needs a subclass of
`interface.Sharer` with two methods, and an entry in `candidate_groups`. Private names of
scikit-learn are taken in `private` alone.
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
