"""Names of earlier versions: what to write today, and those that a plug-in has."""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

_OF_PLUGINS = {
    "boards": (
        *("paired_items", "same_results", "skill_table", "treat_contaminated"),
        *("read_openml_evaluations", "read_openml_runs", "read_sktime"),
    ),
    "races": (
        *("Race", "StudyRace", "drawn_order", "race", "race_plot"),
        *("dataset_sd", "datasets_needed", "datasets_needed_for_ranks", "pilot_design"),
        *("power_of_test", "resolution", "smallest_difference"),
        *("budget_plot", "results_at_budget", "score_against_budget"),
    ),
}
IN_PLUGINS = {name: plugin for plugin, names in _OF_PLUGINS.items() for name in names}
"""Names of the analysis that MLaut's own plug-ins have; they are still imported from MLaut."""


def without_plugin(what: str, plugin: str) -> str:
    """Return the sentence that tells which of MLaut's plug-ins is missing, and how to get it.

    Examples
    --------
    >>> print(without_plugin("boards are read by", "boards"))
    boards are read by the plug-in mlaut-boards: 'pip install ./plugins/boards' in a copy of \
MLaut's repository
    """
    return (
        f"{what} the plug-in mlaut-{plugin}: 'pip install ./plugins/{plugin}' in a copy of "
        "MLaut's repository"
    )


def of_plugin(name: str) -> Any:
    """Return what a plug-in has by a name of `IN_PLUGINS`; an error says which one is missing."""
    package = f"mlaut_{IN_PLUGINS[name]}"
    try:
        return getattr(import_module(package), name)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ImportError(without_plugin(f"{name} is in", IN_PLUGINS[name])) from None


@cache
def former() -> dict[str, str]:
    """Return the names of earlier versions, each with what to write today.

    A module or class is a name of ``mlaut``, unless it begins with a capital.
    """
    import tomllib  # not at `import mlaut`, which is to be quick

    words = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return {
        name if name[0].isupper() else f"mlaut.{name}": today
        for today, names in words.items()
        for name in names.split()
    }


def check_former(name: str) -> None:
    """Raise an error with the replacement if a name is that of an earlier version.

    Examples
    --------
    >>> check_former("mlaut.shared")
    Traceback (most recent call last):
    ...
    ImportError: 'mlaut.shared' is a name of an earlier version; today: mlaut.Files_IO
    """
    if today := former().get(name):
        raise ImportError(f"{name!r} is a name of an earlier version; today: {today}")
