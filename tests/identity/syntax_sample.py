# ruff: noqa
# fmt: off
"""Syntax in which Pythons differ: in their trees, in what they compile, or in how they fold."""

import asyncio
import dataclasses
import enum
import functools
from contextlib import contextmanager

import numpy as np

SCALE = 2.5
TABLE = {"a": [1, 2], "b": None}
two = [lambda x: x + 1, lambda x: x * SCALE]
nested = lambda x: lambda y: x - y
partial = functools.partial(np.clip, a_min=0)


def strings(x, *, width: int = 3, **more):
    """Words that do not count."""
    "nor these"
    empty = f"" + f"{x:}"
    return f"{x!r:>{width}} a" "b" f"{{c}}{width=}" f"", empty, "\N{BULLET}\xad", b"\xff", rf"\d{x}"


def numbers(x=10**3, y=-1.5 + 2j):
    if __debug__ and False:
        return helper(0)
    return 1_000_000, 0xFF, -0.0, 1e400, ..., (1, 2) + (3,), 2**70, not x, y


def helper(x):
    return np.log1p(x) * SCALE + len(TABLE)


def comprehensions(rows):
    squares = [y := row**2 for row in rows if (row, y_of(row))]
    return {k: {v for v in squares} for k in range(3)}, y, sum(row for row in rows)


def y_of(row):
    return helper(row)


def matching(value):
    match value:
        case {"a": found, **rest}:
            return found, rest
        case [1, *others] | (2, others):
            return others
        case complex(real=-1.5) | None:
            pass
        case str() as text if text:
            return text
    try:
        with value as one, text as other:
            one, other
    except* (OSError, ValueError) as group:
        raise KeyError from group
    finally:
        del value


async def waiting(source):
    async with asyncio.timeout(1):
        return [item async for item in source if await item]


@contextmanager
def managed(x, /, *, y=SCALE):
    global TABLE
    TABLE = x
    yield helper(y)


@functools.lru_cache(maxsize=None)
def cached(x):
    return helper(x)


def made(n):
    class Inside:
        """Words."""

        def value(self):
            return n + SCALE

    return Inside


class Base:
    """Words."""

    size: int = 3
    sizes = [size, *range(2)]

    def __init__(self, x=SCALE):
        self.x: float = x

    @property
    def double(self):
        return self.x * 2

    @double.setter
    def double(self, value):
        self.x = value / 2

    @staticmethod
    def rule(x):
        return helper(x)


class Derived(Base):
    def __init__(self):
        super().__init__()

    async def later(self):
        yield await asyncio.sleep(self.size)


@dataclasses.dataclass(frozen=True)
class Record:
    name: str
    values: list = dataclasses.field(default_factory=list)


class Kind(enum.Enum):
    ONE = enum.auto()
    TWO = "two"


class Callable:
    def __call__(self, x: "Record") -> "Kind":
        return helper(x)
