"""Description of the machine and the package versions of a run."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mlaut import (
    __version__,
    estimators,  # its names need scikit-learn, which a worker of Dask does without
)
from mlaut.identity.distributions import installed_version, versions_of

BACKENDS = ("jax", "torch", "tensorflow")
"""Backends of Keras."""

_PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "h5py", "joblib", "keras")


def describe_environment(strategies: Iterable[estimators.MlautEstimator] = ()) -> dict[str, Any]:
    """Return a description of the machine and the versions, as plain JSON values.

    Parameters
    ----------
    strategies : iterable of MlautEstimator
        Strategies of the run. The versions of all distributions that they use are included, and
        of all that these require.

    Examples
    --------
    >>> from mlaut.estimators import as_strategies
    >>> described = describe_environment(as_strategies("GaussianNaiveBayes"))
    >>> sorted({"numpy", "scikit-learn", "threadpoolctl"} & set(described["versions"]))
    ['numpy', 'scikit-learn', 'threadpoolctl']
    """
    # A checkout on PYTHONPATH has no distribution of MLaut, or that of another version.
    always = {"mlaut": __version__}
    always |= {name: version for name in _PACKAGES if (version := installed_version(name))}
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "versions": always | versions_of(_used_by(strategies)),
    }


def _used_by(strategies: Iterable[estimators.MlautEstimator]) -> set[str]:
    """Return the packages that strategies use, without MLaut."""
    used: set[str] = set()
    for strategy in strategies:
        used |= {*strategy.identified().libraries, strategy.metadata.package}
    if "keras" in used:
        used |= {name for name in BACKENDS if installed_version(name)}
    return used - {"mlaut"}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())
