"""Searches for parameters beyond exhaustive grids, and the traces of all searches.

`words` reads texts such as ``"random(50)"`` and ``"10m cpu"``. `budgeted` has the searches,
including Optuna's, and `traces` reads the candidates that any fitted search has tried.
"""
