"""Former place of `mlaut.sharing`, which programs and pickles of version 0.x name."""

from mlaut.estimators.sharing.search import SharingGridSearchCV
from mlaut.sharing import IncompleteSearchWarning, SharingWarning, search_limits

__all__ = ["IncompleteSearchWarning", "SharingGridSearchCV", "SharingWarning", "search_limits"]
