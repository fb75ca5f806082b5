"""Aggregates over datasets whose scales differ, and the probability that a strategy is the best."""
