"""Reading and writing of files: input databases of datasets, and studies (output databases).

Studies are read without pandas, so that ``mlaut status`` is fast; modules that handle tables are
imported at their first use.
"""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
