"""Whole studies of several targets: run, killed, resumed, scored, refused, merged."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from comparing import arrays as arrays_of
from comparing import assert_same
from learners import SlowRidge
from sklearn import metrics as sk
from sklearn.datasets import load_linnerud, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

from mlaut import Orchestrator, Study
from mlaut.analysis import metric
from mlaut.errors import AnalysisError, DataError, StrategyError
from mlaut.estimators import Generic_Estimator
from mlaut.experiments import verify_study
from mlaut.experiments.cells.prediction_checks import checked_predictions, checked_probabilities
from mlaut.files_io import FilesIO, StudyStore
from mlaut.files_io.studies.study_merge import merge_studies

BODY, SPORT = load_linnerud(return_X_y=True, as_frame=True)[::-1]
SPORT, BODY = SPORT.astype(float), BODY.astype(float)
TEXTS, TOPICS = make_multilabel_classification(80, 8, n_classes=4, n_labels=2, random_state=0)
WHO = np.repeat(range(10), 8)


def regressors(**slow):
    return {
        "slow": SlowRidge(**slow),
        "forest": RandomForestRegressor(5),
        "knn": KNeighborsRegressor(3),
        "svr": make_pipeline(StandardScaler(), MultiOutputRegressor(SVR())),
        "grid": Generic_Estimator(DecisionTreeRegressor(), param_grid={"max_depth": [1, 2]}, cv=2),
    }


def classifiers():
    return {
        "logistic": MultiOutputClassifier(LogisticRegression()),
        "chain": ClassifierChain(LogisticRegression()),
        "knn": KNeighborsClassifier(3),
        "forest": RandomForestClassifier(5),
        "grid": GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, scoring="f1_micro"),
    }


def make_study(path, kind="labels", **roles):
    study = Study(path, seed=1)
    if kind == "labels":
        study.add_datasets((TEXTS, TOPICS), name="topics", roles=roles)
    else:
        study.add_datasets((SPORT, BODY), name="linnerud", roles=roles)
    return study


def stored(study):
    return arrays_of(StudyStore(study.path))


@pytest.fixture(scope="module", params=["labels", "numbers"])
def ran(request, tmp_path_factory):
    study = make_study(tmp_path_factory.mktemp(request.param) / "study.h5", request.param)
    study.analysis(metric="hamming" if request.param == "labels" else "rmse")
    given = classifiers() if request.param == "labels" else regressors()
    assert study.run(given, split="kfold(4)", engine="inline", verbose=0).counts == {1: 20}
    return study


def test_stored_predictions_are_those_of_the_learners(ran):
    (name,) = ran.datasets
    block = StudyStore(ran.path).block(name)
    labels = name == "topics"
    X, y = (TEXTS, TOPICS) if labels else (SPORT.to_numpy(), BODY.to_numpy())
    s = block.strategies.index("knn")
    assert block.predictions.shape == (5, 1, *y.shape)
    assert block.truth.tolist() == y.tolist()
    for train, test in block.split:
        learner = (KNeighborsClassifier if labels else KNeighborsRegressor)(3)
        predicted = learner.fit(X[train], y[train]).predict(X[test])
        assert np.array_equal(block.predictions[s, 0, test], predicted)
        if labels:
            shares = np.column_stack([p[:, 1] for p in learner.predict_proba(X[test])])
            assert block.probabilities[s, 0, test] == pytest.approx(shares)


@pytest.mark.parametrize(
    ("name", "score", "given"),
    [
        ("hamming", sk.hamming_loss, "predictions"),
        ("misclassification", sk.zero_one_loss, "predictions"),
        ("subset_accuracy", sk.accuracy_score, "predictions"),
        ("f1_micro", lambda *y: sk.f1_score(*y, average="micro"), "predictions"),
        ("f1_macro", lambda *y: sk.f1_score(*y, average="macro", zero_division=0), "predictions"),
        ("recall_macro", lambda *y: sk.recall_score(*y, average="macro"), "predictions"),
        ("f1_samples", lambda *y: sk.f1_score(*y, average="samples"), "predictions"),
        ("label_ranking", sk.label_ranking_average_precision_score, "probabilities"),
        ("roc_auc_ovr", sk.roc_auc_score, "probabilities"),
        ("mse", sk.mean_squared_error, "predictions"),
        ("mae", sk.mean_absolute_error, "predictions"),
        ("rmse", sk.root_mean_squared_error, "predictions"),
        ("r2", sk.r2_score, "predictions"),
        ("explained_variance", sk.explained_variance_score, "predictions"),
    ],
)
@pytest.mark.filterwarnings("ignore:F-score|Recall")
def test_scores_equal_those_of_scikit_learn(ran, name, score, given):
    (dataset,) = ran.datasets
    if (metric(name).task == "Regression") != (dataset == "linnerud"):
        pytest.skip("another task")
    block = StudyStore(ran.path).block(dataset)
    found = metric(name).evaluate(block).cells
    for s, fold in np.ndindex(5, 4):
        test = block.split.rows(0, fold)[1]
        wanted = score(block.truth[test], getattr(block, given)[s, 0, test])
        assert found[s, 0, fold] == pytest.approx(wanted, abs=1e-12), (s, fold)
    results = ran.results(name)
    assert results.scores.shape == (1, 5)
    assert f"use {ran.compare(name).decision().leader}" in str(ran.compare(name))


def test_weights_count_in_fits_and_scores(tmp_path):
    weights = np.arange(80) + 1.0
    study = make_study(tmp_path / "s.h5", group=WHO, weight=weights)
    few = {name: classifiers()[name] for name in ("logistic", "forest")}
    study.run(few, split="kfold_by_role(2)", engine="inline", verbose=0)
    block = StudyStore(study.path).block("topics")
    assert block.split.scheme == "group_kfold(n_folds=2)"
    train, test = block.split.rows(0, 0)
    alone = MultiOutputClassifier(LogisticRegression(random_state=0))
    alone.fit(TEXTS[train], TOPICS[train], sample_weight=weights[train])
    assert np.array_equal(block.predictions[0, 0, test], alone.predict(TEXTS[test]))
    of_test = TOPICS[test], block.predictions[0, 0, test]
    for name, score in (
        ("hamming", sk.hamming_loss(*of_test, sample_weight=weights[test])),
        ("f1_macro", sk.f1_score(*of_test, average="macro", sample_weight=weights[test])),
    ):
        assert metric(name).evaluate(block).cells[0, 0, 0] == pytest.approx(score)


@pytest.mark.slow
def test_a_study_is_verified_reported_and_its_predictions_are_a_table(ran):
    (dataset,) = ran.datasets
    labels = dataset == "topics"
    given = classifiers() if labels else regressors()
    assert verify_study(ran.path, refit="20%", strategies=given).ok
    told = str(ran.report())
    assert ran.analysis().metric in told
    table = ran.predictions(dataset)
    columns = [f"{what}.{one}" for what in ("truth", "prediction") for one in _names(dataset)]
    columns += [f"confidence.{one}" for one in _names(dataset) if labels]
    assert [c for c in table if "." in c] == columns
    y = TOPICS if labels else BODY.to_numpy()
    assert np.array_equal(table.filter(like="truth."), y[table["row"]])
    whole = FilesIO(ran.path).load_predictions_for_dataset(dataset)
    assert whole.shape == (len(y), 6 * y.shape[1])


def _names(dataset):
    return [f"target{k}" for k in range(4)] if dataset == "topics" else list(BODY)


def test_predictions_have_a_column_for_each_target(ran):
    (dataset,) = ran.datasets
    columns = [c for c in ran.predictions(dataset) if c.startswith("prediction.")]
    assert columns == [f"prediction.{one}" for one in _names(dataset)]


SCRIPT = """
import sys
sys.path.insert(0, {here!r})
from test_several_targets import make_study, regressors
study = make_study({path!r}, "numbers")
study.run(regressors(trace={trace!r}, seconds=0.05), split="kfold(5)", n_jobs=2, verbose=0)
"""


@pytest.mark.slow
def test_a_killed_study_resumes_with_the_same_arrays(tmp_path):
    trace, path = tmp_path / "trace", tmp_path / "study.h5"
    here = str(Path(__file__).parent)
    script = textwrap.dedent(SCRIPT).format(here=here, path=str(path), trace=str(trace))
    process = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    try:
        end = time.monotonic() + 240
        while not trace.exists() or len(trace.read_text().splitlines()) < 3:
            time.sleep(0.005)
            assert process.poll() is None
            assert time.monotonic() < end
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    StudyStore(path).settle()
    again = make_study(path, "numbers")
    given = regressors(trace=str(trace), seconds=0.05)
    assert 1 <= again.run(given, verbose=0).n_before < 25
    fresh = make_study(tmp_path / "fresh.h5", "numbers")
    fresh.run(given, split="kfold(5)", engine="inline", verbose=0)
    assert_same(stored(fresh), stored(again))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_shards_are_merged_and_predicted_again(tmp_path, kind):
    few = {"knn": classifiers()["knn"] if kind == "labels" else regressors()["knn"]}
    whole = make_study(tmp_path / "whole.h5", kind)
    whole.run(few, split="kfold(2)", save_models=True, verbose=0)
    parts = [make_study(tmp_path / f"part{k}.h5", kind) for k in (1, 2)]
    for k, part in enumerate(parts, 1):
        part.run(few, split="kfold(2)", shard=f"{k}/2", verbose=0)
    merge_studies([part.path for part in parts], tmp_path / "merged.h5")
    assert_same(stored(whole), arrays_of(StudyStore(tmp_path / "merged.h5")))

    again = Orchestrator(*whole._prepared("kfold(2)", True)).predict_all(trusted=True)
    (name,) = whole.datasets
    k = len(_names(name))
    predicted = whole.predictions(name).sort_values("row").filter(like="prediction.")
    assert again.sort_values("row").filter(like="prediction.").shape == (len(predicted), k)
    assert np.array_equal(again.sort_values("row").filter(like="prediction."), predicted)


@pytest.mark.parametrize(
    ("kind", "strategy", "told"),
    [
        ("numbers", SVR(), "has 3 targets, which SVR cannot take; wrap the estimator, as in Mu"),
        ("numbers", make_pipeline(StandardScaler(), SVR()), "StandardScaler-SVR cannot take"),
        (
            "labels",
            GridSearchCV(SVC(), {"C": [1]}),
            "as in MultiOutputClassifier(...), or leave it",
        ),
        (
            "labels",
            Generic_Estimator(
                KNeighborsClassifier(),
                param_grid={"n_neighbors": [1, 2]},
                scoring="matthews_corrcoef",
            ),
            "tune by another score than matthews_corrcoef",
        ),
    ],
)
def test_learners_of_one_target_are_refused_in_one_line(tmp_path, kind, strategy, told):
    study = make_study(tmp_path / "study.h5", kind)
    with pytest.raises(StrategyError) as found:
        study.run([strategy], engine="inline", verbose=0)
    assert told in str(found.value)
    assert "\n" not in str(found.value)
    other = MLPRegressor(max_iter=900) if kind == "numbers" else MLPClassifier(max_iter=900)
    assert study.run([other], engine="inline", verbose=0).counts == {1: 1}


def test_learners_of_several_targets_are_refused_for_one(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets((TEXTS, TOPICS[:, 0]), name="one")
    for learner in (ClassifierChain(LogisticRegression()), MultiOutputClassifier(SVC())):
        with pytest.raises(StrategyError, match=r"one target, which .* cannot take; give"):
            study.run([make_pipeline(StandardScaler(), learner)], engine="inline", verbose=0)


@pytest.mark.parametrize("split", ["stratified_group_kfold(2)", RepeatedStratifiedKFold()])
def test_splits_stratified_by_several_labels_are_refused(tmp_path, split):
    study = make_study(tmp_path / "study.h5", group=WHO)
    with pytest.raises(
        DataError, match=r"several labels in a row, by which .* cannot stratify; use"
    ):
        study.run(classifiers(), split=split, engine="inline", verbose=0)


def _run_with(study, name):
    study.analysis(metric=name)
    study.run(classifiers(), engine="inline", verbose=0)


def test_a_metric_of_two_classes_is_refused_before_the_run_of_a_new_study(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets("starter/iris")
    study.analysis(metric="f1")
    with pytest.raises(AnalysisError, match="f1 is for two classes, and dataset 'iris' has 3"):
        study.run("GaussianNaiveBayes", engine="inline", verbose=0)
    assert not StudyStore(study.path).statuses()["iris"][1].any()
    study.analysis(metric="f1_macro")
    study.run("GaussianNaiveBayes", engine="inline", verbose=0)


def test_metrics_of_one_target_are_refused_before_the_run(tmp_path):
    study = make_study(tmp_path / "study.h5")
    for name in ("log_loss", "mcc", "matthews_corrcoef"):
        with pytest.raises(AnalysisError, match="is for one target, and dataset 'topics' has sev"):
            _run_with(study, name)
    assert not StudyStore(study.path).statuses()["topics"][1].any()
    study.analysis(metric="f1_samples")
    study.run({"knn": classifiers()["knn"]}, engine="inline", verbose=0)
    for race in (Study(tmp_path / "one.h5"),):
        race.add_datasets((TEXTS, TOPICS[:, 0]), name="one")
        race.analysis(metric="label_ranking")
        with pytest.raises(
            AnalysisError, match="is for several targets, and dataset 'one' has one"
        ):
            race.run({"knn": classifiers()["knn"]}, engine="inline", verbose=0)


FORMS = {
    "array": (TOPICS, None),
    "truth values": (TOPICS.astype(bool), None),
    "sparse": (sp.csr_matrix(TOPICS), None),
    "frame": (pd.DataFrame(TOPICS, columns=list("abcd")), list("abcd")),
    "lists": (
        [[["a", "b", "c", "d"][k] for k in np.flatnonzero(row)] for row in TOPICS],
        list("abcd"),
    ),
    "sets": ([{int(k) for k in np.flatnonzero(row)} for row in TOPICS], [0, 1, 2, 3]),
}


def test_a_list_of_one_target_is_that_target(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets(BODY, target=["Waist"], name="body")
    assert FilesIO(study.datasets_path).dataset_info("body").target == "Waist"


@pytest.mark.parametrize("form", FORMS)
def test_labels_come_in_many_forms(tmp_path, form):
    y, names = FORMS[form]
    study = Study(tmp_path / "study.h5")
    study.add_datasets((TEXTS, y), name="topics")
    (info,) = FilesIO(study.datasets_path).dataset_infos()
    assert (info.task, info.n_classes, info.n_features) == ("Classification", 4, 8)
    assert info.target == (names or [f"target{k}" for k in range(4)])
    dataset = FilesIO(study.datasets_path).load_dataset("topics")
    assert np.array_equal(dataset.labels, TOPICS)
    assert list(dataset.features) == [f"x{k}" for k in range(8)]


def test_targets_of_an_array_are_named(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets((TEXTS, TOPICS), name="topics", target=list("abcd"))
    assert FilesIO(study.datasets_path).dataset_info("topics").target == list("abcd")
    for y in (TOPICS, TOPICS[:, 0]):
        with pytest.raises(DataError, match="and 3 names of targets; name each"):
            study.add_datasets((TEXTS, y), name="no", target=list("abc"))


def test_columns_of_a_table_are_targets(tmp_path):
    study = Study(tmp_path / "study.h5")
    table = pd.concat([SPORT, BODY], axis=1)
    study.add_datasets(table, name="body", target=list(BODY))
    study.add_datasets(table, name="two", target=["Weight", "Waist"], roles={"group": "Pulse"})
    lists = SPORT.assign(tags=[["x", "y"], ["y"], [], ["x", "z"]] * 5)
    study.add_datasets(lists, name="tags", target="tags")
    infos = {info.name: info for info in FilesIO(study.datasets_path).dataset_infos()}
    assert {name: (info.task, info.target) for name, info in infos.items()} == {
        "body": ("Regression", ["Weight", "Waist", "Pulse"]),
        "two": ("Regression", ["Weight", "Waist"]),
        "tags": ("Classification", ["x", "y", "z"]),
    }
    assert infos["two"].roles == {"group": ("Pulse",)}
    study.add_datasets(table, name="body", target=list(BODY))  # is not written again
    with pytest.raises(
        DataError, match="beside other targets, and of several targets each is a lab"
    ):
        study.add_datasets(table, name="no", target=list(BODY), task="Classification")


def test_an_array_has_several_targets_and_the_mapping_is_shared(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets((sp.csr_matrix(TEXTS), TOPICS), name="sparse")
    study.run({"knn": KNeighborsClassifier(3)}, split="kfold(4)", engine="inline", verbose=0)
    plain = make_study(tmp_path / "plain.h5")
    plain.run({"knn": KNeighborsClassifier(3)}, split="kfold(4)", engine="inline", verbose=0)
    both = [StudyStore(s.path).block(*s.datasets) for s in (study, plain)]
    assert metric("hamming").evaluate(both[0]).cells.shape == (1, 1, 4)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ([np.array([[0.2, 0.8]] * 3)] * 2, None),
        ([np.ones((3, 1))] * 2, None),
        (np.full((3, 2), 0.7), None),
        (np.full((3, 3), 0.7), r"shape \(3, 3\) for 3 test rows and 2 labels"),
        (np.full((3, 2), 1.7), r"values that are not in \[0, 1\] for every row"),
        (np.full((3, 2), np.nan), r"values that are not in \[0, 1\] for every row"),
    ],
)
def test_probabilities_of_labels_are_checked(answer, told):
    class Model:
        classes_ = [np.arange(p.shape[1]) for p in answer] if isinstance(answer, list) else None

        def predict_proba(self, X):
            return answer

    if told:
        with pytest.raises(StrategyError, match=told):
            checked_probabilities(Model(), np.zeros((3, 1)), ("a", "b"), 2)
    else:
        found = checked_probabilities(Model(), np.zeros((3, 1)), ("a", "b"), 2)
        assert found.shape == (3, 2)


@pytest.mark.parametrize(
    ("predicted", "told"),
    [
        (np.zeros(3), r"shape \(3,\) for 3 test rows and 2 targets"),
        (np.full((3, 2), 2), "label 2 is not one of the 2 classes 0, 1"),
    ],
)
def test_predictions_of_labels_are_checked(predicted, told):
    with pytest.raises((StrategyError, DataError), match=told):
        checked_predictions(predicted, ("a", "b"), 3, 2)
    assert checked_predictions(sp.csr_matrix(TOPICS), tuple("abcd"), 80, 4).sum() == TOPICS.sum()
