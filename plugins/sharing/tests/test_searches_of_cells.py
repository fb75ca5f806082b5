"""Searches inside of cells: killed with them and resumed, and stopped in time."""

import pytest
from input_and_study import databases, made_databases  # noqa: F401 - fixtures
from learners import Busy, Mortal, Traced
from mlaut_sharing.in_studies import TuningBudget

from mlaut import Data, Orchestrator
from mlaut.estimators import Generic_Estimator
from mlaut.files_io import StudyStore

GRID = {"var_smoothing": [10.0**-k for k in range(10)]}
N_FITS = 10 * 3  # candidates and folds


@pytest.fixture
def orchestrator(databases):  # noqa: F811 - a fixture
    input_io, out_io = databases
    Data().split_datasets(hdf5_in=input_io, hdf5_out=out_io, dataset_paths=["tables/iris"])
    return Orchestrator(input_io, out_io, ["iris"])


def tuned(learner):
    return Generic_Estimator(learner, name="tuned", param_grid=GRID, cv=3)


def details(orchestrator):
    return StudyStore(orchestrator.hdf5_output_io.path).details("iris")[-1]


def test_a_killed_cell_goes_on_with_its_search(orchestrator, tmp_path):
    strategy, trace = tuned(Mortal(str(tmp_path / "trace"), seconds=0.06)), tmp_path / "trace"
    searches = tmp_path / "study.h5.searches"
    summary = orchestrator.run(strategy, n_jobs=1, verbose=0)
    assert [status.word for status in summary.counts] == ["crashed"]
    assert len(list(searches.iterdir())) == 1

    summary = orchestrator.run(strategy, n_jobs=1, verbose=0, retry=["crashed"])
    assert summary.complete
    told = details(orchestrator)
    assert told["candidates"] == 10
    assert "candidates_scored" not in told
    assert 0 < told["scores_resumed"] < 20
    n_fits = len(trace.read_text().splitlines())
    assert n_fits == 20 + (N_FITS - told["scores_resumed"]) + 1  # and the final fit
    assert not searches.exists()


def test_a_search_stops_in_time_and_says_how_far_it_came(orchestrator, tmp_path):
    strategy = tuned(Busy(str(tmp_path / "trace"), seconds=0.05))
    summary = orchestrator.run(strategy, engine="inline", tuning_timeout=0.6, verbose=0)
    assert summary.complete
    told = details(orchestrator)
    assert told["candidates"] == 10
    assert 1 <= told["candidates_scored"] < 10
    assert any("time was over: chosen among the" in text for text in told["warnings"])
    assert not (tmp_path / "study.h5.searches").exists()


def test_time_that_others_take_counts_little(orchestrator, tmp_path):
    """Thirty fits that wait for 0.04 s each: more than the limit by the clock, none of it CPU."""
    strategy = tuned(Traced(str(tmp_path / "trace"), seconds=0.04))
    orchestrator.run(strategy, engine="inline", tuning_timeout=1.1, verbose=0)
    assert "candidates_scored" not in details(orchestrator)


def test_a_cell_whose_search_comes_to_nothing_says_so(orchestrator, tmp_path):
    strategy = tuned(Busy(str(tmp_path / "trace"), seconds=0.05))
    summary = orchestrator.run(strategy, engine="inline", tuning_timeout=0.01, verbose=0)
    ((reason, _),) = summary.reasons
    assert reason.startswith("tuned: error: no candidate was scored on all 3 tuning folds before")


def test_a_budget_is_of_cpu_seconds_and_of_ten_times_that_by_the_clock():
    now = {"cpu": 100.0, "clock": 5000.0}
    budget = TuningBudget(60, lambda: now["cpu"], lambda: now["clock"])
    for cpu, clock, over in [(100, 5599, False), (159.9, 5000, False), (160, 5000, True)]:
        now.update(cpu=cpu, clock=clock)
        assert budget.over() == over
    now.update(cpu=101, clock=5600)
    assert budget.over()
