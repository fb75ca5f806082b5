"""Refuse a plain run of a race, or complete a race; the plug-in of races has all else.

A race is a study that ends as soon as its question is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mlaut.errors import StudyError
from mlaut.files_io import StudyStore
from mlaut.records import Outcome, Status

if TYPE_CHECKING:
    from mlaut.experiments.options import RunOptions
    from mlaut.experiments.plans.plan import Group, Plan


class Rounds(Protocol):
    """Cells of a race, which the plug-in of races decides on."""

    def groups(self) -> Iterator[Group | None]: ...  # noqa: D102 - None waits for cells that run
    def saw(self, outcomes: Iterable[Outcome]) -> list[Outcome]: ...  # noqa: D102 - to store too
    def left_out(self) -> list[Outcome]: ...  # noqa: D102
    def sealed(self) -> dict[str, Any]: ...  # noqa: D102 - the terms, as the study stores them
    def sentence(self) -> str: ...  # noqa: D102


MakeRace = Callable[[StudyStore, "Plan", "RunOptions", Path], Rounds]


def check_no_race(study: StudyStore) -> None:
    """Raise `StudyError` if a study is a race: a plain run would not keep to its decisions."""
    if study.exists and study.race is not None:
        raise StudyError(
            f"{study.path}: its datasets are run as a race; restore the section [race] (in Python "
            "the argument race), or complete the race with 'mlaut run --complete' (complete=True)"
        )


def clear_raced_out(study: StudyStore) -> None:
    """Clear the status of all cells that were raced out, so that a run does them."""
    marked = {
        name: (names, status == Status.RACED_OUT)
        for name, (names, status) in study.statuses().items()
        if (status == Status.RACED_OUT).any()
    }
    if marked:
        with study.writing() as writer:
            for name, (names, cells) in marked.items():
                writer.forget(name, names, cells)
