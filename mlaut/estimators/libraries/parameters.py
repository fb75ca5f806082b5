"""Functions on parameters inside a model: check names, set all seeds or numbers of jobs."""

import copy
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from mlaut.errors import StrategyError, refuse_unknown
from mlaut.estimators.libraries.library import library_of
from mlaut.estimators.looking import has


def check_parameters(strategy: str, estimator: Any, names: Mapping[str, Any]) -> None:
    """Raise an error if a name is not a parameter of the estimator of a strategy.

    Raises
    ------
    StrategyError
        A name is unknown; the message suggests the nearest parameter.
    """
    known = sorted({*estimator.get_params(), *_hidden(estimator)})
    what = f"strategy {strategy!r}: {type(estimator).__name__} has no parameter"
    refuse_unknown(names, known, StrategyError, what)


def copied(estimator: Any) -> Any:
    """Return an unfitted copy, even if `clone` refuses because a constructor copies a parameter.

    CatBoost copies lists, such as ``cat_features=[0]``.
    """
    try:
        return clone(estimator)
    except RuntimeError:
        return copy.deepcopy(estimator)


def check_clone(strategy: str, estimator: Any) -> None:
    """Raise an error if an estimator cannot be copied for the candidates of a search."""
    try:
        clone(estimator)
    except RuntimeError as error:
        changed = str(error).rpartition(" ")[2]
        raise StrategyError(
            f"strategy {strategy!r} cannot be tuned: the constructor of {type(estimator).__name__} "
            f"changes {changed}, so scikit-learn cannot copy it for each candidate; give "
            f"{changed} as a tuple, or in a form that the constructor keeps"
        ) from error


def settable(model: Any) -> dict[str, Any]:
    """Return the parameters of a model and of its parts, without those of frozen estimators."""
    parameters = model.get_params(deep=True)
    parts = {"": model, **parameters}
    frozen = [f"{n}__" if n else "" for n, it in parts.items() if isinstance(it, FrozenEstimator)]
    return {n: it for n, it in parameters.items() if not n.startswith(tuple(frozen))}


def digests_of_frozen(model: Any) -> list[str]:
    """Return digests of the fitted state of the frozen estimators in a model."""
    parts = [model, *model.get_params(deep=True).values()]
    return [joblib.hash(part.estimator) for part in parts if isinstance(part, FrozenEstimator)]


def _hidden(model: Any) -> Iterator[str]:
    """Yield the parameters in a model that ``get_params`` returns only if they are set."""
    for prefix, part in _learners(model):
        if library_of(part).sparse_parameters:
            yield from (f"{prefix}{name}" for name in inspect.signature(type(part)).parameters)


def _learners(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield the estimators in a model, with the prefix of their parameters."""
    for name, part in {"": model, **settable(model)}.items():
        if has(part, "fit"):
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
    if names := unset_seeds(model):
        model.set_params(**dict(zip(names, drawn_seeds(random_state, len(names)), strict=True)))
    return model


def unset_seeds(model: Any) -> list[str]:
    """Return the sorted names of the seeds that are None.

    Seeds of CatBoost are included, although its ``get_params`` has only parameters that are set.
    """
    parameters = settable(model)
    seeds = {name for name in parameters if _is(name, "random_state") and parameters[name] is None}
    return sorted(seeds | hidden_seeds(model))


def hidden_seeds(model: Any) -> set[str]:
    """Return the names of the seeds in a model that are not set and not among its parameters."""
    return {
        f"{prefix}{seeds[0]}"
        for prefix, part in _learners(model)
        if (seeds := library_of(part).seeds)
        and all(part.get_params().get(name) is None for name in seeds)
    }


def drawn_seeds(random_state: Any, n: int) -> list[int]:
    """Return ``n`` seeds, drawn one after the other."""
    source = check_random_state(random_state)
    return [int(source.randint(np.iinfo(np.int32).max)) for _ in range(n)]


def set_n_jobs(model: Any, n_jobs: int) -> Any:
    """Set every ``n_jobs`` of a model that is not None; return the model.

    For a library that otherwise uses all cores (`Library`), the number of threads is always set.
    """
    parameters = settable(model)
    names = {key for key in parameters if _is(key, "n_jobs") and parameters[key] is not None}
    for prefix, part in _learners(model):
        library = library_of(part)
        name = f"{prefix}{library.threads}"
        unset = parameters.get(name) is None
        if (library.all_cores and (name in parameters or library.sparse_parameters)) or not unset:
            names.add(name)
    if names:
        model.set_params(**dict.fromkeys(sorted(names), n_jobs))
    return model


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
