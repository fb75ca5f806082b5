"""Strategies as studies know them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from mlaut import Generic_Estimator
from mlaut.data import Data
from mlaut.estimators import as_strategies
from mlaut.experiments import Orchestrator
from mlaut.experiments.plans.entries import (
    as_stored,
    changed_parameters,
    metrics_of,
    strategy_entries,
)
from mlaut.files_io import SplitEntry, StudyStore
from mlaut.identity.digests import digest
from mlaut.records import CLASSIFICATION, Split


def typed_in():
    """A function as it is typed into an interpreter: without a source."""
    space = {"__name__": "typed"}
    exec("def same(x):\n    return x", space)
    return make_pipeline(FunctionTransformer(space["same"]), GaussianNB())


def test_the_plan_says_where_a_change_would_not_be_noticed(databases):
    input_io, out_io = databases
    paths = input_io.list_datasets("tables")[1][:1]
    Data().split_datasets(input_io, out_io, paths, scheme="kfold(2)")
    plan = Orchestrator(input_io, out_io).plan({"typed": typed_in(), "bayes": GaussianNB()})
    rows = [(row["strategy"], row["because"], row["cells"]) for row in plan.why()]
    assert rows == [
        ("typed", "new strategy", 2),
        (
            "typed",
            "cannot inspect typed.same: its source is not there; what it was compiled "
            "to is compared, and that is another in another Python",
            0,
        ),
        ("bayes", "new strategy", 2),
    ]


def test_what_is_of_libraries_alone_is_seen_whole():
    (entry,) = strategy_entries(as_strategies("GaussianNaiveBayes"))
    assert set(entry.metadata) == {"estimator_family", "tasks"}
    assert "reads" not in entry.identity


@pytest.fixture
def study(tmp_path):
    """Return a study with one dataset and no strategy."""
    study = StudyStore(tmp_path / "study.h5")
    split = Split(np.array([[0, 0, 1, 1]], dtype=np.int16), "kfold(2)")
    truth = np.array([0, 1, 0, 1], dtype=np.int32)
    study.save_splits([SplitEntry("one", "/one", CLASSIFICATION, "f", ("a", "b"), truth, split)])
    return study


def tuned(**changes):
    tree = DecisionTreeClassifier(random_state=0)
    return Generic_Estimator(tree, name="tree", param_grid={"max_depth": [1, 2]}, **changes)


def scores(strategies):
    return [one.scoring for one in strategies]


def test_a_strategy_keeps_the_score_of_tuning_with_which_it_is_stored(study):
    for metric in ("mcc", "f1_macro"):
        study.store_analysis({"analysis": {"metric": metric}})
    assert metrics_of(study) == ["f1_macro", "mcc"]
    assert metrics_of(None) == []
    assert scores(as_stored([tuned()], study)) == ["f1_macro"]  # new: the present metric
    assert scores(as_stored([tuned()], study, "f1_micro")) == ["f1_micro"]
    study.allocate(strategy_entries(as_stored([tuned()], study, "mcc")))
    for given, kept in (
        (tuned(), "matthews_corrcoef"),
        (tuned(scoring="f1_micro"), "f1_micro"),  # its own: a change, as the plan will say
    ):
        assert scores(as_stored([given], study)) == [kept]
    changed = Generic_Estimator(GaussianNB(), name="tree", param_grid={"var_smoothing": [0.1]})
    assert scores(as_stored([changed], study)) == ["f1_macro"]  # no form is the stored one


def test_what_a_study_knows_of_a_strategy_is_stored_beside_its_identity(study):
    own, plain = tuned(scoring="f1_macro"), as_strategies({"svc": SVC()})[0]
    first, second = strategy_entries([own, plain])
    assert first.metadata["tunes_by"] == "f1_macro"
    assert "tunes_by" not in second.metadata
    study.allocate([replace(first, metadata={**first.metadata, "named": ["oak"]}), second])
    now = strategy_entries([own, plain], study)
    assert [one.metadata.get("named") for one in now] == [["oak"], None]
    assert "named" not in strategy_entries([own])[0].metadata
    assert now[0].is_same(first)


def test_a_parameter_is_named_as_set_params_takes_it():
    for make, name in ((make_pipeline, "svc__C"), (lambda model: model, "C")):
        old, new = (strategy_entries(as_strategies({"s": make(SVC(C=c))}))[0] for c in (1.0, 2.0))
        assert changed_parameters(old, new) == [f"{name}: 1.0 -> 2.0"]
    old, new = strategy_entries([tuned(), tuned(scoring="f1_macro")])
    assert changed_parameters(old, new) == ["scoring: None -> f1_macro"]


class Own(GaussianNB):
    """A strategy of the user, whose identity once had the name of the module."""

    def fit(self, X, y):
        return super().fit(X, y)


@pytest.mark.parametrize("module", [__name__, "<run_path>"])
def test_a_stored_identity_with_the_name_of_a_module_is_kept(study, module):
    (one,) = as_strategies({"own": Own()})
    (now,) = strategy_entries([one])
    text = json.dumps(replace(one.identified(former=True), modules=frozenset()).identity)
    assert f"{__name__}.Own" in text
    assert __name__ not in json.dumps(now.identity)
    former = json.loads(text.replace(f"{__name__}.", f"{module}."))
    study.allocate([replace(now, identity=former, fingerprint=digest(former))])
    (kept,) = strategy_entries([one], study)
    assert (kept.identity, kept.fingerprint) == (former, digest(former))
    (changed,) = strategy_entries(as_strategies({"own": Own(var_smoothing=0.5)}), study)
    assert changed.identity != former
    assert __name__ not in json.dumps(changed.identity)
