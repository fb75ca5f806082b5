"""Wrong types and values of every argument of every public function are told in one line."""

import inspect

import numpy as np
import pandas as pd
import pytest
from everything import analysis, called_in_own_tests, functions

from mlaut.analysis.common.arguments import Share, checked, floats, one_of, share
from mlaut.errors import AnalysisError, MlautError

D = [0.1, -0.05, 0.2, 0.15, -0.1, 0.3, 0.02, 0.07]
X = np.stack([D, D[::-1]], axis=1)
SCORES = pd.Series({"A": 0.9, "B": 0.8, "C": 0.7})
BETTER = pd.DataFrame([[0.5, 0.9, 0.97], [0.1, 0.5, 0.8], [0.03, 0.2, 0.5]], [*"ABC"], [*"ABC"])
WRONG = np.random.default_rng(1).random((2, 2, 20)) < 0.3
PAIR = ("A", "B")
MEASURED = {"test": "use all data", "df": 3, "test_to_train": 0.5}
SMALL = {"n_repetitions": 20, "tests": ["sign"], "seed": 0}

# arguments that are right
RIGHT = {
    "published": {"name": "garcia2008"},
    "adjust": {"p": np.array([0.01, 0.2, 0.5]), "method": "holm"},
    "bayesian_signed_rank_test": {"n_samples": 20},
    "bonferroni_dunn_test": {"control": "A"},
    "bootstrap_prob_better": {"differences": D, "prior": 1.0},
    "compare": {"n_samples": 0, "control": "A"},
    "correlated_t_datasets": {"rope": 0.01},
    "correlated_t_probabilities": {"differences": X, "rope": 0.01, "test_to_train": 0.5},
    "correlated_t_test": {"differences": X, "rope": 0.01, "strategies": PAIR, "metric": "loss"},
    "critical_difference": {"n_strategies": 4, "n_datasets": 9, "alpha": 0.05, "test": "nemenyi"},
    "cv_differences": {"pair": ["A", "B"]},
    "cv_interval": {"values": X, "confidence": 0.9, "test_to_train": 0.5, "span": 1.0},
    "cv_p_values": {"differences": X, **MEASURED},
    "cv_statistic": {"differences": X, **MEASURED},
    "cv_test": {"differences": X, **MEASURED, "strategies": PAIR, "metric": "loss"},
    "cv_test_datasets": {"df": 3, "test": "use all data"},
    "decide": {"better": BETTER, "false_share": 0.05},
    "draw_ranks": {
        "ranks": pd.Series({"A": 1.0, "B": 2.0}),
        "difference": 1.2,
        "groups": [["A", "B"]],
    },
    "elo_ratings": {"n_samples": 5},
    "error_counts": {"first": "A", "second": "B"},
    "interquartile_means": {"n_samples": 5},
    "hierarchical_probabilities": {
        "mean": np.array([0.1, 0.2, 0.0]),
        "scale": np.full(3, 0.1),
        "df": np.full(3, 9.0),
        "rope": 0.01,
    },
    "hierarchical_test": {"pair": ["A", "B"]},
    "joint_errors": {"wrong": WRONG[0]},
    "langford_bounds": {"errors": 3, "n": 20, "delta": 0.05},
    "mcnemar_p": {"only_first": 3, "only_second": 8, "method": "mid-p"},
    "mcnemar_test": {"dataset": "d0"},
    "metric": {"which": "accuracy"},
    "non_transitive_cycles": {"better": BETTER, "threshold": 0.5},
    "pareto_front": {"scores": SCORES, "seconds": 3 * SCORES, "greater_is_better": True},
    "poisson_binomial_from_probabilities": {
        "p": [0.5, 0.7],
        "strategies": PAIR,
        "prior": 1.0,
        "confidence": 0.9,
        "metric": "loss",
    },
    "poisson_binomial_pmf": {"p": [0.5, 0.7]},
    "poisson_binomial_probability": {"p": [0.5, 0.7], "prior": 1.0},
    "poisson_binomial_share": {"p": [0.5, 0.7], "prior": 1.0, "confidence": 0.9},
    "prob_better_classifier": {"only_first_wrong": 3, "only_second_wrong": 8, "prior": 1.0},
    "risk_posterior": {"errors": 3, "n": 20, "prior": (1.0, 1.0)},
    "sign_posterior": {"differences": D, "rope": 0.01, "prior": 1.0, "n_samples": 20, "seed": 0},
    "signed_rank_posterior": {"differences": D, "rope": 0.01, "n_samples": 20, "seed": 0},
    "sign_probabilities": {"differences": D, "rope": 0.01, "prior": 1.0},
    "signed_rank_probabilities": {"differences": D, "prior": 1.0, "n_samples": 20, "seed": 0},
    "time_plot": {"scores": SCORES, "seconds": 3 * SCORES, "greater_is_better": True},
    "under_treatments": {"comparison": analysis.sign_test},
}
OF_OTHERS = {  # what other functions return
    "adjust_pairs": lambda results: {"pairs": analysis.sign_test(results), "method": "holm"},
    "decision_plot": lambda results: {
        "decision": analysis.compare(results).decision(),
        "results": results,
        "top": 2,
    },
    "forest_plot": lambda results: {"tables": analysis.mean_estimates(results), "order": [*"ABC"]},
    "multi_comparison_matrix": lambda results: {
        "pairs": analysis.multi_comparison(results),
        "rows": ["A"],
        "columns": [*"BC"],
    },
    "pair_groups": lambda results: {"pairs": analysis.t_test(results), "order": [*"ABC"]},
    "pairwise_matrix": lambda results: {"pairs": analysis.t_test(results), "alpha": 0.05},
    "profile_plot": lambda results: {"table": analysis.performance_profile(results)},
    "rank_plot": lambda results: {"chances": analysis.probability_of_best(results)},
    "simplex_plot": lambda _: {"draws": analysis.sign_posterior(D, n_samples=20)},
}
BAD = [
    None, "nonsense", "", 95, -1, 0, np.nan, np.inf, True, 1j, 10**30, [], ["A", "A"], [None],
    {}, {"A": 1}, object(), len, np.array([1j, 2]), np.array([[1.0, 2.0], [3.0, 4.0]]),
    np.ma.masked_array([0.1, 0.2], mask=True), pd.DataFrame({"A": [1, 2]}),
    pd.Series(["a", "b"]), [[1, 2], [3]], ("A", "B", "C"), np.array([]), np.array([np.nan, 0.5]),
]  # fmt: skip
SHARES = {"alpha", "confidence", "delta", "level", "power"}
SKIPPED = {
    "hierarchical_probabilities": {"rope"},  # slow
    "hierarchical_test": {"rope", "pair", "metric", "greater_is_better"},
    "under_treatments": {"comparison"},  # the user's own errors
}


