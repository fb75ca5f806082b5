"""Rows that are no table, on a cluster."""

import distributed
from comparing import assert_same
from learners import NearestShape
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from test_arrays import SERIES, TEXTS, learners, make_study, stored

from mlaut import Study
from mlaut.estimators import Flatten


def test_workers_of_dask_get_the_same_rows(tmp_path):
    here, there = make_study(tmp_path / "here.h5"), make_study(tmp_path / "there.h5")
    few = {"flat": learners()["flat"], "shape": NearestShape()}
    here.run(few, split="kfold(2)", verbose=0)
    several = [Study(tmp_path / f"several {place}.h5", seed=1) for place in ("here", "there")]
    for study in several:
        study.add_datasets((TEXTS, (SERIES[..., 0] > 1) * 1), name="labels")
        study.add_datasets((SERIES, SERIES[:, 0, :3]), name="numbers")
    knn = [KNeighborsClassifier(3), make_pipeline(Flatten(), KNeighborsRegressor(3))]
    assert several[0].run(knn, split="kfold(2)", engine="inline", verbose=0).counts == {1: 4}
    how = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "protocol": "tcp://"}
    with distributed.LocalCluster(**how, dashboard_address="127.0.0.1:0") as cluster:
        address = cluster.scheduler_address
        there.run(few, split="kfold(2)", engine="dask", scheduler=address, verbose=0)
        several[1].run(knn, split="kfold(2)", engine="dask", scheduler=address, verbose=0)
    assert_same(stored(here), stored(there))
    assert_same(*map(stored, several))
