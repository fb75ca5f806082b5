"""Description of objects in plain JSON values, including everything that user code in them reads.

Objects of libraries are described by their names and parameters. The user's own functions and
classes are described by their syntax, and the names that they read are followed to their values.
"""

import ast
import copy
import functools
import hashlib
import inspect
import json
import math
import os
import platform
import random
import sys
import types
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pandas as pd

from mlaut.errors import StrategyError
from mlaut.identity import edits, syntax, without_modules, without_rooms
from mlaut.identity.distributions import is_library, is_library_file
from mlaut.identity.names_read import NamesRead, NotLoaded, imported, names_read

NO_INFLUENCE = frozenset({"n_jobs", "verbose", "memory", "share_work"})
"""Parameters that change no result."""

LONGEST_VALUE = 2_000
"""Characters up to which a module's value is stored in full; longer values are digested."""

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
"""Random generators. Each draw changes their state, so the state is not compared."""


@dataclass(frozen=True)
class Description:
    """Description of an object.

    Attributes
    ----------
    form : object
        The object in plain JSON values.
    reads : mapping of str to object
        Functions, classes and values that user code in the object reads from outside, by
        ``module.name``, in plain JSON values.
    unseen : tuple of str
        Places where a change would go unnoticed, with the reason.
    libraries : frozenset of str
        Top-level modules of the libraries that the object uses. A class that imports some only
        when it is fitted returns their names in its class method ``late_libraries``.
    modules : frozenset of str
        Modules of the user whose code is in the object.
    edited : frozenset of str
        Those of them whose files have other code or values than this process has loaded.
    """

    form: Any
    reads: Mapping[str, Any]
    unseen: tuple[str, ...]
    libraries: frozenset[str]
    modules: frozenset[str] = frozenset()
    edited: frozenset[str] = frozenset()

    @property
    def identity(self) -> Any:
        """Return the form, together with ``reads`` if there are any, without modules' names."""
        if not self.reads:
            return without_modules(self.form, self.modules)
        reads = without_rooms(dict(self.reads))  # of modules of MLaut too
        whole = self.form if isinstance(self.form, dict) else {"value": self.form}
        return without_modules({**whole, "reads": reads}, self.modules)


def class_path(cls: type) -> str:
    """Return the path of a class: ``module.qualified_name``, without subpackages of MLaut.

    Examples
    --------
    >>> class_path(StrategyError)
    'mlaut.errors.StrategyError'
    """
    return without_rooms(f"{cls.__module__}.{cls.__qualname__}")


