"""Figures of results that the other packages of the analysis computed."""

from mlaut.helpers.lazy import attach
from mlaut.helpers.optional import load_matplotlib

load_matplotlib()  # before a module of this folder imports it

__getattr__, __dir__, __all__ = attach(__name__)
