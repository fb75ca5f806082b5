"""Where the public names are defined, for type checkers; written by tools/stubs.py."""

from mlaut.analysis.methods.ratings.elo import elo_ratings as elo_ratings

_ROOMS: tuple[str, ...]
