"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.analysis.methods.aggregates.best import RankProbabilities as RankProbabilities