def influential(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that can change a result.

    Examples
    --------
    >>> influential({"C": 1.0, "n_jobs": 2})
    {'C': 1.0}
    """
    return {key: item for key, item in parameters.items() if key not in NO_INFLUENCE}


def python_version() -> str:
    """Return major and minor version of Python, on which compiled code depends."""
    return ".".join(platform.python_version_tuple()[:2])


class Describer:
    """Builder of the description of one object and of everything that user code in it reads.

    Parameters
    ----------
    former : bool, default False
        Whether the description is as studies stored it once, which knew no file of `keep_space`.
    """

    def __init__(self, former: bool = False) -> None:
        self._former = former
        self._reads: dict[str, Any] = {}
        self._waiting: list[tuple[str, Any]] = []
        self._unseen: set[str] = set()
        self._libraries: set[str] = set()
        self._modules: set[str] = set()
        self._files: dict[str, str] = {}  # of those that were run and are in no `sys.modules`
        self._edited: set[str] = set()
        self._classes: dict[type, dict[str, Any]] = {}

    def describe(self, value: Any) -> Description:
        """Return the description of an object; call this once per instance."""
        form = self._form(value, ())
        while self._waiting:
            key, outside = self._waiting.pop()
            self._reads[key] = self._outside_form(key, outside)
        return Description(
            form,
            dict(sorted(self._reads.items())),
            tuple(sorted(self._unseen)),
            frozenset(self._libraries),
            frozenset(self._modules),
            frozenset(self._edited or filter(edits.has_changed, self._modules)),
        )

    def _is_library(self, module: str) -> bool:
        """Return whether a module belongs to a library, and record the library."""
        if not is_library(module):
            return False
        self._libraries |= {module.partition(".")[0]} - sys.stdlib_module_names
        return True

    def _record_unseen(self, what: str, why: str) -> None:
        self._unseen.add(f"{what}: {why}")

    # ---- values

    def _form(self, value: Any, above: tuple[int, ...]) -> Any:
        if isinstance(value, np.generic) and not isinstance(value, np.void):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"number": str(value)}
        if id(value) in above:  # the value contains itself: refer to it by the levels between
            return {"again": len(above) - above.index(id(value))}
        return self._object_form(value, (*above, id(value)))

    def _object_form(self, value: Any, above: tuple[int, ...]) -> Any:
        if isinstance(value, type):
            return self._class_form(value)
        if isinstance(value, Mapping):
            return self._mapping_form(value, above)
        if isinstance(value, np.ndarray):
            return self._array_form(value, above)
        if isinstance(value, pd.DataFrame | pd.Series | pd.Index):
            return {"table": _table_digest(value), "class": class_path(type(value))}
        if isinstance(value, Set):
            items = [self._form(item, above) for item in value]
            return {"set": sorted(items, key=lambda item: json.dumps(item, sort_keys=True))}
        if isinstance(value, bytes):
            return {"bytes": hashlib.sha256(value).hexdigest()}
        if isinstance(value, Sequence):  # lists, tuples and ranges with equal values are equal
            return [self._form(item, above) for item in value]
        if callable(value) and not hasattr(value, "get_params"):
            return self._callable_form(value, above)
        return self._instance_form(value, above)

    def _mapping_form(self, value: Mapping[Any, Any], above: tuple[int, ...]) -> Any:
        if all(isinstance(key, str) for key in value):
            return {key: self._form(value[key], above) for key in sorted(value)}
        items = [[self._form(key, above), self._form(item, above)] for key, item in value.items()]
        return {"mapping": sorted(items, key=lambda item: json.dumps(item, sort_keys=True))}

    def _array_form(self, value: np.ndarray, above: tuple[int, ...]) -> Any:
        if value.ndim == 1 and value.size <= 1000 and not value.dtype.hasobject:
            return [self._form(item, above) for item in value.tolist()]  # equals the same list
        if value.dtype.hasobject:
            return {
                "array": [self._form(item, above) for item in value.ravel().tolist()],
                "shape": list(value.shape),
            }
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return {"array": content, "shape": list(value.shape), "dtype": value.dtype.str}

    def _instance_form(self, value: Any, above: tuple[int, ...]) -> dict[str, Any]:
        form = self._class_form(type(value))
        if hasattr(value, "get_params"):
            if late := getattr(type(value), "late_libraries", None):
                self._libraries |= set(late())
            parameters = value.get_params(deep=False)
            return {**form, "parameters": self._mapping_form(influential(parameters), above)}
        if (parts := _of_distribution(value)) is not None:
            return {**self._class_form(type(parts.pop("dist"))), **self._mapping_form(parts, above)}
        return {**form, "state": self._form(_state(value), above)}

    # ---- functions

    def _callable_form(self, value: Any, above: tuple[int, ...]) -> Any:
        if isinstance(value, functools.partial):
            parts = (value.func, value.args, value.keywords)
            return {"partial": [self._form(part, above) for part in parts]}
        if isinstance(value, types.MethodType):
            return {"method": value.__name__, "of": self._form(value.__self__, above)}
        if isinstance(value, types.FunctionType):
            return self._function_form(value, above)
        name = getattr(value, "__qualname__", getattr(value, "__name__", None))
        if isinstance(value, types.BuiltinFunctionType | np.ufunc) or inspect.isbuiltin(value):
            module = getattr(value, "__module__", None) or "numpy"
            if not self._is_library(module):
                self._record_unseen(f"{module}.{name}", "it is compiled: its code is not compared")
            return {"function": f"{module}.{name}"}
        return self._wrapper_form(value, above) or self._instance_form(value, above)

    def _wrapper_form(self, value: Any, above: tuple[int, ...]) -> Any:
        """Return the form of a library's wrapper of a function, such as a cache, or None."""
        inner = getattr(value, "__wrapped__", None)
        if inner is None or not self._is_library(type(value).__module__):
            return None
        return {"wrapper": class_path(type(value)), "of": self._form(inner, above)}

    def _function_form(self, value: types.FunctionType, above: tuple[int, ...]) -> dict[str, Any]:
        name = f"{value.__module__}.{value.__qualname__}"
        if self._is_library(value.__module__):
            return {"function": without_rooms(name)}
        code: dict[str, Any]
        if is_library_file(syntax.file_of(value.__code__, value.__globals__)):  # of a library
            inner = {key: vars(value)[key] for key in _INNER if key in vars(value)}
            code = {"wrapper": str(value.__globals__.get("__name__"))}
            code |= {key: self._readable(name, item, above) for key, item in inner.items()}
        else:
            code = self._code(name, value)
        around = {
            key: self._readable(f"{name}: {key}", item, above)
            for key, item in closure(value).items()
        }
        defaults = self._form([value.__defaults__, value.__kwdefaults__], above)
        return {"function": name, **code, "with": [*defaults, around]}

    def _note_module(self, function: types.FunctionType) -> None:
        """Record the module of a function of the user, and whether its file lacks the function."""
        module = str(function.__globals__.get("__name__", ""))
        self._modules |= {module, str(function.__module__)}
        if edits.is_gone(function):
            self._edited.add(module)

    def _code(self, name: str, value: types.FunctionType) -> dict[str, str]:
        """Return the digest of a function's code, and follow the names that it reads."""
        self._note_module(value)
        node, inside = syntax.function_node(value), set(value.__code__.co_freevars)
        if node is not None:
            self._follow(names_read(node), value.__globals__, inside)
            return {"syntax": syntax.syntax_digest(node)}
        self._record_unseen(name, _NO_SOURCE)
        self._follow(syntax.names_in_code(value.__code__), value.__globals__, inside)
        return {"bytecode": syntax.code_digest(value.__code__), "python": python_version()}

    # ---- classes

    def _class_form(self, value: type) -> dict[str, Any]:
        if value not in self._classes:
            # The entry is set first, because a class may read itself.
            self._classes[value] = form = {"class": class_path(value)}
            bases = [base for base in value.__mro__ if not self._is_library(base.__module__)]
            own = {class_path(base): self._user_class_form(base) for base in bases}
            self._classes[value] = {**form, "own": own} if own else form
        return self._classes[value]

    def _user_class_form(self, cls: type) -> dict[str, Any]:
        """Return the form of a user's class, without inherited members."""
        without = self._former and cls.__module__ not in sys.modules
        space: Mapping[str, Any] = {} if without else syntax.space_of(cls)
        node, functions = syntax.class_node(cls, space), dict(functions_of(cls))
        self._modules.add(cls.__module__)
        others: dict[str, Any] = {}
        if node is not None:
            node = _without_metadata(node)
            others = {n: f for n, f in functions.items() if _came_later(f, cls)}
            functions = {n: f for n, f in functions.items() if syntax.is_inside(f, cls)}
            inside = {name for f in functions.values() for name in f.__code__.co_freevars}
            # If cloudpickle has loaded the class, the globals of its methods lack its bases.
            names = ChainMap(*(f.__globals__ for f in functions.values()), dict(space))
            self._follow(names_read(node), names, inside)
            form: dict[str, Any] = {"syntax": syntax.members(node)}
        else:
            self._record_unseen(class_path(cls), "the source of this class is not there")
            for function in functions.values():
                self._note_module(function)
            form, others = {}, {**functions, **dict(_values(cls))}
        around = {
            f"{name}: {key}": self._readable(f"{class_path(cls)}.{name}: {key}", item, ())
            for name, function in functions.items()
            for key, item in closure(function).items()
            if key != "__class__"  # `super()` puts it into the closure
        }
        later = {
            name: self._readable(f"{class_path(cls)}.{name}", value, ())
            for name, value in sorted(others.items())
        }
        return {
            **form,
            **({"members": later} if later else {}),
            **({"with": around} if around else {}),
        }

    # ---- what is read from outside

    def _follow(self, names: NamesRead, space: Mapping[str, Any], inside: Set[str]) -> None:
        """Queue the values that code reads from its module and from its own imports."""
        self._modules.add(where := str(space.get("__name__", "")))
        if where not in sys.modules and not self._former:
            self._files[where] = str(space.get("__file__", ""))
        bound: dict[str, tuple[str, Any]] = {}
        for statement in names.imports:
            for name, full, value in imported(statement, space):
                bound[name] = full, value
        for name, *attributes in sorted(names.chains):
            if name in bound:
                self._follow_chain(*bound[name], attributes)
            elif name in space and name not in inside and not name.startswith("__"):
                self._follow_chain(f"{where}.{name}", space[name], attributes)

    def _follow_chain(self, key: str, value: Any, attributes: Sequence[str]) -> None:
        """Resolve attributes through the user's modules, and queue the value that they lead to."""
        for attribute in attributes:
            if not isinstance(value, types.ModuleType) or self._is_library(value.__name__):
                break
            if not hasattr(value, attribute):
                break
            self._modules.add(value.__name__)
            key, value = f"{value.__name__}.{attribute}", getattr(value, attribute)
        if key not in self._reads:
            self._reads[key] = None  # reserves the key, because values may read each other
            self._waiting.append((key, value))

    def _outside_form(self, key: str, value: Any) -> Any:
        if isinstance(value, NotLoaded):
            if value.library:
                self._libraries |= {key.partition(".")[0]} - sys.stdlib_module_names
            else:
                self._record_unseen(key, "it cannot be imported here")
            return {"module": key}
        if isinstance(value, types.ModuleType):
            if not self._is_library(value.__name__):
                self._record_unseen(key, "the names that are read from this module are not known")
            return {"module": value.__name__}
        if value is os.environ:
            self._record_unseen(key, "the environment is not compared")
            return {"module": "os.environ"}
        if isinstance(value, GENERATORS):
            self._record_unseen(key, "the state of a random generator is not compared")
            return {"class": class_path(type(value))}
        module, _, name = key.rpartition(".")
        if edits.is_other(module, name, value):
            self._edited.add(module)
        if isinstance(value, str | PurePath):
            loaded = getattr(sys.modules.get(module), "__file__", None)
            return _place(str(value), loaded or self._files.get(module, ""))
        form = self._readable(key, value, ())
        text = json.dumps(form, sort_keys=True)
        if len(text) > LONGEST_VALUE:
            return {"digest": hashlib.sha256(text.encode()).hexdigest()}
        return form

    def _readable(self, where: str, value: Any, above: tuple[int, ...]) -> Any:
        """Return the form of a value; if it has none, its class, recorded as unseen."""
        try:
            return self._form(value, above)
        except Exception:
            self._record_unseen(where, f"the content of a {class_path(type(value))} cannot be read")
            return {"class": class_path(type(value))}


_INNER = ("__wrapped__", "registry")
"""Attributes in which decorators of libraries store the decorated function.

`functools.singledispatch` stores several functions, in ``registry``.
"""

_NO_SOURCE = (
    "its source is not there; what it was compiled to is compared, and that is another in another "
    "Python"
)


def _table_digest(value: pd.DataFrame | pd.Series | pd.Index) -> str:
    rows = pd.util.hash_pandas_object(value, index=not isinstance(value, pd.Index)).to_numpy()
    names = [str(name) for name in getattr(value, "columns", [getattr(value, "name", None)])]
    return hashlib.sha256(rows.tobytes() + json.dumps(names).encode()).hexdigest()


def _of_distribution(value: Any) -> dict[str, Any] | None:
    """Return the defining parts of a distribution of SciPy; None for other objects.

    The rest of its state is generated code and a random generator, which differs between
    processes.
    """
    dist = getattr(value, "dist", value)
    if not any(f"{base.__module__}.{base.__name__}" == _SCIPY for base in type(dist).__mro__):
        return None
    arguments = {name: getattr(value, name, None) or () for name in ("args", "kwds")}
    values = {
        name: getattr(dist, name) for name in ("_histogram", "xk", "pk") if hasattr(dist, name)
    }
    return {"dist": dist, **arguments, **values}


_SCIPY = "scipy.stats._distn_infrastructure.rv_generic"


def _state(value: Any) -> Any:
    try:
        reduced = value.__reduce_ex__(2)
        return reduced if isinstance(reduced, str) else reduced[1:3]
    except Exception as error:
        raise StrategyError(
            f"a {class_path(type(value))} in the parameters of a strategy cannot be recognised by "
            f"its content ({error}); give a scikit-learn estimator, a function or plain values"
        ) from error


def closure(function: types.FunctionType) -> dict[str, Any]:
    """Return the closure of a function by name; None for a variable that is not set yet."""
    values: dict[str, Any] = {}
    names = function.__code__.co_freevars
    for name, cell in zip(names, function.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:
            values[name] = None
    return values


def functions_of(cls: type) -> Iterator[tuple[str, types.FunctionType]]:
    """Yield name and function of the methods that a class defines itself."""
    for name, member in vars(cls).items():
        function = syntax.underlying(member)
        if isinstance(function, types.FunctionType):
            yield name, function


def _values(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield name and value of the plain members of a class: no descriptors, no private names."""
    for name, member in vars(cls).items():
        if not name.startswith("_") and not hasattr(type(member), "__get__"):
            yield name, member


def _came_later(function: types.FunctionType, cls: type) -> bool:
    """Return whether a method was assigned to a class later (and not generated for it)."""
    file = syntax.file_of(function.__code__, function.__globals__)
    if syntax.is_inside(function, cls) or is_library_file(file):
        return False
    return not file.startswith("<") or syntax.function_node(function) is not None


def _without_metadata(node: ast.ClassDef) -> ast.ClassDef:
    """Return a class without the decorator `mlaut.properties`.

    The parameters of the strategy contain all metadata that can change a result.
    """
    node = copy.copy(node)
    node.decorator_list = [
        decorator
        for decorator in node.decorator_list
        if not (
            isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("properties")
        )
    ]
    return node


def _place(text: str, file: str) -> str:
    """Return a text; if it is a path below the folder of its module, relative to that folder.

    The identity therefore does not depend on the location of that folder.
    """
    folder = str(Path(file).absolute().parent) if file else ""
    return "." + text.removeprefix(folder) if folder and text.startswith(folder) else text
