"""Plans: wanted minus done, with the reason for each."""

import re
from dataclasses import replace
from importlib.metadata import PackageNotFoundError

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mlaut import Data, Generic_Estimator, Orchestrator
from mlaut.data import from_frame
from mlaut.errors import OptionalPackageError, StrategyError, StudyError
from mlaut.estimators import as_strategies
from mlaut.estimators.catalogue import registry
from mlaut.experiments.cells.cell_input import cell_seed
from mlaut.experiments.plans.entries import changed_parameters, strategy_entries
from mlaut.experiments.plans.plan import applicable, make_plan
from mlaut.experiments.plans.run_options import parse_retry
from mlaut.files_io import SplitEntry, StrategyEntry, StudyStore
from mlaut.records import CLASSIFICATION, REGRESSION, Cell, Outcome, Split, Status


def entry(name, task=CLASSIFICATION):
    truth = np.array([0, 1, 0, 1], dtype=np.int32)
    split = Split(np.array([[0, 0, 1, 1], [0, 1, 1, 0]], dtype=np.int16), "by hand")
    return SplitEntry(name, f"/{name}", task, "f", ("a", "b"), truth, split)


@pytest.fixture
def study(tmp_path):
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([entry("one"), entry("two")])
    study.allocate([StrategyEntry("A", "a", {"C": 1}), StrategyEntry("B", "b")])
    good = np.array([0, 1], dtype=np.int32)
    with study.writing() as writer:
        writer.write(
            Outcome(Cell("one", "A", 0, 0), Status.DONE, good),
            Outcome(Cell("one", "A", 1, 1), Status.TIMEOUT),
            Outcome(Cell("one", "B", 0, 1), Status.CRASHED),
        )
    return study


def plan_of(study, wanted, retry=()):
    names = sorted({name for names in wanted.values() for name in names})
    return make_plan(study, wanted, parse_retry(retry, names))


def test_what_is_done_or_failed_is_not_run(study):
    plan = plan_of(study, {"one": ["A", "B"], "two": ["B"]})
    assert (plan.n_cells, plan.n_todo) == (12, 9)
    groups = {(e.name, s): cells for e, s, cells in plan.groups()}
    assert groups["one", "A"] == ((0, 1), (1, 0))
    assert ("two", "A") not in groups
    assert plan.before.total[Status.MISSING] == 9


def test_failures_come_back_by_status_and_strategy(study):
    wanted = {"one": ["A", "B"]}
    assert plan_of(study, wanted, ["timeout", "crashed"]).n_todo == 7
    assert plan_of(study, wanted, {"A": ["timeout", "crashed"]}).n_todo == 6
    assert plan_of(study, wanted, {"B": ["timeout"]}).n_todo == 5


def because(plan):
    return [(row["strategy"], row["cells"], row["todo"], row["because"]) for row in plan.why()]


def test_why_names_the_reason_of_each_group(study):
    assert because(plan_of(study, {"one": ["A"]}, ["crashed"])) == [
        ("A", 2, 2, "not run yet"),
        ("A", 1, 0, "done"),
        ("A", 1, 0, "failed before: timeout (not tried again)"),
    ]
    plan = plan_of(study, {"one": ["A", "B"], "two": ["B"]}, ["timeout", "crashed"])
    rows = {(row["strategy"], row["because"]): row for row in plan.why()}
    assert rows["A", "tried again: timeout"]["todo"] == 1
    assert rows["B", "not run yet"]["cells"] == 7
    assert rows["B", "not run yet"]["datasets"] == "one, two"


