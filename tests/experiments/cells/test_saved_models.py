"""Models that were saved: the same predictions, safely loaded where their format allows it."""

import io
import json
import subprocess
import sys
import textwrap
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from learners import Deed
from sklearn.ensemble import RandomForestClassifier

from mlaut import Data, Orchestrator
from mlaut.data import load_sklearn
from mlaut.errors import OptionalPackageError, StoreError, StudyError
from mlaut.estimators import REGISTRY, DataShape, as_strategies
from mlaut.experiments import load_model
from mlaut.experiments.cells import saved_models
from mlaut.experiments.cells.saved_models import read_saved, save_model
from mlaut.files_io import StudyStore
from mlaut.files_io.studies.models import models_folder, write_model
from mlaut.records import Cell, Outcome, Status

CELL = Cell("iris", "s")
needs_skops = pytest.mark.skipif(find_spec("skops") is None, reason="needs the extra models")
needs_keras = pytest.mark.skipif(find_spec("keras") is None, reason="needs the extra keras")


@pytest.fixture
def orchestrator(databases):
    input_io, out_io = databases
    paths = input_io.list_datasets()[1]
    Data().split_datasets(hdf5_in=input_io, hdf5_out=out_io, dataset_paths=paths)
    return Orchestrator(input_io, out_io)


def records(orchestrator):
    study = StudyStore(orchestrator.hdf5_output_io.path)
    return {
        (told["strategy"], name): told["model"]
        for name in study.datasets
        for told in study.details(name)
    }


def assert_predicts_as_stored(orchestrator, **trust):
    """The oracle: the predictions that the run has stored."""
    predicted = orchestrator.predict_all(**trust)
    study = StudyStore(orchestrator.hdf5_output_io.path)
    for (name, strategy), of_cell in predicted.groupby(["dataset", "strategy"]):
        block = study.block(name)
        stored = block.predictions[block.strategies.index(strategy), 0, of_cell["row"]]
        if block.classes:
            stored = np.asarray(block.classes)[stored]
        np.testing.assert_array_equal(of_cell["prediction"].to_numpy(), stored)
    return predicted


@needs_skops
def test_models_of_scikit_learn_and_mlaut_are_loaded_without_trust(orchestrator):
    orchestrator.dts_names = ["iris", "diabetes"]
    strategies = [
        "GaussianNaiveBayes",
        "K_Neighbours",
        "SVC",
        "Lacoste_Parzen",
        RandomForestClassifier(n_estimators=3),
        "RidgeRegression",
        "DecisionTreeRegressor",
    ]
    orchestrator.run(strategies, save_models=True, engine="inline", verbose=0)
    saved = records(orchestrator)
    assert {record["format"] for record in saved.values()} == {"skops"}
    assert len(assert_predicts_as_stored(orchestrator)) == 5 * 50 + 2 * 147


@pytest.mark.slow
@needs_skops
def test_every_listed_strategy_is_saved_safely_and_predicts_the_same(tmp_path):
    iris, diabetes = load_sklearn(["iris", "diabetes"])
    tables = {"Classification": iris, "Regression": diabetes}
    for strategy in as_strategies([spec.name for spec in REGISTRY.search(package="scikit-learn")]):
        strategy.set_params(param_grid=None)
        table = tables[strategy.tasks[0]]
        shape = DataShape(50, table.features.shape[1], 3 * (table is iris))
        model = strategy.assemble(shape, random_state=0)
        few = [name for name in model.get_params() if name.endswith("n_estimators")]
        model.set_params(**dict.fromkeys(few, 3))
        model.fit(table.features[::3], table.labels.to_numpy()[::3])
        record = save_model(tmp_path, Cell("d", strategy.name), model)
        assert record["format"] == "skops", strategy.name
        loaded = read_saved(tmp_path, record, trusted=False)
        np.testing.assert_array_equal(
            loaded.predict(table.features), model.predict(table.features), err_msg=strategy.name
        )


@needs_skops
def test_what_is_not_harmless_is_a_pickle_that_needs_trust(orchestrator):
    orchestrator.dts_names = ["wine"]
    orchestrator.run({"mine": Deed(list)}, save_models=True, engine="inline", verbose=0)
    assert records(orchestrator)["mine", "wine"]["format"] == "pickle"
    with pytest.raises(StoreError, match=r"a pickled model can run any code.*pass trusted=True"):
        orchestrator.predict_all()
    assert_predicts_as_stored(orchestrator, trusted=True)


