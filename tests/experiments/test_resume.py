"""What a second run does, after the user has edited their own code between the two."""

import re

import numpy as np
import pytest

from mlaut.errors import StudyError
from mlaut.experiments import plan_study, run_study
from mlaut.records import Status

STUDY = """
[data]
folder = "tables"
[split]
scheme = "kfold(2)"
[strategies]
file = "mine.py"
[run]
engine = "inline"
"""
MINE = """
from mlaut.estimators import MlautEstimator, properties
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier


def double(X):
    return 2 * X


@properties(name="Own", estimator_family=["Mine"], tasks=["Classification"])
class Own(MlautEstimator):
    def build(self):
        return DecisionTreeClassifier(max_depth=3)


strategies = {
    "own": Own(),
    "doubled": make_pipeline(FunctionTransformer(double), GaussianNB()),
    "tree": DecisionTreeClassifier(max_depth=2),
}
"""


@pytest.fixture
def study(tmp_path):
    """A study of one dataset and three strategies that was run."""
    x = np.random.default_rng(0).normal(size=60)
    rows = [f"{value},{'ab'[int(value > 0)]}" for value in x]
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "one.csv").write_text("\n".join(["x,class", *rows]))
    (tmp_path / "mine.py").write_text(MINE)
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    assert run_study(path, verbose=0).counts == {Status.DONE: 6}
    return path


def edit(study, old, new):
    mine = study.with_name("mine.py")
    assert mine.read_text().count(old) == 1
    mine.write_text(mine.read_text().replace(old, new))


def test_comments_and_layout_refit_nothing(study):
    edit(study, "    return 2 * X", "    # twice as much\n    return (2\n            * X)")
    edit(study, "    def build(self):", "    def build(self):  # as they say")
    assert run_study(study, verbose=0).counts == {}


@pytest.mark.parametrize(
    ("old", "new", "strategy", "told"),
    [
        ("max_depth=2", "max_depth=4", "tree", "max_depth: 2 -> 4"),
        ("max_depth=3", "max_depth=5", "own", "max_depth: 3 -> 5"),
        ("return 2 * X", "return 3 * X", "doubled", "func__syntax: "),
    ],
)
def test_one_change_refits_that_strategy_once_the_user_says_so(study, old, new, strategy, told):
    edit(study, old, new)
    with pytest.raises(StudyError, match=f"strategy '{strategy}' was run .*{re.escape(told)}"):
        run_study(study, verbose=0)
    assert {r["strategy"]: r["todo"] for r in plan_study(study).plan.why() if r["todo"]} == {}
    preview = plan_study(study, overwrite_predictions=True)
    assert {r["strategy"] for r in preview.plan.why() if r["todo"]} == {strategy}
    summary = run_study(study, overwrite_predictions=True, verbose=0)
    assert (summary.n_before, summary.counts) == (4, {Status.DONE: 2})
    assert run_study(study, verbose=0).counts == {}


def test_another_name_keeps_both(study):
    edit(
        study,
        '"tree": DecisionTreeClassifier(max_depth=2),',
        """
    "tree": DecisionTreeClassifier(max_depth=2),
    "deeper": DecisionTreeClassifier(max_depth=4),""",
    )
    summary = run_study(study, verbose=0)
    assert (summary.n_before, summary.counts) == (6, {Status.DONE: 2})


def test_added_repeats_and_datasets_run_alone(study):
    table = study.with_name("tables") / "one.csv"
    (study.with_name("tables") / "two.csv").write_text(table.read_text().replace("a", "c"))
    summary = run_study(study, verbose=0)
    assert (summary.n_before, summary.counts) == (6, {Status.DONE: 6})
    study.write_text(STUDY.replace("kfold(2)", "repeated_kfold(2, 2)"))
    summary = run_study(study, verbose=0)
    assert (summary.n_before, summary.counts) == (12, {Status.DONE: 12})
