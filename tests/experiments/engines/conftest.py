"""A cluster for the tests of engines."""

import pytest


@pytest.fixture(scope="module")
def cluster():
    """A worker with one thread in this process, which takes no seconds to start.

    It ends with its module: its threads draw random numbers, which Hypothesis refuses elsewhere.
    """
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        yield cluster
