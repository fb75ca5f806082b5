"""Searches that are killed, run out of time, or give up on what cannot win."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from joblib import parallel_config
from mlaut_sharing.search.score_log import Checkpoint
from sharing_cases import CLASSES, STRATIFIED, check_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from mlaut.errors import StoreError, StrategyError
from mlaut.estimators import GridSearch, tuning_record
from mlaut.sharing import GridSearchCV as SharingGridSearchCV
from mlaut.sharing import IncompleteSearchWarning, search_limits

X, Y = CLASSES["noisy, negative labels"]
GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}


def plain():
    return GridSearchCV(SVC(), GRID, cv=STRATIFIED).fit(X, Y)


# ---- checkpoints


def test_a_second_search_computes_nothing_again(tmp_path):
    searches = []
    for _ in range(2):
        with search_limits(checkpoint=tmp_path / "scores"):
            searches.append(SharingGridSearchCV(SVC(), GRID, cv=STRATIFIED).fit(X, Y))
    assert [search.sharing_["resumed"] for search in searches] == [0, 27]
    assert searches[1].sharing_["shared"] == 0
    for search in searches:
        check_equal(plain(), search)


def test_one_file_serves_many_searches(tmp_path):
    others = [
        (SVC(), {**GRID, "tol": [1e-3]}, X, Y),
        (SVC(class_weight="balanced"), GRID, X, Y),
        (SVC(), GRID, X + 1, Y),
        (SVC(), GRID, X, -Y),
        (make_pipeline(SVC()), {"svc__C": [1.0]}, X, Y),
    ]
    with search_limits(checkpoint=tmp_path / "scores"):
        SharingGridSearchCV(SVC(), GRID, cv=STRATIFIED).fit(X, Y)
        for estimator, grid, rows, labels in others:
            search = SharingGridSearchCV(estimator, grid, cv=STRATIFIED).fit(rows, labels)
            assert search.sharing_["resumed"] == 0
        assert SharingGridSearchCV(SVC(), GRID, cv=STRATIFIED).fit(X, Y).sharing_["resumed"] == 27


def test_what_was_half_written_is_computed_again(tmp_path):
    path = tmp_path / "scores"
    with search_limits(checkpoint=path):
        SharingGridSearchCV(SVC(), GRID, cv=STRATIFIED).fit(X, Y)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with search_limits(checkpoint=path):
        search = SharingGridSearchCV(SVC(), GRID, cv=STRATIFIED).fit(X, Y)
        again = SharingGridSearchCV(SVC(), GRID, cv=STRATIFIED).fit(X, Y)
    check_equal(plain(), search)
    assert 0 < search.sharing_["resumed"] < 27
    assert again.sharing_["resumed"] == 27


def test_failures_and_several_metrics_are_kept_too(tmp_path):
    options = {"cv": STRATIFIED, "scoring": ["accuracy", "f1_macro"], "refit": "f1_macro"}
    grid = {"n_neighbors": [1, 3, 5]}
    searches = []
    for _ in range(2):
        with search_limits(checkpoint=tmp_path / "scores"):
            searches.append(SharingGridSearchCV(KNeighborsClassifier(), grid, **options).fit(X, Y))
    assert searches[1].sharing_["resumed"] == 9
    check_equal(*searches)


@pytest.mark.parametrize("jobs", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_jobs_append_to_the_same_file(tmp_path, jobs):
    with search_limits(checkpoint=tmp_path / "scores"), parallel_config(jobs):
        SharingGridSearchCV(SVC(), GRID, cv=STRATIFIED, n_jobs=2).fit(X, Y)
        search = SharingGridSearchCV(SVC(), GRID, cv=STRATIFIED).fit(X, Y)
    assert search.sharing_["resumed"] == 27
    check_equal(plain(), search)


def test_a_folder_is_no_checkpoint(tmp_path):
    with pytest.raises(StoreError, match="scores cannot be read"):
        Checkpoint(tmp_path, "any").read()


KILLED = """
import sys, time
import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from mlaut.sharing import GridSearchCV, search_limits
from mlaut_sharing.search import score_log

score_log.PAUSE = 0
kept = score_log.Writer.add
def add(self, place, scores):
    kept(self, place, scores)
    print(place, flush=True)
    time.sleep(0.02)
score_log.Writer.add = add

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)
grid = {"n_estimators": [2, 4, 6], "max_depth": [1, 2, 3], "learning_rate": [0.1, 1.0]}
with search_limits(checkpoint=sys.argv[1]):
    search = GridSearchCV(
        GradientBoostingClassifier(random_state=0), grid,
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
    ).fit(X, y)
