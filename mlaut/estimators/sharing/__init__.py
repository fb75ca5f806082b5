"""Exact grid search that shares work between candidates.

`SharingGridSearchCV` takes the place of scikit-learn's `GridSearchCV`. Each family of estimators
has a file that says what its candidates share and why the scores are the same; a new one is a
class with two methods, `interface.Sharer`, and a line in `families`.
"""

from mlaut.estimators.sharing.private import SharingWarning
from mlaut.estimators.sharing.search import SharingGridSearchCV
from mlaut.estimators.sharing.search_limits import IncompleteSearchWarning, search_limits

__all__ = ["IncompleteSearchWarning", "SharingGridSearchCV", "SharingWarning", "search_limits"]
