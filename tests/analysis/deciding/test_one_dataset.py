"""Decisions on one dataset: tests, probabilities and verdicts from its folds or rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results, compare
from mlaut.analysis.deciding.one_dataset import FIVE_BY_TWO, LACOSTE, REGION, OneDataset
from mlaut.analysis.methods.bayes import correlated_t_probabilities
from mlaut.analysis.methods.cross_validation import cv_interval, cv_p_values
from mlaut.analysis.methods.frequentist import mcnemar_test
from mlaut.analysis.methods.lacoste import prob_better_classifier
from mlaut.errors import AnalysisError, MissingCellsError
from mlaut.records import CLASSIFICATION, Block, Split, Status

RNG = np.random.default_rng(0)
SHIFTS = {"A": 0.0, "B": 0.01, "C": 0.2}


def folds_of(shape=(2, 5), names=SHIFTS, spread=0.03):
    index = pd.MultiIndex.from_product([["sick"], range(shape[0]), range(shape[1])])
    index.names = ["dataset", "repeat", "fold"]
    rng = np.random.default_rng(1)
    columns = {
        name: 0.3 + shift + spread * rng.normal(size=len(index)) for name, shift in names.items()
    }
    return Results.from_table(pd.DataFrame(columns, index), metric="misclassification")


def block_of(wrong, split=None, scores=None, weights=None):
    """Return a block of two classes with the wrong rows (K, n), or with scores of class 1."""
    k, n = np.shape(wrong if scores is None else scores)
    truth = (np.arange(n) % 3 == 0).astype(np.int32)
    split = split or Split(np.zeros((1, n), np.int16), "holdout(test_size=1/2)")
    if scores is None:
        predictions = np.where(wrong, 1 - truth, truth).astype(np.int32)[:, None]
        p = predictions.astype(np.float32)
    else:
        p = np.asarray(scores, np.float32)[:, None]
        predictions = (p > 0.5).astype(np.int32)
    return Block(
        "sick",
        CLASSIFICATION,
        "",
        tuple("ABCDE"[:k]),
        ("no", "yes"),
        truth,
        split,
        np.full((k, 1, split.n_folds), Status.DONE, np.uint8),
        predictions,
        np.stack([1 - p, p], axis=-1),
        np.full((k, 1, split.n_folds, 3), np.nan),
        weights,
    )


@pytest.mark.parametrize("shape", [(1, 10), (3, 10), (5, 2)])
def test_folds_are_compared_by_the_published_tests(shape):
    results = folds_of(shape)
    one = OneDataset.of(results)
    tests = one.tests("none", 0.01)
    cells = np.swapaxes(results.cell_losses[0], 1, 2)
    apart = cells[[0, 0, 1]] - cells[[1, 2, 2]]
    p = cv_p_values(apart, "corrected repeated k-fold")
    main = tests[one.test].to_frame()
    np.testing.assert_allclose(main["p_value"], p)
    mean, error, low, high = cv_interval(apart)
    np.testing.assert_allclose(one.gaps.value, mean)
    np.testing.assert_allclose(one.gaps.standard_error, error)
    assert ((one.gaps.low <= mean) & (mean <= one.gaps.high)).all()
    np.testing.assert_allclose(one.gaps.high - one.gaps.low, high - low, rtol=0.02)
    first, equal, _ = correlated_t_probabilities(apart, 0.01).T
    region = tests[REGION].to_frame()
    np.testing.assert_allclose(region["P(row better)"], first, atol=1e-12)
    np.testing.assert_allclose(region["P(equivalent)"], equal, atol=1e-12)
    other = {(1, 10): "k-fold", (5, 2): FIVE_BY_TWO}.get(shape)
    assert set(tests) == {one.test, REGION} | ({other} if other else set())
    if other:
        np.testing.assert_allclose(tests[other].to_frame()["p_value"], cv_p_values(apart, other))


def test_a_decision_on_folds_is_in_scenario_b_and_says_what_it_is_about():
    decision = compare(folds_of((3, 10))).decision()
    assert decision.frame["verdict"].to_dict()["C"] == "avoid"
    assert decision.answer().startswith("For new data like sick, ")
    assert "Avoid C (misclassification 0.2" in decision.answer()
    text = decision.sentence()
    assert "This holds for models trained on data of this kind, not for other datasets." in text
    assert "all 3 pairs together. The risk" in text
    assert "for all pairs jointly" in decision.details()[0]
    frame = decision.frame
    assert frame["P(best)"].sum() == pytest.approx(1)
    others = frame.drop(decision.leader)
    assert (others["difference low"] < others["difference"]).all()
    np.testing.assert_allclose(
        others["difference"],
        others["mean misclassification"] - frame["mean misclassification"][decision.leader],
    )


def test_all_pairs_together_need_more_than_one_alone_and_less_than_by_holm():
    one = OneDataset.of(folds_of((1, 10), {"A": 0.0, "B": 0.02, "C": 0.05, "D": 0.2}))
    alone, holm, joint = (
        one.tests(how, 0.0)[one.test].to_frame()["p_value"] for how in ("none", "holm", "joint")
    )
    assert (joint >= alone).all()
    assert (joint[joint > 0.001] <= 1.02 * holm[joint > 0.001]).all()
    assert joint[alone.sort_values().index].is_monotonic_increasing


def test_no_pair_is_claimed_more_often_than_the_level_says():
    """Independent test sets without any difference: four strategies, 200 datasets."""
    rng, claimed = np.random.default_rng(0), 0
    index = pd.MultiIndex.from_product([["sick"], range(10)], names=["dataset", "fold"])
    for _ in range(200):
        table = pd.DataFrame(rng.normal(0.3, 0.03, (10, 4)), index, columns=list("ABCD"))
        sizes = {"n_test": 10, "n_train": 10**9}  # no training row is shared
        results = Results.from_table(table, metric="misclassification", **sizes)
        one = OneDataset.of(results)
        claimed += bool((one.tests("joint", 0.0)[one.test].p_values <= 0.05).any(axis=None))
    assert 0.01 * 200 <= claimed <= 0.09 * 200


def test_the_order_of_columns_changes_nothing():
    results = folds_of((2, 10))
    turned = results.select(strategies=["C", "A", "B"])
    a, b = compare(results).decision(), compare(turned).decision()
    pd.testing.assert_frame_equal(a.frame, b.frame)
    assert a.sentence() == b.sentence()


def test_copies_share_a_place_and_a_probability():
    table = folds_of((1, 10)).fold_losses.rename_axis(["dataset", "repeat", "fold"])
    results = Results.from_table(table.assign(D=table["A"]), metric="misclassification")
    decision = compare(results).decision()
    frame = decision.frame
    assert frame["P(best)"]["A"] == pytest.approx(frame["P(best)"]["D"])
    assert frame["verdict"]["A"] == frame["verdict"]["D"]
    assert compare(results).pair_frame()["p"]["A", "D"] == 1


def test_a_region_calls_close_strategies_practically_as_good():
    decision = compare(folds_of((5, 10), spread=0.01), rope=0.05).decision()
    assert sorted(decision.frame["verdict"]) == ["as good", "avoid", "use"]
    assert "Practically as good" in decision.answer()


def test_a_control_is_compared_with_the_others():
    decision = compare(folds_of((3, 10))).decision(question="control: C")
    assert decision.frame["verdict"].to_dict() == {"A": "use", "B": "use", "C": "baseline"}
    assert "use one of A and B in place of C" in decision.answer()


def test_a_hold_out_of_labels_is_compared_by_mcnemar():
    wrong = np.random.default_rng(0).random((3, 300)) < np.array([[0.1], [0.15], [0.4]])
    results = Results.from_blocks([block_of(wrong)], "accuracy")
    found = compare(results, correction="none")
    p = found.pairs["McNemar"].to_frame()["p_value"]
    np.testing.assert_allclose(p, mcnemar_test(results, "sick").to_frame()["p_value"])
    assert found.decision().scenario == "(a)"
    only = [(wrong[0] > wrong[1]).sum(), (wrong[1] > wrong[0]).sum()]
    lacoste = found.bayesian[LACOSTE].value("P(row better)", "A", "B")
    assert lacoste == pytest.approx(float(prob_better_classifier(*only)[0]))
    decision = found.decision()
    assert "rows that only one of two predicts rightly, each of 3 pairs for" in decision.sentence()
    assert "Test: McNemar's test. " in decision.details()[0]
    assert "{mcnemar1947}" in found.methods().template


def test_intervals_of_predictions_have_the_asked_confidence():
    wrong = np.random.default_rng(0).random((2, 300)) < 0.3
    results = Results.from_blocks([block_of(wrong)], "accuracy")
    narrow, wide = (OneDataset.of(results, level).gaps for level in (0.5, 0.95))
    assert (wide.high - wide.low > 2 * (narrow.high - narrow.low)).all()


def scores_of(n, shifts):
    truth = np.arange(n) % 3 == 0
    z = np.random.default_rng(0).normal(size=(len(shifts), n)) + np.outer(shifts, truth)
    return 1 / (1 + np.exp(-z))


def test_a_hold_out_of_areas_is_compared_by_delong_and_refused_for_few_positives():
    found = compare(
        Results.from_blocks([block_of(None, scores=scores_of(300, [2, 1.9, 0]))], "auc")
    )
    assert found.leading == "DeLong"
    assert found.decision().frame["verdict"]["C"] == "avoid"
    few = compare(Results.from_blocks([block_of(None, scores=scores_of(6, [2, 1.9, 0]))], "auc"))
    answer = few.decision().answer()
    assert "a class has 2 test rows, and a test needs 3" in answer
    assert "If you must choose now, use" in answer


@pytest.mark.parametrize(("metric", "test"), [("log_loss", "rows"), ("f1", "bootstrap")])
def test_other_hold_outs_are_compared_by_their_rows(metric, test):
    found = compare(
        Results.from_blocks([block_of(None, scores=scores_of(200, [3, 2.9, 0]))], metric)
    )
    assert found.leading == test
    assert found.decision().frame["verdict"]["C"] == "avoid"


def test_folds_in_time_show_an_order_and_no_verdict():
    folds = np.full((2, 60), -2, np.int16)
    folds[0, :20], folds[0, 20:40], folds[1, :40], folds[1, 40:] = -1, 0, -1, 0
    block = block_of(np.zeros((2, 60), bool))
    wrong = np.zeros((2, 2, 60), bool)
    wrong[1] = RNG.random((2, 60)) < 0.5
    split = Split(folds, "time_series(n_folds=2)")
    tested = folds >= 0
    predictions = np.where(tested, np.where(wrong, 1 - block.truth, block.truth), -1)
    block = replace(
        block,
        split=split,
        predictions=predictions.astype(np.int32),
        probabilities=None,
        status=np.full((2, 2, 1), Status.DONE, np.uint8),
        seconds=np.full((2, 2, 1, 3), np.nan),
    )
    decision = compare(Results.from_blocks([block], "accuracy")).decision()
    assert decision.answer().startswith("Nothing can be shown on sick: no published interval is")
    assert decision.answer().endswith("If you must choose now, use A.")
    assert set(decision.frame["verdict"]) == {"undecided"}


def test_one_score_of_each_is_told_and_not_tested():
    table = pd.DataFrame({"A": [0.9], "B": [0.8]}, index=["sick"])
    decision = compare(table, metric="accuracy").decision()
    assert decision.answer() == (
        "On sick A is first of 2 strategies, with accuracy 0.9, 0.1 before B. There is one score "
        "of each strategy, so nothing tells how much of a difference is chance."
    )
    assert "Other runs, other rows and other datasets may have another order" in decision.sentence()
    assert "Repeats with other seeds or folds would tell" in decision.sentence()
    assert "use" not in decision.sentence().split()
    assert list(decision.frame["difference"].round(3)) == [0.0, -0.1]
    assert "verdict" not in decision.display_frame()
    assert not any(name.startswith("P(") for name in decision.frame)


def test_failed_strategies_are_left_out_and_named():
    table = folds_of((1, 10)).fold_losses.rename_axis(["dataset", "repeat", "fold"])
    table.iloc[3, 1] = np.nan
    results = Results.from_table(table, metric="misclassification")
    with pytest.raises(MissingCellsError):
        compare(results)
    decision = compare(results, missing="failures last").decision()
    assert list(decision.frame.index) == ["A", "C"]
    assert "B is left out: no misclassification on 1 of 10 test sets" in decision.sentence()
    table.iloc[3] = np.nan
    with pytest.raises(AnalysisError, match="lack no class"):
        compare(Results.from_table(table, metric="misclassification"), missing="failures last")


def test_what_would_decide_is_told():
    close = folds_of((1, 10), {"A": 0.0, "B": 0.02, "C": 0.4}, 0.03)
    text = compare(close).decision().steps()[-1].text
    assert "repeats of the split" in text
    assert "A from B" in text or "B from A" in text


@pytest.mark.parametrize(
    ("shift", "told"),
    [
        (0.01, "More repeats of the split would hardly help."),
        (0.2, "other analysis agrees"),
    ],
)
def test_folds_of_unknown_size_are_said_to_be_taken_as_cross_validation(shift, told):
    found = compare(folds_of(names={"A": 0.0, "B": shift})).decision()
    text = found.sentence()
    assert "(10 test sets, taken as cross-validation)" in text
    assert told in text
    assert " 0 rows" not in text


def repeats_of(rng, n, k, digits):
    index = pd.MultiIndex.from_product([["d"], range(n)], names=["dataset", "repeat"])
    table = pd.DataFrame(rng.normal(0.8, 0.004, (n, k)).round(digits), index)
    return Results.from_table(table, metric="gain", greater_is_better=True)


@pytest.mark.slow
@pytest.mark.parametrize("digits", [12, 2])
@pytest.mark.parametrize("paired", [True, False])
def test_few_repeats_claim_no_more_than_the_level_says(paired, digits):
    """No real difference, 3 repeats: 6 strategies, 60 tables; also if two digits are printed."""
    rng, claimed = np.random.default_rng(0), 0
    for _ in range(60):
        results = repeats_of(rng, 3, 6, digits)
        one = OneDataset.of(results if paired else replace(results, runs=results.cells))
        claimed += bool((one.tests("joint", 0.0)[one.test].p_values <= 0.05).any(axis=None))
    assert claimed <= 0.12 * 60


def test_few_folds_of_many_strategies_have_holms_correction():
    """Draws of all pairs together claim a difference in 85 % of such tables without any."""
    rng, claimed = np.random.default_rng(0), 0
    index = pd.MultiIndex.from_product([["d"], range(3)], names=["dataset", "fold"])
    for _ in range(5):
        table = pd.DataFrame(rng.normal(0.3, 0.03, (3, 20)), index).add_prefix("s")
        one = OneDataset.of(Results.from_table(table, metric="misclassification"))
        claimed += bool((one.tests("joint", 0.0)[one.test].p_values <= 0.05).any(axis=None))
    assert not one.joint
    assert claimed <= 1
