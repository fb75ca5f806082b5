"""Strategies as studies know them."""

from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from mlaut.data import Data
from mlaut.experiments import Orchestrator
from mlaut.experiments.plans.entries import strategy_entries


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
    from mlaut.estimators import as_strategies

    (entry,) = strategy_entries(as_strategies("GaussianNaiveBayes"))
    assert set(entry.metadata) == {"estimator_family", "tasks"}
    assert "reads" not in entry.identity
