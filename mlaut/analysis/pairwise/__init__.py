"""Paired differences: their layout, effect sizes, corrections for many pairs, and decisions."""
