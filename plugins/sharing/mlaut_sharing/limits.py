"""Limits for every search that runs inside a ``with`` block: checkpoint and deadline."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path


class IncompleteSearchWarning(UserWarning):
    """Warning about a search that chose among the candidates scored before its deadline."""


@dataclass(frozen=True)
class Limits:
    """Limits of a search; see `search_limits`."""

    checkpoint: Path | None = None
    deadline: Callable[[], bool] | None = None
    order: int | None = None

    @property
    def limiting(self) -> bool:
        """Return whether the search may have to resume, or end early."""
        return replace(self, order=None) != Limits()


NONE = Limits()
_CURRENT: ContextVar[Limits] = ContextVar("limits of searches", default=NONE)


def current_limits() -> Limits:
    """Return the limits of the innermost enclosing `search_limits`."""
    return _CURRENT.get()


@contextmanager
def search_limits(
    *,
    checkpoint: str | PathLike[str] | None = None,
    deadline: float | Callable[[], bool] | None = None,
    order: int | None = None,
) -> Iterator[None]:
    """Make searches in this block resume, or stop at a deadline.

    The limits apply to every search in the block, also inside a pipeline, a strategy or a
    transformed target.

    Parameters
    ----------
    checkpoint : path, optional
        File to which scores are appended within half a second. A search does not compute again the
        scores that are in the file. The search is recognised by the content of its rows, folds,
        estimator, grid and scoring, so one file can serve many searches.
    deadline : float or callable, optional
        Time in seconds since the epoch, as in `time.time`; or a function that returns whether the
        time is over, by another clock. No fit starts after the deadline. The search chooses among
        the candidates that were scored on all folds by then, marks them in
        ``cv_results_["complete"]``, and warns with `IncompleteSearchWarning`. Candidates are scored
        in a random order, always the same, to sample the whole grid. A running fit is not
        interrupted, except between the members of an ensemble. The final fit of the chosen
        candidate takes additional time.
    order : int, optional
        Seed of the random order in which a smaller budget would take the candidates of a grid. With
        a seed, a strategy's search also fits the choices of budgets of 1, 2, 4, ... candidates; see
        `mlaut.estimators.searches.traces.fitted_incumbents`.

    Examples
    --------
    >>> import time
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from mlaut.sharing import GridSearchCV, search_limits
    >>> search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]})
    >>> with search_limits(deadline=time.time() + 60):
    ...     search.fit(*load_iris(return_X_y=True)).best_params_
    {'n_neighbors': 5}
    """
    path = None if checkpoint is None else Path(checkpoint)
    over = deadline if deadline is None or callable(deadline) else partial(_is_past, deadline)
    token = _CURRENT.set(Limits(path, over, order))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def _is_past(deadline: float) -> bool:
    return time.time() >= deadline
