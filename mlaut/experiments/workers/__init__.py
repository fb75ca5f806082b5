"""Processes that run cells: how they start, which batch each has, how they end."""
