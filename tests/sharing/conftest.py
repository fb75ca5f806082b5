"""One thread for the libraries below scikit-learn, which wait for each other on a busy machine."""

import pytest
import sklearn.ensemble  # noqa: F401 - loads the libraries that have threads
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with threadpool_limits(1):
        yield
