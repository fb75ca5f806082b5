"""Module that the fork server imports once, so that worker processes start at once."""

import gc

from mlaut.experiments.workers import pool  # noqa: F401 - the code of the janitor
from mlaut.experiments.workers.worker import preload

preload()
gc.collect()
gc.freeze()  # else each collection in a worker would touch, and so duplicate, the server's memory
