"""Estimates and intervals of MLaut's Tables 3 and 4, and where those are poor."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mlaut.analysis import (
    Results,
    average_ranks,
    dataset_estimates,
    mean_estimates,
    nemenyi_test,
    retrained_estimates,
    t_test,
)
from mlaut.analysis.methods.bayes import correlated_t_datasets
from mlaut.analysis.methods.cross_validation import cv_test_datasets, retrained_mean_estimates
from mlaut.analysis.methods.frequentist import bonferroni_dunn_test
from mlaut.errors import AnalysisError, MissingCellsError
from mlaut.records import REGRESSION

TOY = [[0, 1, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0]]


@pytest.fixture
def toy(make_block):
    """Three test sets with 0/1 losses."""
    blocks = [
        make_block(np.zeros(len(losses), dtype=int), [losses], np.zeros(len(losses)), dataset=name)
        for name, losses in zip("abc", TOY, strict=True)
    ]
    return Results.from_blocks(blocks, "misclassification")


def test_table_3(toy):
    """Worked by hand: three estimates, three standard errors, three intervals."""
    single = dataset_estimates(toy).frame
    assert list(single["value"]) == pytest.approx([0.25, 0.4, 1 / 6])
    assert list(single["standard_error"]) == pytest.approx([0.25, 0.2449489743, 1 / 6])
    seen = mean_estimates(toy, scenario="(a)", method="normal")
    assert seen.frame.loc["A", "value"] == pytest.approx(0.272222, abs=1e-6)
    assert seen.frame.loc["A", "standard_error"] == pytest.approx(0.129218926, abs=1e-9)
    assert list(seen.frame.loc["A", ["low", "high"]]) == pytest.approx(
        [0.018958, 0.525487], abs=1e-6
    )
    unseen = mean_estimates(toy, method="normal")
    assert unseen.frame.loc["A", "standard_error"] == pytest.approx(0.068267810, abs=1e-9)
    assert list(unseen.frame.loc["A", ["low", "high"]]) == pytest.approx(
        [0.138420, 0.406025], abs=1e-6
    )
    assert (single.shape[0], seen.scenario, unseen.scenario) == (3, "(a)", "(c)")


def test_every_interval_names_its_scenario_and_method(toy):
    assert "scenario (a): the fitted models re-used" in dataset_estimates(toy).title()
    assert "scenario (c): re-trained on an unseen source" in mean_estimates(toy, method="t").title()
    assert "t intervals" in mean_estimates(toy, method="t").name
    assert mean_estimates(toy).source == "MLaut 2019, Table 3"


def test_student_and_normal(toy):
    normal, t = (mean_estimates(toy, method=m).frame.loc["A"] for m in ("normal", "t"))
    ratio = (t["high"] - t["value"]) / (normal["high"] - normal["value"])
    assert ratio == pytest.approx(stats.t.ppf(0.975, 2) / stats.norm.ppf(0.975))
    (note,) = mean_estimates(toy, method="normal").notes
    assert "on 3 datasets is too narrow" in note
    (note,) = mean_estimates(toy, method="t").notes
    assert note.endswith("right for normal losses, and too narrow for very skewed ones")


def test_poor_intervals_say_so(losses):
    columns = {"A": np.random.default_rng(0).uniform(size=12)}
    assert mean_estimates(losses(columns), method="t").notes == ()
    (note,) = mean_estimates(losses(columns), method="bootstrap").notes
    assert note == "a bootstrap of 12 datasets is too narrow: choose method='bounded'"
    many = losses({"A": np.random.default_rng(0).uniform(size=30)})
    for method in ("bounded", "normal", "t", "bootstrap"):
        assert mean_estimates(many, method=method).notes == ()
    shares = Results.from_table(pd.DataFrame({"A": [0.02, 0.96, 0.5]}), metric="error", n_test=100)
    (note,) = dataset_estimates(shares, method="normal").notes
    assert note.startswith("2 estimates rest on fewer than 5 errors")
    assert dataset_estimates(shares, method="t").notes == (note,)
    assert dataset_estimates(shares).notes == dataset_estimates(shares, method="wilson").notes == ()


def test_welchs_degrees_of_freedom(toy):
    errors = np.array([0.25, 0.2449489743, 1 / 6])
    df = (errors**2).sum() ** 2 / (errors**4 / np.array([3, 4, 5])).sum()
    frame = mean_estimates(toy, scenario="(a)", method="t").frame.loc["A"]
    half = frame["high"] - frame["value"]
    assert half == pytest.approx(stats.t.ppf(0.975, df) * frame["standard_error"])


@pytest.mark.parametrize(
    ("method", "low", "high"),
    [
        ("normal", 0.0, 0.25 + 1.959963984540054 * 0.25),
        ("t", 0.0, 1.0),
        ("bounded", 0.0455873, 0.6993582),
        ("wilson", 0.0455873, 0.6993582),
        ("jeffreys", stats.beta.ppf(0.025, 1.5, 3.5), stats.beta.ppf(0.975, 1.5, 3.5)),
        ("uniform", stats.beta.ppf(0.025, 2, 4), stats.beta.ppf(0.975, 2, 4)),
    ],
)
def test_intervals_of_one_dataset_by_name(toy, method, low, high):
    row = dataset_estimates(toy, method=method).frame.loc[("a", "A")]
    assert (row["low"], row["high"]) == pytest.approx((low, high), abs=1e-6)
    assert row["n_test"] == 4


def test_without_an_error_the_normal_interval_is_a_point_and_says_so():
    table = pd.DataFrame({"A": [1.0], "B": [0.9]}, index=["iris"])
    results = Results.from_table(table, metric="accuracy", n_test=50)
    normal = dataset_estimates(results, method="normal")
    assert normal.frame.loc[("iris", "A"), ["low", "high"]].tolist() == [0.0, 0.0]
    assert any("choose 'wilson' or 'jeffreys'" in note for note in normal.notes)
    wilson = dataset_estimates(results).frame.loc[("iris", "A")]
    assert (wilson["low"], wilson["high"]) == (0.0, pytest.approx(0.0713476))


def test_scores_turn_the_interval():
    table = pd.DataFrame({"A": [0.9, 0.8, 0.7]})
    results = Results.from_table(table, metric="accuracy", n_test=50)
    losses, scores = (mean_estimates(results, as_scores=s).frame.loc["A"] for s in (False, True))
    assert scores["value"] == pytest.approx(0.8)
    assert (scores["low"], scores["high"]) == pytest.approx((1 - losses["high"], 1 - losses["low"]))
    assert mean_estimates(results, as_scores=True).metric == "accuracy"
    assert mean_estimates(results).metric == "1 - accuracy"


def test_aggregates_over_several_test_sets_have_scenario_a():
    """MLaut 2019, section 3.2: the losses of test sets of the same size are a sample."""
    rng = np.random.default_rng(0)
    index = pd.MultiIndex.from_product([["iris", "wine"], range(2), range(5)])
    scores = pd.DataFrame(rng.random((20, 2)), index, ["A", "B"])
    results = Results.from_table(scores, metric="f1")
    by_dataset = dataset_estimates(results)
    each = (1 - scores["A"]).to_numpy().reshape(2, 2, 5)  # dataset, repeat, fold
    errors = (each.std(axis=2, ddof=1) / np.sqrt(5)).mean(axis=1)  # repeats share their rows
    rows = by_dataset.frame.xs("A", level="strategy")
    assert rows["standard_error"].tolist() == pytest.approx(errors.tolist())
    assert rows["value"].tolist() == pytest.approx(each.mean(axis=(1, 2)).tolist())
    assert rows["test_sets"].tolist() == [5, 5]
    assert "n_test" not in rows  # those are points
    table = mean_estimates(results, scenario="(a)", method="normal")
    mean = table.frame.loc["A"]
    assert mean["standard_error"] == pytest.approx(np.sqrt((errors**2).sum()) / 2)
    assert mean["high"] == pytest.approx(mean["value"] + 1.959964 * mean["standard_error"])
    for found in (table, by_dataset):
        assert found.scenario == "(a)"
        assert any("own fitted model" in note for note in found.notes)
    with pytest.raises(AnalysisError, match="'jeffreys' is for metrics"):
        dataset_estimates(results, method="jeffreys")
    uneven = Results.from_table(
        scores.drop(index=[("wine", 1, fold) for fold in range(1, 5)]), metric="f1"
    )
    with pytest.raises(AnalysisError, match="several test sets"):
        mean_estimates(uneven, scenario="(a)")


def test_a_share_of_several_test_sets_without_their_sizes_has_scenario_a():
    index = pd.MultiIndex.from_product([["iris"], range(3)])
    table = pd.DataFrame({"A": [0.9, 0.8, 1.0]}, index)
    row = dataset_estimates(table, metric="accuracy").frame.iloc[0]
    assert row["standard_error"] == pytest.approx(0.1 / np.sqrt(3))
    assert 0 < row["low"] < 0.1 < row["high"] < 1


def test_aggregates_on_one_test_set_have_scenario_c_only(make_block):
    rng = np.random.default_rng(0)
    blocks = [
        make_block(rng.integers(0, 2, 30), [rng.integers(0, 2, 30)], np.zeros(30), dataset=name)
        for name in "abcd"
    ]
    results = Results.from_blocks(blocks, "f1")
    values = results.losses["A"]
    frame = mean_estimates(results).frame.loc["A"]
    assert frame["standard_error"] == pytest.approx(values.std(ddof=1) / 2)
    assert mean_estimates(results).source == "MLaut 2019, Table 4"
    with pytest.raises(AnalysisError, match="it is an aggregate"):
        mean_estimates(results, scenario="(a)")
    with pytest.raises(AnalysisError, match="it is an aggregate"):
        dataset_estimates(results)
    frame = dataset_estimates(results, method="bootstrap").frame
    assert (frame["low"] < frame["value"]).all()
    assert (frame["value"] < frame["high"]).all()


def test_bad_choices(toy):
    with pytest.raises(AnalysisError, match="retrained_estimates"):
        mean_estimates(toy, scenario="(b)")
    with pytest.raises(AnalysisError, match="'bounded', 'normal', 't', 'bootstrap'"):
        mean_estimates(toy, method="wilson")
    with pytest.raises(AnalysisError, match="'uniform', 'bootstrap'"):
        dataset_estimates(toy, method="beta")
    with pytest.raises(AnalysisError, match="at least 2 datasets"):
        mean_estimates(toy.select(datasets=["a"]))
    assert mean_estimates(toy.select(datasets=["a"]), scenario="(a)").frame.shape == (1, 4)


def test_wilson_is_for_zeros_and_ones(make_block):
    block = make_block([1.0, 2.0, 3.0], [[1.0, 2.5, 3.0]], np.zeros(3), task=REGRESSION)
    results = Results.from_blocks([block], "squared")
    with pytest.raises(AnalysisError, match="mse is not one: choose 't' or 'bootstrap'"):
        dataset_estimates(results, method="wilson")


def test_missing_cells(losses):
    results = losses({"A": [0.1, np.nan], "B": [0.1, 0.2]}, metric="error")
    with pytest.raises(MissingCellsError):
        mean_estimates(results)


def test_filled_cells_have_no_standard_error(make_block):
    from mlaut.analysis import treat_missing
    from mlaut.records import Status

    status = np.array([[[Status.DONE]], [[Status.ERROR]]])
    block = make_block([0, 1, 1], [[0, 1, 0], [-1] * 3], np.zeros(3), status=status)
    results = treat_missing(Results.from_blocks([block], "accuracy", strategies=["A", "B"]), "A")
    with pytest.raises(MissingCellsError, match="no variance of point losses"):
        mean_estimates(results, scenario="(a)")


# ---------------------------------------------------------------- the metric's range

NEAR_AN_END = {"A": [0.99, 1.0, 0.7], "B": [0.0, 0.01, 0.4], "C": [1.0, 1.0, 1.0]}


def within(frame, low, high):
    """Interval and value are ordered, and within the range."""
    ordered = frame[["low", "value", "high"]].to_numpy()
    assert (np.diff(ordered, axis=1) >= 0).all()
    assert ordered.min() >= low
    assert ordered.max() <= high


@pytest.mark.parametrize("method", ["bounded", "t", "normal", "bootstrap"])
@pytest.mark.parametrize("name", ["accuracy", "error", "auc"])
def test_no_interval_leaves_the_range_of_the_metric(method, name):
    results = Results.from_table(pd.DataFrame(NEAR_AN_END), metric=name)
    for as_scores in (False, True):
        within(mean_estimates(results, method=method, as_scores=as_scores).frame, 0, 1)
    if method != "bootstrap":
        within(
            average_ranks(results, method=method).frame.rename(columns={"average_rank": "value"}),
            1,
            3,
        )


@pytest.mark.parametrize("method", ["bounded", "t", "normal"])
def test_nor_do_those_of_one_dataset_and_of_seen_datasets(method):
    results = Results.from_table(pd.DataFrame(NEAR_AN_END), metric="accuracy", n_test=50)
    within(dataset_estimates(results, method=method).frame, 0, 1)
    within(mean_estimates(results, scenario="(a)", method=method).frame, 0, 1)


def test_nor_do_differences():
    results = Results.from_table(pd.DataFrame(NEAR_AN_END), metric="accuracy")
    difference = t_test(results, confidence=0.999).pair("A", "B").effects[0]
    assert (difference.low, difference.high) == (-1.0, 1.0)
    ranks = nemenyi_test(results, confidence=0.999).pair("A", "B").effects[0]
    assert (ranks.low, ranks.high) == (-2.0, pytest.approx(1.0, abs=2))
    against = bonferroni_dunn_test(results, "A", confidence=0.999).frame
    assert against["low"].min() >= -2
    assert against["high"].max() <= 2
    folds = pd.MultiIndex.from_product([["iris"], range(3)], names=["dataset", "fold"])
    table = pd.DataFrame({"A": [0.0, 1, 1], "B": [1.0, 0, 1]}, index=folds)
    results = Results.from_table(table, metric="accuracy")
    within(retrained_estimates(results).frame, 0, 1)
    within(retrained_mean_estimates(results).frame, 0, 1)
    for frame in (cv_test_datasets(results, df=2).frame, correlated_t_datasets(results).frame):
        assert frame[["low", "high"]].to_numpy().tolist() == [[-1.0, 1.0]]


def test_an_interval_may_have_one_end_only():
    """r2 has no lower end and a log loss no upper one."""
    table = pd.DataFrame({"A": [0.9, 0.99, 0.2], "B": [0.1, -3.0, 0.95]})
    within(mean_estimates(Results.from_table(table, metric="r2"), as_scores=True).frame, -np.inf, 1)
    losses = Results.from_table(table.abs(), metric="log_loss")
    found = mean_estimates(losses).frame.loc["A"]
    assert found["low"] > 0
    t = mean_estimates(losses, method="t").frame.loc["A"]
    assert t["low"] == 0
    assert found["high"] > t["high"] > found["value"]


def test_the_bounded_interval_of_zeros_and_ones_is_wilsons_with_students_t():
    table = pd.DataFrame({"A": [0.0] * 17 + [1.0] * 3})
    results = Results.from_table(table, metric="error")
    z2 = stats.t.ppf(0.975, 19) ** 2 / 19  # the sample variance has the divisor N - 1
    centre = (0.15 + z2 / 2) / (1 + z2)
    half = np.sqrt(z2 * 0.15 * 0.85 + z2**2 / 4) / (1 + z2)
    row = mean_estimates(results).frame.loc["A"]
    assert (row["low"], row["high"]) == pytest.approx((centre - half, centre + half))


def test_the_bounded_interval_is_students_far_from_the_ends_and_without_them():
    values = np.random.default_rng(0).normal(0.5, 0.01, (30, 1))
    table = pd.DataFrame(values, columns=["A"])
    bounded, t = (
        mean_estimates(Results.from_table(table, metric="error"), method=m)
        for m in ("bounded", "t")
    )
    assert bounded.frame.to_numpy() == pytest.approx(t.frame.to_numpy(), abs=1e-4)
    free = mean_estimates(Results.from_table(table, metric="mine", greater_is_better=False))
    assert free.frame.to_numpy() == pytest.approx(t.frame.to_numpy(), abs=1e-12)
    assert free.name == t.name


def test_the_same_score_everywhere_is_no_certainty():
    same = Results.from_table(pd.DataFrame({"A": [1.0] * 5, "B": [0.1] * 5}), metric="error")
    found = mean_estimates(same)
    t2 = stats.t.ppf(0.975, 4) ** 2 / 5
    assert found.frame.loc["A", ["low", "high"]].tolist() == pytest.approx([1 / (1 + t2), 1.0])
    assert found.frame.loc["B", ["low", "high"]].tolist() == pytest.approx([0.1, 0.1], rel=1e-12)
    assert found.notes[0].startswith("1 estimates have no variation at all")


def test_the_bounded_interval_covers_more_than_students_near_an_end():
    """At n = 5 of Beta(0.5, 4.5) Student's interval holds the mean in 86 % of samples."""
    rng = np.random.default_rng(0)
    for n, least in ((3, 0.89), (5, 0.895), (10, 0.905)):
        table = pd.DataFrame(rng.beta(0.5, 4.5, (n, 3000)))
        results = Results.from_table(table, metric="error")
        held = {}
        for method in ("bounded", "t"):
            frame = mean_estimates(results, method=method).frame
            held[method] = ((frame["low"] <= 0.1) & (frame["high"] >= 0.1)).mean()
        assert held["bounded"] >= least
        assert held["bounded"] > held["t"] + 0.02


