"""Bayesian tests with a region of practical equivalence."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "sign_tests": (
            *("sign_posterior", "sign_probabilities", "signed_rank_posterior"),
            "signed_rank_probabilities",
        ),
        "correlated_t": (
            *("correlated_t_datasets", "correlated_t_probabilities", "correlated_t_test"),
        ),
        "hierarchical": ("hierarchical_probabilities", "hierarchical_test"),
    },
)
