"""Reach of a strategy: its own cell, and neither other cells nor what only the run knows."""

import math
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from in_workers import AllAtOnce, run, words
from intruders import AIMED, MASK, Intruder, Looks, Patient
from learners import Deed
from sklearn.naive_bayes import GaussianNB

from mlaut.experiments.workers.batches import DatasetRef
from mlaut.experiments.workers.isolation import hide
from mlaut.experiments.workers.pool import Team, run_batches
from mlaut.files_io import FilesIO

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="as Linux alone can do it")
FEW = ["forges_frames", "writes_memory", "hijacks_when_loaded"]
REST = [name for name in AIMED if name not in FEW]


def attacked(deeds, batch, folder, monkeypatch):
    """Run strategies with these deeds while cells of others run; return all outcomes by key."""
    monkeypatch.setenv("MLAUT_RUN", str(os.getpid()))
    waits = folder / "attacked"
    hostile = [replace(batch(Intruder(deed)), name=f"Intruder {deed}") for deed in deeds]
    queue = AllAtOnce([batch(Patient(str(waits))), *hostile, batch(GaussianNB())])
    outcomes = []
    with Team(threads=1) as team:
        for part in run_batches(queue, team, 2, None):
            outcomes += part
            if sum(o.cell.strategy.startswith("Intruder") for o in outcomes) == 4 * len(deeds):
                waits.touch()
    assert len({o.cell for o in outcomes}) == len(outcomes) == 4 * (len(deeds) + 2)
    return {o.cell: o for o in outcomes}


@pytest.mark.parametrize(
    "deeds", [FEW, pytest.param(REST, marks=pytest.mark.slow)], ids=["few", "rest"]
)
def test_nobody_reaches_the_outcomes_of_others(deeds, batch, tmp_path, monkeypatch):
    found = attacked(deeds, batch, tmp_path, monkeypatch)
    alone = {o.cell: o.predictions.tolist() for o in run(batch(GaussianNB()))}
    for cell, outcome in found.items():
        expected = alone.get(cell, [0] * 5)  # an intruder that got in predicts otherwise
        assert (outcome.status.word, outcome.reason) == ("done", ""), cell
        assert outcome.predictions.tolist() == expected, cell


def test_there_are_nineteen_that_aim_at_others_and_many_in_all():
    from spoilers import DEEDS

    sys.path.append(str(Path(__file__).parents[2] / "reliability"))
    from hostile import EXPECTED

    hostile = [deed for deed, status in EXPECTED.items() if status != "done"]
    assert len(AIMED) >= 19
    assert len({*AIMED, *DEEDS, *hostile}) + len(CLOCKS) + len(PLACES) >= 59


# ----------------------------------------------------------------------- labels

PLACES = ("frames", "objects", "memory", "descriptors")


@pytest.mark.parametrize("place", PLACES)
def test_labels_of_test_rows_are_nowhere_in_the_process_of_a_cell(place, batch, tmp_path):
    y = np.random.default_rng(0).normal(size=20)
    frame = pd.DataFrame({"x": np.arange(20.0), "z": 1.0, "y": y})
    input_io = FilesIO(tmp_path / "numbers.h5", mode="a")
    about = {"class_name": "y", "dataset_name": "d", "task": "Regression"}
    path = input_io.save_pandas_dataset(frame, "/", about)
    fingerprint = input_io.dataset_info(path).fingerprint
    given = batch(Looks(place, y.view(np.uint64) ^ MASK))
    given = replace(given, dataset=DatasetRef(str(input_io.path), path, "d", fingerprint, ()))
    outcomes = run(given.part([(0, 0), (0, 3)]))
    assert [o.reason for o in outcomes] == [""] * 2
    assert [o.predictions.tolist() for o in outcomes] == [[2.0] * 5] * 2


# ------------------------------------------------------------------------ times


def stopped(value):
    def replaces():
        for name in ("perf_counter", "monotonic", "time", "process_time"):
            setattr(time, name, lambda: value)

    return replaces


CLOCKS = {"back": stopped(-1e9), "never": stopped(math.nan), "far": stopped(math.inf)}


@pytest.mark.parametrize("clock", CLOCKS)
def test_clocks_that_a_strategy_replaces_are_not_read(clock, batch):
    outcomes = run(batch(Deed(CLOCKS[clock], fold=None)))
    for outcome in outcomes:
        assert outcome.status.word == "done"
        assert 0 <= sum(outcome.seconds) <= outcome.details["elapsed"] < 600


@pytest.mark.parametrize("seconds", [-1.0, math.nan, math.inf, 1e6])
def test_times_that_the_run_did_not_see_are_refused(seconds, batch):
    def lies():
        from mlaut.experiments.cells import cell

        begun = cell.perf_counter()
        cell.perf_counter = lambda: begun + seconds

    (outcome, *others) = run(batch(Deed(lies)))
    assert outcome.status.word == "crashed"
    assert outcome.reason in (
        "its strategy sent times that its cell did not take",
        "its strategy sent something else than an outcome",
    )
    assert words(others) == ["done"] * 3


def test_peak_memory_is_measured_in_hidden_processes(batch):
    hide()
    found = [o.details["peak_memory"] for o in run(batch(GaussianNB()))]
    assert min(found) > 2**20
