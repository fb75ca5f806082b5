"""Syntax of functions and classes, with digests that are equal in every supported Python.

A function is found in its source by its compiled code. A file that has changed since it was
imported is therefore never mistaken for the code that runs. Comments, docstrings, layout and
positions are not part of the syntax, and differences between the trees of Python 3.11 to 3.14 are
removed.
"""

from __future__ import annotations

import ast
import dis
import hashlib
import json
import linecache
import sys
import types
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

from mlaut.identity.names_read import Chain, NamesRead

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # cells of a notebook may use top-level await
_NO_MEANING = {"ctx", "kind", "type_comment"}
_spaces: dict[int, tuple[type, Mapping[str, Any]]] = {}  # of files, by the number of a class
_files: dict[tuple[str, int, bytes], str] = {}  # where code was written, for `file_of`


# --------------------------------------------------------------------- digests


def syntax_digest(*nodes: ast.AST) -> str:
    """Return the SHA-256, in hexadecimal, of the syntax of nodes.

    Examples
    --------
    >>> one, other = (ast.parse(text) for text in ("x=f'{y}'  # y", "x = (f'{y}')"))
    >>> syntax_digest(one) == syntax_digest(other)
    True
    """
    text = json.dumps([_plain(node) for node in nodes], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(node: Any) -> Any:
    """Return a node as nested lists, without parts that mean nothing or differ between Pythons."""
    if isinstance(node, list):
        return [_plain(item) for item in node if not _says_nothing(item)]
    if isinstance(node, ast.Constant):
        return ["Constant", type(node.value).__name__, _constant_text(node.value)]
    if isinstance(node, ast.JoinedStr):
        return _joined(node)
    if not isinstance(node, ast.AST):
        return node
    fields = [
        [name, _plain(value)]
        for name, value in sorted(ast.iter_fields(node))
        if name not in _NO_MEANING and value is not None and value != []
    ]
    return [type(node).__name__, *fields]


def _says_nothing(node: Any) -> bool:
    """Return whether a statement has no effect: a docstring, another constant, or ``pass``."""
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def _constant_text(value: Any) -> str:
    """Return a constant as text; `repr` would depend on the version of Unicode."""
    return hex(value) if type(value) is int else ascii(value)


def _joined(node: ast.JoinedStr) -> Any:
    """Return an f-string with adjacent texts joined, as not every version of Python does it."""
    parts: list[Any] = []
    for value in node.values:
        if not isinstance(value, ast.Constant):
            parts.append(_plain(value))
        elif parts and isinstance(parts[-1], str):
            parts[-1] += str(value.value)
        elif value.value:
            parts.append(value.value)
    if all(isinstance(part, str) for part in parts):
        return ["Constant", "str", ascii("".join(parts))]
    return ["JoinedStr", parts]


def members(node: ast.ClassDef) -> dict[str, str]:
    """Return a digest of each member of a class, and one of its bases and decorators."""
    parts: dict[str, list[ast.AST]] = {}
    head: list[ast.AST] = [
        *node.decorator_list,
        *node.bases,
        *(item.value for item in node.keywords),
    ]
    if head:
        parts["(head)"] = head
    for statement in node.body:
        if not _says_nothing(statement):
            parts.setdefault(_name_of(statement), []).append(statement)
    return {name: syntax_digest(*nodes) for name, nodes in sorted(parts.items())}


def _name_of(statement: ast.stmt) -> str:
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    if len(targets) == 1 and isinstance(targets[0], ast.Name):
        return targets[0].id
    return getattr(statement, "name", "(body)")


# ------------------------------------------------------------- finding a node


def function_node(function: types.FunctionType) -> Function | None:
    """Return the syntax of a function; None if its source is missing or differs from what runs."""
    return _node_of(function.__code__, function.__globals__)


def keep_space(space: Mapping[str, Any]) -> None:
    """Keep the global names of a file that was run and is no module, for classes without methods.

    Such a class has no function that leads to its file.
    """
    for value in space.values():
        if isinstance(value, type) and value.__module__ == space.get("__name__"):
            _spaces[id(value)] = value, space


def space_of(cls: type) -> Mapping[str, Any]:
    """Return the global names of the module or the file that defines a class."""
    module = sys.modules.get(cls.__module__)
    return vars(module) if module else _spaces.get(id(cls), (cls, {}))[1]


def class_node(cls: type, space: Mapping[str, Any]) -> ast.ClassDef | None:
    """Return the syntax of a class; None if its source is missing or differs from what runs.

    Parameters
    ----------
    cls : type
    space : mapping
        Global names of the module that defines it (`space_of`).
    """
    inside = [
        member
        for member in map(underlying, vars(cls).values())
        if isinstance(member, types.FunctionType) and is_inside(member, cls)
    ]
    nodes = [function_node(function) for function in inside]
    if None in nodes:
        return None
    files = {file_of(function.__code__, function.__globals__) for function in inside}
    files = files or {file for file in [space.get("__file__")] if file}
    defined = [
        node
        for file in files
        for source in [source_of(file, dict(space))]
        for node in (source.classes.get(cls.__qualname__, []) if source else [])
        if all(child and node.lineno <= child.lineno <= (node.end_lineno or 0) for child in nodes)
    ]
    return defined[0] if len(defined) == 1 else None


def file_of(code: types.CodeType, space: dict[str, Any]) -> str:
    """Return the file in which code was written.

    cloudpickle 3.1.3 and later replaces the name of the file. The name that the same code had
    before stands in for it, or the file of its module.
    """
    key = (code.co_qualname, code.co_firstlineno, code.co_code)
    if code.co_filename == "<dynamic-code>":
        return _files.get(key) or space.get("__file__") or code.co_filename
    _files[key] = code.co_filename
    return code.co_filename


def is_inside(function: types.FunctionType, cls: type) -> bool:
    """Return whether a function was defined in the body of a class."""
    return function.__code__.co_qualname.startswith(f"{cls.__qualname__}.")


def underlying(member: Any) -> Any:
    """Return the function of a method, static method, class method or property."""
    if isinstance(member, staticmethod | classmethod):
        return member.__func__
    return member.fget if isinstance(member, property) else member


def _node_of(code: types.CodeType, space: dict[str, Any]) -> Function | None:
    file = file_of(code, space)
    for again in (False, True):
        if again:  # the file may have changed since its lines were read
            linecache.checkcache(file)
        source = source_of(file, space)
        node = source.find(code) if source else None
        if node is not None:
            return node
    return None


def source_of(file: str, space: dict[str, Any]) -> SourceFile | None:
    """Return a file of code with its syntax; None if it cannot be read."""
    text = "".join(linecache.getlines(file, space))
    return _read(text, file) if text else None


@lru_cache(maxsize=256)
def _read(text: str, file: str) -> SourceFile | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # importing the file has shown them already
        try:
            tree = compile(text, file, "exec", _FLAGS | ast.PyCF_ONLY_AST, dont_inherit=True)
            code = compile(text, file, "exec", _FLAGS, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError):
            return None
    return SourceFile(tree, code)


class SourceFile:
    """Source file with its syntax tree and its compiled code."""

    def __init__(self, tree: ast.Module, code: types.CodeType) -> None:
        self.tree, self._code = tree, code

    @cached_property
    def digest(self) -> str:
        """Digest of the syntax of the whole file."""
        return syntax_digest(self.tree)

    @cached_property
    def _codes(self) -> dict[str, list[types.CodeType]]:
        """Compiled code of all functions, by qualified name."""
        codes: dict[str, list[types.CodeType]] = {}
        for code in _inner_codes(self._code):
            codes.setdefault(code.co_qualname, []).append(code)
        return codes

    @cached_property
    def classes(self) -> dict[str, list[ast.ClassDef]]:
        """Syntax of all classes, by qualified name."""
        classes: dict[str, list[ast.ClassDef]] = {}
        _collect_classes(self.tree, "", classes)
        return classes

    @cached_property
    def constants(self) -> dict[str, Any]:
        """Numbers, texts and None to which the file binds a name, at one place alone."""
        nodes = [node for node in ast.walk(self.tree) if isinstance(node, ast.Name)]
        bound = Counter(node.id for node in nodes if not isinstance(node.ctx, ast.Load))
        return {
            _name_of(statement): statement.value.value
            for statement in self.tree.body
            if isinstance(statement, ast.Assign | ast.AnnAssign)
            and isinstance(statement.value, ast.Constant)
            and bound[_name_of(statement)] == 1
        }

    def has(self, code: types.CodeType) -> bool:
        """Return whether the file has a function with this compiled code."""
        return any(_same_code(own, code) for own in self._codes.get(code.co_qualname, ()))

    def find(self, code: types.CodeType) -> Function | None:
        """Return the syntax of the function with this compiled code, or None."""
        same = [own for own in self._codes.get(code.co_qualname, ()) if _same_code(own, code)]
        same.sort(key=lambda own: own.co_firstlineno != code.co_firstlineno)
        same.sort(key=lambda own: list(own.co_positions()) != list(code.co_positions()))
        return self._node(same[0]) if same else None

    def _node(self, code: types.CodeType) -> Function | None:
        nodes: list[Function] = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Lambda):
                if code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
                    nodes.append(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min(part.lineno for part in (node, *node.decorator_list))
                if (node.name, first) == (code.co_name, code.co_firstlineno):
                    nodes.append(node)
        if len(nodes) > 1:
            nodes = [node for node in nodes if _spans(node, code)]
            nodes.sort(key=lambda node: -node.col_offset)  # the innermost lambda begins last
        return nodes[0] if nodes else None


def _inner_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _inner_codes(constant)


def _collect_classes(node: ast.AST, prefix: str, classes: dict[str, list[ast.ClassDef]]) -> None:
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(child, ast.ClassDef):
            classes.setdefault(prefix + child.name, []).append(child)
            inner = f"{prefix}{child.name}."
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = f"{prefix}{child.name}.<locals>."
        _collect_classes(child, inner, classes)


def _same_code(first: types.CodeType, second: types.CodeType) -> bool:
    """Return whether two functions have equal compiled code, apart from positions."""
    parts = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount",
             "co_kwonlyargcount", "co_posonlyargcount", "co_exceptiontable")  # fmt: skip
    return all(getattr(first, part) == getattr(second, part) for part in parts) and _same_constant(
        first.co_consts, second.co_consts
    )


