"""Names of strategies and of their classes: checks, suggestions for unknown names, imports."""

from importlib import import_module
from typing import Any


def class_at(path: str) -> Any:
    """Import and return the class at a path, ``"module:class"``.

    Examples
    --------
    >>> class_at("mlaut.estimators.sizes:SizeLimit")(rows=3)
    SizeLimit(rows=3, values=None, per_class=False)
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
