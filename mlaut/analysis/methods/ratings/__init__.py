"""Ratings of strategies from duels and rankings: Bradley-Terry-Davidson and Elo."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "davidson": ("BradleyTerry", "bradley_terry"),
    },
)
