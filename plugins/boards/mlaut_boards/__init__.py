"""Boards: repositories of entries that are fitted again and tested before they are listed.

A plug-in of MLaut. It also has the forms of public leaderboards, results and predictions of OpenML,
sktime and other programs, places among published strategies, new records of boards that grow,
exports to boards, skill scores, and whether a rerun has the same scores.
"""

from importlib import import_module
from typing import Any

_ROOMS = {
    "paired_items": "skill",
    "read_openml_evaluations": "programs",
    "read_openml_runs": "programs",
    "read_sktime": "programs",
    "same_results": "rerun",
    "skill_table": "skill",
    "treat_contaminated": "contamination",
}


def __getattr__(name: str) -> Any:
    """Return a function, imported when it is first asked for: ``mlaut --help`` asks for none."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"mlaut_boards.{_ROOMS[name]}"), name)
