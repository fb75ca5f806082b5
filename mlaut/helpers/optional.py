"""Import of optional packages, and settings of libraries while a block runs."""

import contextlib
import os
import sys
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from mlaut.errors import OptionalPackageError


def need(*modules: str, extra: str, purpose: str = "this") -> ModuleType:
    """Import optional modules, or raise an error that names the missing packages.

    Parameters
    ----------
    *modules : str
        Names of modules, for example ``"dask.distributed"``.
    extra : str
        The extra of MLaut that installs them.
    purpose : str, default "this"
        Subject of the error message: what needs the modules.

    Returns
    -------
    module
        The first of ``modules``, imported.

    Raises
    ------
    OptionalPackageError
        One or more of the modules are not installed.

    Examples
    --------
    >>> need("json", extra="none").dumps([1])
    '[1]'
    >>> need("no_such_package", extra="cluster", purpose="The Dask engine")
    Traceback (most recent call last):
    mlaut.errors.OptionalPackageError: The Dask engine needs no_such_package, not installed here: \
pip install 'mlaut[cluster]'
    """
    missing = sorted(
        {m.partition(".")[0] for m in modules if find_spec(m.partition(".")[0]) is None}
    )
    if missing:
        raise OptionalPackageError(
            f"{purpose} needs {' and '.join(missing)}, not installed here: "
            f"pip install 'mlaut[{extra}]'"
        )
    return import_module(modules[0])


def load_matplotlib() -> None:
    """Import matplotlib, also where the backend that MPLBACKEND names is not installed.

    A program that is called from a notebook inherits the name of the kernel's backend.
    """
    if "matplotlib" in sys.modules:
        return
    wanted = os.environ.pop("MPLBACKEND", "")
    try:
        matplotlib = import_module("matplotlib")
    finally:
        os.environ.update({"MPLBACKEND": wanted} if wanted else {})
    if wanted:
        with contextlib.suppress(ValueError):
            matplotlib.rcParams["backend"] = wanted


@contextlib.contextmanager
def changed(settings: MutableMapping[str, Any], **changes: Any) -> Iterator[None]:
    """Change settings, such as environment variables, during the block."""
    before = {name: settings[name] for name in changes if name in settings}
    settings.update(changes)
    try:
        yield
    finally:
        for name in changes.keys() - before.keys():
            del settings[name]
        settings.update(before)
