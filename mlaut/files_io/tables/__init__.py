"""Datasets as they are stored, and tables of other formats as data frames."""
