"""Databases of real tables, and a cluster; no wait for the disk, as in the tests of MLaut."""

import os

import pytest
from input_and_study import databases, made_databases  # noqa: F401 - fixtures

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

os.fsync = os.fstat


@pytest.fixture(scope="module")
def cluster():
    """A worker with one thread in this process, which takes no seconds to start.

    It ends with its module: its threads draw random numbers, which Hypothesis refuses elsewhere.
    """
    import distributed

    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        yield cluster
