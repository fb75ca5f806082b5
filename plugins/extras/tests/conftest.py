"""Results as in the tests of MLaut; one thread below NumPy, and no wait for the disk."""

import os
import runpy
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

os.fsync = os.fstat

_OF_MLAUT = runpy.run_path(str(Path(__file__).parents[3] / "tests/analysis/conftest.py"))
assert_readable, demsar, losses, make_block, mlaut2018 = (
    _OF_MLAUT[name] for name in ("assert_readable", "demsar", "losses", "make_block", "mlaut2018")
)
