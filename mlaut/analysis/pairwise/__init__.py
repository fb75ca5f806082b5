"""Paired differences: tables of all pairs, effect sizes, corrections of p-values, decisions."""
