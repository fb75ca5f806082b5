"""One cell, whatever it says at whatever length."""

import json
import warnings

import numpy as np
import pytest
import threadpoolctl
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from mlaut import Data, Orchestrator
from mlaut.estimators import Generic_Estimator
from mlaut.experiments.cells.cell import limited_threads
from mlaut.files_io import StudyStore

LONG = 2**20


class Verbose(ClassifierMixin, BaseEstimator):
    """Fails or warns with megabytes of text, in one line or in many, alone or in a chain."""

    def __init__(self, deed="line", priors=None):
        self.deed = deed
        self.priors = priors

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        getattr(self, f"_{self.deed}")()
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))

    def _line(self):
        raise RuntimeError("a" * LONG + "the end")

    def _lines(self):
        raise RuntimeError("first\n" + "b\n" * (LONG // 2))

    def _chain(self):
        try:
            self._line()
        except RuntimeError as error:
            raise type("C" * 10_000, (ValueError,), {})("d" * LONG) from error

    def _unwritable(self):
        raise UnwritableError

    def _warnings(self):
        for i in range(2000):
            warnings.warn(f"{i} " + "e" * 10_000, stacklevel=1)

    def _nothing(self):
        pass


class UnwritableError(Exception):
    """Cannot be written."""

    def __str__(self):
        raise RuntimeError("no words")


def outcome(databases, strategy):
    input_io, out_io = databases
    Data().split_datasets(input_io, out_io, ["tables/iris"])
    Orchestrator(input_io, out_io).run(strategy, engine="inline", verbose=0)
    (told,) = StudyStore(out_io.path).details("iris")
    return told


@pytest.mark.parametrize("deed", ["line", "lines", "chain", "unwritable", "warnings"])
def test_what_an_error_or_a_warning_says_is_stored_in_part(databases, deed):
    told = outcome(databases, Verbose(deed))
    assert told["status"] == ("done" if deed == "warnings" else "error")
    assert len(json.dumps(told)) < 20_000
    expected = {
        "line": "RuntimeError: aaaa",
        "lines": "RuntimeError: first",
        "chain": "CCCC",
        "unwritable": "UnwritableError",
        "warnings": "",
    }
    assert told["reason"].startswith(expected[deed])
    if deed == "warnings":
        assert [text.split()[1] for text in told["warnings"][:10]] == [str(i) for i in range(10)]
        assert told["warnings"][10:] == ["and 990 further warnings"]  # 1,000 are counted
    if deed == "line":
        assert told["reason"].endswith("aaathe end")
        assert "in _line" in told["traceback"]
        assert told["traceback"].endswith("aaathe end")


def test_chosen_parameters_are_stored_in_part(databases):
    wordy = ["f" * LONG]
    shares = [[1 / 3, 1 / 3, 1 / 3]]
    strategy = Generic_Estimator(
        Verbose("nothing"), param_grid={"deed": ["nothing"], "priors": [wordy[0]]}, cv=2
    )
    told = outcome(databases, strategy)["best_params"]
    assert told["deed"] == "nothing"
    assert told["priors"].startswith('"fff')
    assert len(told["priors"]) < 1100
    strategy = Generic_Estimator(GaussianNB(), param_grid={"priors": shares}, cv=2, name="short")
    input_io, out_io = databases
    Orchestrator(input_io, out_io).run(strategy, engine="inline", verbose=0)
    assert StudyStore(out_io.path).details("iris")[-1]["best_params"] == {"priors": shares[0]}


@pytest.mark.parametrize("threads", [1, 2])
def test_libraries_have_the_threads_of_a_cell_while_it_runs(threads):
    pools = threadpoolctl.ThreadpoolController()
    with pools.limit(limits=2):
        with limited_threads(threads):
            assert {pool.num_threads for pool in pools.lib_controllers} == {threads}
        assert {pool.num_threads for pool in pools.lib_controllers} == {2}
