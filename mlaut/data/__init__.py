"""Datasets, collections of them, and how their rows are split."""
