"""Results from tables and studies: labels, direction, gaps, choices, and bad input."""

import contextlib
import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from sklearn.metrics import fbeta_score, make_scorer

from mlaut import Study
from mlaut.analysis import (
    Results,
    average_ranks,
    compare,
    critical_difference_diagram,
    metric,
    read_results,
    treat_missing,
)
from mlaut.errors import AnalysisError, MissingCellsError
from mlaut.records import Status
from mlaut.report import make_report

WIDE = pd.DataFrame(
    {"tree": [0.9, 0.8, 0.7], "forest": [0.95, 0.85, 0.8]}, index=["iris", "wine", "zoo"]
)


# ------------------------------------------------------------------------- tables


def test_a_table_of_another_form_is_told_what_reads_it():
    long = pd.DataFrame({"model": ["a", "b"], "seed": [0, 0], "f1": [0.7, 0.8]})
    with pytest.raises(AnalysisError, match=r"read_results\(table, metric\) takes other forms"):
        Results.from_table(long, metric="f1")
    seeds = pd.DataFrame({"a": [0.7, 0.8], "b": [0.6, 0.7]}, index=pd.Index([0, 1], name="seed"))
    with pytest.raises(AnalysisError, match=r"read_results\(table, metric\) .* of one dataset"):
        compare(seeds, metric="f1")
    with pytest.raises(AnalysisError) as caught:
        read_results(seeds, "f1")
    call = "read_results(table, 'f1', columns={'strategy': 'columns'})"
    assert str(caught.value).endswith(f": {call}")
    assert eval(call, {"read_results": read_results, "table": seeds}).strategies == ("a", "b")


def test_a_wide_table_with_a_known_metric():
    results = Results.from_table(WIDE, metric="accuracy")
    assert results.datasets == ("iris", "wine", "zoo")
    assert results.strategies == ("tree", "forest")
    assert results.losses.loc["zoo", "tree"] == pytest.approx(0.3)
    assert results.scores.loc["zoo", "tree"] == 0.7
    assert (
        results.sentence()
        == "accuracy of 2 strategies on 3 datasets, 1 x 1 folds, no missing cells."
    )
    assert "forest" in results._repr_html_()


def test_a_table_of_folds():
    index = pd.MultiIndex.from_product([["a", "b"], [1, 2], [1, 2, 3]])
    table = pd.DataFrame({"A": np.arange(12.0), "B": 1.0}, index=index)
    results = Results.from_table(table, greater_is_better=False)
    assert results.cell_losses.shape == (2, 2, 2, 3)
    assert results.losses["A"].tolist() == [2.5, 8.5]
    assert results.fold_losses["A"].tolist() == list(range(12))
    assert results.fold_losses.index.names == ["dataset", "repeat", "fold"]


def test_a_second_level_is_folds_or_repeats_by_its_name():
    for name, shape in (("fold", (1, 1, 1, 2)), ("run", (1, 1, 2, 1))):
        index = pd.MultiIndex.from_product([["a"], [1, 2]], names=["dataset", name])
        table = pd.DataFrame({"A": [0.1, 0.2]}, index=index)
        assert Results.from_table(table, greater_is_better=False).cells.shape == shape


def test_datasets_may_have_different_numbers_of_folds():
    index = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["dataset", "fold"])
    results = Results.from_table(
        pd.DataFrame({"A": [1.0, 3.0, 5.0]}, index=index), greater_is_better=False
    )
    assert results.losses["A"].tolist() == [2.0, 5.0]
    assert results.missing.empty


def test_a_long_table_in_any_order():
    rows = pd.DataFrame(
        {
            "task": ["zoo", "iris", "iris", "zoo"],
            "framework": ["B", "A", "B", "A"],
            "fold": [0, 0, 0, 0],
            "acc": [0.4, 0.1, 0.2, 0.3],
        }
    )
    results = Results.from_long(
        rows, value="acc", dataset="task", strategy="framework", fold="fold", metric="accuracy"
    )
    assert results.datasets == ("zoo", "iris")
    assert results.strategies == ("B", "A")
    assert results.scores.loc["zoo"].tolist() == [0.4, 0.3]


def test_sizes_of_test_sets_give_standard_errors():
    results = Results.from_table(WIDE, metric="accuracy", n_test=[10, 20, 30])
    expected = np.sqrt(0.9 * 0.1 / 9)
    assert results.standard_errors.loc["iris", "tree"] == pytest.approx(expected)
    by_name = Results.from_table(
        WIDE, metric="accuracy", n_test=pd.Series({"zoo": 30, "wine": 20, "iris": 10})
    )
    assert by_name.standard_errors.equals(results.standard_errors)
    with pytest.raises(AnalysisError, match="positive number for every row"):
        Results.from_table(WIDE, metric="accuracy", n_test=[10, 20, 0])
    with pytest.raises(AnalysisError, match=r"scenario \(a\) needs the point losses"):
        _ = Results.from_table(WIDE, metric="accuracy").standard_errors


