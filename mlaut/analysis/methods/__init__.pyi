"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.analysis.methods.ratings.elo import elo_ratings as elo_ratings

_ROOMS: tuple[str, ...]