def public():
    """Return the functions whose arguments this file has; others have tests of their own."""
    able = {
        name
        for name in functions()
        if name in OF_OTHERS or needed(name) <= set(RIGHT.get(name, ()))
    }
    assert functions() - able <= called_in_own_tests()
    return sorted(able)


def needed(name):
    """Return the arguments without a default, but for results."""
    takes = inspect.signature(getattr(analysis, name)).parameters.values()
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    must = {p.name for p in takes if p.default is p.empty and p.kind not in several}
    return must - {"results", "new"}


def right_arguments(name, results):
    """Return what a function needs, with the defaults of what it does not."""
    if name in OF_OTHERS:
        return OF_OTHERS[name](results)
    takes = inspect.signature(getattr(analysis, name)).parameters
    given = dict(RIGHT.get(name, {}))
    if "results" in takes:
        optional = {p: v.default for p, v in takes.items() if v.default is not v.empty}
        given = {"results": results, **optional, **given}
    if "new" in takes:
        given["new"] = results
    return given


def what_is_told(function, given):
    """Return the text of MLaut's error, or nothing; other errors and warnings are not caught."""
    try:
        function(**given)
    except MlautError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def results():
    """Three strategies on five datasets, two repeats of two folds."""
    rng = np.random.default_rng(0)
    index = pd.MultiIndex.from_product([[f"d{i}" for i in range(5)], range(2), range(2)])
    table = pd.DataFrame(rng.binomial(20, [0.25, 0.3, 0.35], (20, 3)) / 20, index, [*"ABC"])
    return analysis.Results.from_table(table, metric="error", n_test=20, n_train=20)


@pytest.mark.parametrize("name", public())
def test_wrong_arguments_are_told_in_one_line(name, results):
    """Each call returns a result or raises an error of MLaut; warnings count as errors."""
    function, right = getattr(analysis, name), right_arguments(name, results)
    needs_a_study = name in (
        "error_counts",
        "mcnemar_test",
        "poisson_binomial_test",
    )
    if not needs_a_study and name != "hierarchical_test":
        with np.errstate(all="raise"):  # of a session: the analysis has an error state of its own
            function(**right)
    for argument in set(right) - SKIPPED.get(name, set()):
        for bad in BAD:
            if isinstance(right[argument], bool) and isinstance(bad, bool):
                continue
            told = what_is_told(function, {**right, argument: bad})
            assert "\n" not in told, (argument, bad)
            assert len(told) < 400, (argument, bad)
            if not told and not (bad is None and right[argument] is None):
                assert argument not in SHARES | {"as_scores", "results"}, (argument, bad)


def test_a_comparison_is_taken_for_its_results(results):
    found = analysis.average_ranks(analysis.compare(results))
    assert found.frame.equals(analysis.average_ranks(results).frame)


