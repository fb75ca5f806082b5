"""Names of strategies and of their classes: checks, suggestions for unknown names, imports."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from mlaut import errors


def class_at(path: str) -> Any:
    """Import and return the class at a path, ``"module:class"``.

    Examples
    --------
    >>> class_at("mlaut.estimators.sizes:SizeLimit")(rows=3)
    SizeLimit(rows=3, values=None, per_class=False)
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown word: the most similar known word, or all known words.

    Examples
    --------
    >>> nearest("KNeighbours", ["SVC", "K_Neighbours"])
    "did you mean 'K_Neighbours'?"
    >>> nearest("zebra", ["SVC", "K_Neighbours"])
    'use one of SVC, K_Neighbours'
    """
    known = tuple(known)
    hint = errors.nearest(word, known, 0.5).removeprefix("; ")
    return hint or f"use one of {', '.join(known)}"
