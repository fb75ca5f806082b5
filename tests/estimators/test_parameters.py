"""Numbers of threads of learners that use all cores unless one is set."""

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline

from mlaut.estimators import Generic_Estimator
from mlaut.estimators.libraries.parameters import set_n_jobs

LEARNERS = {
    "xgboost": ("XGBClassifier", "n_jobs"),
    "lightgbm": ("LGBMClassifier", "n_jobs"),
    "catboost": ("CatBoostClassifier", "thread_count"),
}


class Boosting(ClassifierMixin, BaseEstimator):
    """Stand-in for a learner of another package."""

    def __init__(self, n_jobs=None):
        self.n_jobs = n_jobs

    def fit(self, X, y):
        return self


Boosting.__module__ = "lightgbm.sklearn"


class Mine(Boosting):
    """Class of a user on top of it."""


@pytest.mark.parametrize("made", [Boosting, Mine])
def test_all_cores_become_the_number_of_threads(made):
    assert set_n_jobs(made(), 1).n_jobs == 1
    assert set_n_jobs(make_pipeline(made()), 2)[-1].n_jobs == 2


def test_scikit_learn_keeps_none_which_means_one():
    assert set_n_jobs(RandomForestClassifier(), 3).n_jobs is None
    assert set_n_jobs(RandomForestClassifier(n_jobs=-1), 3).n_jobs == 3


@pytest.mark.parametrize("package", LEARNERS)
def test_learners_of_other_packages_get_the_number_of_threads(package):
    name, parameter = LEARNERS[package]
    strategy = Generic_Estimator(getattr(pytest.importorskip(package), name)())
    before = strategy.identity()
    model = strategy.assemble(random_state=0, n_jobs=2)
    assert model[-1].get_params()[parameter] == 2
    assert strategy.identity() == before
