"""Strategies that raise when they are looked at: others are not touched, and they are named."""

import pytest
from learners import Unsent
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from mlaut import Data, Orchestrator
from mlaut.errors import StrategyError
from mlaut.estimators import Generic_Estimator, as_strategies
from mlaut.files_io import StudyStore


class Learner(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return X


class Key(Learner):
    def __getattr__(self, name):
        return self.__dict__["_inner"][name]


class Leaves(Learner):
    def __getattr__(self, name):
        raise SystemExit(3)


class Asked(Learner):
    def get_params(self, deep=True):
        raise RuntimeError("no parameters")


class Tags(Learner):
    def __sklearn_tags__(self):
        raise RuntimeError("no tags")


class NoTags(Learner):
    def __sklearn_tags__(self):
        return None


class Kind(Learner):
    @property
    def __class__(self):
        raise RuntimeError("no class")


class Meta(type(Learner)):
    def __getattr__(cls, name):
        raise RuntimeError(f"no {name}")


def of_meta():
    """Return a learner of a class that pytest could not collect."""
    return Meta("OfMeta", (Learner,), {})()


class Wordless(Learner):
    def __getattr__(self, name):
        raise WordlessError


class WordlessError(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.fixture
def orchestrator(databases):
    input_io, out_io = databases
    Data().split_datasets(input_io, out_io, input_io.list_datasets("tables")[1][:1], "kfold(2)")
    return Orchestrator(input_io, out_io)


@pytest.mark.parametrize("kind", [Key, Leaves, Asked, Tags, NoTags, Kind, of_meta, Wordless])
def test_a_strategy_that_cannot_be_read_is_refused_by_its_name(orchestrator, kind):
    with pytest.raises(StrategyError) as refused:
        orchestrator.run({"good": GaussianNB(), "bad": kind()}, engine="inline", verbose=0)
    assert "'bad'" in str(refused.value) or kind.__name__ in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not StudyStore(orchestrator.hdf5_output_io.path).strategies


@pytest.mark.parametrize("kind", [Key, Leaves])
def test_a_strategy_of_a_list_keeps_its_name_in_the_refusal(kind):
    named = Generic_Estimator(kind(), name="bad")
    with pytest.raises(StrategyError, match="strategy 'bad' cannot be read"):
        as_strategies([GaussianNB(), named])


class Shy(Learner):
    """Raises another error than AttributeError for what a learner need not have."""

    def __getattribute__(self, name):
        if name in ("estimator", "cv", "predict_survival_function", "fit_resample", "related_rows"):
            raise ValueError(name)
        return super().__getattribute__(name)

    def predict(self, X):
        return [self.classes_[0]] * len(X)

    def fit(self, X, y):
        self.classes_ = sorted(set(y))
        return self


def test_an_attribute_that_raises_is_none(orchestrator):
    run = {"engine": "inline", "verbose": 0}
    assert orchestrator.run({"good": GaussianNB(), "shy": Shy()}, **run).n_done == 4


def test_what_cannot_be_pickled_fails_alone(orchestrator):
    for engine in ("inline", "local"):
        again = {"engine": engine, "retry": "error", "verbose": 0}
        summary = orchestrator.run({"good": GaussianNB(), "bad": Unsent()}, **again)
        assert (summary.n_cells, summary.n_failed) == (4, 2)
        ((reason, count),) = summary.reasons
        assert reason.startswith("bad: error: strategy 'bad' cannot be read: its class raises Run")
        assert count == 2