def test_a_table_of_another_library_is_taken_where_one_of_pandas_is():
    polars = pytest.importorskip("polars")
    table = polars.from_pandas(WIDE.rename_axis("dataset").reset_index())
    expected = Results.from_table(WIDE, metric="accuracy")
    assert_frame_equal(Results.from_table(table, metric="accuracy").scores, expected.scores)
    assert compare(table, metric="accuracy").sentences() == compare(expected).sentences()
    assert_frame_equal(average_ranks(table, metric="accuracy").frame, average_ranks(expected).frame)
    assert make_report(table, "accuracy").sections[0].sentences


def test_a_metric_that_is_defined_nowhere_is_named_with_the_reason(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets("starter/iris")
    study.run(["BaselineClassifier"], engine="inline", verbose=0)
    of_no_class = make_scorer(fbeta_score, beta=2, pos_label="none")
    results = study.results(of_no_class)
    with pytest.raises(
        AnalysisError,
        match=r"no cell has a fbeta_score\(.* is not defined .*\((Target is multi|pos_label)",
    ):
        treat_missing(results, "failures last")


@pytest.mark.parametrize(
    ("table", "how", "message"),
    [
        (WIDE, {"metric": "mine"}, "the direction of 'mine' is not known"),
        (WIDE, {"metric": "mapee"}, "or the name of a metric; did you mean 'mape'?"),
        (WIDE * 200, {"metric": "accuracy"}, "within 0 and 1, and 'tree' has 180 on 'iris'"),
        (WIDE.rename(columns={"tree": "forest"}), {}, "strategy 'forest' comes more than once"),
        (WIDE.rename(index={"wine": "iris"}), {}, "several rows for 'iris'"),
        (WIDE.replace(0.9, np.inf), {}, "score of 'tree' on 'iris' is infinite: leave it empty"),
        (WIDE.replace(0.9, np.inf), {"metric": "r2"}, "score of 'tree' on 'iris' is infinite"),
        (WIDE * 1e200, {}, r"as large as \de\+199, and squares .*: change the units, or leave it"),
        (WIDE * 1e-165, {}, r"no score is larger than \de-166, and .* change the units"),
        (WIDE.assign(name="x"), {}, r"'name' of the table holds .*, for example 'x'"),
        (WIDE[[]], {}, "not an empty one"),
        (WIDE.iloc[:0], {}, "not an empty one"),
        ([[0.1]], {}, "not list"),
    ],
)
def test_bad_tables_are_errors_of_one_line(table, how, message):
    with pytest.raises(AnalysisError, match=message) as raised:
        Results.from_table(table, **(how or {"greater_is_better": False}))
    assert "\n" not in str(raised.value)


def test_bad_long_tables():
    rows = pd.DataFrame({"dataset": ["a", "a"], "strategy": ["A", "A"], "loss": [1.0, 2.0]})
    with pytest.raises(AnalysisError, match="the table has 1 repeated row, the first: a, A; drop"):
        Results.from_long(rows, value="loss", greater_is_better=False)
    with pytest.raises(AnalysisError, match=r"column 'los' .* did you mean 'loss'"):
        Results.from_long(rows, value="los", greater_is_better=False)


# ------------------------------------------------------------------- missing cells


def test_missing_cells_are_listed_and_never_dropped():
    table = WIDE.copy()
    table.loc["wine", "tree"] = np.nan
    results = Results.from_table(table, metric="accuracy")
    assert results.missing.to_dict("records") == [
        {"dataset": "wine", "strategy": "tree", "repeat": 0, "fold": 0, "reason": "missing"}
    ]
    assert len(results.losses) == 3
    with pytest.raises(MissingCellsError, match="1 of 6 cells have no accuracy") as raised:
        results.complete()
    for word in ("tree (1)", "wine", "drop datasets", "fallback"):
        assert word in str(raised.value)


def test_one_missing_fold_makes_the_mean_missing():
    index = pd.MultiIndex.from_product([["a"], [1, 2]], names=["dataset", "fold"])
    table = pd.DataFrame({"A": [0.1, np.nan], "B": [0.1, 0.2]}, index=index)
    losses = Results.from_table(table, greater_is_better=False).losses
    assert np.isnan(losses.loc["a", "A"])
    assert losses.loc["a", "B"] == pytest.approx(0.15)


# ----------------------------------------------------------------------- selection


def test_a_choice_keeps_what_belongs_to_it(make_block):
    status = np.full((3, 1, 1), Status.DONE)
    status[2] = Status.TIMEOUT
    blocks = [
        make_block([0, 1], [[0, 1], [1, 1], [-1, -1]], [0, 0], dataset=name, status=status)
        for name in ("a", "b")
    ]
    results = Results.from_blocks(blocks, "accuracy")
    chosen = results.select(strategies=["C", "A"], datasets=["b"])
    assert chosen.strategies == ("C", "A")
    assert chosen.missing["reason"].tolist() == ["timeout"]
    assert chosen.missing["strategy"].tolist() == ["C"]
    assert chosen.losses.loc["b", "A"] == 0.0
    assert chosen.points("b").shape == (2, 1, 2)
    assert results.select(strategies="A").strategies == ("A",)
    with pytest.raises(AnalysisError, match=r"'treee' .* did you mean 'tree'\?"):
        Results.from_table(WIDE, metric="accuracy").select(strategies=["treee"])
    with pytest.raises(AnalysisError, match="no dataset was chosen"):
        results.select(datasets=[])


# ---------------------------------------------------------- what is no dataset or fold


def table_of(index):
    return pd.DataFrame({"A": np.linspace(0.1, 0.4, len(index)), "B": 0.3}, index=index)


@pytest.mark.parametrize(
    "index",
    [
        pd.MultiIndex.from_product(
            [["uci", "openml"], ["iris", "wine"]], names=["group", "dataset"]
        ),
        pd.MultiIndex.from_product([["uci", "openml"], ["iris", "wine"]]),
        pd.MultiIndex.from_product([["iris"], [0, 1], [0, 1]], names=["dataset", "fold", "fold"]),
        pd.MultiIndex.from_product([["iris"], [0], [1], [0, 1]]),
        pd.MultiIndex.from_product([[0, 1], [0, 1]], names=["repeat", "fold"]),
        pd.Index([0, 1, 2], name="fold"),
    ],
)
def test_levels_that_are_not_dataset_repeat_and_fold_are_refused(index):
    with pytest.raises(AnalysisError, match=r"levels of the index .* make one name") as raised:
        Results.from_table(table_of(index), metric="accuracy")
    assert "\n" not in str(raised.value)


def test_levels_are_known_by_their_names():
    index = pd.MultiIndex.from_product([[1, 2, 3], ["iris", "wine"]], names=["Split", "problem"])
    results = Results.from_table(table_of(index), metric="accuracy")
    assert results.datasets == ("iris", "wine")
    assert results.cells.shape == (2, 2, 1, 3)
    assert results.cells[1, 0, 0].tolist() == table_of(index)["A"].iloc[[1, 3, 5]].tolist()


def test_a_row_without_a_name_is_refused():
    with pytest.raises(
        AnalysisError, match=r"row 1 of the table \(the first is 0\) has no dataset"
    ):
        Results.from_table(table_of(pd.Index(["iris", np.nan])), metric="accuracy")
    rows = pd.DataFrame({"dataset": ["a", None], "strategy": ["A", "A"], "loss": [1.0, 2.0]})
    with pytest.raises(
        AnalysisError, match=r"row 1 of the table \(the first is 0\) has no 'dataset'"
    ):
        Results.from_long(rows, value="loss", greater_is_better=False)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (
            {"metric": "accuracy", "greater_is_better": False},
            "contradicts metric 'accuracy': leave it out",
        ),
        ({"metric": metric("rmse"), "greater_is_better": True}, "contradicts metric 'rmse'"),
        ({"metric": "mine", "greater_is_better": "yes"}, "neither True nor False"),
        ({"metric": None}, "None' is not known|None is not known"),
        ({}, "does not say what its scores are: give metric='accuracy'"),
        (
            {"metric": "accuracy", "n_test": [10, 20]},
            r"n_test has shape \(2,\), and the table 3 rows",
        ),
        ({"metric": "accuracy", "n_train": np.ones((3, 3))}, r"n_train has shape \(3, 3\)"),
        ({"metric": "accuracy", "n_test": "many"}, "n_test must be real numbers, and is 'many'"),
        ({"metric": "accuracy", "n_test": [10, 20, np.nan]}, "positive number for every row"),
        ({"metric": "accuracy", "n_test": 10.5}, "a whole one"),
    ],
)
def test_what_contradicts_or_does_not_fit_the_table(how, message):
    with pytest.raises(AnalysisError, match=message) as raised:
        Results.from_table(WIDE, **how)
    assert "\n" not in str(raised.value)


