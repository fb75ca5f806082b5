"""Datasets by reference: OpenML, UCI, PMLB, and the cache of their files."""