def test_what_is_too_large_is_skipped_until_it_is_asked_for(study):
    wanted, retry = {"one": ["A", "B"], "two": ["B"]}, parse_retry((), ["A", "B"])
    large = {"one": {"A": "4 rows are too many"}, "two": {}}
    plan = make_plan(study, wanted, retry, size_reasons=large)
    assert (plan.n_cells, plan.n_todo, plan.n_skipped) == (12, 7, 2)
    assert because(plan)[:3] == [
        ("A", 2, 0, "skipped: 4 rows are too many"),
        ("A", 1, 0, "done"),
        ("A", 1, 0, "failed before: timeout (not tried again)"),
    ]
    with study.writing() as writer:
        cells = (Cell("one", "A", *at) for at in ((0, 1), (1, 0)))
        writer.write(*(Outcome(cell, Status.SKIPPED) for cell in cells))
    again = make_plan(study, wanted, retry, size_reasons=large)
    assert (again.n_todo, again.n_skipped) == (7, 0)
    assert ("A", 2, 0, "skipped: 4 rows are too many") in because(again)
    asked = make_plan(study, wanted, retry)
    assert (asked.n_todo, asked.n_skipped) == (9, 0)
    assert ("A", 2, 2, "tried again: skipped") in because(asked)


def test_what_is_new_is_told_apart(study):
    more = replace(entry("one").split, folds=np.vstack([entry("one").split.folds, [[0, 1, 0, 1]]]))
    entries = {
        "one": replace(entry("one"), split=more),
        "two": entry("two"),
        "three": entry("three"),
    }
    wanted = {name: ["A", "C"] for name in entries}
    before = study.status("one")
    plan = make_plan(study, wanted, {}, splits=entries)
    assert because(plan) == [
        ("A", 6, 6, "not run yet"),
        ("A", 1, 0, "done"),
        ("A", 1, 0, "failed before: timeout (not tried again)"),
        ("A", 2, 2, "new repeats"),
        ("A", 4, 4, "new dataset"),
        ("C", 14, 14, "new strategy"),
    ]
    assert plan.refusals == ()
    assert study.datasets == ("one", "two")
    np.testing.assert_array_equal(study.status("one"), before)


def test_changed_parameters_are_a_refusal_until_they_may_be_replaced(study):
    now = [StrategyEntry("A", "a2", {"C": 2}), StrategyEntry("B", "b")]
    wanted = {"one": ["A", "B"]}
    plan = make_plan(study, wanted, {}, entries=now)
    assert ("A", 4, 0, "parameters changed: C: 1 -> 2 (refused)") in because(plan)
    with pytest.raises(StudyError, match=r"'A' was run with other parameters \(C: .*new name, or"):
        plan.check()
    plan = make_plan(study, wanted, {}, entries=now, replace_changed=True)
    assert ("A", 4, 4, "parameters changed: C: 1 -> 2") in because(plan)
    plan.check()
    assert plan.before.total == {Status.MISSING: 7, Status.CRASHED: 1}


def test_changed_data_or_split_are_refusals(study):
    other = {
        "one": replace(entry("one"), fingerprint="g"),
        "two": replace(entry("two"), split=Split(entry("two").split.folds[:, ::-1], "reversed")),
    }
    plan = make_plan(study, {name: ["B"] for name in other}, {}, splits=other)
    assert because(plan) == [
        ("B", 4, 0, "data changed: f -> g (refused)"),
        ("B", 4, 0, "split changed: by hand -> reversed (refused)"),
    ]
    assert [type(refusal) for refusal in plan.refusals] == [StudyError, StudyError]
    assert plan.n_todo == 0


def test_a_plan_needs_no_study(study):
    plan = make_plan(None, {"one": ["A"]}, {}, splits={"one": entry("one")})
    assert because(plan) == [("A", 4, 4, "new strategy")]


def test_strategies_run_on_datasets_of_their_task():
    strategies = as_strategies(["GaussianNaiveBayes", "Lasso"])
    suited = applicable([entry("c"), entry("r", REGRESSION)], strategies)
    assert suited == {"c": ["GaussianNaiveBayes"], "r": ["Lasso"]}
    with pytest.raises(StrategyError, match="strategy 'Lasso' is for Regression, and the datasets"):
        applicable([entry("c")], strategies)
    with pytest.raises(StrategyError, match="dataset 'r' is for Regression, and none of the strat"):
        applicable([entry("c"), entry("r", REGRESSION)], strategies[:1])


