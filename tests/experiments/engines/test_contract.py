"""The contract of an engine, which each engine of MLaut keeps."""

import contextlib
import importlib
import os
import pickle
import subprocess
import sys
import time
from itertools import count

import numpy as np
import pytest
from learners import Hostile, Once, Parent, Traced
from sklearn import config_context
from sklearn.naive_bayes import GaussianNB

from mlaut import Data, Orchestrator
from mlaut.errors import StudyError
from mlaut.estimators.libraries.session import session_settings
from mlaut.experiments import RunOptions
from mlaut.experiments.cells.cell_input import cell_seed
from mlaut.experiments.engines.engine import InlineEngine, make_engine
from mlaut.experiments.plans.run_options import cell_options
from mlaut.experiments.workers.batches import make_batches
from mlaut.experiments.workers.sessions import is_running
from mlaut.files_io import FilesIO, StudyStore
from mlaut.records import Status


@pytest.fixture
def study(databases):
    """A study of three tables with three folds each, and its input database."""
    input_io, out_io = databases
    Data().split_datasets(input_io, out_io, input_io.list_datasets("tables")[1], "kfold(3)")
    return input_io, StudyStore(out_io.path)


class Contract:
    """Tests of an engine; `options` are those of a run that uses it."""

    elsewhere = True  # whether cells run in other processes, which can be ended
    near = True  # whether they run on the machine of the run, which they may take with them

    @pytest.fixture
    def options(self):
        return RunOptions(engine="local", n_jobs=1)

    @pytest.fixture
    def groups(self, study):
        """Return a function that yields each strategy on each dataset, as a run does."""
        input_io, stored = study

        def yielded(options, *strategies):
            groups = [
                (entry, strategy.name, ((0, 0), (0, 1), (0, 2)))
                for entry in stored.load_splits().values()
                for strategy in strategies
            ]
            settings = cell_options(options, stored.path)
            return make_batches(groups, strategies, input_io.path, 7, settings)

        return yielded

    def run(self, options, groups):
        return [one for part in make_engine(options).run(groups) for one in part]

    def test_a_cell_has_one_outcome_with_its_seed_and_its_duration(self, options, groups):
        outcomes = self.run(options, groups(options, *named(good=GaussianNB())))
        assert len({outcome.cell for outcome in outcomes}) == len(outcomes) == 9
        for outcome in outcomes:
            assert outcome.status is Status.DONE
            assert outcome.seed == cell_seed(7, outcome.cell)
            assert outcome.details["elapsed"] > 0

    def test_a_cell_that_fails_has_an_outcome_that_says_so(self, options, groups):
        outcomes = self.run(options, groups(options, *named(bad=Hostile("raise"))))
        assert [outcome.status for outcome in outcomes] == [Status.ERROR] * 9
        assert all(outcome.reason and outcome.details["elapsed"] >= 0 for outcome in outcomes)

    def test_groups_are_taken_as_they_are_needed_and_none_waits_for_outcomes(self, options, groups):
        batches, ended, taken = list(groups(options, *named(good=GaussianNB()))), [], []

        def one_by_one():
            for number, batch in enumerate(batches):
                while len(ended) < 3 * number:
                    yield None
                taken.append(len(ended))
                yield batch

        for outcomes in make_engine(options).run(one_by_one()):
            ended += outcomes
        assert taken == [0, 3, 6]
        assert len(ended) == 9

    def test_it_says_which_cells_begin_before_they_run(self, options, groups):
        if not self.near:
            return

        class Noted(list):
            begun = ()

            def begin(self, batch):
                self.begun += tuple(batch.keys)

        batches = Noted(groups(options, *named(good=GaussianNB())))
        for outcomes in make_engine(options).run(batches):
            assert {outcome.cell for outcome in outcomes} <= {*batches.begun}
        assert len(batches.begun) == len({*batches.begun}) == 9

    def test_it_ends_where_groups_wait_and_no_cell_runs(self, options, groups):
        batches = iter(groups(options, *named(good=GaussianNB())))

        def waiting():
            yield next(batches)
            while True:
                yield None

        assert len(self.run(options, waiting())) == 3

    def test_it_does_not_take_all_groups_of_a_great_study(self, options, groups):
        batches, taken = list(groups(options, *named(good=GaussianNB()))), count()

        def without_end():
            while True:
                next(taken)
                yield batches[0]

        running = make_engine(options).run(without_end())
        assert next(part for part in running if part)
        running.close()
        assert next(taken) < 1000

    def test_cells_have_the_settings_of_the_session(self, options, groups):
        with config_context(transform_output="pandas"):
            tells = list(groups(options, *named(tells=Hostile("tell"))))
        with np.errstate(all="raise"):
            (outcome,) = self.run(options, [tells[0].part([(0, 0)])])
        seen = "{'sklearn.transform_output': 'pandas'} warn ignore"  # NumPy's own error state
        assert outcome.reason == f"RuntimeError: {seen}"
        assert session_settings() == {}

    def test_cells_find_the_modules_of_the_session(self, options, groups, tmp_path, monkeypatch):
        own = "from sklearn.naive_bayes import GaussianNB\n\nclass Own(GaussianNB):\n    pass\n"
        (tmp_path / "only_of_the_run.py").write_text(own)
        with monkeypatch.context() as session:
            session.syspath_prepend(tmp_path)
            module = importlib.import_module("only_of_the_run")
            batches = list(groups(options, *named(own=module.Own())))
        monkeypatch.setattr(sys, "path", [*sys.path])  # an engine may start processes elsewhere
        outcomes = self.run(options, batches)
        del sys.modules["only_of_the_run"]
        assert [outcome.reason for outcome in outcomes] == [""] * 9

    def test_closing_ends_the_cells_that_run(self, options, groups, tmp_path):
        if not self.elsewhere:
            return
        trace = tmp_path / "trace"
        running = make_engine(options).run(groups(options, *named(slow=Parent(str(trace)))))
        while not trace.exists():
            assert next(running) == []
        running.close()
        pids = [int(pid) for pid in trace.read_text().split()]
        until(lambda: not any(map(is_running, pids)))  # of the cell, and of what it has started

    def test_a_run_that_is_killed_leaves_no_cell_running_and_goes_on(
        self, options, study, tmp_path
    ):
        trace, stored = tmp_path / "trace", study[1]
        orchestrator = Orchestrator(study[0], FilesIO(stored.path, "a"), stored.datasets)
        strategies = {"good": GaussianNB(), "once": Once(str(trace))}
        with started((orchestrator, strategies, options)) as run:
            until(trace.exists)
            run.kill()
        until(lambda: not is_running(int(trace.read_text())))
        before = begun_at(stored)
        assert orchestrator.run(strategies, verbose=0, **vars(options)).complete
        after = begun_at(stored)
        assert before
        assert before.items() <= after.items()  # none ran again
        assert len(after) == 18

    def test_it_shows_signs_of_life_while_no_cell_ends(self, options, groups, tmp_path):
        if not self.elsewhere:
            return
        slow = named(slow=Traced(str(tmp_path / "trace"), seconds=3600))
        running = make_engine(options).run(groups(options, *slow))
        signs = [next(running) for _ in range(5)]
        running.close()
        assert signs == [[]] * 5

    @pytest.mark.parametrize("limit", [{"timeout": 1}, {"memory": "150MB"}])
    def test_it_keeps_the_limits_or_refuses_them(self, options, groups, limit):
        options = options.replaced(limit)
        if not self.elsewhere and "timeout" in limit:
            with pytest.raises(StudyError, match="cannot enforce a time limit"):
                make_engine(options)
            return
        time_limit = ("sleep_in_c", Status.TIMEOUT)
        deed, status = time_limit if "timeout" in limit else ("allocate", Status.MEMORY)
        (batch, *_) = groups(options, *named(bad=Hostile(deed)))
        (outcome,) = self.run(options, [batch.part([(0, 0)])])
        assert outcome.status is status

    def test_seconds_of_cpu_are_no_seconds_of_a_clock(self, options, groups, tmp_path):
        options = options.replaced({"timeout": "1s cpu"})  # `CpuSeconds`, which is a float
        if not self.elsewhere:
            with pytest.raises(StudyError, match="cannot enforce a time limit"):
                make_engine(options)
            return
        (batch, *_) = groups(options, *named(slow=Traced(str(tmp_path / "trace"), seconds=1.5)))
        (outcome,) = self.run(options, [batch.part([(0, 0)])])
        assert outcome.status is Status.DONE

    def test_the_limits_are_those_of_the_run_and_of_no_other_run(self, options):
        engine = make_engine(options.replaced({"threads": 2}))
        if self.elsewhere:
            assert engine.threads == 2
            again = make_engine(options.replaced({"engine": engine, "scheduler": None}))
            assert (engine.threads, again.threads) == (2, 1)


