"""Datasets from tables: frames, folders, and the collections of MLaut."""
