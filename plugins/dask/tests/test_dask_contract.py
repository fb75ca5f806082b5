"""The Dask engine keeps the contract of an engine."""

import pytest
from mlaut_dask import loads, worker
from test_contract import Contract, study  # noqa: F401 - a fixture

from mlaut.experiments import RunOptions


class TestDask(Contract):
    near = False

    @pytest.fixture
    def options(self, cluster, monkeypatch):
        monkeypatch.setattr(worker, "_IDLE_SECONDS", 0.1)  # no further cells come
        monkeypatch.setattr(loads, "_FAR", 10)  # cells that are looked ahead
        return RunOptions(engine="dask", scheduler=cluster.scheduler_address, n_jobs=1)
