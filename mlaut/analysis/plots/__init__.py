"""Figures of what the other rooms computed."""
