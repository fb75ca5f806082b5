"""Lazy public names of a package: each is imported when it is first used (PEP 562)."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from mlaut.former_names import IN_PLUGINS, check_former, of_plugin


def attach(
    package: str, modules: Mapping[str, Sequence[str]], rooms: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package of lazy names.

    Parameters
    ----------
    package : str
        Name of the package.
    modules : mapping of str to sequence of str
        Names of each module; a module is named relative to the package, or in full.
    rooms : sequence of str
        Packages below this one, whose public names can be had from this one, too.

    Examples
    --------
    >>> get, names, _ = attach("mlaut", {"errors": ["MlautError"]})
    >>> get("MlautError").__name__, names()
    ('MlautError', ['MlautError'])
    """
    home = {
        name: module if module.startswith("mlaut.") else f"{package}.{module}"
        for module, names in modules.items()
        for name in names
    }

    def get(name: str) -> Any:
        if name in home:
            value = getattr(import_module(home[name]), name)
            setattr(sys.modules[package], name, value)  # the next access does not come here
            return value
        if not name.startswith("_"):
            for room in (f"{package}.{room}" for room in rooms):
                if name in dir(import_module(room)):
                    return getattr(import_module(room), name)
        if package.startswith("mlaut.analysis") and name in IN_PLUGINS:
            return of_plugin(name)
        # "from ... import" would replace the text of an AttributeError
        check_former(name if name[0].isupper() else f"mlaut.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: sorted(home), sorted(home)