def test_words_for_many_give_what_fits_the_task_of_the_data():
    everything = as_strategies(["scikit-learn"])
    suited = applicable([entry("c")], everything)["c"]
    assert "SVC" in suited
    assert "Lacoste_SVM" in suited
    assert not {"SVR", "Lasso"} & set(suited)
    both = applicable([entry("c"), entry("r", REGRESSION)], everything)
    assert "SVR" in both["r"]
    with pytest.raises(StrategyError, match="dataset 'c' is for Classification, and none of the"):
        applicable([entry("c")], as_strategies("Regression"))
    with pytest.raises(StrategyError, match="strategy 'SVR' is for Regression, and the datasets"):
        applicable([entry("c")], as_strategies(["Support_Vector_Machines", "SVR"]))


def test_what_is_not_installed_is_told_before_a_run(monkeypatch):
    def version(package):
        if package == "keras":
            raise PackageNotFoundError

    monkeypatch.setattr(registry, "version", version)
    networks = as_strategies("Neural_Networks")
    message = (
        "strategies 'NN-4-layer_thin_dropout_lr001', 'NN-4-layer_thin_dropout_lr01' and 16 more "
        "need keras, which is not installed here: pip install 'mlaut[keras]', or leave them out"
    )
    with pytest.raises(OptionalPackageError, match=re.escape(message)):
        applicable([entry("c")], networks)
    forest = as_strategies("RandomForestClassifier")
    assert applicable([entry("c")], forest) == {"c": ["RandomForestClassifier"]}


def test_differences_are_named_by_their_path():
    old = StrategyEntry("s", "1", {"params": {"C": 1, "steps": [["scale", {"m": True}]]}, "x": 1})
    new = StrategyEntry("s", "2", {"params": {"C": 2, "steps": [["scale", {"m": False}]]}, "y": 1})
    assert changed_parameters(old, new) == [
        "params.C: 1 -> 2",
        "params.steps.scale.m: True -> False",
        "x: 1 -> (absent)",
        "y: (absent) -> 1",
    ]


def test_steps_that_came_or_went_are_named_once():
    piped = make_pipeline(StandardScaler(), KNeighborsClassifier())
    learners = [("knn", piped), ("knn", KNeighborsClassifier())]
    old, new = (strategy_entries(as_strategies([learner]))[0] for learner in learners)
    knn = "sklearn.neighbors._classification.KNeighborsClassifier"
    assert changed_parameters(old, new) == [
        f"class: (absent) -> {knn}",
        f"kneighborsclassifier__class: {knn} -> (absent)",
        "preprocessing__class: (absent) -> mlaut.estimators.Preprocessor",
        "standardscaler__class: sklearn.preprocessing._data.StandardScaler -> (absent)",
    ]


def test_seeds_follow_from_the_key_alone():
    seeds = {
        cell_seed(seed, Cell(dataset, strategy, repeat, fold))
        for seed in range(3)
        for dataset in ("a", "ab")
        for strategy in ("b", "")
        for repeat in range(2)
        for fold in range(2)
    }
    assert len(seeds) == 48
    assert cell_seed(0, Cell("iris", "SVC", 1, 2)) == 2442951983


@pytest.mark.parametrize(
    "retry", ["timeout", ["timeout"], {"SVC": "timeout"}, {"SVC": ["timeout"]}]
)
def test_one_status_to_retry_is_a_word_or_a_list(retry):
    with pytest.raises(
        StudyError, match="retry 5: not the status of a failed cell; use error, timeout"
    ):
        parse_retry(5, ["SVC"])
    assert parse_retry(retry, ["SVC"]) == {"SVC": frozenset([Status.TIMEOUT])}


def test_a_status_that_is_misspelt_is_answered_with_the_nearest():
    with pytest.raises(
        StudyError,
        match=r"retry 'timout': not the status of a failed cell; did you mean 'timeout'\?",
    ):
        parse_retry("timout", ["SVC"])


