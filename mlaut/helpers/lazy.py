"""Lazy imports: public names of a package (PEP 562), classes of scikit-learn, and pandas."""

import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlaut.helpers.former_names import check_former, in_plugins, of_plugin

__all__ = ["attach", "imported", "pd"]

_LINE = re.compile(r"^from (\S+) import (\w+) as \2$", re.MULTILINE)
_WITH_PLUGINS = ("mlaut.analysis", "mlaut.estimators", "mlaut.files_io", "mlaut.sharing")


def attach(
    package: str, rooms: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package of lazy names.

    The stub of the package, ``__init__.pyi``, has a line ``from module import name as name`` for
    each name: type checkers read it, and so does this function.

    Parameters
    ----------
    package : str
        Name of the package.
    rooms : sequence of str
        Packages below this one, whose public names can be had from this one, too.

    Examples
    --------
    >>> import mlaut.report
    >>> get, names, _ = attach("mlaut.report")
    >>> get("Report").__name__, "Report" in names()
    ('Report', True)
    """
    stub = Path(str(sys.modules[package].__file__)).with_suffix(".pyi")
    home = {name: module for module, name in _LINE.findall(stub.read_text(encoding="utf-8"))}

    def get(name: str) -> Any:
        if name in home:
            value = getattr(import_module(home[name]), name)
            setattr(sys.modules[package], name, value)  # the next access does not come here
            return value
        if not name.startswith("_"):
            for room in (f"{package}.{room}" for room in rooms):
                if name in dir(import_module(room)):
                    return getattr(import_module(room), name)
        if package.startswith(_WITH_PLUGINS) and name in in_plugins():
            return of_plugin(name)
        # "from ... import" would replace the text of an AttributeError
        check_former(name if name[0].isupper() else f"mlaut.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: sorted(home), sorted(home)


def imported(*names: str) -> tuple[Any, ...]:
    """Return those of these classes whose modules are imported: no object is of another.

    To import ``sklearn.compose`` and all that it needs takes a tenth of a second.

    Examples
    --------
    >>> isinstance({}, imported("collections.Counter", "nowhere.Class"))
    False
    """
    places = (name.rpartition(".") for name in names)
    loaded = ((sys.modules.get(module), name) for module, _, name in places)
    return tuple(getattr(module, name) for module, name in loaded if hasattr(module, name))


class _Pandas:
    """pandas, whose import takes a fourth of a second: a run with nothing to do needs none."""

    def __getattr__(self, name: str) -> Any:
        self.__dict__[name] = value = getattr(import_module("pandas"), name)
        return value  # the next access does not come here


if TYPE_CHECKING:
    import pandas as pd
else:
    pd = _Pandas()
