"""Further methods of comparison; the docstring of each subpackage states its question.

Their public names can be imported from here, too.
"""

from mlaut.helpers.lazy import attach

_ROOMS = ("aggregates", "bayes", "cross_validation", "frequentist", "lacoste")

__getattr__, __dir__, __all__ = attach(__name__, rooms=_ROOMS)
