"""Where the public names are defined, for type checkers; written by tools/stubs.py."""

from mlaut.analysis.methods.aggregates.best import RankProbabilities as RankProbabilities
from mlaut.analysis.methods.aggregates.rerun import same_results as same_results
from mlaut.analysis.methods.aggregates.skill import paired_items as paired_items
from mlaut.analysis.methods.aggregates.skill import skill_table as skill_table
from mlaut.analysis.methods.aggregates.stability import interquartile_means as interquartile_means
from mlaut.analysis.methods.aggregates.stability import ranking_stability as ranking_stability
