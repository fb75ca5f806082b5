"""A run stores its machine, its Python and the versions of its packages."""

import sys

import pytest
from sklearn.dummy import DummyClassifier

import mlaut
from mlaut.estimators import as_strategies
from mlaut.experiments.workers import environment
from mlaut.experiments.workers.environment import describe_environment

LEARNER = """
from sklearn.dummy import DummyClassifier

class Learner(DummyClassifier):
    pass

def rule(x):
    return x
"""


@pytest.fixture
def learner(tmp_path, monkeypatch):
    """A package of another author, which needs a second one, in a folder on the path."""
    for name, version, needs in [
        ("other-learner", "3.1", "Requires-Dist: other_numbers>=1; python_version>'3'\n"),
        ("other_numbers", "0.7", "Requires-Dist: not-there; extra == 'more'\n"),
    ]:
        module = name.replace("-", "_")
        about = tmp_path / f"{module}-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
        )
        (about / "RECORD").write_text(f"{module}.py,,\n")
        (tmp_path / f"{module}.py").write_text(LEARNER)
    monkeypatch.syspath_prepend(tmp_path)
    import other_learner

    yield other_learner
    for name in ("other_learner", "other_numbers"):
        sys.modules.pop(name, None)


def test_versions_are_those_of_every_distribution_that_a_strategy_uses(learner):
    assert "other-learner" not in describe_environment()["versions"]
    given = as_strategies({"theirs": learner.Learner()})
    versions = describe_environment(given)["versions"]
    assert (versions["other-learner"], versions["other_numbers"]) == ("3.1", "0.7")
    assert {"numpy", "scikit-learn", "joblib"} <= set(versions)
    (strategy,) = given
    assert "own" not in strategy.identity()["assembled"]  # a library: its code is not read


def test_what_a_function_imports_or_reads_counts_too(learner):
    namespace = {"__name__": "study", "learner": learner}
    exec("def rule(y):\n    import other_numbers\n    return learner.rule(y)", namespace)
    strategy = as_strategies({"mine": DummyClassifier(constant=namespace["rule"])})
    versions = describe_environment(strategy)["versions"]
    assert versions["other-learner"] == "3.1"


def test_the_version_of_mlaut_is_that_of_the_code_that_runs(monkeypatch):
    monkeypatch.setattr(environment, "installed_version", lambda _: "0.1.0")
    assert describe_environment()["versions"]["mlaut"] == mlaut.__version__
    monkeypatch.setattr(environment, "installed_version", lambda _: None)
    assert describe_environment()["versions"]["mlaut"] == mlaut.__version__
