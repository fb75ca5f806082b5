"""Modules of the user whose files are not what this process has loaded of them.

Processes of a run import such a module anew. They would run other code than the one here, under its
identity. Code that another loader made of a file (as pytest's) is not judged, nor are scripts and
notebooks, whose code is sent by value.
"""

import linecache
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import FunctionType
from typing import Any, NamedTuple

from mlaut.identity import syntax

_seen: dict[str, tuple[ModuleSpec, str]] = {}  # modules, with the syntax that their files had first


class _Loaded(NamedTuple):
    spec: ModuleSpec
    source: syntax.SourceFile | None


def _loaded(name: str) -> _Loaded | None:
    """Return a module's spec, another after each load, and its file; None if it is not judged."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    if spec is None or type(spec.loader) is not SourceFileLoader or not spec.origin:
        return None
    linecache.checkcache(spec.origin)
    return _Loaded(spec, syntax.source_of(spec.origin, {}))


def has_changed(name: str) -> bool:
    """Return whether the syntax of a module's file has changed since this function saw it first."""
    loaded = _loaded(name)
    if loaded is None:
        return False
    digest = loaded.source.digest if loaded.source else ""
    spec, first = _seen.get(name, (None, ""))
    if spec is not loaded.spec:
        _seen[name] = loaded.spec, digest
        return False
    return digest != first


def is_gone(function: FunctionType) -> bool:
    """Return whether the file of a function's module no longer has its code."""
    loaded = _loaded(str(function.__globals__.get("__name__")))
    of_file = loaded is not None and loaded.spec.origin == function.__code__.co_filename
    return of_file and not (loaded and loaded.source and loaded.source.has(function.__code__))


def is_other(module: str, name: str, value: Any) -> bool:
    """Return whether the file of a module gives another value to a name: a number, text, or None.

    A name that the file binds at several places is not judged.
    """
    loaded = _loaded(module)
    constants = loaded.source.constants if loaded and loaded.source else {}
    return name in constants and repr(constants[name]) != repr(value)
