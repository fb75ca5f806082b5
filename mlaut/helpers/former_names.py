"""Names of earlier versions: what to write today, and those that a plug-in has."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def without_plugin(what: str, plugin: str) -> str:
    """Return the sentence that tells which of MLaut's plug-ins is missing, and how to get it.

    Examples
    --------
    >>> print(without_plugin("boards are read by", "boards"))
    boards are read by the plug-in mlaut-boards: 'pip install ./plugins/exchange \
./plugins/boards' in a copy of MLaut's repository
    """
    needed = "./plugins/exchange " * (plugin == "boards")  # which no package index has
    return (
        f"{what} the plug-in mlaut-{plugin}: 'pip install {needed}./plugins/{plugin}' in a copy "
        "of MLaut's repository"
    )


def of_plugin(name: str) -> Any:
    """Return what a plug-in has by a name of `in_plugins`; an error says which one is missing."""
    plugin = in_plugins()[name]
    package = f"mlaut_{plugin}"
    try:
        return getattr(import_module(package), name)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ImportError(without_plugin(f"{name} is in", plugin)) from None


def if_installed(name: str) -> Any:
    """Return what a plug-in has by a name of `in_plugins`; None if the plug-in is missing."""
    return of_plugin(name) if find_spec(f"mlaut_{in_plugins()[name]}") else None


@cache
def _names() -> dict[str, Any]:
    import tomllib  # not at `import mlaut`, which is to be quick

    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def in_plugins() -> dict[str, str]:
    """Return the names that MLaut's own plug-ins have, each with its plug-in."""
    return {name: plugin for plugin, names in _names()["plugins"].items() for name in names.split()}


@cache
def former() -> dict[str, str]:
    """Return the names of earlier versions, each with what to write today.

    A module or class is a name of ``mlaut``, unless it begins with a capital.
    """
    return {
        name if name[0].isupper() else f"mlaut.{name}": today
        for today, names in _names().items()
        if today != "plugins"
        for name in names.split()
    }


def check_former(name: str) -> None:
    """Raise an error with the replacement if a name is that of an earlier version.

    Examples
    --------
    >>> check_former("mlaut.shared")
    Traceback (most recent call last):
    ...
    ImportError: 'mlaut.shared' is a name of an earlier version; today: mlaut.Files_IO
    """
    if today := former().get(name):
        raise ImportError(f"{name!r} is a name of an earlier version; today: {today}")
