"""Identity of an object in plain JSON values: equal content has equal text, on any machine.

A strategy is recognised by its classes and parameters, not only by its name. The user's own
functions and classes are compared by name and syntax. Everything that they read from outside is
included: functions that they call, classes, constants of modules. Comments, docstrings, line
numbers, the version of Python and addresses in memory have no effect. Parameters that cannot change
a result (``n_jobs``, ``verbose``, ``memory``, ``share_work``) are left out. Code of libraries is
identified by name, because a study records the versions of libraries separately. Places that
cannot be compared are listed (`Description.unseen`).
"""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mlaut.identity.describer import Describer, Description


def describe(value: Any, *, former: bool = False) -> Description:
    """Return the description of an object.

    Parameters
    ----------
    value : object
        Any value that `canonical` accepts.
    former : bool, default False
        Whether to describe it as studies stored it once.

    Raises
    ------
    StrategyError
        The value has a state that cannot be read.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> sorted(describe(SVC(C=3)).libraries), describe(SVC(C=3)).unseen
    (['sklearn'], ())
    """
    return Describer(former).describe(value)


def digest(value: Any) -> str:
    """Return the SHA-256, in hexadecimal, of the canonical form of a value.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    text = json.dumps(canonical(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(value: Any) -> Any:
    """Return the plain JSON form of a value.

    Parameters
    ----------
    value : object
        Numbers, text, containers, arrays, tables, functions, classes, estimators, and objects
        whose state is made of these.

    Returns
    -------
    object
        Nested dict, list, str, int, float, bool and None, without NaN and infinity.

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
    return describe(value).identity


def plain(value: Any) -> Any:
    """Return a value in readable JSON values: like `canonical`, but with objects as text.

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
