"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.analysis.importers.automlbenchmark import read_automlbenchmark as read_automlbenchmark
from mlaut.analysis.importers.tabarena import read_tabarena as read_tabarena
