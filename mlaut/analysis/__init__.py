"""Statistics of a study, or of any table of losses: estimates, tests, effect sizes, figures.

Most analyses need only the names listed here. All others are in rooms: `methods` (Lacoste's
methods, folds of one dataset, ratings, explaining, ...), `plots`, `scores`, `importers`,
`pairwise`; they can be imported from here, too.
"""

from mlaut.helpers.lazy import attach

ROOMS = (
    *("importers", "methods.aggregates", "methods.bayes", "methods.cross_validation"),
    *("methods.frequentist", "methods.lacoste"),
    *("pairwise", "plots", "results", "scores"),
)

__getattr__, __dir__, __all__ = attach(__name__, rooms=ROOMS)