def _same_constant(first: Any, second: Any) -> bool:
    if type(first) is not type(second):
        return False
    if isinstance(first, types.CodeType):
        return _same_code(first, second)
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(_same_constant, first, second))
    return repr(first) == repr(second) if isinstance(first, float | complex) else first == second


def _spans(node: Function, code: types.CodeType) -> bool:
    """Return whether all code lies in the body of a node.

    This distinguishes several lambdas on one line.
    """
    body = node.body if isinstance(node, ast.Lambda) else node
    start = body.lineno, body.col_offset
    end = body.end_lineno, body.end_col_offset
    places = [place for place in code.co_positions() if None not in place and place[3]]
    return bool(places) and all(
        start <= (line, column) and (last, last_column) <= end
        for line, last, column, last_column in places
    )


# ------------------------------------------------ functions without a source


def code_digest(code: types.CodeType) -> str:
    """Return the SHA-256 of the instructions of compiled code, without lines and docstrings.

    Each version of Python compiles to different instructions. Studies store these digests, so the
    algorithm must not change.
    """
    hasher = hashlib.sha256()
    for instruction in dis.get_instructions(code):
        if instruction.opname != "EXTENDED_ARG":
            hasher.update(f"{instruction.opname} {_operand(instruction.argval)}\n".encode())
    return hasher.hexdigest()


def _operand(value: Any) -> str:
    if isinstance(value, types.CodeType):
        return code_digest(value)
    return repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value)


def names_in_code(code: types.CodeType) -> NamesRead:
    """Return the names that the code reads from its module, without attributes and imports.

    Examples
    --------
    >>> sorted(names_in_code((lambda x: [abs(y) + N for y in x]).__code__).chains)
    [('N',), ('abs',)]
    """
    chains: set[Chain] = {
        (str(instruction.argval),)
        for instruction in dis.get_instructions(code)
        if instruction.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME"))
    }
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            chains |= names_in_code(constant).chains
    return NamesRead(chains, [])
