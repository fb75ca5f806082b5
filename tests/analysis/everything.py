"""All public names of the analysis, those of its rooms among them, in one namespace."""

import importlib
import types

import mlaut.analysis

PACKAGES = [
    mlaut.analysis,
    *(importlib.import_module(f"mlaut.analysis.{room}") for room in mlaut.analysis.ROOMS),
]


def names_of(package):
    own = (n for n, v in vars(package).items() if getattr(v, "__module__", "") == package.__name__)
    return getattr(package, "__all__", [name for name in own if not name.startswith("_")])


analysis = types.SimpleNamespace(
    **{name: getattr(package, name) for package in PACKAGES for name in names_of(package)}
)
analysis.__all__ = sorted(vars(analysis))
