"""A small study, published once, and a local server of files."""

import functools
import os
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from mlaut_exchange import publish_study

from mlaut import Study

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

os.fsync = os.fstat

STRATEGIES = ["BaselineClassifier", "GaussianNaiveBayes"]


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """A study of two datasets and two strategies."""
    path = tmp_path_factory.mktemp("study") / "study.h5"
    made = Study(path, seed=7)
    made.add_datasets(["starter/iris", "starter/zoo"])
    made.run(STRATEGIES, split="kfold(2)", engine="inline", verbose=0)
    return path


@pytest.fixture(scope="session")
def published(study, tmp_path_factory):
    """The study as a bundle, which no test changes."""
    folder = tmp_path_factory.mktemp("published") / "bundle"
    return publish_study(study, folder, title="Small study", authors=["Ada", "Charles"])


@pytest.fixture
def bundle(published, tmp_path):
    """A copy of the bundle, which a test may change."""
    return shutil.copytree(published.folder, tmp_path / "bundle")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of its own for each test."""
    monkeypatch.setenv("MLAUT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache" / "bundles"


class _Handler(SimpleHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path in self.server.moved:
            self.send_response(302)
            self.send_header("Location", self.server.moved[self.path])
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path):
    """A server of the folder of the test, with ``url``, ``asked`` and ``moved``."""
    handler = functools.partial(_Handler, directory=str(tmp_path))
    made = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    made.asked, made.moved = [], {}
    made.url = f"http://127.0.0.1:{made.server_address[1]}"
    thread = threading.Thread(target=made.serve_forever, args=(0.02,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()