@pytest.mark.parametrize("name", sorted(SHARES))
@pytest.mark.parametrize("bad", [95, -1, 0, 1, np.nan, np.inf, "0.95", None, True, [0.95]])
def test_a_share_is_between_0_and_1(name, bad):
    with pytest.raises(AnalysisError, match=f"{name} = .* is not between 0 and 1, for example 0"):
        share(name, bad)
    share(name, np.float32(0.5))


def test_ties_are_corrected_or_not(results):
    with pytest.raises(AnalysisError, match="ties = 'ignore' is neither True nor False"):
        analysis.friedman_test(results, ties="ignore")
    with pytest.raises(AnalysisError, match="the tie rule 'ignore' is not known"):
        analysis.sign_test(results, ties="ignore")


def test_numbers_are_taken_as_they_are():
    assert floats("x", [1, 2.5]).tolist() == [1.0, 2.5]
    assert floats("x", np.array([1, 2.5], dtype=object)).dtype == float
    given = np.array([0.1, 0.2])
    assert floats("x", given) is given
    for bad in ([1j], ["a"], [None], [[1], [1, 2]], None, object()):
        with pytest.raises(AnalysisError, match="x "):
            floats("x", bad)


def test_a_checked_function_is_itself():
    def of(results, confidence: Share = 0.95):
        """Say it."""
        return results, confidence

    with np.errstate(all="raise"):
        assert checked(lambda x: np.exp(-x))(1000.0) == 0
        assert set(np.geterr().values()) == {"raise"}
    again = checked(of)
    assert (again.__name__, again.__doc__) == ("of", "Say it.")
    assert inspect.signature(again) == inspect.signature(of)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'results'"):
        again()


def test_the_level_of_a_comparison_is_that_of_its_critical_differences(results):
    found = analysis.compare(results, alpha=0.1, control="A", n_samples=0)
    told = f"critical difference {found.critical_difference:.6g} at level 0.1"
    assert any(told in note for note in found.pairs["Nemenyi"].notes)
    dunn = analysis.critical_difference(3, 5, alpha=0.1, test="bonferroni-dunn")
    assert f"critical difference {dunn:.6g} at level 0.1" in found.control.notes
    assert not any("at level 0.05" in note for note in found.notes)


WIDE = pd.DataFrame({"A": [0.1, 0.2, 0.3], "B": [0.2, 0.3, 0.1]}, index=[*"xyz"])
LONG = pd.DataFrame({"dataset": [*"xxyy"], "strategy": [*"ABAB"], "loss": [0.1, 0.2, 0.3, 0.4]})
OF_RESULTS = {
    "from_table": {
        "table": WIDE,
        "metric": "error",
        "greater_is_better": False,
        "n_test": 10,
        "n_train": 5,
    },
    "from_long": {
        "table": LONG,
        "value": "loss",
        "dataset": "dataset",
        "strategy": "strategy",
        "fold": None,
        "metric": "error",
        "greater_is_better": False,
    },
    "from_study": {"study": "none.h5", "metric": "accuracy", "strategies": None, "datasets": None},
    "from_blocks": {"blocks": [], "metric": "accuracy", "strategies": None},
    "select": {"datasets": ["x"], "strategies": ["A"]},
    "complete": {"datasets": 1, "strategies": 1},
    "points": {"dataset": "x"},
}


@pytest.mark.parametrize("name", OF_RESULTS)
def test_so_are_those_of_results(name):
    method = getattr(analysis.Results.from_table(WIDE, metric="error", n_test=20), name)
    for argument in OF_RESULTS[name]:
        for bad in BAD:
            told = what_is_told(method, {**OF_RESULTS[name], argument: bad})
            assert "\n" not in told, (argument, bad)
            assert len(told) < 400, (argument, bad)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("average_and_std_error", {"scenario": "(c)", "method": "t", "confidence": 0.9}),
        ("t_test", {"alternative": "better"}),
        ("wilcoxon_test", {"zeros": "wilcox"}),
        ("sign_test", {"ties": "trinomial"}),
        ("friedman_test", {}),
        ("plot_critical_difference", {"alpha": 0.05}),
    ],
)
def test_and_those_of_analyse_results(name, how):
    method = getattr(analysis.AnalyseResults(), name)
    right = {"errors": WIDE, **how}
    method(**right)
    for argument in right:
        for bad in BAD:
            told = what_is_told(method, {**right, argument: bad})
            assert "\n" not in told, (argument, bad)
            assert told or argument not in SHARES, (argument, bad)


def test_a_misspelt_argument_is_told_with_its_function(results):
    with pytest.raises(
        AnalysisError, match=r"^unknown option 'confidenc' of t_test; did you mean 'confidence'\?$"
    ):
        analysis.t_test(results, confidenc=0.9)


def test_what_may_be_chosen_has_no_empty_name():
    with pytest.raises(AnalysisError, match=r"test 'u' is not known; one of 'sign', 't'$"):
        one_of("test", "u", ("", "sign", "t"))
