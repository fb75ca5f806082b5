"""Methods and figures that few studies need.

A plug-in of MLaut, which still offers them by their names: ``from mlaut.analysis import heat_map``.
"""

from importlib import import_module
from typing import Any

_ROOMS = {
    "heat_map": "every_score",
    "hierarchical_probabilities": "hierarchical",
    "follow_study": "watching",
    "hierarchical_test": "hierarchical",
    "image_folders": "images",
    "interquartile_means": "interquartile",
    "multi_comparison_matrix": "matrix",
    "performance_profile": "profile",
    "profile_plot": "profile",
    "simplex_plot": "simplex",
}
__all__ = sorted(_ROOMS)


def __getattr__(name: str) -> Any:
    """Return a function, imported when it is first asked for: figures import matplotlib."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
