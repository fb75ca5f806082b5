"""A study without the plug-in: scikit-learn searches, and the study is the same."""

import subprocess
import sys

import numpy as np
from sklearn.svm import SVC

from mlaut import Study
from mlaut.analysis import search_traces
from mlaut.data import collection
from mlaut.estimators import Generic_Estimator, as_strategies
from mlaut.experiments import load_model
from mlaut.files_io import StudyStore

SCRIPT = """
import sys
sys.path[:0] = sys.argv[2:]
sys.modules["mlaut_sharing"] = None  # as where it is not installed
from test_without_plugin import tuned
tuned(sys.argv[1])
"""


def tuned(path, datasets=("starter/iris", "starter/wine")):
    """Run strategies that tune, in this process, and save their models."""
    study = Study(path)
    study.add_datasets(list(datasets))
    svc = Generic_Estimator(SVC(), name="svc", param_grid={"C": [0.1, 1, 10], "gamma": [0.01, 0.1]})
    (neighbours,) = as_strategies("K_Neighbours")
    neighbours.set_params(param_grid={"n_neighbors": [1, 5, 9]})
    study.run([svc, neighbours], engine="inline", verbose=0, save_models=True)
    return study


def stored(study):
    """Return what does not depend on time of the cells and strategies of a study."""
    store, kept = StudyStore(study.path), ("strategy", "best_params", "tuning_score", "candidates")
    cells = [{key: one[key] for key in kept} for one in store.details("wine")]
    return cells, [entry.fingerprint for entry in store.strategies]


def without(path):
    """Run them in a process that has no plug-in."""
    command = [sys.executable, "-c", SCRIPT, str(path), *sys.path]
    subprocess.run(command, check=True)


def test_a_study_is_the_same_without_and_goes_on_with_it(tmp_path):
    without(tmp_path / "without.h5")
    shared, plain = both = tuned(tmp_path / "with.h5"), Study(tmp_path / "without.h5")
    assert stored(plain) == stored(shared)
    blocks = [StudyStore(study.path).block("wine") for study in both]
    np.testing.assert_array_equal(*(block.predictions for block in blocks))
    honest = [["honest_score" in one for one in StudyStore(s.path).details("wine")] for s in both]
    assert honest == [[True, True], [False, False]]
    assert [set(search_traces(study.path)["clock"]) for study in both] == [{"cpu"}, {"wall"}]
    before = StudyStore(plain.path).details("wine")
    assert StudyStore(tuned(plain.path).path).details("wine") == before  # nothing ran again
    (wine,) = collection("starter", names=["wine"])
    models = [load_model(study.path, "wine", "svc", trusted=True) for study in both]
    np.testing.assert_array_equal(*(model.predict(wine.features) for model in models))


def test_a_study_that_was_run_with_it_goes_on_without(tmp_path):
    tuned(tmp_path / "study.h5", datasets=["starter/iris"])
    without(tmp_path / "study.h5")
    assert len(StudyStore(tmp_path / "study.h5").details("wine")) == 2
