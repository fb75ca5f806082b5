"""Check that the packages of strategies are installed, before any strategy runs."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from mlaut.errors import OptionalPackageError
from mlaut.estimators.libraries.library import LIBRARIES, Library

if TYPE_CHECKING:
    from mlaut.estimators.strategy.mlaut_estimator import MlautEstimator


def check_packages(strategies: Iterable[MlautEstimator]) -> None:
    """Raise an error if the package of a strategy is not installed; import nothing.

    Raises
    ------
    OptionalPackageError
        A package is missing. The message names the strategies and the command that installs it.

    Examples
    --------
    >>> from mlaut.estimators import Generic_Estimator
    >>> from sklearn.svm import SVC
    >>> mine = Generic_Estimator(SVC(), properties={"name": "Mine", "package": "no-such-package"})
    >>> check_packages([mine])
    Traceback (most recent call last):
    mlaut.errors.OptionalPackageError: strategy 'Mine' needs no-such-package, which is not \
installed here: pip install 'no-such-package', or leave it out
    """
    lacking: dict[str, list[str]] = {}
    for strategy in strategies:
        if not _is_installed(strategy.metadata.package):
            lacking.setdefault(strategy.metadata.package, []).append(strategy.name)
    for package, names in lacking.items():
        one = len(names) == 1
        extra = _library(package).extra
        requirement = f"mlaut[{extra}]" if extra else package
        raise OptionalPackageError(
            f"strateg{'y' if one else 'ies'} {_listed(names)} need{'s' if one else ''} {package}, "
            f"which is not installed here: pip install {requirement!r}, or leave "
            f"{'it' if one else 'them'} out"
        )


def _is_installed(package: str) -> bool:
    for distribution in _library(package).distributions or (package,):
        try:
            version(distribution)
        except PackageNotFoundError:
            continue
        return True
    return False


def _library(distribution: str) -> Library:
    """Return the record of the library that a distribution installs."""
    for package, library in LIBRARIES.items():
        if distribution in (library.distributions or (package,)):
            return library
    return Library()


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:2]))
    return f"{shown} and {len(names) - 2} more" if len(names) > 2 else shown
