"""Results of two versions of a library in one study: plan, run and report name them."""

import numpy as np
import sklearn

from mlaut import Orchestrator, Study
from mlaut.experiments.runs import execution
from mlaut.files_io import StudyStore as Store
from mlaut.report.state import study_state


def test_results_of_two_versions_are_named(tmp_path, monkeypatch):
    study, run = Study(tmp_path / "study.h5"), {"engine": "inline", "verbose": 0}
    study.add_datasets((np.arange(20.0)[:, None], ["a", "b"] * 10), name="t")
    store, older = Store(study.path), {"scikit-learn": "1.2.3", "keras": "3.0"}
    with monkeypatch.context() as patched:  # no test can install another version
        patched.setattr(execution, "describe_environment", lambda _: {"versions": older})
        assert study.run("GaussianNaiveBayes", **run).versions == store.mixed_versions() == ""
    line = f"results of scikit-learn 1.2.3 and {sklearn.__version__} are in one study"
    assert (
        str(Orchestrator(*study._prepared("", True)).plan("BaselineClassifier")).splitlines()[1]
        == line
    )
    assert store.mixed_versions({"keras": "2.0"}) == "results of keras 3.0 and 2.0 are in one study"
    summary = study.run("BaselineClassifier", **run)
    assert f"\n  {line}" in str(summary)
    assert summary.to_dict()["versions"] == store.mixed_versions() == line
    assert f"R{line[1:]}: they may differ." in study_state(store).lines
