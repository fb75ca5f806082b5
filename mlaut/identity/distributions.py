"""Origin of code: Python, an installed distribution, or the user.

A library is recognised by the distribution that installed it, not by the interpreter's own folder.
Libraries on ``PYTHONPATH``, from ``pip --target``, ``pip --user``, ``--system-site-packages`` and
in Debian's ``dist-packages`` are therefore treated alike. An editable install (``pip install -e``)
counts as the user's own code, because its files are in the folder of the author.
"""

import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from email import message_from_string
from functools import lru_cache
from importlib.metadata import Distribution, PackageNotFoundError, PathDistribution
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

_FOLDERS = {"site-packages", "dist-packages"}
"""Names of folders of installed distributions. Debian's distributions have no list of files."""

_PYTHON_FOLDERS = {
    path
    for known in (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.__file__)
    for path in (Path(known), Path(known).resolve())
    if path.is_dir()
} | {Path(os.__file__).parent, Path(os.__file__).resolve().parent}


def is_library(module: str) -> bool:
    """Return whether a module belongs to Python or to a distribution, and not to the user.

    Examples
    --------
    >>> is_library("sklearn.svm"), is_library("json"), is_library("__main__")
    (True, True, False)
    """
    file = file_of(module)
    if file is None or module == "__main__":
        return False
    return not file or is_library_file(file)


def file_of(module: str) -> str | None:
    """Return the file of a loaded module.

    Returns
    -------
    str or None
        Empty for modules that are built into Python, and for MLaut; None for code without a file,
        which was typed in or came from another process.
    """
    if module.partition(".")[0] == "mlaut" or module in sys.builtin_module_names:
        return ""
    loaded = sys.modules.get(module)
    if getattr(getattr(loaded, "__spec__", None), "origin", "") in ("built-in", "frozen"):
        return getattr(loaded, "__file__", None) or ""
    return getattr(loaded, "__file__", None)


@lru_cache(maxsize=4096)
def is_library_file(file: str) -> bool:
    """Return whether a file of code was installed by an installer, or belongs to Python."""
    if file.startswith("<frozen"):
        return True
    here = Path(file).absolute()
    return any(_is_installed(path) for path in {here, here.resolve()})


def _is_installed(path: Path) -> bool:
    if _FOLDERS & set(path.parts):
        return True
    if any(path.is_relative_to(folder) for folder in _PYTHON_FOLDERS):
        return True
    return any(path.relative_to(folder).parts[0] in _owners(folder) for folder in path.parents)


@lru_cache(maxsize=1024)
def _owners(folder: Path) -> Mapping[str, Path]:
    """Return the metadata folder of the distribution that installed each entry of a folder."""
    return MappingProxyType(
        {entry: about for about in _abouts(folder) for entry in _entries(about)}
    )


def _abouts(folder: Path) -> list[Path]:
    """Return the metadata folders of the distributions in a folder.

    A build leaves ``*.egg-info`` beside the source, so these count only in folders of installers.
    """
    endings = (".dist-info", ".egg-info") if folder.name in _FOLDERS else (".dist-info",)
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.name.endswith(endings))
    except OSError:
        return []


def _entries(about: Path) -> Iterator[str]:
    """Yield the top-level modules and folders that a distribution lists."""
    for name in ("RECORD", "top_level.txt"):
        try:
            listed = (about / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        yield from set(re.findall(r"^[^,/\n]+", listed, re.MULTILINE))


# ------------------------------------------------------------------- versions


def versions_of(modules: Iterable[str]) -> dict[str, str]:
    """Return the versions of the distributions of modules and of their requirements, by name.

    Parameters
    ----------
    modules : iterable of str
        Top-level modules, or names of distributions. Modules without a distribution are left out.

    Examples
    --------
    >>> sorted({"numpy", "scikit-learn", "scipy"} & set(versions_of(["sklearn"])))
    ['numpy', 'scikit-learn', 'scipy']
    """
    versions: dict[str, str] = {}
    waiting = [dist for module in modules for dist in [_distribution_of(module)] if dist]
    while waiting:
        distribution = waiting.pop()
        name, of_name, required = _described(distribution)
        if name and of_name and name not in versions:
            versions[name] = of_name
            waiting += required
    return dict(sorted(versions.items()))


def installed_version(name: str) -> str | None:
    """Return the version of a distribution; None if it is not installed."""
    distribution = _distribution_by_name(name)
    return _described(distribution)[1] if distribution else None


def _distribution_of(module: str) -> Distribution | None:
    """Return the distribution of a top-level module."""
    for file in _files_of(module):
        about = _owners(file.parent).get(file.name)
        if about is not None:
            return _distribution_in(about)
    return _distribution_by_name(module)


@lru_cache(maxsize=1024)
def _distribution_in(about: Path) -> Distribution:
    return PathDistribution(about)


def _files_of(module: str) -> Iterator[Path]:
    """Yield the file of a module, or the folders of a package, without importing it."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError, AttributeError):
        spec = None
    if spec is not None:
        yield from (Path(folder) for folder in spec.submodule_search_locations or ())
        if spec.origin and not spec.submodule_search_locations:
            yield Path(spec.origin)


@lru_cache(maxsize=1024)
def _described(
    distribution: Distribution,
) -> tuple[str | None, str | None, tuple[Distribution, ...]]:
    """Return name, version and requirements of a distribution, without its description."""
    text = distribution.read_text("METADATA")
    older = "" if text else distribution.read_text("PKG-INFO") or ""
    about = message_from_string((text or older).partition("\n\n")[0])
    required = about.get_all("Requires-Dist") if text else distribution.requires
    return about["Name"], about["Version"], tuple(_installed(required or ()))


def _installed(required: Iterable[str]) -> Iterator[Distribution]:
    """Yield the installed ones of the distributions that one requires, without its extras."""
    for requirement in required:
        name = re.match(r"[\w.-]+", requirement)
        if name and not re.search(r"\bextra\b", requirement.partition(";")[2]):
            needed = _distribution_by_name(name[0])
            if needed is not None:
                yield needed


@lru_cache(maxsize=1024)
def _distribution_by_name(name: str) -> Any:
    try:
        return Distribution.from_name(name)
    except (PackageNotFoundError, ValueError):
        return None
