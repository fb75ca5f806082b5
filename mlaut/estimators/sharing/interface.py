"""What a kind of estimator says of itself so that candidates of a grid can share their work.

A `Sharer` recognises candidates that it can treat together (`Sharer.key`) and gives, for one fold,
a fitted model for each (`Sharer.models`). The model may be a `StandIn`: it answers as the fitted
estimator would, from numbers that were computed for all candidates at once. Whatever a sharer does
not give, because it cannot or because something failed, is fitted as scikit-learn fits it, so a
sharer needs to be right, but not complete.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.metaestimators import available_if

from mlaut.estimators.sharing.private import told_lacking

__all__ = [
    "Candidate",
    "CannotShareError",
    "DeadlineError",
    "Fold",
    "Shared",
    "Sharer",
    "per_table",
    "stand_in",
]

Value = TypeVar("Value")


class CannotShareError(Exception):
    """What was computed together is not, or might not be, what scikit-learn computes alone."""


class DeadlineError(Exception):
    """The time that a search was given is over."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """One point of a grid.

    Attributes
    ----------
    index : int
        Its row in ``cv_results_``.
    base : estimator
        What is tuned; it is not changed.
    params : mapping
        The parameters to set, as the grid has them.
    """

    index: int
    base: Any
    params: Mapping[str, Any]

    def setting(self, name: str) -> Any:
        """Return a parameter, be it set by the grid or not."""
        return self.params[name] if name in self.params else getattr(self.base, name)

    def estimator(self, **changes: Any) -> Any:
        """Return a new unfitted estimator with the parameters set, and these changes."""
        params = clone({**self.params, **changes}, safe=False)
        return clone(self.base).set_params(**params)

    def rest(self, *shared: str) -> tuple[tuple[str, Hashable], ...]:
        """Say what it is but for these parameters, in a form that can be compared."""
        others = sorted(name for name in self.params if name not in shared)
        base = ("", id(self.base))  # a pipeline may have several estimators as its last step
        return (base, *((name, _token(self.params[name])) for name in others))


def _token(value: Any) -> Hashable:
    """Equal for equal plain values; for others, equal for the same object in the grid."""
    if value is None or isinstance(value, bool | int | float | str):
        return type(value).__name__, value
    return "object", id(value)


@dataclass(eq=False)
class Fold:
    """The rows of one fold.

    Attributes
    ----------
    X_train, y_train, X_test, y_test
        As scikit-learn's search cuts them out.
    deadline : callable or None
        Returns whether the time is over.
    memo : dict
        What sharers keep for the groups of candidates that follow on this fold.
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
        """Compute something once for this fold."""
        if key not in self.memo:
            self.memo[key] = compute()
        return self.memo[key]


class Shared(NamedTuple):
    """A fitted model of one or more candidates that are the same model, and where to score it."""

    indices: tuple[int, ...]
    model: Any
    fold: Fold


class Sharer(ABC):
    """One way in which candidates share work. It has no state, so it can be sent anywhere.

    Attributes
    ----------
    most_in_time : int or None
        So many candidates share at most where time is limited, because one of them may take longer
        than all others; None for any number.
    private : tuple of str
        The groups of private names of scikit-learn that it needs.
    """

    most_in_time: int | None = None
    private: tuple[str, ...] = ()

    def usable_key(self, candidate: Candidate) -> Hashable | None:
        """Return the key; None, with a warning, where scikit-learn lacks what this needs."""
        key = self.key(candidate)
        if key is None or (self.private and told_lacking(type(self).__name__, *self.private)):
            return None
        return key

    @abstractmethod
    def key(self, candidate: Candidate) -> Hashable | None:
        """Return what candidates that share have in common; None if this one does not."""

    @abstractmethod
    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Return a model for each candidate that can be treated; all have the same key."""


def per_table(compute: Callable[[Any], Value]) -> Callable[[Any], Value]:
    """Remember what is computed for each table, by its identity.

    Examples
    --------
    >>> table = [1, 2]
    >>> total = per_table(lambda table: [sum(table)])
    >>> total(table) is total(table)
    True
    """
    known: list[tuple[Any, Value]] = []

    def get(table: Any) -> Value:
        for seen, value in known:
            if seen is table:
                return value
        known.append((table, compute(table)))
        return known[-1][1]

    return get


def _answers(method: str) -> Callable[[Any], bool]:
    return lambda model: method in model.answers


class _StandIn(BaseEstimator):
    """A fitted model that answers from what was computed for several candidates at once."""

    def __init__(self, answers: Mapping[str, Callable[[Any], Any]], classes: Any = None) -> None:
        self.answers = answers
        self.classes_ = classes

    def predict(self, X: Any) -> Any:
        return self.answers["predict"](X)

    @available_if(_answers("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        return self.answers["predict_proba"](X)

    @available_if(_answers("decision_function"))
    def decision_function(self, X: Any) -> Any:
        return self.answers["decision_function"](X)


class _StandInClassifier(ClassifierMixin, _StandIn):
    pass


class _StandInRegressor(RegressorMixin, _StandIn):
    pass


def stand_in(estimator: Any, classes: Any = None, **answers: Callable[[Any], Any]) -> BaseEstimator:
    """Make a model that answers in the place of a fitted estimator.

    Parameters
    ----------
    estimator : estimator
        Tells whether it is a classifier or a regressor.
    classes : ndarray, optional
        The labels of a classifier, sorted.
    **answers : callable
        ``predict`` and, where the estimator has them, ``predict_proba`` and ``decision_function``.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> model = stand_in(DummyRegressor(), predict=lambda X: [7.0 for _ in X])
    >>> model.predict([[1], [2]]), hasattr(model, "predict_proba")
    ([7.0, 7.0], False)
    """
    kind = _StandInClassifier if isinstance(estimator, ClassifierMixin) else _StandInRegressor
    return kind(answers, classes)
