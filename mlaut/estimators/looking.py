"""Looks at learners in the process of a run, where an error of one must not end the run."""

import contextlib
from collections.abc import Iterator
from typing import Any

from mlaut.errors import MlautError, StrategyError


def has(value: Any, name: str) -> bool:
    """Return whether an object has an attribute; one that raises any error is not there.

    Examples
    --------
    >>> class Broken:
    ...     def __getattr__(self, name):
    ...         return {}[name]
    >>> has(Broken(), "fit"), has([], "append")
    (False, True)
    """
    try:
        getattr(value, name)
    except (Exception, SystemExit):
        return False
    return True


@contextlib.contextmanager
def looked_at(name: str) -> Iterator[None]:
    """Raise `StrategyError` in place of any error that a strategy raises when it is looked at.

    Examples
    --------
    >>> with looked_at("mine"):
    ...     {}["inner"]
    Traceback (most recent call last):
    mlaut.errors.StrategyError: strategy 'mine' cannot be read: its class raises KeyError: \
'inner' when it is looked at (copied, pickled, asked for its parameters); correct the class, or \
leave it out
    """
    try:
        yield
    except MlautError:
        raise
    except (Exception, SystemExit) as error:
        text = ""
        with contextlib.suppress(Exception):
            text = f": {' '.join(str(error).split())}".removesuffix(": ")
        raise StrategyError(
            f"strategy {name!r} cannot be read: its class raises {type(error).__name__}{text} "
            "when it is looked at (copied, pickled, asked for its parameters); correct the class, "
            "or leave it out"
        ) from error
