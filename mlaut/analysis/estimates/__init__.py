"""Estimates of losses and mean losses, with standard errors and intervals."""
