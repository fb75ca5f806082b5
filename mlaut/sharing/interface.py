"""Interface of the families of estimators whose candidates share work.

A `Sharer` recognises candidates that it can fit together (`Sharer.key`) and yields a fitted model
for each of them on one fold (`Sharer.models`). The model may be a stand-in: it
predicts as the fitted estimator would, from numbers that were computed for all candidates at once.
Candidates for which a sharer yields no model, because it cannot or because something failed, are
fitted by scikit-learn. So a sharer must be correct, but need not be complete.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from sklearn.base import clone

from mlaut.sharing.private import warn_if_lacking

Value = TypeVar("Value")


class CannotShareError(Exception):
    """Error for shared results that differ, or might differ, from those of scikit-learn."""


class DeadlineError(Exception):
    """Error for a search whose time is over."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """One point of a grid.

    Attributes
    ----------
    index : int
        Row of the candidate in ``cv_results_``.
    base : estimator
        Estimator that is tuned; it is not changed.
    params : mapping
        Parameters of the grid to set on a copy of the estimator.
    """

    index: int
    base: Any
    params: Mapping[str, Any]

    def setting(self, name: str) -> Any:
        """Return the value of a parameter, from the grid or else from the estimator."""
        return self.params[name] if name in self.params else getattr(self.base, name)

    def estimator(self, **changes: Any) -> Any:
        """Return a new unfitted estimator with the parameters of the candidate and the changes."""
        params = clone({**self.params, **changes}, safe=False)
        return clone(self.base).set_params(**params)

    def rest(self, *shared: str) -> tuple[tuple[str, Hashable], ...]:
        """Return a hashable form of the candidate without the shared parameters."""
        others = sorted(name for name in self.params if name not in shared)
        base = ("", id(self.base))  # a pipeline may have several estimators as its last step
        return (base, *((name, _token(self.params[name])) for name in others))


def _token(value: Any) -> Hashable:
    """Return a token that is equal for equal plain values, and for the same object otherwise."""
    if value is None or isinstance(value, bool | int | float | str):
        return type(value).__name__, value
    return "object", id(value)


@dataclass(eq=False)
class Fold:
    """Rows of one fold, with a memo of shared results.

    Attributes
    ----------
    X_train, y_train, X_test, y_test
        Rows and targets, selected as scikit-learn's search selects them.
    deadline : callable or None
        Function that returns whether the time is over.
    memo : dict
        Results that sharers keep for later groups of candidates on this fold.
    """

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any
    deadline: Callable[[], bool] | None = None
    memo: dict[Hashable, Any] = field(default_factory=dict)

    def check_time(self) -> None:
        """Raise `DeadlineError` if the time is over."""
        if self.deadline is not None and self.deadline():
            raise DeadlineError

    def once(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return a value that is computed once for this fold."""
        if key not in self.memo:
            self.memo[key] = compute()
        return self.memo[key]

    def begun(self, key: Hashable, begin: Callable[[], Value]) -> Value:
        """Return the unfinished value of this fold if it has this key; else begin a new one.

        Only one value is kept, since members of an ensemble may fill the memory.
        """
        if self.memo.get("begun", (None,))[0] != key:
            self.memo.pop("begun", None)
            self.memo["begun"] = key, begin()
        return self.memo["begun"][1]


class Shared(NamedTuple):
    """Fitted model of one or more candidates that are the same model, and its fold for scoring."""

    indices: tuple[int, ...]
    model: Any
    fold: Fold


class Sharer(ABC):
    """Base class of the ways in which candidates share work; instances have no state.

    Attributes
    ----------
    private : tuple of str
        Groups of private names of scikit-learn that the sharer needs.
    """

    private: tuple[str, ...] = ()

    def usable_key(self, candidate: Candidate) -> Hashable | None:
        """Return the key; None, with a warning, if scikit-learn lacks a required private name."""
        key = self.key(candidate)
        if key is None or (self.private and warn_if_lacking(type(self).__name__, *self.private)):
            return None
        return key

    def parts(self, candidates: list[Candidate]) -> list[list[Candidate]]:
        """Return the candidates in parts that take turns with other groups when time is limited.

        A part is scored on all folds before the next one. Without parts, one candidate that takes
        long would keep all others from a complete score.
        """
        return [candidates]

    def keeps(self, candidate: Candidate) -> bool:  # noqa: ARG002
        """Return whether groups use results that earlier groups kept of a fold."""
        return False

    @abstractmethod
    def key(self, candidate: Candidate) -> Hashable | None:
        """Return a key that is equal for candidates that share work; None if it cannot share."""

    @abstractmethod
    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Yield a model for each candidate that can be shared; all candidates have one key."""


def draws_anew(estimator: Any, params: Any) -> bool:
    """Return whether fits of an estimator may differ because these parameters have no seed."""
    if not hasattr(estimator, "get_params"):
        return False
    settings = {**estimator.get_params(), **params}
    return any(
        value is None and name.rpartition("__")[2] == "random_state"
        for name, value in settings.items()
    )
