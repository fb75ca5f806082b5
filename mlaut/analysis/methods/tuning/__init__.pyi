"""Where the public names are defined: for type checkers, and for `mlaut.lazy`."""

from mlaut.analysis.methods.tuning.budgets import results_at_budget as results_at_budget
