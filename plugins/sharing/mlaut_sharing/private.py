"""All private names of scikit-learn that the families use, each with its purpose and its group.

If one is missing, only the families that need its group stop sharing.
"""

from mlaut_sharing.search.private import take

KERNELS, NEIGHBOURS, TREES, LOSSES = "kernels", "neighbours", "trees", "losses"

# ---------------------------------------------------------- support vector machines

_libsvm = take(KERNELS, "sklearn.svm", "_libsvm")  # the solver, run on a stored kernel
LIBSVM_IMPL = take(KERNELS, "sklearn.svm._base", "LIBSVM_IMPL")  # the solver's numbers of machines


# ------------------------------------------------------------------------ neighbours

ArgKmin = take(
    NEIGHBOURS, "sklearn.metrics._pairwise_distances_reduction", "ArgKmin"
)  # compares all rows as predict does
_openmp_effective_n_threads = take(
    NEIGHBOURS, "sklearn.utils._openmp_helpers", "_openmp_effective_n_threads"
)  # with several threads, ties are broken differently

# ------------------------------------------- trees, and ensembles that are made of them

CRITERIA_CLF = take(TREES, "sklearn.tree._classes", "CRITERIA_CLF")  # criteria by name
CRITERIA_REG = take(TREES, "sklearn.tree._classes", "CRITERIA_REG")
DENSE_SPLITTERS = take(TREES, "sklearn.tree._classes", "DENSE_SPLITTERS")  # splitters by name
DepthFirstTreeBuilder = take(TREES, "sklearn.tree._tree", "DepthFirstTreeBuilder")  # grows trees
Tree = take(TREES, "sklearn.tree._tree", "Tree")  # an empty tree to grow

# Losses for which `boosting` computes the values of the leaves.
HalfBinomialLoss = take(LOSSES, "sklearn._loss.loss", "HalfBinomialLoss")
HalfMultinomialLoss = take(LOSSES, "sklearn._loss.loss", "HalfMultinomialLoss")
HalfSquaredError = take(LOSSES, "sklearn._loss.loss", "HalfSquaredError")
