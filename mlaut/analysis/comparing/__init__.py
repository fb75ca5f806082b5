"""Comparison of all strategies on one table of losses: estimates, tests, and findings in words."""
