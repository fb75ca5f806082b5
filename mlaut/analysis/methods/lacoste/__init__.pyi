"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.analysis.methods.lacoste.bayesian_bootstrap import bootstrap_prob_better as bootstrap_prob_better
from mlaut.analysis.methods.lacoste.pair_probabilities import error_counts as error_counts
from mlaut.analysis.methods.lacoste.pair_probabilities import poisson_binomial_from_probabilities as poisson_binomial_from_probabilities
from mlaut.analysis.methods.lacoste.pair_probabilities import poisson_binomial_test as poisson_binomial_test
from mlaut.analysis.methods.lacoste.poisson_binomial import poisson_binomial_pmf as poisson_binomial_pmf
from mlaut.analysis.methods.lacoste.poisson_binomial import poisson_binomial_probability as poisson_binomial_probability
from mlaut.analysis.methods.lacoste.poisson_binomial import poisson_binomial_share as poisson_binomial_share
from mlaut.analysis.methods.lacoste.risk import RiskPosterior as RiskPosterior
from mlaut.analysis.methods.lacoste.risk import joint_errors as joint_errors
from mlaut.analysis.methods.lacoste.risk import langford_bounds as langford_bounds
from mlaut.analysis.methods.lacoste.risk import prob_better_classifier as prob_better_classifier
from mlaut.analysis.methods.lacoste.risk import risk_posterior as risk_posterior
