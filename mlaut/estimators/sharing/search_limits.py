"""What a caller may ask of every search that runs inside of a ``with`` block."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path

__all__ = ["IncompleteSearchWarning", "Limits", "current_limits", "search_limits"]


class IncompleteSearchWarning(UserWarning):
    """A search has chosen among the candidates that it had scored when its time was over."""


@dataclass(frozen=True)
class Limits:
    """See `search_limits`."""

    checkpoint: Path | None = None
    deadline: Callable[[], bool] | None = None
    skip_hopeless: bool = False


NONE = Limits()
_CURRENT: ContextVar[Limits] = ContextVar("limits of searches", default=NONE)


def current_limits() -> Limits:
    """Return the limits of the innermost `search_limits` around."""
    return _CURRENT.get()


@contextmanager
def search_limits(
    *,
    checkpoint: str | PathLike[str] | None = None,
    deadline: float | Callable[[], bool] | None = None,
    skip_hopeless: bool = False,
) -> Iterator[None]:
    """Make searches in this block resume, stop in time, or give up on what cannot win.

    It reaches a search wherever it is: inside of a pipeline, a strategy or a transformed target.

    Parameters
    ----------
    checkpoint : path, optional
        A file that scores are appended to within half a second. A search that finds scores of its
        own there does not compute them again. A search is known by the content of its rows,
        folds, estimator, grid and scoring, so one file may serve many searches.
    deadline : float or callable, optional
        Seconds since the epoch, as `time.time` gives them; or a function that returns whether the
        time is over, by a clock of its own. No fit begins after it; the search
        chooses among the candidates that were scored on all folds by then, marks the others in
        ``cv_results_["complete"]``, and warns with `IncompleteSearchWarning`. Candidates are taken
        in a random order, always the same one, to sample the whole grid. A fit that is under way
        is not cut off, except between the members of an ensemble, and the final fit of the chosen
        candidate comes on top.
    skip_hopeless : bool, default False
        Leave out folds of a candidate that could not be chosen whatever they gave. The choice is
        the same, the table is not: ``cv_results_["complete"]`` says which rows are.

    Examples
    --------
    >>> import time
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from mlaut.estimators.sharing import SharingGridSearchCV, search_limits
    >>> search = SharingGridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]})
    >>> with search_limits(deadline=time.time() + 60):
    ...     search.fit(*load_iris(return_X_y=True)).best_params_
    {'n_neighbors': 5}
    """
    path = None if checkpoint is None else Path(checkpoint)
    over = deadline if deadline is None or callable(deadline) else partial(_is_past, deadline)
    token = _CURRENT.set(Limits(path, over, skip_hopeless))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def _is_past(deadline: float) -> bool:
    return time.time() >= deadline
