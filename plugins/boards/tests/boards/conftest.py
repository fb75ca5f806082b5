"""A small study, published once."""

import pytest
from mlaut_exchange import publish_study

from mlaut import Study


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """A study of two datasets and two strategies."""
    made = Study(tmp_path_factory.mktemp("study") / "study.h5", seed=7)
    made.add_datasets(["starter/iris", "starter/zoo"])
    strategies = ["BaselineClassifier", "GaussianNaiveBayes"]
    made.run(strategies, split="kfold(2)", engine="inline", verbose=0)
    return made.path


@pytest.fixture(scope="session")
def published(study, tmp_path_factory):
    """The study as a bundle, which no test changes."""
    folder = tmp_path_factory.mktemp("published") / "bundle"
    return publish_study(study, folder, title="Small study", authors=["Ada", "Charles"])


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of its own for each test."""
    monkeypatch.setenv("MLAUT_CACHE", str(tmp_path / "cache"))
