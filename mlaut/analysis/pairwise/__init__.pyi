"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.analysis.pairwise.corrections import adjust as adjust
from mlaut.analysis.pairwise.decisions import Cycle as Cycle
from mlaut.analysis.pairwise.decisions import Decisions as Decisions
from mlaut.analysis.pairwise.decisions import non_transitive_cycles as non_transitive_cycles
