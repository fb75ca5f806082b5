"""Descriptions of objects in plain JSON values, by which a study recognises its strategies."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any


def without_rooms(value: Any) -> Any:
    """Return an identity in which names of MLaut's classes and functions lack their subpackage.

    So a module may move within its package without a change of the strategies of stored studies.

    Examples
    --------
    >>> without_rooms({"class": "mlaut.estimators.strategy.wrappers.Balanced", "C": [1]})
    {'class': 'mlaut.estimators.Balanced', 'C': [1]}
    """
    if isinstance(value, str) and value.startswith("mlaut.") and value.count(".") > 2:
        first, package, *_, name = value.split(".")
        return f"{first}.{package}.{name}"
    if isinstance(value, Mapping):
        return {key: without_rooms(item) for key, item in value.items()}
    return [without_rooms(item) for item in value] if isinstance(value, list) else value


def without_modules(value: Any, modules: Collection[str]) -> Any:
    """Return an identity in which names of the user's code lack the module that defines it.

    The same file is loaded as ``mine`` by an import, as ``__main__`` by Python, and as
    ``<run_path>`` by a study file.

    Parameters
    ----------
    value : object
        Identity, or a part of it.
    modules : collection of str
        Names of the user's modules.

    Examples
    --------
    >>> without_modules({"class": "mine.Slow", "own": {"mine.Slow": {}}}, ["mine"])
    {'class': 'Slow', 'own': {'Slow': {}}}
    """
    if isinstance(value, list):
        return [without_modules(item, modules) for item in value]
    if not isinstance(value, Mapping):
        return value
    plain = {key: without_modules(item, modules) for key, item in value.items()}
    for key in _NAMED & plain.keys():
        if isinstance(plain[key], str):
            plain[key] = _without_module(plain[key], modules)
    for key in _NAMING & plain.keys():
        if isinstance(plain[key], Mapping):
            plain[key] = dict(_distinct(plain[key], modules))
    return plain


def names_in(value: Any) -> Iterator[str]:
    """Yield the names of the user's code in an identity.

    Examples
    --------
    >>> list(names_in({"class": "mine.Slow", "own": {"mine.Slow": {}}, "reads": {"mine.N": 1}}))
    ['mine.Slow', 'mine.N']
    """
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key in _NAMING and isinstance(item, Mapping):
                yield from item
            elif key == "function" and len(value) > 1 and isinstance(item, str):  # it has code
                yield item
            yield from names_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from names_in(item)


_NAMED = {"class", "function"}  # keys of an identity whose value is a name
_NAMING = {"own", "reads"}  # keys of an identity whose value has names as keys


def _without_module(name: str, modules: Iterable[str]) -> str:
    within = [module for module in modules if name.startswith(f"{module}.")]
    return name[len(max(within, key=len)) + 1 :] if within else name


def _distinct(named: Mapping[str, Any], modules: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Yield names without modules; those that several modules have are numbered by content."""
    found: dict[str, list[Any]] = {}
    for name, item in named.items():
        found.setdefault(_without_module(name, modules), []).append(item)
    for name, items in sorted(found.items()):
        items.sort(key=lambda item: json.dumps(item, sort_keys=True))
        for number, item in enumerate(items, start=1):
            yield name if number == 1 else f"{name} ({number})", item
