"""Statistics whose unit is the source: datasets of one source are related, sources are not.

The functions take arrays: losses (datasets x strategies) and the number of the source of each
dataset. If no sources are known, each dataset is its own source.
"""
