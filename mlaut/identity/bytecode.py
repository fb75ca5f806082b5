"""Digests of compiled code, for functions without a source and for studies of older versions."""

from __future__ import annotations

import dis
import hashlib
import types
from typing import Any

from mlaut.identity.names_read import Chain, NamesRead

__all__ = ["code_digest", "names_in_code"]


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
