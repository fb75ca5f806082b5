"""Identities of objects as older studies stored them, with the bytecode of user code.

Such an identity covers a function but nothing that it calls, and differs between versions of
Python. It is computed only to recognise the strategies of older studies.
"""

from __future__ import annotations

import sysconfig
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlaut.identity.bytecode import code_digest
from mlaut.identity.describer import Describer, class_path, closure, functions_of
from mlaut.identity.distributions import file_of

__all__ = ["former_identity", "has_compiled_code", "without_code"]

_LIBRARIES = tuple(
    Path(sysconfig.get_path(key)).resolve() for key in ("stdlib", "purelib", "platlib")
)
_CODE = ("code", "own", "syntax", "bytecode", "python", "wrapper", "reads")


def former_identity(value: Any) -> Any:
    """Return the identity of an object as older studies stored it.

    Raises
    ------
    StrategyError
        The value has a state that cannot be read.
    """
    return _Former().describe(value).form


def has_compiled_code(identity: Any) -> bool:
    """Return whether an identity contains bytecode, which depends on the version of Python."""
    if isinstance(identity, Mapping):
        named = ("class" in identity and "code" in identity) or (
            "function" in identity and ("code" in identity or "bytecode" in identity)
        )
        return named or any(map(has_compiled_code, identity.values()))
    return isinstance(identity, list) and any(map(has_compiled_code, identity))


def without_code(identity: Any) -> Any:
    """Return an identity, old or new, without the parts that describe code.

    Examples
    --------
    >>> without_code({"function": "m.f", "syntax": "ab", "with": [[1], None, {"n": 2}]})
    {'function': 'm.f', 'with': [[1], None, [2]]}
    """
    if isinstance(identity, list):
        return [without_code(item) for item in identity]
    if not isinstance(identity, Mapping):
        return identity
    if not {"function", "class", "strategy"} & set(identity):
        return {key: without_code(item) for key, item in identity.items()}
    rest = {key: without_code(item) for key, item in identity.items() if key not in _CODE}
    if "class" in identity:
        rest.pop("with", None)
    elif "with" in rest and isinstance(rest["with"][-1], Mapping):  # older studies have a list
        rest["with"][-1] = list(rest["with"][-1].values())
    return rest


class _Former(Describer):
    """Builder of descriptions as older studies stored them."""

    def _is_library(self, module: str) -> bool:
        file = file_of(module)
        return file is not None and (
            not file or any(Path(file).resolve().is_relative_to(path) for path in _LIBRARIES)
        )

    def _wrapper_form(self, value: Any, above: tuple[int, ...]) -> Any:  # noqa: ARG002
        return None

    def _function_form(self, value: types.FunctionType, above: tuple[int, ...]) -> dict[str, Any]:
        form: dict[str, Any] = {"function": f"{value.__module__}.{value.__qualname__}"}
        if self._is_library(value.__module__):
            return form
        around = list(closure(value).values())
        form["code"] = code_digest(value.__code__)
        form["with"] = self._form([value.__defaults__, value.__kwdefaults__, around], above)
        return form

    def _class_form(self, value: type) -> dict[str, Any]:
        functions = {
            f"{base.__qualname__}.{name}": function
            for base in value.__mro__
            if not self._is_library(base.__module__)
            for name, function in functions_of(base)
        }
        code = {name: self._method_form(function) for name, function in sorted(functions.items())}
        return {"class": class_path(value), **({"code": code} if code else {})}

    def _method_form(self, function: types.FunctionType) -> list[Any]:
        # `super()` puts the class itself into the closure; the identity already names the class.
        around = [None if isinstance(item, type) else item for item in closure(function).values()]
        parts = [function.__defaults__, function.__kwdefaults__, around]
        return [code_digest(function.__code__), self._form(parts, ())]
