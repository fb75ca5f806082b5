"""Frequentist tests over datasets, and on the test points of one dataset."""