def test_the_direction_of_a_known_metric_may_be_said_again():
    results = Results.from_table(WIDE, metric="accuracy", greater_is_better=True)
    assert results.metric.bounds == (0.0, 1.0)
    assert results.losses.equals(Results.from_table(WIDE, metric="accuracy").losses)
    percent = Results.from_table(WIDE * 100, metric="accuracy", greater_is_better=True)
    assert percent.metric.bounds == (-np.inf, np.inf)


def test_percentages_become_shares_with_a_note():
    results = Results.from_table(WIDE * 100, metric="accuracy")
    assert np.allclose(results.scores, Results.from_table(WIDE, metric="accuracy").scores)
    assert results.notes == ("the scores are percentages, and were divided by 100",)
    assert results.metric.bounds == (0.0, 1.0)


@pytest.mark.parametrize("factor", [[100.0, 1.0], [100.0, 1000.0], [-100.0, 100.0], [3.0, 9.0]])
@pytest.mark.parametrize("axis", [0, 1])
def test_percentages_beside_shares_are_refused(factor, axis):
    table = pd.DataFrame([[0.9, 0.8], [0.7, 0.6]], ["iris", "wine"], ["tree", "forest"])
    with pytest.raises(AnalysisError, match=r"accuracy is within 0 and 1, and .* has .*: change"):
        Results.from_table(table.mul(factor, axis=axis), metric="accuracy")


