"""Names of columns for libraries that refuse some, such as XGBoost with ``size [cm]``.

The learner itself replaces the names, so that all that stands before it (pipelines, searches,
transformers of named columns) sees those of the user, who also predicts with them.
"""

import re
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import pandas as pd

from mlaut.estimators.libraries.library import library_of
from mlaut.estimators.preparing.labels import parts_of

_METHODS = ("fit", "predict", "predict_proba", "apply")


def take_every_name(model: Any) -> Any:
    """Have each learner in a model, or in its grids, take any names of columns; return the model.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> take_every_name(SVC())
    SVC()
    """
    for part in parts_of(model):
        if library_of(part).refused_names and not hasattr(part, "_takes_every_name"):
            _changed(part)
    return model


def _changed(learner: Any) -> Any:
    cls: Any = type(learner)
    learner.__class__ = _taking_every_name(cls)
    return learner


@cache
def _taking_every_name(cls: Any) -> Any:
    """Return a class that looks like another, and gives other names to the columns of tables."""
    own: dict[str, Any] = {
        name: _renaming(getattr(cls, name)) for name in _METHODS if hasattr(cls, name)
    }
    alike = {name: getattr(cls, name) for name in ("__doc__", "__module__", "__qualname__")}
    reduce = {"_takes_every_name": True, "__reduce_ex__": _reduced}
    return type(cls.__name__, (cls,), {**alike, **own, **reduce})


def _renaming(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, *args: Any, **more: Any) -> Any:
        def plain(value: Any) -> Any:
            if isinstance(value, pd.DataFrame):
                names = plain_names(list(value.columns), library_of(self).refused_names)
                return value if names is None else value.set_axis(names, axis=1)
            # tables of validation: [(X, y)]
            kept = isinstance(value, list | tuple) and any(
                isinstance(item, pd.DataFrame | tuple) for item in value
            )
            return type(value)(map(plain, value)) if kept else value

        return method(self, *map(plain, args), **{name: plain(it) for name, it in more.items()})

    return call


def plain_names(names: list[Any], refused: str) -> list[str] | None:
    r"""Return names without what a library refuses, all different, or None if it takes them.

    Parameters
    ----------
    names : list
    refused : str
        Regular expression of the parts of names that the library refuses.

    Examples
    --------
    >>> plain_names(["size [cm]", "age"], r"[\[\]<]")
    ['size _cm_', 'age']
    >>> plain_names(["a<", "a["], r"[\[\]<]")
    ['0 a_', '1 a_']
    """
    texts = [str(name) for name in names]
    plain = [re.sub(refused, "_", text) for text in texts]
    # LightGBM writes spaces as underscores, and wants different names after that.
    if len({text.replace(" ", "_") for text in plain}) < len(plain):
        return [f"{i} {text}" for i, text in enumerate(plain)]
    return None if plain == texts else plain


def _reduced(self: Any, protocol: Any) -> Any:  # noqa: ARG001
    """Pickle a learner as one of the class that it was."""
    twin: Any = object.__new__(type(self).__bases__[0])
    twin.__dict__.update(vars(self))
    return _changed, (twin,)
