"""Bundles of studies, which go to others, and predictions, which come from them.

A plug-in of MLaut, which finds this module in the group ``mlaut.exchange``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mlaut_exchange.extending import (
        datasets_io,
        disagreement,
        extend_bundle,
        strategies_of_bundle,
        verify_bundle,
    )
    from mlaut_exchange.foreign import import_predictions
    from mlaut_exchange.manifest import DATASETS, Bundle, BundledDataset
    from mlaut_exchange.opening import open_bundle, read_small
    from mlaut_exchange.publishing import publish_study
    from mlaut_exchange.reading import read_predictions

__all__ = [
    "DATASETS",
    "Bundle",
    "BundledDataset",
    "datasets_io",
    "disagreement",
    "extend_bundle",
    "import_predictions",
    "open_bundle",
    "publish_study",
    "read_predictions",
    "read_small",
    "strategies_of_bundle",
    "verify_bundle",
]

_ROOMS = {
    "DATASETS": "manifest",
    "Bundle": "manifest",
    "BundledDataset": "manifest",
    "datasets_io": "extending",
    "disagreement": "extending",
    "extend_bundle": "extending",
    "import_predictions": "foreign",
    "open_bundle": "opening",
    "publish_study": "publishing",
    "read_predictions": "reading",
    "read_small": "opening",
    "strategies_of_bundle": "extending",
    "verify_bundle": "extending",
}


def __getattr__(name: str) -> Any:
    """Return a function or class, imported when it is first asked for: commands need few."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
