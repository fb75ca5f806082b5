"""Frequentist tests over datasets."""
