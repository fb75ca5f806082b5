"""Where the public names are defined: for type checkers, and for `mlaut.lazy`."""

from mlaut.analysis.methods.aggregates.best import RankProbabilities as RankProbabilities
from mlaut.analysis.methods.aggregates.stability import interquartile_means as interquartile_means
from mlaut.analysis.methods.aggregates.stability import ranking_stability as ranking_stability
