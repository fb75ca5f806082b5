"""The methods of Lacoste, Laviolette and Marchand (2012)."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "bayesian_bootstrap": ("bootstrap_prob_better",),
        "risk": (
            *("RiskPosterior", "joint_errors", "langford_bounds", "prob_better_classifier"),
            "risk_posterior",
        ),
        "table_tests": ("lacoste_comparison", "lacoste_sign_test", "lacoste_signed_rank_test"),
        "pair_probabilities": (
            *("error_counts", "poisson_binomial_from_probabilities", "poisson_binomial_test"),
        ),
        "poisson_binomial": (
            *("poisson_binomial_pmf", "poisson_binomial_probability", "poisson_binomial_share"),
        ),
    },
)
