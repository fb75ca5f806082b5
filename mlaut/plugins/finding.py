"""Finder of plug-ins, which are installed packages with entry points of MLaut.

The groups are ``mlaut.commands``, ``mlaut.readers``, ``mlaut.tables``, ``mlaut.predictions``,
``mlaut.engines``, ``mlaut.queues``, ``mlaut.strategies``, ``mlaut.sharers`` and ``mlaut.races``,
whose only entry is that of MLaut's own plug-in.
"""

import warnings
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from mlaut.errors import PluginWarning, StudyError
from mlaut.former_names import without_plugin


@cache
def found(group: str) -> dict[str, Any]:
    """Return what installed plug-ins offer in a group, by name; it is loaded once.

    A plug-in that cannot be imported is left out, and a warning names it.

    Examples
    --------
    >>> found("nothing")
    {}
    """
    loaded = {}
    for point in entry_points(group=f"mlaut.{group}"):
        try:
            loaded[point.name] = point.load()
        except Exception as error:  # whatever a plug-in raises, MLaut works without it
            text = " ".join(str(error).split())
            package = point.dist.name if point.dist else point.value
            warnings.warn(
                f"plug-in {package} is left out, since {point.value} cannot be loaded "
                f"({type(error).__name__}: {text}); update or uninstall it",
                PluginWarning,
                stacklevel=2,
            )
    return loaded


def home_of(group: str, name: str) -> str:
    """Return the package of a plug-in that offers this name in a group."""
    (point,) = entry_points(group=f"mlaut.{group}", name=name)
    return point.module.partition(".")[0]


def queued_tasks(study: Path) -> dict[Path, str]:
    """Return what batch systems tell of the shards of a study in their queues, by the shard's file.

    Raises
    ------
    StudyError
        A queue does not answer, or the plug-in is missing that submitted the study.
    """
    if study.with_suffix(".slurm").exists() and "slurm" not in found("queues"):
        raise StudyError(without_plugin("the queue is asked by", "slurm"))
    return {
        file: told for queued in found("queues").values() for file, told in queued(study).items()
    }


def the_races(what: str) -> Any:
    """Return the plug-in of races.

    Raises
    ------
    StudyError
        It is missing; the message begins with what needs it.
    """
    if "races" not in (offered := found("races")):
        raise StudyError(without_plugin(f"{what} by", "races"))
    return offered["races"]


def race_of(study: Any) -> Any:
    """Return the race of a study; None if it is none, and, with a warning, without the plug-in."""
    if study.race is None:
        return None
    if "races" in found("races"):
        return found("races")["races"].StudyRace.of(study)
    missing = without_plugin(f"{study.path}: how its race stands is told by", "races")
    warnings.warn(missing, PluginWarning, stacklevel=2)
    return None
