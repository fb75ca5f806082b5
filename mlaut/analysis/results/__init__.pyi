"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.analysis.results.missing import TREATMENTS as TREATMENTS
