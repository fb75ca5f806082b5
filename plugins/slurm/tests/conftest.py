"""One thread for the libraries below NumPy, and no wait for the disk, as in the tests of MLaut."""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

os.fsync = os.fstat
