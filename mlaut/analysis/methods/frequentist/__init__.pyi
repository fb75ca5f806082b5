"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.analysis.methods.frequentist.mcnemar import mcnemar_p as mcnemar_p
from mlaut.analysis.methods.frequentist.mcnemar import mcnemar_test as mcnemar_test
from mlaut.analysis.methods.frequentist.paired_tests import ranksum_test as ranksum_test
from mlaut.analysis.methods.frequentist.paired_tests import unpaired_t_test as unpaired_t_test
from mlaut.analysis.methods.frequentist.portmanteau import conover_test as conover_test
from mlaut.analysis.methods.frequentist.portmanteau import kendalls_w as kendalls_w
from mlaut.analysis.methods.frequentist.portmanteau import post_hoc_test as post_hoc_test
from mlaut.analysis.methods.frequentist.portmanteau import quade_test as quade_test
from mlaut.analysis.methods.frequentist.ranks import bonferroni_dunn_test as bonferroni_dunn_test
from mlaut.analysis.methods.frequentist.ranks import critical_difference as critical_difference
from mlaut.analysis.methods.frequentist.ranks import pair_groups as pair_groups
