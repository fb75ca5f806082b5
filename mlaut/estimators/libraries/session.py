"""Settings of libraries that a session has changed, and that change what its strategies do.

They are part of the identity of a strategy, and go with it to each process that runs its cells.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

SETTINGS = "settings"
"""Key of the settings of the session in the identity of a strategy."""

_SKLEARN = "sklearn."
# The defaults of `sklearn.set_config`. Those of what only shows estimators are left out, and a
# setting that is not listed goes nowhere.
_DEFAULTS = {
    "array_api_dispatch": False,
    "assume_finite": False,
    "enable_cython_pairwise_dist": True,
    "enable_metadata_routing": False,
    "pairwise_dist_chunk_size": 256,
    "skip_parameter_validation": False,
    "sparse_interface": "spmatrix",
    "transform_output": "default",
    "working_memory": 1024,
}


class _Setting(NamedTuple):
    """Setting of a library other than scikit-learn: its default, how to read and to set it."""

    default: str
    read: Callable[[Any], str]
    write: Callable[[Any, str], None]


def _set_dtype(torch: Any, dtype: str) -> None:
    torch.set_default_dtype(getattr(torch, dtype))


# By the name of the module, which a session that has not loaded it has not changed.
_OTHERS = {
    "keras.floatx": _Setting(
        "float32", lambda keras: keras.config.floatx(), lambda keras, x: keras.config.set_floatx(x)
    ),
    "torch.default_dtype": _Setting(
        "float32", lambda torch: str(torch.get_default_dtype()).removeprefix("torch."), _set_dtype
    ),
}


def session_settings() -> dict[str, Any]:
    """Return the settings of libraries that this session has changed, by name, in plain values.

    Examples
    --------
    >>> import sklearn
    >>> with sklearn.config_context(transform_output="pandas"):
    ...     session_settings()
    {'sklearn.transform_output': 'pandas'}
    """
    from sklearn import get_config

    now = get_config()
    settings = {
        _SKLEARN + name: now[name]
        for name, default in _DEFAULTS.items()
        if name in now and now[name] != default
    }
    return settings | {
        name: value
        for name, setting in _OTHERS.items()
        if (library := sys.modules.get(name.partition(".")[0])) is not None
        and (value := setting.read(library)) != setting.default
    }


@contextlib.contextmanager
def in_session(settings: Mapping[str, Any]) -> Iterator[None]:
    """Give this process the settings of a session during the block, and NumPy's own error state.

    Settings that are not named have their defaults.

    Examples
    --------
    >>> with in_session({"sklearn.transform_output": "pandas"}):
    ...     session_settings()
    {'sklearn.transform_output': 'pandas'}
    """
    from sklearn import config_context, get_config

    known = get_config()
    config = {
        name: settings.get(_SKLEARN + name, default)
        for name, default in _DEFAULTS.items()
        if name in known
    }
    before = session_settings()
    changed = {
        name: (before.get(name, setting.default), settings.get(name, setting.default))
        for name, setting in _OTHERS.items()
        if before.get(name) != settings.get(name)
    }
    with (
        np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"),
        config_context(**config),
    ):
        try:
            for name, (_, value) in changed.items():
                _OTHERS[name].write(_library(name), value)
            yield
        finally:
            for name, (value, _) in changed.items():
                _OTHERS[name].write(_library(name), value)


def _library(setting: str) -> Any:
    return import_module(setting.partition(".")[0])
