"""`Late`: values by name, some of which are computed when they are first asked for."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

V = TypeVar("V")


class Late(Mapping[str, V]):
    """Values by name; a function without arguments stands for a value that it returns.

    Examples
    --------
    >>> late = Late({"a": 1, "b": lambda: 2})
    >>> late.known, late["b"], late.known
    ({'a': 1}, 2, {'a': 1, 'b': 2})
    >>> dict(changed(late, a=3))
    {'a': 3, 'b': 2}
    """

    def __init__(self, values: Mapping[str, V | Callable[[], V]]) -> None:
        self._values: dict[str, Any] = dict(values)

    @property
    def known(self) -> dict[str, V]:
        """Values that are computed."""
        return {name: value for name, value in self._values.items() if not callable(value)}

    def __getitem__(self, name: str) -> V:
        value = self._values[name]
        if callable(value):
            value = self._values[name] = value()
        found: V = value
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __reduce__(self) -> tuple[type, tuple[dict[str, V]]]:
        return dict, (dict(self),)


def changed(values: Mapping[str, V], **more: V) -> Mapping[str, V]:
    """Return values with others in their place; what is not computed yet stays so."""
    return Late({**(values._values if isinstance(values, Late) else values), **more})
