"""Where the public names are defined, for type checkers; written by tools/stubs.py."""

from mlaut.analysis.methods.explaining.properties import dataset_properties as dataset_properties