@pytest.mark.parametrize("kind", [complex, bool, object, str])
def test_scores_are_real_numbers(kind):
    with pytest.raises(AnalysisError, match="column 'tree' of the table holds"):
        Results.from_table(WIDE.astype({"tree": kind}), metric="accuracy")


def test_a_log_loss_has_no_upper_end():
    """Others cut probabilities elsewhere: at 1e-15 a log loss reaches 34.5."""
    results = Results.from_table(WIDE * 40, metric="log_loss")
    assert results.losses.loc["iris", "forest"] == 38.0
    with pytest.raises(AnalysisError, match=r"log_loss is within 0 and inf, and 'tree' has -0\.9"):
        Results.from_table(-WIDE, metric="log_loss")


def test_columns_of_several_levels_are_refused():
    wide = WIDE.set_axis(pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]), axis=1)
    with pytest.raises(AnalysisError, match="columns of the table have 2 levels"):
        Results.from_table(wide, metric="accuracy")


# -------------------------------------------------------------------------- frozen


def test_nothing_that_comes_in_or_goes_out_changes_the_results():
    """Ranks, differences and means are remembered: what they are of must stay."""
    from mlaut.analysis import rank_table, t_test

    table = pd.DataFrame({"A": [0.1, 0.2, 0.3, 0.2], "B": [0.2, 0.4, 0.35, 0.3]})
    sizes = np.array([10, 20, 30, 40])
    results = Results.from_table(table, metric="error", n_test=sizes)
    p, ranks, losses = t_test(results).p_values, rank_table(results), results.losses
    kept = p.copy(), ranks.copy(), losses.copy()
    table.iloc[:] = 0.5
    sizes[:] = 1
    for name in ("cells", "cell_losses", "expected", "variances", "n_test"):
        array = getattr(results, name)
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    for frame in (ranks, losses, results.scores, results.fold_losses, results.standard_errors):
        with contextlib.suppress(ValueError):  # pandas 2 refuses, pandas 3 writes to a copy
            frame.iloc[:] = 0
    found = t_test(results).p_values, rank_table(results), results.losses
    for now, before in zip(found, kept, strict=True):
        pd.testing.assert_frame_equal(now, before)
    assert results.n_test.ravel().tolist() == [10, 20, 30, 40]


def test_what_results_are_made_of_may_change_later():
    arrays = {"cells": np.full((1, 1, 1, 2), 0.5), "expected": np.ones((1, 1, 2), dtype=bool)}
    results = Results(
        metric=metric("error"),
        datasets=("a",),
        strategies=("A",),
        cell_losses=arrays["cells"],
        **arrays,
    )
    arrays["cells"][:] = 0.7
    assert results.losses.iloc[0, 0] == 0.5


def test_copies_and_pickles_are_frozen_too():
    results = Results.from_table(WIDE, metric="accuracy")
    assert results.losses is not None
    for copied in (copy.deepcopy(results), pickle.loads(pickle.dumps(results))):
        assert copied.losses.equals(results.losses)
        with pytest.raises(ValueError, match="read-only"):
            copied.cells[:] = 0


# ----------------------------------------------------------- probabilities that are none


