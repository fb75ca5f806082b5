"""Searches for parameters over grids, and the traces of all searches.

`wanted` reads texts such as ``"random(50)"`` and ``"10m cpu"``, for which the plug-in mlaut-sharing
has the searches; `traces` reads the candidates that any fitted search has tried.
"""
