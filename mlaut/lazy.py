"""Lazy public names of a package: each is imported when it is first used (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from mlaut.former_names import FORMER

__all__ = ["attach"]


def attach(
    package: str, home: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names are defined elsewhere.

    Parameters
    ----------
    package : str
        Name of the package.
    home : mapping of str to str
        Maps each public name to the module that defines it.

    Examples
    --------
    >>> get, names = attach("mlaut", {"sqrt": "math"})
    >>> get("sqrt")(9.0), names()
    (3.0, ['sqrt'])
    """

    def get(name: str) -> Any:
        if name not in home:
            if name in FORMER:  # "from ... import" would replace the text of an AttributeError
                raise ImportError(
                    f"{name!r} is a name of an earlier version; today: {FORMER[name]}"
                )
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, value)  # the next access does not come here
        return value

    return get, lambda: sorted(home)