def test_a_plan_shows_its_numbers_refusals_and_reasons(study):
    now = [StrategyEntry("A", "a2", {"C": 2}), StrategyEntry("B", "b")]
    plan = make_plan(study, {"one": ["A", "B"]}, {}, entries=now)
    plan = replace(plan, versions="two versions", limits="one limit")
    assert str(plan).splitlines() == [
        "8 cells, 3 to do",
        "refused: strategy 'A' was run with other parameters (C: 1 -> 2); restore them, give it a "
        "new name, or pass overwrite_predictions=True to run it again",
        "two versions",
        "one limit",
    ]
    page = plan._repr_html_()
    assert "8 cells, 3 to do" in page
    assert all(row["because"].replace(">", "&gt;") in page for row in plan.why())


def test_what_was_raced_out_runs_when_the_race_is_completed(study):
    with study.writing() as writer:
        writer.write(Outcome(Cell("two", "B", 0, 1), Status.RACED_OUT, reason="after 1 dataset"))
    assert because(plan_of(study, {"two": ["B"]})) == [
        ("B", 3, 3, "not run yet"),
        ("B", 1, 0, "raced out ('mlaut run --complete' runs it)"),
    ]


def test_a_run_needs_a_strategy():
    with pytest.raises(StrategyError, match=r"^no strategy to run: name one or more, as in run\('"):
        applicable([entry("c")], [])


@pytest.fixture
def weighted(tmp_path):
    """Return the runner of a study of one dataset, whose rows have weights."""
    rows = np.arange(12.0)
    frame = pd.DataFrame({"a": rows, "w": rows + 1, "y": ["no", "yes"] * 6})
    input_io, out_io = (Data().open_hdf5(tmp_path / name, "a") for name in ("in.h5", "study.h5"))
    input_io.save_datasets([from_frame(frame, "y", name="d", roles={"weight": "w"})])
    Data().split_datasets(input_io, out_io, scheme="kfold(2)")
    return Orchestrator(input_io, out_io)


def test_weights_that_a_strategy_cannot_use_are_a_refusal(weighted):
    neighbours = {f"{k}-NN": KNeighborsClassifier(k) for k in (1, 3)}
    for left_out, it in (("1-NN", "it"), ("1-NN, 3-NN", "them")):
        chosen = {name: neighbours[name] for name in left_out.split(", ")}
        (refusal,) = weighted.plan({**chosen, "bayes": GaussianNB()}).refusals
        assert isinstance(refusal, StrategyError)
        assert str(refusal) == (
            "dataset 'd' has weights, and fit takes no sample_weight in "
            f"{left_out}; leave {it} out, or give the column of weights the role ignore"
        )
    assert weighted.plan({"bayes": GaussianNB()}).refusals == ()


def test_a_search_that_tunes_by_a_score_of_its_own_is_noted(weighted):
    own = Generic_Estimator(
        DecisionTreeClassifier(), name="own", param_grid={"max_depth": [1, 2]}, scoring="f1_macro"
    )
    strategies = [own, ("bayes", GaussianNB())]
    plan = weighted.plan(strategies)
    assert plan.notes == {"own": ("tunes by f1_macro",), "bayes": ()}
    assert plan.limits == ""


def test_folds_of_groups_and_the_datasets_without_that_role_are_noted(tmp_path):
    input_io, out_io = (Data().open_hdf5(tmp_path / name, "a") for name in ("in.h5", "study.h5"))
    frame = pd.DataFrame({"a": np.arange(12.0), "g": [*"abc"] * 4, "y": ["no", "yes"] * 6})
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [0.1]}, cv=GroupKFold(2))
    for name, roles, scheme, without in (
        ("one", {"group": "g"}, "kfold_by_role(2)", ""),
        ("two", {}, "kfold(2)", "; fails without a column of that role: two"),
        ("six", {}, "kfold(2)", "; fails without a column of that role: six, two"),
    ):
        paths = input_io.save_datasets([from_frame(frame, "y", name=name, roles=roles)])
        Data().split_datasets(input_io, out_io, paths, scheme=scheme)
        plan = Orchestrator(input_io, out_io).plan({"search": search, "bayes": GaussianNB()})
        said = f"its own folds get the role group{without}"
        assert plan.notes == {"search": (said,), "bayes": ()}
