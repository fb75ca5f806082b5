"""One thread for the libraries below NumPy, and no wait for the disk, as in the tests of MLaut."""

import os
import runpy
from pathlib import Path

import pytest

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

os.fsync = os.fstat

ANALYSIS = Path(__file__).parents[3] / "tests" / "analysis" / "conftest.py"


@pytest.fixture
def assert_readable():
    """Nothing written in a figure is cut off or lies over another."""
    return runpy.run_path(str(ANALYSIS))["_assert_readable"]
