"""Tests and estimates from the folds of one dataset: scenario (b)."""
