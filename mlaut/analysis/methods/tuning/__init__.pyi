"""Where the public names are defined, for type checkers; written by tools/stubs.py."""

from mlaut.analysis.methods.tuning.budgets import results_at_budget as results_at_budget
