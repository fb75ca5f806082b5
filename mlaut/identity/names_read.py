"""Names that functions and classes read from outside, found in their syntax trees.

`mlaut.identity.describer` looks these names up to include their values in an identity.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec, resolve_name
from types import ModuleType
from typing import Any, NamedTuple, Self

from mlaut.identity.distributions import is_library_file

Chain = tuple[str, ...]
"""Name followed by the attributes that are read from it: ``("np", "linalg", "norm")``."""

Import = ast.Import | ast.ImportFrom


class NamesRead(NamedTuple):
    """Names that code reads from outside.

    Attributes
    ----------
    chains : set of Chain
        Names that the code does not bind itself, with the attributes that it reads from them.
    imports : list of ast.Import and ast.ImportFrom
        Import statements inside the code. The names that they bind are also among the chains.
    """

    chains: set[Chain]
    imports: list[Import]


def names_read(*nodes: ast.AST) -> NamesRead:
    """Return the names that functions or classes read from outside.

    Type hints are ignored.

    Examples
    --------
    >>> node = ast.parse("def f(x, n=N): return [np.log(y) + n for y in x]")
    >>> sorted(names_read(node).chains)
    [('N',), ('np', 'log')]
    """
    scope = _Scope()
    for node in nodes:
        scope.visit(node)
    return NamesRead(scope.free, scope.imports)


class _Scope(ast.NodeVisitor):
    """Visitor that collects the names that one scope reads and binds."""

    def __init__(self, of_class: bool = False) -> None:
        self.imports: list[Import] = []
        self._of_class = of_class
        self._read: set[Chain] = set()
        self._through: set[Chain] = set()
        self._bound: set[str] = set()
        self._outer: set[str] = set()

    @property
    def free(self) -> set[Chain]:
        """Names that the scope reads but does not bind."""
        bound = self._bound - self._outer
        return self._through | {chain for chain in self._read if chain[0] not in bound}

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._read.add((node.id,))
        else:
            self._bound.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        chain: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            chain.insert(0, inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            self._read.add((inner.id, *chain))
        else:
            self.visit(inner)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self._outer.update(node.names)

    visit_Nonlocal = visit_Global

    def visit_Import(self, node: Import) -> None:
        self.imports.append(node)

    visit_ImportFrom = visit_Import

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._bound.add(node.name)
        self._visit_all(node.decorator_list)
        self._visit_function(node.args, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_function(node.args, [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bound.add(node.name)
        self._visit_all([*node.decorator_list, *node.bases, *node.keywords])
        self._inner(_Scope(of_class=True), node.body)

    def _visit_comprehension(self, node: Any) -> None:
        inner = [*node.generators]
        inner += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._bound |= {
            part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr)
        }
        self._inner(_Scope(), inner)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._bound.add(node.name or "")
        self.generic_visit(node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._bound.add(node.rest or "")
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        self._bound.add(node.name or "")
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def _visit_function(self, args: ast.arguments, body: list[Any]) -> None:
        self._visit_all([value for value in (*args.defaults, *args.kw_defaults) if value])
        own = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        own += [arg for arg in (args.vararg, args.kwarg) if arg]
        inner = _Scope()
        inner._bound = {arg.arg for arg in own}
        self._inner(inner, body)

    def _inner(self, inner: Self, body: list[Any]) -> None:
        """Add the names that an inner scope reads from outside.

        Methods do not see the names that the body of their class binds.
        """
        inner._visit_all(body)
        self.imports += inner.imports
        if self._of_class:
            self._through |= inner.free
        else:
            self._read |= inner.free

    def _visit_all(self, nodes: list[Any]) -> None:
        for node in nodes:
            self.visit(node)


# --------------------------------------------------------------------- imports


class NotLoaded(NamedTuple):
    """Placeholder for the value of an import: a library that is not loaded, or a missing module."""

    library: bool


def imported(statement: Import, space: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield what an import statement in a function binds: bound name, full name, and value.

    The value is `NotLoaded` for a library that is not loaded yet (this function does not load it),
    and for a module that cannot be loaded.

    Parameters
    ----------
    statement : ast.Import or ast.ImportFrom
    space : mapping
        Global names of the module that contains the statement.
    """
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            module, top = _loaded(alias.name), alias.name.partition(".")[0]
            if alias.asname:
                yield alias.asname, alias.name, module
            else:
                yield top, top, sys.modules.get(top, module)
        return
    package = str(space.get("__package__") or space.get("__name__", ""))
    try:
        name = resolve_name("." * statement.level + (statement.module or ""), package)
    except ImportError:
        return
    for alias in statement.names:
        full, module = f"{name}.{alias.name}", _loaded(name)
        has = hasattr(module, alias.name)
        value = getattr(module, alias.name) if has else _loaded(full)
        yield alias.asname or alias.name, full, value


def _loaded(name: str) -> ModuleType | NotLoaded:
    """Return a module, or `NotLoaded`; import a module of the user if necessary."""
    library = _is_library(name)
    if name not in sys.modules and not library:
        with suppress(Exception):  # the describer reports the module as unseen
            import_module(name)
    return sys.modules.get(name, NotLoaded(library))


def _is_library(name: str) -> bool:
    try:
        spec = find_spec(name.partition(".")[0])
    except (ImportError, ValueError):
        return name in sys.modules
    origin = getattr(spec, "origin", None)
    return spec is not None and (origin in _BUILT_IN or is_library_file(origin or ""))


_BUILT_IN = ("built-in", "frozen")
