"""Whole studies of arrays and sparse matrices: run, killed, resumed, split, shared."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from comparing import arrays as arrays_of
from comparing import assert_same
from learners import NearestMeans, NearestShape, Traced
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from mlaut import Orchestrator, Study
from mlaut.errors import StrategyError
from mlaut.estimators import Flatten, Generic_Estimator, as_strategies
from mlaut.estimators.libraries.arrays import takes_sparse
from mlaut.experiments import verify_study
from mlaut.experiments.cells.cell_input import FoldTable
from mlaut.experiments.workers.tables import map_table, share_table
from mlaut.files_io import FilesIO, StudyStore
from mlaut.files_io.studies.study_merge import merge_studies
from mlaut.files_io.tables import arrays

RNG = np.random.default_rng(0)
WHO = np.repeat(range(10), 6)
SERIES = RNG.normal(size=(60, 2, 12)) + 3 * (WHO % 2)[:, None, None]
TEXTS = sp.random(60, 300, 0.05, random_state=0, format="csr") + sp.csr_matrix(
    np.outer(WHO % 2, np.arange(300) < 3)
)


def learners(trace="/dev/null", seconds=0.0):
    return {
        "flat": make_pipeline(Flatten(), Traced(trace, seconds)),
        "shape": NearestShape(),
        "grid": GridSearchCV(make_pipeline(Flatten(), LinearSVC()), {"linearsvc__C": [1, 2]}, cv=2),
    }


def make_study(path, roles=None):
    study = Study(path, seed=1)
    study.add_datasets((SERIES.astype("f4"), WHO % 2), name="series", roles=roles)
    study.add_datasets(((SERIES * 20 + 99).astype("u1"), WHO % 2), name="images")
    return study


def stored(study):
    return arrays_of(StudyStore(study.path))


def test_learners_get_arrays_as_they_are(tmp_path):
    study = make_study(tmp_path / "study.h5", {"group": WHO, "weight": WHO + 1.0})
    study.run({"shape": NearestShape(weighted=True)}, split="kfold_by_role(3)", verbose=0)
    found = StudyStore(study.path).all_details()
    seen = {record["warnings"][0] for _, records in found for record in records}
    assert seen == {"UserWarning: (2, 12) float32 True", "UserWarning: (2, 12) uint8 False"}


@pytest.mark.parametrize("engine", ["local", "inline"])
@pytest.mark.parametrize("mapped", [False, True], ids=["in memory", "mapped"])
def test_cells_are_those_of_rows_in_memory(tmp_path, engine, mapped, monkeypatch):
    if mapped:
        monkeypatch.setattr(arrays, "ON_DISK", 0)
    study = make_study(tmp_path / "study.h5")
    study.run(learners(), split="kfold(3)", engine=engine, verbose=0)
    block = StudyStore(study.path).block("series")
    for fold in range(3):
        train, test = block.split.rows(0, fold)
        with pytest.warns(UserWarning, match="float32"):
            alone = NearestShape().fit(SERIES.astype("f4")[train], (WHO % 2)[train])
        s = block.strategies.index("shape")
        assert np.array_equal(block.predictions[s, 0, test], alone.predict(SERIES[test]))
    assert verify_study(study.path, refit="50%", strategies=learners()).ok


def test_a_mapped_array_is_shared_for_reading_only(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "ON_DISK", 0)
    study = make_study(tmp_path / "study.h5")
    table = FoldTable.of(FilesIO(study.datasets_path).load_dataset("series"), (0, 1))
    for _ in range(2):
        memory = share_table(replace(table, labels=table.labels[:0]))
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.pwrite(memory, b"0", 0)
        shared = map_table(memory)
        os.close(memory)
        assert np.array_equal(shared.features, SERIES.astype("f4"))
        with pytest.raises(ValueError, match="read-only"):
            shared.features[0] = 0


SCRIPT = """
import sys
sys.path.insert(0, {here!r})
from test_arrays import learners, make_study
make_study({path!r}).run(learners({trace!r}, 0.05), split="kfold(5)", n_jobs=2, verbose=0)
"""


def test_a_killed_study_resumes_with_the_same_arrays(tmp_path):
    trace, path = tmp_path / "trace", tmp_path / "study.h5"
    here = str(Path(__file__).parent)
    script = textwrap.dedent(SCRIPT).format(here=here, path=str(path), trace=str(trace))
    process = subprocess.Popen([sys.executable, "-c", script])
    while not trace.exists() or len(trace.read_text().splitlines()) < 3:
        time.sleep(0.005)
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    StudyStore(path).settle()
    again = make_study(path)
    before = again.run(learners(str(trace), 0.05), verbose=0).n_before
    assert 1 <= before < 30
    fresh = make_study(tmp_path / "fresh.h5")
    fresh.run(learners(str(trace)), split="kfold(5)", engine="inline", verbose=0)
    assert_same(stored(fresh), stored(again))


def test_shards_are_merged_and_predicted_again(tmp_path):
    few = {name: learners()[name] for name in ("flat", "shape")}
    whole = make_study(tmp_path / "whole.h5")
    whole.run(few, split="kfold(2)", save_models=True, verbose=0)
    parts = [make_study(tmp_path / f"part{k}.h5") for k in (1, 2)]
    for k, part in enumerate(parts, 1):
        part.run(few, split="kfold(2)", shard=f"{k}/2", verbose=0)
    merge_studies([part.path for part in parts], tmp_path / "merged.h5")
    assert_same(stored(whole), arrays_of(StudyStore(tmp_path / "merged.h5")))
    told = str(whole.report())
    assert "Studied: 2 datasets (rows of 2 x 12 values) for classification, 60 rows" in told
    again = Orchestrator(*whole._prepared("kfold(2)", True)).predict_all(trusted=True)
    assert len(again) == 60 * 2 * 2


def test_series_of_different_lengths_reach_learners_as_a_list(tmp_path):
    lengths = 5 + np.arange(60) % 9
    series = [one[:, :n] for one, n in zip(SERIES, lengths, strict=True)]
    few = {
        "nearest": NearestMeans(),
        "tuned": Generic_Estimator(NearestMeans(), param_grid={"weighted": [False, True]}, cv=2),
    }
    studies = [Study(tmp_path / f"{engine}.h5", seed=1) for engine in ("local", "inline")]
    for study in studies:
        study.add_datasets((series, WHO % 2), name="series", roles={"group": WHO})
        how = {"split": "kfold_by_role(2)", "engine": study.path.stem, "verbose": 0}
        assert study.run(few, save_models=True, **how).counts == {1: 4}
    assert_same(*map(stored, studies))
    again = Orchestrator(*studies[0]._prepared("kfold_by_role(2)", True)).predict_all(trusted=True)
    assert (again["prediction"] == again["truth"]).mean() > 0.7
    with pytest.raises(
        StrategyError, match=r"'series' is series of 5 to 12 points, which Flatten-S"
    ):
        studies[0].run([make_pipeline(Flatten(), SVC()), NearestMeans()], verbose=0)


class Halves:
    """Splitter of the user, which looks at X."""

    def split(self, X, y=None, groups=None):
        assert X.shape == (60, 2, 12) and len(y) == 60  # noqa: PT018
        yield from ((np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30)))


def test_a_splitter_of_the_user_gets_the_array(tmp_path):
    study = make_study(tmp_path / "study.h5")
    study.run({"shape": NearestShape()}, split=Halves(), verbose=0)
    assert (StudyStore(study.path).load_split("series").split.folds[0, :30] == 1).all()


def test_sparse_rows_reach_learners_as_csr(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets((TEXTS, WHO % 2), name="texts")
    study.add_datasets((TEXTS.astype("f4").tocsc(), WHO / 2), name="numbers", task="Regression")
    wanted = {
        "svc": LinearSVC(),
        "lr": Generic_Estimator(LogisticRegression(), param_grid={"C": [0.1, 1]}),
        "forest": Generic_Estimator(
            RandomForestClassifier(9), param_grid={"max_features": [5, 9]}, cv=2
        ),
        "kernels": Generic_Estimator(SVC(), param_grid={"C": [0.1, 1], "gamma": [0.1, 1]}, cv=2),
        "ridge": Ridge(),
        "listed": as_strategies("LogisticRegression")[0].set_params(preprocessing=None),
        "kind": NearestShape(),
    }
    outcome = study.run(wanted, split="kfold(2)", verbose=0)
    assert outcome.counts == {1: 14}
    records = StudyStore(study.path).details("texts")
    seen = {w for r in records if r["strategy"] == "kind" for w in r["warnings"]}
    assert seen == {"UserWarning: csr_matrix float64 False"}
    block = StudyStore(study.path).block("texts")
    train, test = block.split.rows(0, 0)
    alone = LinearSVC(random_state=0).fit(TEXTS.toarray()[train], (WHO % 2)[train])
    assert (
        block.predictions[block.strategies.index("svc"), 0, test] == alone.predict(TEXTS[test])
    ).mean() > 0.9


@pytest.mark.parametrize(
    ("dataset", "strategy", "told"),
    [
        ("series", SVC(), "array with rows of shape (2, 12), which SVC cannot take"),
        ("series", make_pipeline(StandardScaler(), SVC()), "StandardScaler-SVC cannot take"),
        ("series", "RandomForestClassifier", "begin its pipeline with mlaut.estimators.Flatten()"),
        ("series", GridSearchCV(SVC(), {"C": [1]}), "begin its pipeline with mlaut.estimators.Fla"),
        ("texts", GaussianNB(), "sparse matrix, which GaussianNB cannot take; give X.toa"),
        ("texts", "LogisticRegression", "give it preprocessing=None, or leave it out"),
        (
            "texts",
            make_pipeline(StandardScaler(), SVC()),
            "or the estimator the tag input_tags.sparse, or",
        ),
    ],
)
def test_learners_of_tables_are_refused_in_one_line(tmp_path, dataset, strategy, told):
    if dataset == "texts" and takes_sparse(GaussianNB()) and not isinstance(strategy, str):
        pytest.skip("scikit-learn 1.6 does not tell which estimators take sparse matrices")
    study = make_study(tmp_path / "study.h5") if dataset == "series" else Study(tmp_path / "t.h5")
    if dataset == "texts":
        study.add_datasets((TEXTS, WHO % 2), name="texts")
    with pytest.raises(StrategyError) as found:
        study.run([strategy], verbose=0)
    assert told in str(found.value)
    assert "\n" not in str(found.value)
    assert study.run([DummyClassifier()], verbose=0).counts == {1: len(study.datasets)}