print(search.sharing_["resumed"], search.best_index_)
print(search.cv_results_["mean_test_score"].tolist())
"""


@pytest.mark.slow
def test_a_killed_search_goes_on_where_it_was(tmp_path):
    script, path = tmp_path / "script.py", tmp_path / "scores"
    script.write_text(textwrap.dedent(KILLED))
    command = [sys.executable, str(script), str(path)]
    path_of_this = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=path_of_this)
    for _ in range(20):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL
    again = subprocess.run(command, capture_output=True, text=True, check=True, env=path_of_this)
    output = again.stdout
    places, (counts, table) = output.splitlines()[:-2], output.splitlines()[-2:]
    n_resumed, best = map(int, counts.split())
    assert 20 <= n_resumed < 54
    assert len(places) == 54 - n_resumed  # the rest, and nothing twice
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    grid = {"n_estimators": [2, 4, 6], "max_depth": [1, 2, 3], "learning_rate": [0.1, 1.0]}
    whole = GridSearchCV(GradientBoostingClassifier(random_state=0), grid, cv=STRATIFIED)
    whole.fit(rows, (rows[:, 0] > 0).astype(int))
    assert json.loads(table) == whole.cv_results_["mean_test_score"].tolist()
    assert best == whole.best_index_


def test_a_checkpoint_that_cannot_be_written_stops_no_search(tmp_path):
    (tmp_path / "file").touch()
    search = SharingGridSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=STRATIFIED)
    with (
        search_limits(checkpoint=tmp_path / "file" / "scores"),
        pytest.warns(UserWarning, match="scores are not kept for another run: .*file"),
    ):
        search.fit(X, Y)
    assert search.sharing_["missing"] == 0


def test_the_record_says_what_was_resumed_and_what_was_not_reached(tmp_path, monkeypatch):
    monkeypatch.setattr(Slow, "fits", 0)
    grid = {"label": [0, 1] * 5}
    for n_resumed in (0, 30):
        with search_limits(checkpoint=tmp_path / "scores"):
            record = tuning_record(GridSearch(Slow(), grid, cv=STRATIFIED).fit(X, Y))
        assert (record.n_candidates, record.n_scored, record.n_resumed) == (10, 10, n_resumed)
    with pytest.warns(IncompleteSearchWarning), search_limits(deadline=Slow.over(32 + 8)):
        record = tuning_record(GridSearch(Slow(), grid, cv=STRATIFIED).fit(X, Y))
    assert record.n_candidates == 10
    assert 1 <= record.n_scored < 10
    assert record.n_resumed == 0


# ---- deadlines


class Slow(ClassifierMixin, BaseEstimator):
    """Counts its fits, so that a deadline falls after as many as a test wants."""

    fits = 0

    def __init__(self, label=0):
        self.label = label

    def fit(self, X, y):
        Slow.fits += 1
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[self.label])

    @classmethod
    def over(cls, n_fits):
        return lambda: cls.fits >= n_fits


def test_candidates_scored_in_time_are_chosen_from(monkeypatch):
    monkeypatch.setattr(Slow, "fits", 0)
    search = SharingGridSearchCV(Slow(), {"label": [0, 1] * 10}, cv=STRATIFIED)
    with (
        pytest.warns(IncompleteSearchWarning, match="time was over: chosen among the 2 of 20"),
        search_limits(deadline=Slow.over(8)),
    ):
        search.fit(X, Y)
    complete = search.cv_results_["complete"]
    assert complete.sum() == 2
    assert complete[search.best_index_]
    assert np.isnan(search.cv_results_["mean_test_score"][~complete]).all()
    assert search.sharing_["missing"] == 3 * 20 - 8
    assert search.predict(X).shape == Y.shape


def test_what_is_scored_in_time_is_spread_over_the_grid(monkeypatch):
    monkeypatch.setattr(Slow, "fits", 0)
    search = SharingGridSearchCV(Slow(), {"label": [0] * 100}, cv=STRATIFIED)
    with pytest.warns(IncompleteSearchWarning), search_limits(deadline=Slow.over(75)):
        search.fit(X, Y)
    scored = np.flatnonzero(search.cv_results_["complete"])
    assert len(scored) == 25
    assert scored.min() < 40
    assert scored.max() > 60


def test_a_deadline_far_away_changes_nothing():
    with search_limits(deadline=time.time() + 1e6):
        search = SharingGridSearchCV(SVC(), GRID, cv=STRATIFIED).fit(X, Y)
    check_equal(plain(), search)
    assert "complete" not in search.cv_results_


def test_a_deadline_may_be_told_by_any_clock():
    """The clock of this one ticks once a look, so that the machine's speed has no part in it."""
    looks = iter([False] * 9 + [True] * 100)  # one look a fold
    search = SharingGridSearchCV(Slow(), {"label": [0] * 5}, cv=STRATIFIED)
    with pytest.warns(IncompleteSearchWarning), search_limits(deadline=lambda: next(looks)):
        search.fit(X, Y)
    assert search.cv_results_["complete"].sum() == 3
    assert search.sharing_["missing"] == 6


def test_no_candidate_in_time_is_an_error():
    with (
        search_limits(deadline=time.time() - 1),
        pytest.raises(StrategyError, match=r"before the deadline \(0 of 27 fits done\); give more"),
    ):
        SharingGridSearchCV(SVC(), GRID, cv=STRATIFIED).fit(X, Y)


def test_limits_that_cannot_be_kept_are_told():
    search = SharingGridSearchCV(SVC(), {"C": [1.0]}, cv=STRATIFIED, scoring="accuracy")
    with search_limits(deadline=0.0), pytest.warns(IncompleteSearchWarning, match="runs through"):
        search.fit(X, Y, sample_weight=np.ones(len(Y)))
    assert search.sharing_["plain"] == 3


def test_limits_hold_inside_of_the_block_alone():
    with search_limits(deadline=0.0):
        pass
    assert SharingGridSearchCV(SVC(), GRID, cv=STRATIFIED).fit(X, Y).sharing_["missing"] == 0


def test_scores_are_appended_to_no_link(tmp_path):
    victim = tmp_path / "precious"
    victim.write_bytes(b"precious")
    (tmp_path / "scores").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"):
        Checkpoint(tmp_path / "scores", "a search").append([((0, 0), {"test_scores": 0.5})])
    assert victim.read_bytes() == b"precious"
