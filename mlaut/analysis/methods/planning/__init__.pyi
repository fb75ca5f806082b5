"""Where the public names are defined: for type checkers, and for `mlaut.lazy`."""

from mlaut.analysis.methods.planning.power import dataset_sd as dataset_sd
from mlaut.analysis.methods.planning.power import datasets_needed_for_ranks as datasets_needed_for_ranks
from mlaut.analysis.methods.planning.power import pilot_design as pilot_design
from mlaut.analysis.methods.planning.power import power_of_test as power_of_test
from mlaut.analysis.methods.planning.power import resolution as resolution
from mlaut.analysis.methods.planning.power import smallest_difference as smallest_difference
