"""One thread for the libraries below NumPy and scikit-learn, in tests and in what they start.

The tests run on all cores already: more threads only wait for each other, for minutes where the
machine is busy. Tests of threads set their number themselves.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
