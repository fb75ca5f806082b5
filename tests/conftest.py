"""One thread for the libraries below NumPy and scikit-learn, in tests and in what they start.

The tests run on all cores already: more threads only wait for each other, for minutes where the
machine is busy. Tests of threads set their number themselves.

The tests do not wait for the disk: what it has not got yet is lost if the power fails, and no test
of this process cuts the power.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

os.fsync = os.fstat  # which refuses a descriptor that is not open, as well
