"""Bayesian tests with a region of practical equivalence."""
