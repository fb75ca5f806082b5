"""Settings of a session: they go with its strategies, and are part of what a strategy is."""

import sys
from types import SimpleNamespace

import pytest
import sklearn
from learners import FirstOnly
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mlaut import Data, Orchestrator
from mlaut.errors import StudyError
from mlaut.estimators.libraries.session import in_session, session_settings
from mlaut.experiments import run_study, verify_study
from mlaut.files_io import StudyStore


def strategies():
    return {"tree": make_pipeline(StandardScaler(), FirstOnly(), DecisionTreeClassifier())}


@pytest.fixture
def orchestrator(databases):
    input_io, out_io = databases
    Data().split_datasets(input_io, out_io, input_io.list_datasets("tables")[1][:1], "kfold(3)")
    return Orchestrator(input_io, out_io)


@pytest.fixture
def a_session():
    """Undo what a test changes in the configuration of scikit-learn."""
    with sklearn.config_context():
        yield


def values(study):
    (name,) = study.datasets
    return study.block(name).predictions.tolist()


def test_engines_fit_what_the_session_would_fit(orchestrator):
    study, seen = StudyStore(orchestrator.hdf5_output_io.path), {}
    for engine in ("inline", "local"):
        for output in ("default", "pandas"):
            again = {"engine": engine, "overwrite_predictions": True, "verbose": 0}
            with sklearn.config_context(transform_output=output):
                assert orchestrator.run(strategies(), **again).n_done == 3
            seen[output, engine] = values(study)
    assert seen["pandas", "inline"] == seen["pandas", "local"]
    assert seen["pandas", "local"] != seen["default", "local"]
    assert seen["default", "inline"] == seen["default", "local"]
    pandas = {"sklearn.transform_output": "pandas"}
    assert [run.get("settings") for run in study.runs] == [None, pandas] * 2


def test_a_study_goes_on_only_with_its_settings(orchestrator):
    orchestrator.run(strategies(), engine="inline", verbose=0)
    change = r"with other parameters \(sklearn.transform_output: default -> pandas\); restore them"
    pandas = sklearn.config_context(transform_output="pandas")
    with pandas, pytest.raises(StudyError, match=change):
        orchestrator.run(strategies(), engine="inline", verbose=0)
    with sklearn.config_context(display="text", print_changed_only=False):  # they change no fit
        assert orchestrator.run(strategies(), engine="inline", verbose=0).complete


def test_cells_are_fitted_again_with_the_settings_of_their_run(orchestrator):
    with sklearn.config_context(transform_output="pandas"):
        orchestrator.run(strategies(), engine="inline", verbose=0)
    path = orchestrator.hdf5_output_io.path
    found = verify_study(path, refit="100%", strategies=strategies(), engine="inline")
    assert (found.refitted, found.drifts, found.left_out) == (3, (), ())
    assert orchestrator.save_models(strategies(), engine="inline") == 3
    again = orchestrator.predict_all(trusted=True)
    stored = values(StudyStore(path))[0][0]
    labels = sorted(set(again["truth"]))
    assert [labels[at] for at in stored] == again.sort_values("row")["prediction"].tolist()


STUDY = """
[data]
folder = "tables"
[split]
scheme = "kfold(2)"
[strategies]
file = "mine.py"
"""
MINE = """
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin

sklearn.set_config(transform_output="pandas")

class Told(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = ["a", "b"]
        self.told = sklearn.get_config()["transform_output"]
        return self

    def predict(self, X):
        return ["b" if self.told == "pandas" else "a"] * len(X)

strategies = {"told": Told()}
"""


@pytest.mark.usefixtures("a_session")
def test_the_file_of_strategies_sets_the_session(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "d.csv").write_text("x,y\n" + "1,a\n2,b\n" * 10)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "mine.py").write_text(MINE)
    run_study(tmp_path / "study.toml", verbose=0)
    assert values(StudyStore(tmp_path / "study.h5")) == [[[1] * 20]]
    sklearn.set_config(transform_output="default")
    found = verify_study(tmp_path / "study.toml", refit="100%", n_jobs=1)
    assert (found.refitted, found.ok, found.left_out) == (2, True, ())
    (tmp_path / "mine.py").write_text(MINE.replace('"told"', '"other"'))
    with pytest.raises(StudyError, match=r"again: told: mine.py defines no strategy so called$"):
        verify_study(tmp_path / "study.toml", refit="100%")


def test_all_settings_of_scikit_learn_are_known():
    """A new one has to be listed, or to change nothing but what is shown."""
    from mlaut.estimators.libraries.session import _DEFAULTS

    assert set(sklearn.get_config()) - set(_DEFAULTS) == {"display", "print_changed_only"}
    assert session_settings() == {}


def test_keras_and_torch_get_their_settings_and_keep_their_own(monkeypatch):
    state = {"keras": "float32", "torch": "torch.float32"}
    keras = SimpleNamespace(
        floatx=lambda: state["keras"], set_floatx=lambda x: state.update(keras=x)
    )
    torch = SimpleNamespace(
        get_default_dtype=lambda: state["torch"],
        set_default_dtype=lambda x: state.update(torch=x),
        **{name: f"torch.{name}" for name in ("float32", "float64")},
    )
    monkeypatch.setitem(sys.modules, "keras", SimpleNamespace(config=keras))
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert session_settings() == {}
    changed = {"keras.floatx": "float64", "torch.default_dtype": "float64"}
    with in_session(changed):
        assert session_settings() == changed
        with in_session({}):
            assert session_settings() == {}
        assert session_settings() == changed
    assert state == {"keras": "float32", "torch": "torch.float32"}
