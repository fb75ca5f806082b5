"""Module that the fork server imports once, so that worker processes start at once."""

from mlaut.experiments.workers.worker import preload

preload()