# ----------------------------------------------------------------------- bootstrap


def test_bootstrap_of_datasets_is_scipys_bca(mlaut2018):
    values = mlaut2018.losses["SVC"].to_numpy()
    frame = mean_estimates(mlaut2018, method="bootstrap", seed=3).frame.loc["SVC"]
    scipys = stats.bootstrap(
        (values,), np.mean, method="BCa", n_resamples=20_000, rng=np.random.default_rng(0)
    )
    interval = scipys.confidence_interval
    assert (frame["low"], frame["high"]) == pytest.approx(
        (interval.low, interval.high), abs=0.04 * (interval.high - interval.low)
    )
    assert frame["standard_error"] == pytest.approx(scipys.standard_error, rel=0.03)
    again = mean_estimates(mlaut2018, method="bootstrap", seed=3).frame.loc["SVC"]
    assert frame.equals(again)


def test_bootstrap_of_test_points_of_an_average(make_block):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=400)
    folds = np.r_[np.full(200, -1), np.zeros(200)]
    guess = [truth + rng.normal(size=400), truth + 2 * rng.normal(size=400)]
    results = Results.from_blocks([make_block(truth, guess, folds, task=REGRESSION)], "absolute")
    normal, drawn = (dataset_estimates(results, method=m).frame for m in ("normal", "bootstrap"))
    assert drawn["standard_error"].to_numpy() == pytest.approx(
        normal["standard_error"].to_numpy(), rel=0.1
    )
    seen = mean_estimates(results, scenario="(a)", method="bootstrap").frame
    assert seen["low"].to_numpy() == pytest.approx(drawn["low"].to_numpy())


