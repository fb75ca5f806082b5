"""Where the public names are defined: for type checkers, and for `mlaut.lazy`."""

from mlaut.analysis.importers.automlbenchmark import read_automlbenchmark as read_automlbenchmark
from mlaut.analysis.importers.openml import read_openml_evaluations as read_openml_evaluations
from mlaut.analysis.importers.openml import read_openml_runs as read_openml_runs
from mlaut.analysis.importers.sktime_results import read_sktime as read_sktime
from mlaut.analysis.importers.tabarena import read_tabarena as read_tabarena
