"""How much is enough: races, which end themselves; plans of studies; budgets of tuning.

A plug-in of MLaut, which finds this module in the group ``mlaut.races``, and runs with it the
studies whose study file has a section ``[race]``.
"""

from importlib import import_module
from typing import Any

from mlaut_races.race import Race, drawn_order, race
from mlaut_races.race_forecast import RaceForecast, forecast_race
from mlaut_races.running import check_unrelated, make_race, run_race
from mlaut_races.study_race import StudyRace
from mlaut_races.terms import RaceTerms

__all__ = [
    "Race",
    "RaceForecast",
    "RaceTerms",
    "StudyRace",
    "budget_plot",
    "check_unrelated",
    "dataset_sd",
    "datasets_needed",
    "datasets_needed_for_ranks",
    "drawn_order",
    "forecast_race",
    "make_race",
    "pilot_design",
    "power_of_test",
    "race",
    "race_plot",
    "resolution",
    "results_at_budget",
    "run_race",
    "score_against_budget",
    "smallest_difference",
]

_ROOMS = {
    "budget_plot": "budgets",
    "dataset_sd": "planning",
    "datasets_needed": "planning",
    "datasets_needed_for_ranks": "planning",
    "pilot_design": "planning",
    "power_of_test": "planning",
    "race_plot": "drawing",
    "resolution": "planning",
    "results_at_budget": "budgets",
    "score_against_budget": "budgets",
    "smallest_difference": "planning",
}


def __getattr__(name: str) -> Any:
    """Return a function, imported when it is first asked for: figures import matplotlib."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"mlaut_races.{_ROOMS[name]}"), name)