def test_a_forged_safe_file_runs_nothing(tmp_path, monkeypatch):
    """Renaming a pickle in the study's record does not make it safe, nor does a type inside."""
    skops = pytest.importorskip("skops.io")
    trace = tmp_path / "trace"
    from sklearn.preprocessing import FunctionTransformer

    record = save_model(tmp_path, CELL, FunctionTransformer(open))
    assert record["format"] == "pickle"
    forged = {**record, "format": "skops"}
    with pytest.raises(StoreError, match="cannot be loaded"):
        read_saved(tmp_path, forged, trusted=False)
    content = skops.dumps(FunctionTransformer(trace.touch.__func__))
    (tmp_path / record["file"]).write_bytes(content)
    import hashlib

    forged["sha256"] = hashlib.sha256(content).hexdigest()
    with pytest.raises(StoreError, match=r"cannot be loaded \(UntrustedTypesFoundException"):
        read_saved(tmp_path, forged, trusted=False)
    assert not trace.exists()


def test_without_skops_a_model_is_a_pickle_and_one_that_is_there_says_what_it_needs(
    tmp_path, monkeypatch
):
    pytest.importorskip("skops")
    from sklearn.naive_bayes import GaussianNB

    model = GaussianNB().fit([[0.0], [1.0]], [0, 1])
    safe = save_model(tmp_path, CELL, model)
    assert safe["format"] == "skops"

    def absent(name, *_):
        return None if name == "skops" else find_spec(name)

    monkeypatch.setattr("mlaut.experiments.cells.saved_models.find_spec", absent)
    monkeypatch.setattr("mlaut.helpers.optional.find_spec", absent)
    assert save_model(tmp_path, Cell("iris", "t"), model)["format"] == "pickle"
    with pytest.raises(OptionalPackageError, match=r"needs skops.*pip install 'mlaut\[models\]'"):
        read_saved(tmp_path, safe, trusted=True)


def networks(shape):
    from keras import Sequential, layers

    end = layers.Dense(shape.n_classes, "softmax") if shape.n_classes else layers.Dense(1)
    return Sequential([layers.Dense(4, "relu"), end])


@needs_skops
@needs_keras
def test_networks_and_what_is_around_them_are_loaded_without_trust(orchestrator):
    from mlaut.estimators import Generic_Estimator, KerasClassifier, keras_network

    orchestrator.dts_names = ["iris", "diabetes"]
    strategies = [
        keras_network(networks, name="classes", epochs=2),
        keras_network(networks, name="numbers", task="Regression", epochs=2),
        Generic_Estimator(KerasClassifier(networks, epochs=2), name="bare", preprocessing=None),
    ]
    orchestrator.run(strategies, save_models=True, n_jobs=1, verbose=0)
    styles = {name: record["format"] for (name, _), record in records(orchestrator).items()}
    assert styles == {"classes": "network", "numbers": "network", "bare": "keras"}
    assert_predicts_as_stored(orchestrator)
    folder = models_folder(orchestrator.hdf5_output_io.path)
    (bare,) = folder.glob("iris/bare/*.keras")
    with zipfile.ZipFile(bare) as archive:
        assert json.loads(archive.read("mlaut.json"))["kind"] == "KerasClassifier"


def test_one_model_is_loaded_by_its_cell(orchestrator):
    orchestrator.dts_names = ["iris"]
    orchestrator.run("GaussianNaiveBayes", save_models=True, engine="inline", verbose=0)
    path = orchestrator.hdf5_output_io.path
    model = load_model(path, "iris", "GaussianNaiveBayes", trusted=True)
    X = orchestrator.hdf5_input_io.load_dataset("tables/iris").features
    assert (model.predict(X) == ["setosa"] * 50 + [*model.predict(X)[50:]]).all()
    with pytest.raises(StudyError, match=r"no fitted model of GaussianNaiveBayes on iris \(repeat"):
        load_model(path, "iris", "GaussianNaiveBayes", fold=1)
    with pytest.raises(StudyError, match=r"no strategy 'knn 7'; it has 1 others, the nearest: 'G"):
        load_model(path, "iris", "knn 7")


@pytest.mark.parametrize("engine", ["inline", "local"])
def test_a_model_that_cannot_be_written_ends_the_run_and_is_no_failed_cell(orchestrator, engine):
    """It is the disk's fault, so the cell has no outcome, and the next call does it."""
    orchestrator.dts_names = ["iris", "wine"]
    study = StudyStore(orchestrator.hdf5_output_io.path)
    folder = models_folder(study.path) / "wine"
    folder.parent.mkdir()
    folder.write_text("a file where the folder of a dataset should be")
    options = {"engine": engine, "n_jobs": 1, "save_models": True, "verbose": 0}
    with pytest.raises(StoreError, match=r"wine.*saving a model; .*; the same call goes on from h"):
        orchestrator.run("GaussianNaiveBayes", **options)
    assert not any((status == Status.ERROR).any() for _, status in study.statuses().values())
    folder.unlink()
    assert orchestrator.run("GaussianNaiveBayes", **options).complete
    assert_predicts_as_stored(orchestrator)


