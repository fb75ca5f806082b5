"""Splits of rows into those that are fitted and those that are scored."""
