"""Datasets from tables: frames, folders, archives, and the collections of MLaut."""
