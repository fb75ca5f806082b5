"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.analysis.methods.bayes.correlated_t import correlated_t_datasets as correlated_t_datasets
from mlaut.analysis.methods.bayes.correlated_t import correlated_t_probabilities as correlated_t_probabilities
from mlaut.analysis.methods.bayes.correlated_t import correlated_t_test as correlated_t_test
from mlaut.analysis.methods.bayes.sign_tests import sign_posterior as sign_posterior
from mlaut.analysis.methods.bayes.sign_tests import sign_probabilities as sign_probabilities
from mlaut.analysis.methods.bayes.sign_tests import signed_rank_posterior as signed_rank_posterior
from mlaut.analysis.methods.bayes.sign_tests import signed_rank_probabilities as signed_rank_probabilities
