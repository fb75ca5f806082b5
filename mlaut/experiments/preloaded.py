"""Imported once by the server that worker processes are forked from, so that they start at once."""

from mlaut.experiments.worker import preload

preload()
