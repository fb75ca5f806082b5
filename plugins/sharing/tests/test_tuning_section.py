"""The same search and budget for all strategies: [tuning], options of a run, the command line."""

import json
import pickle
import sys
from inspect import signature

import numpy as np
import pytest
from click.testing import CliRunner

from mlaut import Study
from mlaut.analysis import budget_use, search_traces
from mlaut.cli import cli as main
from mlaut.errors import OptionalPackageError, StrategyError, StudyError
from mlaut.estimators import BudgetedSearch, GridSearch, as_strategies
from mlaut.estimators.catalogue.strategies import tuned_as
from mlaut.estimators.searches.traces import search_in
from mlaut.experiments import plan_study, run_study
from mlaut.experiments.study_files.choices import choose_strategies
from mlaut.experiments.study_files.study_file import read_study_file
from mlaut.identity.describer import class_path

FILE = """
[data]
collection = "starter"
datasets = ["iris"]
[strategies]
names = ["K_Neighbours", "LogisticRegression", "GaussianNaiveBayes"]
[strategies.parameters.LogisticRegression]
search = "grid"
[strategies.parameters.K_Neighbours.search_space]
n_neighbors = {low = 1, high = 40, log = true}
p = [1, 2]
[tuning]
search = "random"
budget = "6 evaluations"
[run]
engine = "inline"
"""