class TestLocal(Contract):
    pass


class TestInline(Contract):
    elsewhere = False

    @pytest.fixture
    def options(self):
        return RunOptions(engine="inline")


RUN = """
import pickle, sys
orchestrator, strategies, options = pickle.load(sys.stdin.buffer)
orchestrator.run(strategies, verbose=0, **vars(options))
"""


@contextlib.contextmanager
def started(what):
    """Start a run in a process of its own."""
    paths = os.pathsep.join(filter(None, sys.path))
    environment = os.environ | {"PYTHONPATH": paths}
    command = [sys.executable, "-c", RUN]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as run:
        run.stdin.write(pickle.dumps(what))
        run.stdin.close()
        try:
            yield run
        finally:
            run.kill()


def begun_at(study):
    """Return when each cell began, by dataset, strategy and fold."""
    return {
        (name, cell["strategy"], cell["fold"]): cell["started"]
        for name, cells in study.all_details()
        for cell in cells
    }


def until(is_so):
    """Wait for something that comes soon, in a test whose cells take an hour."""
    begun = time.monotonic()
    while not is_so():
        assert time.monotonic() - begun < 300
        time.sleep(0.05)


def named(**estimators):
    from mlaut.estimators import as_strategies

    return as_strategies(estimators)


class Bare:
    """An engine without `of`."""

    def run(self, groups):
        yield from InlineEngine().run(groups)


@pytest.mark.parametrize("engine", [InlineEngine, 3, Bare()])
def test_what_is_no_engine_is_refused(engine):
    with pytest.raises(StudyError, match="is no engine; pass an object with 'run' and 'of'"):
        make_engine(RunOptions(engine=engine))
