"""Differences between the libraries of learners."""
