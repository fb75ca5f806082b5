"""Finder of plug-ins, which are installed packages with entry points of MLaut.

The groups are ``mlaut.commands``, ``mlaut.readers``, ``mlaut.engines``, ``mlaut.strategies``
and ``mlaut.sharers``.
"""

import warnings
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from mlaut.errors import PluginWarning


@cache
def found(group: str) -> dict[str, Any]:
    """Return what installed plug-ins offer in a group, by name; it is loaded once.

    A plug-in that cannot be imported is left out, and a warning names it.

    Examples
    --------
    >>> found("nothing")
    {}
    """
    loaded = {}
    for point in entry_points(group=f"mlaut.{group}"):
        try:
            loaded[point.name] = point.load()
        except Exception as error:  # whatever a plug-in raises, MLaut works without it
            text = " ".join(str(error).split())
            package = point.dist.name if point.dist else point.value
            warnings.warn(
                f"plug-in {package} is left out, since {point.value} cannot be loaded "
                f"({type(error).__name__}: {text}); update or uninstall it",
                PluginWarning,
                stacklevel=2,
            )
    return loaded


def home_of(group: str, name: str) -> str:
    """Return the package of a plug-in that offers this name in a group."""
    (point,) = entry_points(group=f"mlaut.{group}", name=name)
    return point.module.partition(".")[0]