GRIDS = """
[data]
collection = "starter"
datasets = ["iris"]
[strategies]
names = ["K_Neighbours", "balanced(SVC)", "GaussianNaiveBayes"]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(FILE)
    return path


def test_the_section_holds_for_all_strategies_that_tune_and_have_no_own_search(file):
    neighbours, logistic, bayes = choose_strategies(read_study_file(file))
    assert (neighbours.search, neighbours.budget) == ("random", "6 evaluations")
    assert (logistic.search, logistic.budget) == ("grid", "6 evaluations")
    assert (bayes.search, bayes.budget) == (None, None)


def test_the_command_line_runs_it_and_replaces_its_keys(file):
    ran = CliRunner().invoke(main, ["run", str(file), "-q"], catch_exceptions=False)
    assert ran.exit_code == 0
    table = budget_use(file.with_name("study.h5"))
    assert table["evaluations"].to_dict() == {"K_Neighbours": 6, "LogisticRegression": 6}
    assert table["search"].to_dict() == {"K_Neighbours": "random", "LogisticRegression": "grid"}
    assert set(table["kept"]) == {"yes"}
    traces = search_traces(file.with_name("study.h5"), strategies="K_Neighbours")
    assert all(1 <= params["n_neighbors"] <= 40 for params in traces["params"])

    again = ["plan", str(file), "--json", "--set", "budget=7 evaluations"]
    planned = CliRunner().invoke(main, again, catch_exceptions=False)
    assert "K_Neighbours" in json.loads(planned.stdout)["refusals"][0]


def test_tuning_belongs_to_its_section_and_mistakes_are_found_before_the_run(file):
    file.write_text(FILE.replace('engine = "inline"', 'budget = "9"'))
    with pytest.raises(StudyError, match=r"unknown key 'budget' in \[run\]"):
        read_study_file(file)
    file.write_text(FILE.replace('"6 evaluations"', '"soon"'))
    ran = CliRunner().invoke(main, ["plan", str(file)])
    assert "budget 'soon': not a budget above 0" in ran.output + str(ran.exception)


def test_a_run_takes_the_same_options_and_another_budget_is_another_strategy(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets("starter/iris")
    options = {"engine": "inline", "verbose": 0, "search": "random"}
    study.run("K_Neighbours", budget=4, **options)
    assert len(search_traces(study.path)) == 4
    assert "nothing to do" in str(study.run("K_Neighbours", budget=4, **options))
    with pytest.raises(StudyError, match="parameters"):
        study.run("K_Neighbours", budget=5, **options)
    with pytest.raises(StrategyError, match="no search is called"):
        study.run("K_Neighbours", search="rndom", verbose=0)
    assert study.save_models(engine="inline") == 1  # the strategy is found as the run tuned it


def test_a_range_in_a_study_file_that_is_none_is_refused(file):
    file.write_text(FILE.replace("high = 40", "hihg = 40"))
    (strategy, *_) = choose_strategies(read_study_file(file))
    with pytest.raises(StrategyError, match=r"n_neighbors = .* is no range"):
        strategy.assemble()


def test_searches_of_other_libraries_and_untuned_strategies_are_left_alone():
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    own = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]})
    (strategy,) = tuned_as(as_strategies(own), "random(5)", "10m")
    assert (strategy.search, strategy.budget) == (None, None)


def test_a_strategy_inside_another_is_tuned_within_the_budget_of_the_run(tmp_path):
    names = [f"{word}(DecisionTreeClassifier)" for word in ("balanced", "thresholded")]
    study = Study(tmp_path / "study.h5")
    study.add_datasets("starter/hepatitis")
    study.run(names, search="random", budget=3, engine="inline", verbose=0)
    found = search_traces(study.path)
    assert found.groupby("strategy").size().to_dict() == dict.fromkeys(names, 3)
    assert set(found["search"]) == {"random"}


def test_each_fold_of_a_calibration_has_the_search_of_the_run():
    (strategy,) = tuned_as(as_strategies("calibrated(DecisionTreeClassifier)"), "random(2)")
    rows = np.arange(60.0).reshape(-1, 1)
    fitted = strategy.fit(rows, np.where(rows[:, 0] % 7 > 2, "high", "low"))
    folds = fitted.estimator_.estimator_.calibrated_classifiers_
    searches = [search_in(fold.estimator) for fold in folds]
    assert [len(search.cv_results_["params"]) for search in searches] == [2] * 5


def test_a_study_of_a_study_file_goes_on_from_python_by_the_search_of_its_file(file):
    assert run_study(file, verbose=0).n_done == 3
    study = Study(file.with_name("study.h5"))
    with pytest.raises(
        StudyError, match=r"BudgetedSearch -> .*; an earlier run had search='random"
    ):
        study.run(["GaussianNaiveBayes", "K_Neighbours"], engine="inline", verbose=0)


def test_strategies_whose_budget_is_a_time_are_named_by_the_plan(file):
    text = FILE.replace('search = "random"\nbudget = "6 evaluations"', 'search = "grid"')
    file.write_text(
        text.replace('[strategies.parameters.LogisticRegression]\nsearch = "grid"\n', "")
    )
    for budget in ("1m", "1m cpu"):
        limits = plan_study(file, budget=budget, search="random").plan.limits
        assert limits.endswith("as timeout does: K_Neighbours, LogisticRegression")
    assert plan_study(file, search="random", budget="5 evaluations").plan.limits == ""


def test_strategies_whose_search_a_time_cannot_end_at_once_are_named(file):
    file.write_text(GRIDS)
    said = (
        "the time limit of a search ends neither a fit under way (forests, bagging and gradient "
        "boosting that share work stop between two trees) nor the final fit, as timeout does: "
    )
    preview = plan_study(file, tuning_timeout="1m")
    assert preview.plan.limits == f"{said}K_Neighbours, balanced(SVC)"
    assert str(preview).splitlines()[1] == preview.to_dict()["limits"] == preview.plan.limits
    for changes in ({}, {"timeout": "1m"}):
        preview = plan_study(file, **changes)
        assert preview.plan.limits == preview.to_dict()["limits"] == ""
        assert "time limit" not in str(preview)


def test_without_the_plugin_a_search_beyond_the_grid_names_it(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlaut_sharing", None)
    with pytest.raises(
        OptionalPackageError, match=r"in the plug-in mlaut-sharing: 'pip install \./pl"
    ):
        run_study(file, verbose=0)
    (strategy,) = as_strategies("K_Neighbours")
    assert strategy.assemble() is not None  # a grid needs none


def test_a_signature_has_the_parameters_of_a_grid_search_and_its_own():
    names = set(signature(BudgetedSearch).parameters)
    assert names == set(signature(GridSearch).parameters) | {"search", "budget", "random_state"}
    assert names == set(BudgetedSearch._get_param_names())


def test_a_search_within_a_budget_is_pickled_by_the_name_that_studies_know():
    assert pickle.loads(pickle.dumps(BudgetedSearch)) is BudgetedSearch
    assert class_path(BudgetedSearch) == "mlaut.estimators.BudgetedSearch"
