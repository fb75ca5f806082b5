"""Metrics: scores and losses of predictions, and the catalogue of all metrics by name."""
