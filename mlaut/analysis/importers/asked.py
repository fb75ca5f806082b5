"""`Asked`, the words of a user on how to read a table, and `QuestionError`, which asks for them.

A command that reads no table imports this module alone of the package.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, Self

from mlaut.errors import AnalysisError

if TYPE_CHECKING:
    from mlaut.analysis.results.results import Results

ROLES = ("dataset", "strategy", "score", "repeat", "fold", "source", "last", "unused")
PLACES = ("table", "number")  # of a file, and of a cell, which a user names beside columns
_LONGEST = 200  # letters of a word that an error shows whole
_OPTIONS: ContextVar[Sequence[str]] = ContextVar("options", default=())


@contextmanager
def commands_with(options: Sequence[str]) -> Iterator[None]:
    """Let commands that read a table in another way repeat options of the command that asks."""
    token = _OPTIONS.set(options)
    try:
        yield
    finally:
        _OPTIONS.reset(token)


@dataclass(frozen=True)
class Asked:
    """Words of a user: the metric, and the columns of each role.

    Attributes
    ----------
    where : str
        File, as in messages.
    metric : str
    columns : mapping of str to tuple of str
        Columns by role, of those in `ROLES`.
    clusters : str
    table : str
        Number or heading of the table of a file that has several.
    number : str
        Place of the number that counts in cells with several.
    """

    where: str
    metric: str = ""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    clusters: str = ""
    table: str = ""
    number: str = ""
    greater: bool | None = None

    @property
    def chosen(self) -> bool:
        """Whether columns are named for what they are, and not only left out."""
        return bool({*self.columns} - {"unused"})

    def with_columns(self, **chosen: str | Sequence[str]) -> Self:
        """Return these words with others, of some roles or on the metric."""
        words = {x: str(chosen.pop(x, getattr(self, x))) for x in ("metric", *PLACES)}
        each = {role: (x,) if isinstance(x, str) else tuple(x) for role, x in chosen.items()}
        if "unused" in each:  # what is left out stays so
            each["unused"] = (*self.columns.get("unused", ()), *each["unused"])
        greater = self.greater if words["metric"] == self.metric else None
        said = {**self.columns, **each}
        return replace(self, **words, columns=said, greater=greater)

    @property
    def given(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of each role, with the table and the number that are chosen."""
        table, number = (((x, (way,)),) if (way := getattr(self, x)) else () for x in PLACES)
        return dict([*table, *self.columns.items(), *number])

    def command(self) -> str:
        """Return the command (of a table in memory, the call) that reads the table so."""
        if self.where == "the table":
            columns = {role: x[0] if len(x) == 1 else [*x] for role, x in self.given.items()}
            more = {"greater_is_better": self.greater, "clusters": self.clusters or None}
            told = "".join(f", {key}={x!r}" for key, x in more.items() if x is not None)
            return f"read_results(table, {self.metric!r}, columns={columns}{told})"
        text = ",".join(f"{role}={'+'.join(names)}" for role, names in self.given.items())
        ways = (("--metric", self.metric), ("--columns", text), ("--clusters", self.clusters))
        again = _OPTIONS.get()
        said = [(a, x) for a, x in ways if x and (a not in again or a == "--metric")]
        options = [word for way in said for word in way]
        options += {True: ["--greater-is-better"], False: ["--less-is-better"], None: []}[
            self.greater
        ]
        return shlex.join(["mlaut", "report", self.where, *options, *again])


class Questioned(Protocol):
    """A table that a question is about: what a user said of it, and what it was taken for."""

    asked: Asked

    def taken_for(self) -> dict[str, str]:
        """Return what each column is taken for, with examples of its cells."""


class QuestionError(AnalysisError):
    """Error that asks how to read a table, with the words of a user that would answer.

    Attributes
    ----------
    text : str
        The question, without the commands that answer it.
    ways : sequence of Asked
        The answers.
    readings : mapping of str to Results
        What each answer reads, by its command (of a table in memory, the call); empty where not
        all answers have been tried.
    sheet : Questioned or None
        The table.
    """

    def __init__(
        self,
        text: str,
        ways: Sequence[Asked] = (),
        readings: Mapping[str, Results] | None = None,
        sheet: Questioned | None = None,
    ) -> None:
        commands = [way.command() for way in ways]
        shown = "; or ".join(x for x in commands if max(map(len, x.split())) < _LONGEST)
        super().__init__(text + (f": {shown}" if shown else ""))
        self.text, self.ways, self.readings, self.sheet = text, ways, readings or {}, sheet

    @property
    def columns(self) -> dict[str, str]:
        """Return what each column of the table is taken for, with examples of what it holds."""
        return self.sheet.taken_for() if self.sheet else {}

    @property
    def template(self) -> str:
        """Return the command that reads the table once names of columns replace ``COLUMN``."""
        asked = self.sheet.asked if self.sheet else self.ways[0]
        keys = dict.fromkeys(("dataset", "strategy", "score"), ("COLUMN",))
        return replace(asked, columns=keys).command()
