"""A study as runs of MLflow: one for each strategy and dataset."""

import numpy as np
import pytest
from mlaut_boards.tracking import to_mlflow, tracked_runs
from sklearn.naive_bayes import GaussianNB

import mlaut
import mlaut.estimators
from mlaut.analysis import Results
from mlaut.errors import AnalysisError
from mlaut.files_io import StudyStore


class Fails(GaussianNB):
    def fit(self, X, y):
        raise ValueError("no fit")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    made = mlaut.Study(tmp_path_factory.mktemp("tracked") / "s.h5")
    made.add_datasets(["starter/iris", "starter/zoo"])
    tree = mlaut.estimators.instantiate_default_estimators("DecisionTreeClassifier")[0]
    tree.set_params(param_grid={"max_depth": [1, 9]})
    made.run(
        ["GaussianNaiveBayes", tree, ("fails", Fails())],
        split="kfold(3)",
        engine="inline",
        verbose=0,
    )
    return StudyStore(made.path)


def test_a_run_for_each_strategy_and_dataset_has_its_scores_and_parameters(study):
    runs = {(one.strategy, one.dataset): one for one in tracked_runs(study)}
    assert len(runs) == 6
    results = Results.from_study(study.path, "accuracy")
    one = runs["DecisionTreeClassifier", "iris"]
    expected = results.scores.loc["iris", "DecisionTreeClassifier"]
    assert one.numbers["mean accuracy"] == pytest.approx(expected, rel=1e-15)
    assert np.mean([x for _, _, x in one.steps]) == pytest.approx(expected)
    assert [(name, step) for name, step, _ in one.steps] == [("accuracy", i) for i in range(3)]
    assert {name.partition("/")[0] for name in one.parameters} == {"max_depth"}
    assert one.numbers["done cells"] == 3
    assert one.ended > one.begun > 0
    assert one.name == "DecisionTreeClassifier on iris"
    failed = runs["fails", "zoo"]
    assert failed.failed
    assert failed.steps == ()
    assert failed.tags["mlaut.error"].startswith("ValueError: no fit")
    assert failed.tags["mlaut.cells"] == "0 of 3"


def test_another_metric_is_taken_and_an_unknown_one_refused(study):
    assert {one.tags["mlaut.metric"] for one in tracked_runs(study, "mcc")} == {"mcc"}
    with pytest.raises(AnalysisError, match="accuracyy"):
        next(tracked_runs(study, "accuracyy"))


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("place", ["folder", "mlflow.db"])
def test_mlflow_has_the_runs_once(study, tmp_path, place):
    mlflow = pytest.importorskip("mlflow")
    if place.endswith(".db"):
        pytest.importorskip("sqlalchemy")
    path = tmp_path / place
    assert to_mlflow(study, str(path), experiment="Trees") == 6
    assert to_mlflow(study, str(path), experiment="Trees") == 0
    address = f"sqlite:///{path}" if place.endswith(".db") else path.as_uri()
    client = mlflow.MlflowClient(tracking_uri=address)
    where = client.get_experiment_by_name("Trees").experiment_id
    runs = {run.info.run_name: run for run in client.search_runs([where])}
    assert len(runs) == 6
    tree = runs["DecisionTreeClassifier on iris"]
    assert tree.info.status == "FINISHED"
    expected = Results.from_study(study.path, "accuracy").scores
    assert tree.data.metrics["mean_accuracy"] == expected.loc["iris", "DecisionTreeClassifier"]
    history = client.get_metric_history(tree.info.run_id, "accuracy_by_fold")
    assert sorted(point.step for point in history) == [0, 1, 2]
    assert any(name.startswith("max_depth") for name in tree.data.params)
    assert runs["fails on zoo"].info.status == "FAILED"
    client.set_tag(tree.info.run_id, "mlaut.cells", "2 of 3")  # as before a resumed run
    assert to_mlflow(study, str(path), experiment="Trees") == 1
    assert len(client.search_runs([where])) == 6


def test_mlflow_that_is_not_installed_is_one_line(study, monkeypatch):
    monkeypatch.setattr("mlaut.optional.find_spec", lambda _: None)
    with pytest.raises(mlaut.errors.OptionalPackageError, match=r"pip install 'mlaut\[mlflow\]'"):
        to_mlflow(study, "x")
