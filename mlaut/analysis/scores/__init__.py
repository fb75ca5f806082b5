"""Scores and losses: what a metric says of predictions, and which metrics there are."""
