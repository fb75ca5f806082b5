"""Where the public names are defined: for type checkers, and for `mlaut.lazy`."""

from mlaut.analysis.results.missing import TREATMENTS as TREATMENTS
