"""One thread for the libraries below NumPy and scikit-learn, in tests and in what they start.

The tests run on all cores already: more threads only wait for each other, for minutes where the
machine is busy. Tests of threads set their number themselves.

The tests do not wait for the disk: what it has not got yet is lost if the power fails, and no test
of this process cuts the power.

A test that waits for what never comes fails after a quarter of an hour, and holds back no others.

The garbage collector leaves out the thousands of collected tests, and runs less often.
"""

import gc
import os
import signal
import threading

import pytest

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

os.fsync = os.fstat  # which refuses a descriptor that is not open, as well

MOST_SECONDS = 900  # of a test; its own waits are shorter


def _fail(*_):
    pytest.fail(f"the test did not end in {MOST_SECONDS} s")


def pytest_collection_finish():
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Interrupt a test that hangs; again every ten seconds, in case that something catches it."""
    if threading.current_thread() is not threading.main_thread() or "MLAUT_MORE" in os.environ:
        return (yield)
    before = signal.signal(signal.SIGALRM, _fail)
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS, 10)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """Set the same limit to the fixtures of a test."""
    return (yield from pytest_runtest_call(item))
