"""Statistics of a study, or of any table of losses: estimates, tests, effect sizes, figures.

Names are imported when they are first used, so that ``import mlaut.analysis`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Estimate": "result_types",
    "Pairwise": "result_types",
    "ResultTable": "result_types",
    "TestResult": "result_types",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Import a public name at its first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'mlaut.analysis' has no attribute {name!r}")
    value = getattr(import_module(f"mlaut.analysis.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
