"""Figures of results that the other packages of the analysis computed."""