def test_bootstrap_of_test_points_draws_again_where_a_draw_is_undefined(make_block):
    p = np.column_stack([np.linspace(1, 0, 8), np.linspace(0, 1, 8)]).astype(np.float32)
    truth = np.array([0, 0, 1, 0, 0, 0, 1, 0])
    block = make_block(truth, [truth], np.zeros(8), probabilities=p[None, None])
    frame = dataset_estimates(Results.from_blocks([block], "auc"), method="bootstrap").frame
    assert 0 <= frame["low"].iloc[0] < frame["high"].iloc[0] <= 1


def test_bootstrap_of_test_points_needs_them(losses):
    results = losses({"A": [0.1, 0.2]})
    with pytest.raises(AnalysisError, match="these results come from a table"):
        mean_estimates(results, scenario="(a)", method="bootstrap")


def test_losses_of_zero_on_every_dataset_have_the_freedom_of_all_their_points():
    table = pd.DataFrame({"A": [0.0, 0.0, 0.0]}, index=["a", "b", "c"])
    results = Results.from_table(table, metric="error", n_test=40)
    squared = stats.t.ppf(0.975, 3 * 39) ** 2 / 120  # Wilson's interval of 0 of 120 points
    row = mean_estimates(results, scenario="(a)").frame.loc["A"]
    assert row["high"] == pytest.approx(squared / (1 + squared))
