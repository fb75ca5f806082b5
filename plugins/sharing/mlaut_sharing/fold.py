"""Records of a fold: the candidates and rows that a family of estimators gets, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeVar

from sklearn.base import clone

from mlaut_sharing.search.evaluation import Candidate as Point
from mlaut_sharing.search.evaluation import DeadlineError

Value = TypeVar("Value")


class CannotShareError(Exception):
    """Error for shared results that differ, or might differ, from those of scikit-learn."""


@dataclass(frozen=True, eq=False)
class Candidate(Point):
    """Candidate of a search, as a family looks at it."""

    @classmethod
    def of(cls, candidate: Point) -> Self:
        """Return a candidate of MLaut's search as one of this class."""
        return cls(candidate.index, candidate.base, candidate.params)

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
