"""Module that the fork server imports once, so that worker processes start at once."""

import gc
import signal

gc.disable()  # imports make little garbage, and looking for it takes a tenth of the time
before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process of the run

from mlaut.experiments.cells.memory import offer_to_be_killed  # noqa: E402
from mlaut.experiments.workers.isolation import disarm, hide  # noqa: E402

offer_to_be_killed()  # as all its processes; a hidden process cannot do it
hide()
disarm()

from mlaut.experiments.workers import pool  # noqa: E402, F401 - the code of the janitor
from mlaut.experiments.workers.start import refuse_garbage  # noqa: E402
from mlaut.experiments.workers.worker import preload  # noqa: E402

refuse_garbage()
preload()
gc.freeze()  # else each collection in a worker would touch, and so duplicate, the server's memory
gc.enable()
signal.signal(signal.SIGINT, before)
