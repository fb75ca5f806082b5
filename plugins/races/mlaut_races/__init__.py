"""Races: studies that end themselves, with evidence that is valid whenever one looks.

A plug-in of MLaut, which finds this module in the group ``mlaut.races``, and runs with it the
studies whose study file has a section ``[race]``.
"""

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
    "check_unrelated",
    "drawn_order",
    "forecast_race",
    "make_race",
    "race",
    "race_plot",
    "run_race",
]


def __getattr__(name: str) -> Any:
    """Return `race_plot`, which imports matplotlib, when it is first asked for."""
    if name != "race_plot":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mlaut_races.drawing import race_plot

    return race_plot
