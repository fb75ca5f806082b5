"""Former name of the search, which pickles and the identities in older studies hold."""

from mlaut.sharing import GridSearchCV

__all__ = ["SharingGridSearchCV"]


class SharingGridSearchCV(GridSearchCV):
    """Same class as `mlaut.sharing.GridSearchCV`, under its former name."""