SCRIPT = """
    import sys
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer
    from sklearn.naive_bayes import GaussianNB
    from mlaut import Data, Orchestrator

    def double(X):
        return 2 * X

    class Mine(GaussianNB):
        pass

    data = Data()
    orchestrator = Orchestrator(
        data.open_hdf5({input!r}), data.open_hdf5({output!r}, mode="a"), ["iris"]
    )
    mine = {{"mine": make_pipeline(FunctionTransformer(double), Mine())}}
    print(orchestrator.run(mine, save_models=True, n_jobs=1, verbose=0).n_done)
    print(len(orchestrator.predict_all(trusted=True)))
"""


@pytest.mark.slow
def test_models_of_functions_and_classes_from_a_script_are_saved(orchestrator, tmp_path):
    script = tmp_path / "script.py"
    paths = orchestrator.hdf5_input_io.path, orchestrator.hdf5_output_io.path
    script.write_text(textwrap.dedent(SCRIPT).format(input=str(paths[0]), output=str(paths[1])))
    told = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["1", "50"]
    assert_predicts_as_stored(orchestrator, trusted=True)  # elsewhere than in the script


def test_a_model_that_is_damaged_or_of_later_is_told(orchestrator):
    orchestrator.dts_names = ["iris"]
    orchestrator.run("GaussianNaiveBayes", save_models=True, engine="inline", verbose=0)
    path = orchestrator.hdf5_output_io.path
    record = records(orchestrator)["GaussianNaiveBayes", "iris"]
    with pytest.raises(StoreError, match=r"format 'onnx' of this model is unknown; update MLaut"):
        read_saved(models_folder(path), {**record, "format": "onnx"}, trusted=True)
    model = Path(models_folder(path), record["file"])
    model.write_bytes(model.read_bytes()[:-1] + b"x")
    with pytest.raises(StoreError, match="not the model that the study recorded"):
        orchestrator.predict_all(trusted=True)
    model.unlink()
    with pytest.raises(StoreError, match="no such file while loading a model"):
        orchestrator.predict_all(trusted=True)


# ------------------------------------------------------------ models of cells that are done


def test_models_of_finished_cells_are_had_on_demand(orchestrator):
    """Fitted again from the stored seed; the study is otherwise what it was."""
    strategies = [RandomForestClassifier(n_estimators=3), "GaussianNaiveBayes"]
    orchestrator.dts_names = ["iris", "wine"]
    orchestrator.run(strategies, engine="inline", verbose=0)
    study = StudyStore(orchestrator.hdf5_output_io.path)
    before = {name: list(study.details(name)) for name in study.datasets}
    with pytest.raises(StudyError, match="or call save_models with the same strategies"):
        orchestrator.predict_all(trusted=True)
    assert orchestrator.save_models(strategies, engine="inline") == 4
    assert len(assert_predicts_as_stored(orchestrator, trusted=True)) == 2 * (50 + 59)
    for name, records_before in before.items():
        after = [{k: v for k, v in r.items() if k != "model"} for r in study.details(name)]
        assert after == records_before
    assert orchestrator.save_models(strategies, engine="inline") == 0


def test_a_model_that_predicts_otherwise_is_not_saved(orchestrator):
    """As when a package was updated between the run and now: the cell is named."""
    orchestrator.dts_names = ["iris", "wine"]
    orchestrator.run("GaussianNaiveBayes", engine="inline", verbose=0)
    study = StudyStore(orchestrator.hdf5_output_io.path)
    (record,) = study.details("iris")
    block = study.block("iris")
    test = block.split.rows(0, 0)[1]
    predictions = block.predictions[0, 0, test].copy()
    predictions[:2] = (predictions[:2] + 1) % 3
    with study.writing() as writer:
        writer.write(
            Outcome(
                Cell("iris", "GaussianNaiveBayes"),
                Status.DONE,
                predictions,
                block.probabilities[0, 0, test],
                seed=record["seed"],
                details={"started": record["started"]},
            )
        )
    with pytest.raises(
        StudyError,
        match=r"1 cells now have other .*NaiveBayes on iris .*: 2 of 50 predictions differ\)",
    ):
        orchestrator.save_models(engine="inline")
    folder = models_folder(study.path)
    assert [path.parent.parent.name for path in folder.rglob("r0-f0*")] == ["wine"]


@needs_skops
def test_an_archive_that_would_fill_the_memory_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(saved_models, "_UNPACKED", 2**20)  # in place of a gigabyte
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", bytes(2**21))
    written = write_model(tmp_path, CELL, buffer.getvalue(), ".skops")
    with pytest.raises(StoreError, match=r"would unpack to 2,097,152; do not trust its study"):
        read_saved(tmp_path, {"format": "skops", **written}, trusted=False)


def test_the_parts_of_a_network_are_files_of_a_zip_archive():
    import io
    import zipfile

    from mlaut.experiments.cells.saved_models import _zipped

    with zipfile.ZipFile(io.BytesIO(_zipped({"rest": b"1", "network": b"2"}))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "rest": b"1",
            "network": b"2",
        }
