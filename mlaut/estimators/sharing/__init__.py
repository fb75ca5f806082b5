"""Exact grid search that shares work between candidates.

`SharingGridSearchCV` replaces scikit-learn's `GridSearchCV`. Each family of estimators has a file
that says what its candidates share and why the scores are the same. A new family needs a subclass
of `interface.Sharer` with two methods, and an entry in `candidate_groups`.
"""

from mlaut.estimators.sharing.private import SharingWarning
from mlaut.estimators.sharing.search import SharingGridSearchCV
from mlaut.estimators.sharing.search_limits import IncompleteSearchWarning, search_limits

__all__ = ["IncompleteSearchWarning", "SharingGridSearchCV", "SharingWarning", "search_limits"]
