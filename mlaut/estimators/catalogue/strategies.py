"""Conversion of names, classes, estimators and pipelines into strategies."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sklearn.base import clone

from mlaut.errors import StrategyError
from mlaut.estimators.catalogue.registry import REGISTRY
from mlaut.estimators.looking import has, looked_at
from mlaut.estimators.strategy.generic_estimator import Generic_Estimator
from mlaut.estimators.strategy.mlaut_estimator import MlautEstimator
from mlaut.estimators.strategy.wrappers import wrapped, wrapper_of
from mlaut.records import check_name


def as_strategies(obj: Any) -> tuple[MlautEstimator, ...]:
    """Return strategies from names, classes, estimators, pipelines, or any collection of these.

    Parameters
    ----------
    obj : object
        - text: a name, a family, a task, a collection or ``"all"``, as in `Registry.search`, or
          one of these in ``balanced(...)``, ``calibrated(...)`` or ``thresholded(...)``;
        - a strategy, or a scikit-learn estimator, pipeline or search, or the class of one;
        - a mapping from name to any of these, or a ``(name, estimator)`` pair;
        - a list, or any iterable, of all of these.

        A strategy that several words match is returned once. The input is not changed.

    Returns
    -------
    tuple of MlautEstimator
        New strategies with distinct names.

    Raises
    ------
    StrategyError
        A name is unknown or used twice, or an object is not an estimator.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.svm import LinearSVC
    >>> [s.name for s in as_strategies(["BaselineClassifier", ("5-NN", KNeighborsClassifier())])]
    ['BaselineClassifier', '5-NN']
    >>> as_strategies([LinearSVC(C=1), LinearSVC(C=9)])
    Traceback (most recent call last):
    mlaut.errors.StrategyError: two strategies are called 'LinearSVC': LinearSVC(C=1) and \
LinearSVC(C=9); give them names: {'LinearSVC 1': ..., 'LinearSVC 2': ...}
    """
    taken: dict[str, tuple[MlautEstimator, Any]] = {}
    for strategy, source in _each(obj):
        check_name(strategy.name)
        if strategy.name in taken and isinstance(source, str) and taken[strategy.name][1] == source:
            if not strategy.chosen_by:
                taken[strategy.name][0].chosen_by = ""
            continue
        if strategy.name in taken:
            raise _named_twice(strategy.name, taken[strategy.name][1], source)
        taken[strategy.name] = strategy, source
    return tuple(strategy for strategy, _ in taken.values())


def tuned_as(
    strategies: Iterable[MlautEstimator], search: str = "", budget: Any = None
) -> tuple[MlautEstimator, ...]:
    """Return strategies with the same search and budget, unless they have their own.

    Strategies that tune nothing, and those that contain a search of another library, are returned
    unchanged. The strategy inside another one, as in ``"balanced(SVC)"``, is changed too.

    Parameters
    ----------
    strategies : iterable of MlautEstimator
    search : str
        As the parameter of `MlautEstimator`; empty for none.
    budget : str, float or None

    Examples
    --------
    >>> (svc,) = tuned_as(as_strategies("SVC"), "random(50)", "10m cpu")
    >>> svc.search, svc.budget
    ('random(50)', '10m cpu')
    """
    listed = tuple(strategies)
    for strategy in listed:
        with looked_at(strategy.name):
            for part in (strategy, *strategy.get_params(deep=True).values()):
                if isinstance(part, MlautEstimator):
                    _tune_as(part, search, budget)
    return listed


def _tune_as(strategy: MlautEstimator, search: str, budget: Any) -> None:
    """Set search and budget of a strategy that tunes something, unless it has its own."""
    known = strategy.get_params(deep=False)
    if "search" in known and (known["search_space"] or known["param_grid"]):
        changes = {"search": search or None, "budget": budget}
        strategy.set_params(**{name: v for name, v in changes.items() if known[name] is None})


def _named_twice(name: str, first: Any, second: Any) -> StrategyError:
    earlier, later = (" ".join(repr(source).split()) for source in (first, second))
    return StrategyError(
        f"two strategies are called {name!r}: {earlier} and {later}; "
        f"give them names: {{'{name} 1': ..., '{name} 2': ...}}"
    )


def _each(obj: Any) -> Iterator[tuple[MlautEstimator, Any]]:
    """Yield each strategy with its source: the object, or the registered name for a word."""
    if isinstance(obj, str) and (parts := wrapper_of(obj)):
        kind, inner = parts
        for around in wrapped((strategy for strategy, _ in _each(inner)), kind):
            yield around, around.name
    elif isinstance(obj, str):
        for spec, word in REGISTRY.can_run(obj):
            yield spec.make(word), spec.name
    elif isinstance(obj, Mapping):
        for name, value in obj.items():
            yield _named(name, value), value
    elif _is_pair(obj):
        yield _named(*obj), obj[1]
    elif has(type(obj), "fit") or has(obj, "fit") or not isinstance(obj, Iterable):
        own = issubclass(type(obj), MlautEstimator) and has(obj, "name")
        with looked_at(obj.name if own else type(obj).__name__):
            one = _one(obj)
        yield one, obj
    else:
        for item in obj:
            yield from _each(item)


def _is_pair(obj: Any) -> bool:
    """Return whether an object is a pair (name, estimator), and not a tuple of two names."""
    return (
        isinstance(obj, tuple)
        and len(obj) == 2
        and isinstance(obj[0], str)
        and not isinstance(obj[1], str)
    )


def _named(name: Any, value: Any) -> MlautEstimator:
    with looked_at(str(name)):
        strategies = [strategy for strategy, _ in _each(value)]
    if len(strategies) != 1:
        raise StrategyError(
            f"the name {name!r} is given to {len(strategies)} strategies; give each its own"
        )
    return strategies[0].set_params(name=name)


def _one(obj: Any) -> MlautEstimator:
    if isinstance(obj, type):
        obj = _instance(obj)
    if not isinstance(obj, MlautEstimator):
        return Generic_Estimator(obj)
    copied = clone(obj)
    copied.chosen_by = obj.chosen_by
    return copied


def _instance(cls: type) -> Any:
    try:
        return cls()
    except TypeError as error:
        raise StrategyError(
            f"{cls.__name__} cannot be made without arguments ({error}); give an instance"
        ) from error