@pytest.mark.parametrize("name", ["log_loss", "brier", "auc", "neg_log_loss", "roc_auc_ovr"])
def test_nonsense_probabilities_are_missing_cells(make_block, name):
    """7.5 everywhere had a log loss of 0."""
    right = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]], dtype=np.float32)
    given = [right, np.full_like(right, 7.5), np.array([[-1, 2]] * 3), right * 0.5, right + 1e-7]
    probabilities = np.stack(given)[:, None].astype(np.float32)
    labels = [[0, 1, 1]] * len(given)
    block = make_block([0, 1, 1], labels, [0, 0, 0], probabilities=probabilities)
    results = Results.from_blocks([block], name)
    assert results.missing["strategy"].tolist() == ["B", "C", "D"]
    assert set(results.missing["reason"]) == {"not in [0, 1] with the sum 1"}
    assert results.losses.loc["d", "E"] == pytest.approx(results.losses.loc["d", "A"], abs=1e-6)
    if metric(name).average:
        points = results.points("d")
        assert np.isnan(points[1:4]).all()
        assert np.isfinite(points[[0, 4]]).all()


@pytest.mark.parametrize("name", ["log_loss", "brier", "auc", "neg_log_loss"])
@pytest.mark.parametrize(
    "given",
    [
        np.full((2, 2), 7.5),
        np.array([[-1.0, 2.0], [0.5, 0.5]]),
        np.array([[0.5, np.nan], [0.5, 0.5]]),
        np.array([0.5, 0.5]),
        np.array([["a", "b"], ["a", "b"]]),
        np.ma.masked_array(np.full((2, 2), 0.5), mask=True),
    ],
)
def test_a_metric_that_is_given_no_probabilities_says_so(name, given):
    with pytest.raises(AnalysisError, match="needs probabilities") as raised:
        metric(name).calculate(np.array([0, 1]), given)
    assert "\n" not in str(raised.value)


def test_latex_has_standard_errors_for_every_metric():
    index = pd.MultiIndex.from_product([["iris", "wine"], range(4)], names=["dataset", "fold"])
    table = pd.DataFrame({"A_1": np.arange(8) / 10}, index=index)
    for word in ("rmse", "pr_auc"):
        results = Results.from_table(table, metric=word)
        sets = np.std([0, 0.1, 0.2, 0.3], ddof=1) / 2
        assert results.errors_of_sets["A_1"].tolist() == pytest.approx([sets, sets])
        text = results.to_latex(errors=True)
        assert "A\\_1" in text
        assert "0.15 (0.065)" in text
        assert text.endswith("standard errors of scenario (a), from the test sets of a repeat")
    points = Results.from_table(table, metric="accuracy", n_test=25)
    error = points.standard_errors.loc["wine", "A_1"]
    assert f"0.55 ({error:.2g})" in points.to_latex(errors=True)
    large = {"A": [99000.0, 101001.0, np.nan, np.nan], "B": [5.0, 205.0, 7.0, 8.0]}
    of_two = pd.DataFrame(large, index=index[[0, 1, 4, 5]])
    lines = Results.from_table(of_two, metric="rmse").to_latex(errors=True).splitlines()
    assert [line.split()[2:-1] for line in lines if "&" in line][1:] == [
        ["100000", "(1000)", "&", "105", "(100)"],
        ["-", "&", "7.5", "(0.5)"],
    ]
    single = Results.from_table(table.iloc[[0, 4]].droplevel(1), metric="rmse")
    with pytest.raises(AnalysisError, match=r"rmse of a single test set .*: leave errors out, or"):
        single.to_latex(errors=True)


def test_missing_cells_name_a_treatment_that_every_function_can_have():
    table = WIDE.astype(float).copy()
    table.iloc[0, 0] = np.nan
    results = Results.from_table(table, greater_is_better=False)
    with pytest.raises(MissingCellsError, match=r"by treat_missing\(results, 'failures last'\)"):
        critical_difference_diagram(results)
    assert not len(treat_missing(results, "failures last").missing)


def test_tables_that_are_too_large_are_refused_in_one_line():
    names = [f"s{i}" for i in range(2001)]
    many = pd.DataFrame(np.random.default_rng(0).random((2, 2001)), columns=names)
    line = r"2001 strategies have 2,001,000 pairs, and at most 2000 strategies are compared at once"
    with pytest.raises(AnalysisError, match=line):
        compare(many, metric="accuracy")
    long = pd.DataFrame({"dataset": names * 13, "strategy": range(26_013), "score": 0.5})
    with pytest.raises(AnalysisError, match=r"names 2001 datasets and 26013 .* 52,052,013 cells"):
        Results.from_long(long, value="score", metric="accuracy")
