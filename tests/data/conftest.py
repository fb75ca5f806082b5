"""A local server for each test, and caches of its own."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server that the packages of the field take for the real ones."""
    from servers import LocalServer

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("MLAUT_CACHE", str(tmp_path / "cache"))
    local = LocalServer()
    yield local
    local.stop()


@pytest.fixture
def openml_server(server, tmp_path, monkeypatch):
    """OpenML's package, turned to the local server and to a cache of its own."""
    openml = pytest.importorskip("openml")
    monkeypatch.setattr(openml.config, "server", f"{server.url}/api/v1/xml")
    monkeypatch.setattr(openml.config, "_root_cache_directory", tmp_path / "openml")
    monkeypatch.setattr(openml.config, "connection_n_retries", 1)
    return server


@pytest.fixture
def uci_server(server, monkeypatch):
    """UCI's package, turned to the local server."""
    fetch = pytest.importorskip("ucimlrepo.fetch")
    monkeypatch.setattr(fetch, "API_BASE_URL", f"{server.url}/uci")
    return server


@pytest.fixture
def pmlb_server(server, monkeypatch):
    """PMLB's package, turned to the local server."""
    pmlb = pytest.importorskip("pmlb.pmlb")
    home = f"{server.url}/EpistasisLab/penn-ml-benchmarks/raw/master/datasets"
    monkeypatch.setattr(pmlb, "GITHUB_URL", home)
    return server
