"""Where the public names are defined, for type checkers; written by tools/stubs.py."""

from mlaut.analysis.results.missing import TREATMENTS as TREATMENTS
