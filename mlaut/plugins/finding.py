"""Finder of plug-ins, which are installed packages with entry points of MLaut.

The groups are ``mlaut.commands``, ``mlaut.readers``, ``mlaut.tables``, ``mlaut.predictions``,
``mlaut.folders``, ``mlaut.engines``, ``mlaut.queues``, ``mlaut.strategies``, ``mlaut.sharers``, and
``mlaut.exchange``, ``mlaut.extras`` and ``mlaut.races``, whose only entries are MLaut's own.
"""

import warnings
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mlaut.errors import OptionalPackageError, PluginWarning
from mlaut.helpers.former_names import of_plugin, without_plugin


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
            _warn_left_out(point.dist.name if point.dist else point.value, point.value, error)
    return loaded


def _warn_left_out(package: str, name: str, error: Exception) -> None:
    text = " ".join(str(error).split())
    warnings.warn(
        f"plug-in {package} is left out, since {name} cannot be loaded "
        f"({type(error).__name__}: {text}); update or uninstall it",
        PluginWarning,
        stacklevel=3,
    )


def grid_search() -> Any:
    """Return the grid search of the plug-in mlaut-sharing; without it, that of scikit-learn."""
    from sklearn.model_selection import GridSearchCV

    try:
        return of_plugin("GridSearchCV")
    except Exception as error:
        if find_spec("mlaut_sharing"):
            _warn_left_out("mlaut-sharing", "its GridSearchCV", error)
        return GridSearchCV


def home_of(group: str, name: str) -> str:
    """Return the package of a plug-in that offers this name in a group."""
    (point,) = entry_points(group=f"mlaut.{group}", name=name)
    return point.module.partition(".")[0]


def queued_tasks(study: Path) -> dict[Path, str]:
    """Return what batch systems tell of the shards of a study in their queues, by the shard's file.

    Raises
    ------
    StudyError, OptionalPackageError
        A queue does not answer, or the plug-in is missing that submitted the study.
    """
    if study.with_suffix(".slurm").exists() and "slurm" not in found("queues"):
        raise OptionalPackageError(without_plugin("the queue is asked by", "slurm"))
    return {
        file: told for queued in found("queues").values() for file, told in queued(study).items()
    }


def the_plugin(name: str, what: str) -> Any:
    """Return the module of a plug-in of MLaut's own: ``"exchange"``, ``"extras"`` or ``"races"``.

    Raises
    ------
    OptionalPackageError
        It is missing; the message begins with what needs it.
    """
    if name not in (offered := found(name)):
        raise OptionalPackageError(without_plugin(f"{what} by", name))
    return offered[name]


def race_of(study: Any) -> Any:
    """Return the race of a study; None if it is none, and, with a warning, without the plug-in."""
    if study.race is None:
        return None
    races = _races_or_warning(f"{study.path}: how its race stands is told by")
    return races and races.StudyRace.of(study)


def scores_by_budget(study: Any) -> Any:
    """Return the function of scores against the budget of tuning; None if no run traced them.

    Without the plug-in it is None too, with a warning.
    """
    if not any(run.get("trace_predictions") is True for run in study.runs):
        return None
    races = _races_or_warning(f"{study.path}: scores against the budget of tuning are told by")
    return races and races.score_against_budget


def _races_or_warning(what: str) -> Any:
    """Return the plug-in of races; None, with a warning, if it is missing."""
    races = found("races").get("races")
    if races is None:
        warnings.warn(without_plugin(what, "races"), PluginWarning, stacklevel=3)
    return races
