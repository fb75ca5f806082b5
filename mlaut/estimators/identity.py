"""Say what an object *is* in plain JSON values: equal content gives equal text, on any machine.

A strategy is recognised by its classes and parameters, not by its name alone. Functions count by
their name and compiled code, so that a comment, a docstring or a moved line changes nothing, and
addresses in memory never appear. What cannot change a result (``n_jobs``, ``verbose``, ``memory``,
``share_work``) is left out. Code of installed packages counts by name: their versions are recorded
elsewhere. What a function reads from outside of itself, a global constant say, is not seen.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import inspect
import json
import math
import sys
import sysconfig
import types
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mlaut.errors import StrategyError

__all__ = ["canonical", "class_path", "digest", "influential", "plain"]

NO_INFLUENCE = frozenset({"n_jobs", "verbose", "memory", "share_work"})
"""Parameters that change no result."""

_LIBRARIES = tuple(
    Path(sysconfig.get_path(key)).resolve() for key in ("stdlib", "purelib", "platlib")
)


def digest(value: Any) -> str:
    """SHA-256, in hexadecimal, of the canonical form of a value.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    text = json.dumps(canonical(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def class_path(cls: type) -> str:
    """Where a class is: ``module.qualified_name``.

    Examples
    --------
    >>> class_path(StrategyError)
    'mlaut.errors.StrategyError'
    """
    return f"{cls.__module__}.{cls.__qualname__}"


def canonical(value: Any) -> Any:
    """Give the plain JSON form of a value.

    Parameters
    ----------
    value : object
        Numbers, text, containers, arrays, tables, functions, classes, estimators, and objects
        whose state is made of these.

    Returns
    -------
    object
        Made of dict, list, str, int, float, bool and None; no NaN, no infinity.

    Raises
    ------
    StrategyError
        The value has a state that cannot be read.

    Examples
    --------
    >>> canonical((1, np.float64(0.5), float("inf"), None))
    [1, 0.5, {'number': 'inf'}, None]
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> canonical(KNeighborsClassifier(3, n_jobs=2))["parameters"]["n_neighbors"]
    3
    """
    return _canonical(value, ())


def plain(value: Any) -> Any:
    """Give a value as it should be read by people and JSON: as `canonical`, objects as text.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> plain({"C": np.int64(1), "estimator": DecisionTreeClassifier(max_depth=1)})
    {'C': 1, 'estimator': 'DecisionTreeClassifier(max_depth=1)'}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return getattr(value, "__name__", None) or " ".join(str(value).split())


def _canonical(value: Any, above: tuple[int, ...]) -> Any:
    if isinstance(value, np.generic) and not isinstance(value, np.void):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"number": str(value)}
    if id(value) in above:  # it holds itself: say how many levels up
        return {"again": len(above) - above.index(id(value))}
    return _of_object(value, (*above, id(value)))


def _of_object(value: Any, above: tuple[int, ...]) -> Any:
    if isinstance(value, type):
        return _of_class(value, above)
    if isinstance(value, Mapping):
        return _of_mapping(value, above)
    if isinstance(value, np.ndarray):
        return _of_array(value, above)
    if isinstance(value, pd.DataFrame | pd.Series | pd.Index):
        return {"table": _table_digest(value), "class": class_path(type(value))}
    if isinstance(value, Set):
        items = [_canonical(item, above) for item in value]
        return {"set": sorted(items, key=lambda item: json.dumps(item, sort_keys=True))}
    if isinstance(value, bytes):
        return {"bytes": hashlib.sha256(value).hexdigest()}
    if isinstance(value, Sequence):  # lists, tuples, ranges: the same values, the same thing
        return [_canonical(item, above) for item in value]
    if callable(value) and not hasattr(value, "get_params"):
        return _of_callable(value, above)
    return _of_instance(value, above)


def _of_class(value: type, above: tuple[int, ...]) -> dict[str, Any]:
    form: dict[str, Any] = {"class": class_path(value)}
    code = _own_code(value, above)
    return {**form, "code": code} if code else form


def _of_mapping(value: Mapping[Any, Any], above: tuple[int, ...]) -> Any:
    if all(isinstance(key, str) for key in value):
        return {key: _canonical(value[key], above) for key in sorted(value)}
    items = [[_canonical(key, above), _canonical(item, above)] for key, item in value.items()]
    return {"mapping": sorted(items, key=lambda item: json.dumps(item, sort_keys=True))}


def _of_array(value: np.ndarray, above: tuple[int, ...]) -> Any:
    if value.ndim == 1 and value.size <= 1000 and not value.dtype.hasobject:
        return [_canonical(item, above) for item in value.tolist()]  # as the same list
    if value.dtype.hasobject:
        return {
            "array": [_canonical(item, above) for item in value.ravel().tolist()],
            "shape": list(value.shape),
        }
    content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    return {"array": content, "shape": list(value.shape), "dtype": value.dtype.str}


def _table_digest(value: pd.DataFrame | pd.Series | pd.Index) -> str:
    rows = pd.util.hash_pandas_object(value, index=not isinstance(value, pd.Index)).to_numpy()
    names = [str(name) for name in getattr(value, "columns", [getattr(value, "name", None)])]
    return hashlib.sha256(rows.tobytes() + json.dumps(names).encode()).hexdigest()


def _of_callable(value: Any, above: tuple[int, ...]) -> Any:
    if isinstance(value, functools.partial):
        parts = (value.func, value.args, value.keywords)
        return {"partial": [_canonical(part, above) for part in parts]}
    if isinstance(value, types.MethodType):
        return {"method": value.__name__, "of": _canonical(value.__self__, above)}
    if isinstance(value, types.FunctionType):
        return _of_function(value, above)
    name = getattr(value, "__qualname__", getattr(value, "__name__", None))
    if isinstance(value, types.BuiltinFunctionType | np.ufunc) or inspect.isbuiltin(value):
        return {"function": f"{getattr(value, '__module__', None) or 'numpy'}.{name}"}
    return _of_instance(value, above)


def _of_function(value: types.FunctionType, above: tuple[int, ...]) -> dict[str, Any]:
    form: dict[str, Any] = {"function": f"{value.__module__}.{value.__qualname__}"}
    if _is_library(value.__module__):
        return form
    around = _closure(value)
    form["code"] = _code_digest(value.__code__)
    form["with"] = _canonical([value.__defaults__, value.__kwdefaults__, around], above)
    return form


def _closure(function: types.FunctionType) -> list[Any]:
    """Values that the function took from where it was defined; None for one not set yet."""
    values = []
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:
            values.append(None)
    return values


def _of_instance(value: Any, above: tuple[int, ...]) -> dict[str, Any]:
    form = _of_class(type(value), above)
    if hasattr(value, "get_params"):
        parameters = value.get_params(deep=False)
        return {**form, "parameters": _of_mapping(influential(parameters), above)}
    return {**form, "state": _canonical(_state(value), above)}


def influential(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the parameters that can change a result.

    Examples
    --------
    >>> influential({"C": 1.0, "n_jobs": 2})
    {'C': 1.0}
    """
    return {key: item for key, item in parameters.items() if key not in NO_INFLUENCE}


def _state(value: Any) -> Any:
    try:
        reduced = value.__reduce_ex__(2)
        return reduced if isinstance(reduced, str) else reduced[1:3]
    except Exception as error:
        raise StrategyError(
            f"a {class_path(type(value))} in the parameters of a strategy cannot be recognised by "
            f"its content ({error}); give a scikit-learn estimator, a function or plain values"
        ) from error


def _own_code(cls: type, above: tuple[int, ...]) -> dict[str, Any]:
    """Canonical code of the methods that the user wrote, of a class and its bases."""
    functions = {
        f"{base.__qualname__}.{name}": _underlying(member)
        for base in cls.__mro__
        if not _is_library(base.__module__)
        for name, member in vars(base).items()
    }
    return {
        name: _canonical_method(function, above)
        for name, function in sorted(functions.items())
        if isinstance(function, types.FunctionType)
    }


def _canonical_method(function: types.FunctionType, above: tuple[int, ...]) -> Any:
    # `super()` puts the class itself into the closure of its methods; the class is named already.
    around = [None if isinstance(item, type) else item for item in _closure(function)]
    parts = [function.__defaults__, function.__kwdefaults__, around]
    return [_code_digest(function.__code__), _canonical(parts, above)]


def _underlying(member: Any) -> Any:
    if isinstance(member, staticmethod | classmethod):
        return member.__func__
    return member.fget if isinstance(member, property) else member


def _code_digest(code: types.CodeType) -> str:
    """Digest of what the code does: its instructions, without line numbers and docstrings."""
    hasher = hashlib.sha256()
    for instruction in dis.get_instructions(code):
        if instruction.opname != "EXTENDED_ARG":
            hasher.update(f"{instruction.opname} {_operand(instruction.argval)}\n".encode())
    return hasher.hexdigest()


def _operand(value: Any) -> str:
    if isinstance(value, types.CodeType):
        return _code_digest(value)
    return repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value)


def _is_library(module: str) -> bool:
    """Whether code comes with Python or an installed package rather than from the user."""
    if module.partition(".")[0] == "mlaut" or module in sys.builtin_module_names:
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:  # typed in, or brought along from another process
        return False
    return _in_library(file)


@functools.lru_cache(maxsize=1024)
def _in_library(file: str) -> bool:
    path = Path(file).resolve()
    return any(path.is_relative_to(library) for library in _LIBRARIES)
