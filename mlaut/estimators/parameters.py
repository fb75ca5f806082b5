"""Parameters inside a model: checks of names, and setting all seeds or numbers of jobs."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mlaut.errors import StrategyError
from mlaut.estimators.names import nearest

__all__ = [
    "check_parameters",
    "drawn_seeds",
    "package_of",
    "seed_all",
    "seeds_of_catboost",
    "set_n_jobs",
    "unset_seeds",
    "without",
]


def check_parameters(strategy: str, estimator: Any, names: Mapping[str, Any]) -> None:
    """Raise an error if a name is not a parameter of the estimator of a strategy.

    Raises
    ------
    StrategyError
        A name is unknown; the message suggests the nearest parameter.
    """
    known = {*estimator.get_params(), *_unset_of_catboost(estimator)}
    for name in names:
        if name not in known:
            raise StrategyError(
                f"strategy {strategy!r}: {type(estimator).__name__} has no parameter "
                f"{name!r}; {nearest(name, known)}"
            )


def _unset_of_catboost(model: Any) -> Iterator[str]:
    """Yield the parameters of CatBoost in a model, whose ``get_params`` has only those set."""
    for prefix, part in _parts_of(model, "catboost"):
        yield from (f"{prefix}{name}" for name in inspect.signature(type(part)).parameters)


def _parts_of(model: Any, package: str) -> Iterator[tuple[str, Any]]:
    """Yield the estimators of a package in a model, with the prefix of their parameters."""
    for name, part in {"": model, **model.get_params(deep=True)}.items():
        if hasattr(part, "fit") and package_of(part) == package:
            yield (f"{name}__" if name else ""), part


def seed_all(model: Any, random_state: Any) -> Any:
    """Set every ``random_state`` of a model that is None, in the order of their names; return it.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = seed_all(BaggingClassifier(DecisionTreeClassifier(random_state=1)), 0)
    >>> model.random_state, model.estimator.random_state
    (209652396, 1)
    """
    if random_state is None:
        return model
    names = unset_seeds(model)
    return model.set_params(**dict(zip(names, drawn_seeds(random_state, len(names)), strict=True)))


def unset_seeds(model: Any) -> list[str]:
    """Return the names of the parameters ``random_state`` that are None, in their order.

    Those of CatBoost are among them, although its ``get_params`` has only what is set.
    """
    parameters = model.get_params(deep=True)
    found = {name for name in parameters if _is(name, "random_state") and parameters[name] is None}
    return sorted(found | seeds_of_catboost(model))


def seeds_of_catboost(model: Any) -> set[str]:
    """Return the names of the seeds of CatBoost in a model that are not set."""
    return {
        f"{prefix}random_state"
        for prefix, part in _parts_of(model, "catboost")
        if all(part.get_params().get(name) is None for name in ("random_seed", "random_state"))
    }


def drawn_seeds(random_state: Any, n: int) -> list[int]:
    """Return ``n`` seeds, drawn one after the other."""
    source = check_random_state(random_state)
    return [int(source.randint(np.iinfo(np.int32).max)) for _ in range(n)]


def set_n_jobs(model: Any, n_jobs: int) -> Any:
    """Set every ``n_jobs`` of a model that is not None; return the model.

    XGBoost, LightGBM, CatBoost and pytabkit use all cores unless a number of threads is set, so
    theirs is always set.
    """
    parameters = model.get_params(deep=True)
    named = [
        key
        for key in parameters
        if _is(key, "n_jobs")
        and (
            parameters[key] is not None or package_of(_owner(model, parameters, key)) in _ALL_CORES
        )
    ]
    others = [
        f"{prefix}{parameter}"
        for package, parameter in _OTHER_NAMES.items()
        for prefix, _ in _parts_of(model, package)
    ]
    return model.set_params(**dict.fromkeys([*named, *others], n_jobs))


_ALL_CORES = ("xgboost", "lightgbm")  # n_jobs=None means every core
_OTHER_NAMES = {"catboost": "thread_count", "pytabkit": "n_threads"}  # of n_jobs


def _owner(model: Any, parameters: Mapping[str, Any], key: str) -> Any:
    """Return the part of a model that has a parameter."""
    name = key.rpartition("__")[0]
    return parameters[name] if name else model


def package_of(part: Any) -> str:
    """Return the package of the first class of an object that is not the user's own."""
    packages = {cls.__module__.partition(".")[0] for cls in type(part).__mro__}
    known = packages & {*_ALL_CORES, *_OTHER_NAMES}
    return known.pop() if known else ""


def _is(key: str, parameter: str) -> bool:
    return key == parameter or key.endswith(f"__{parameter}")


def without(grid: Any, fixed: Mapping[str, Any]) -> Any:
    """Return a grid without the parameters that are fixed.

    Examples
    --------
    >>> without({"C": [1, 2], "gamma": [3]}, {"C": 1})
    {'gamma': [3]}
    """
    if grid is None or isinstance(grid, Mapping):
        return {name: values for name, values in (grid or {}).items() if name not in fixed}
    return [part for part in (without(part, fixed) for part in grid) if part]
