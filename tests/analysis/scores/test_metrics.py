"""Metrics against scikit-learn, by hand, and as blocks are scored."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk

from mlaut.analysis import MLautScore, Results, describe_metrics, metric, metric_names
from mlaut.analysis.scores import (
    LossBrier,
    LossLog,
    LossMisclassification,
    LossQuantile,
    LossRMSE,
    LossSquared,
    ScoreAccuracy,
    ScoreAUC,
    ScoreBalancedAccuracy,
    ScoreF1,
    ScoreMCC,
    ScorePrecision,
    ScoreSensitivity,
    ScoreSpecificity,
)
from mlaut.analysis.scores.metric_names import direction
from mlaut.errors import AnalysisError
from mlaut.records import REGRESSION, Status

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, 60)
GUESS = np.where(RNG.uniform(size=60) < 0.7, TRUTH, 1 - TRUTH)
TRUTH3 = RNG.integers(0, 3, 90)
GUESS3 = np.where(RNG.uniform(size=90) < 0.6, TRUTH3, RNG.integers(0, 3, 90))
P3 = RNG.dirichlet([1, 1, 1], 90)
Y = RNG.normal(size=50)
F = Y + RNG.normal(size=50)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (ScoreAccuracy(), sk.accuracy_score),
        (ScoreSensitivity(), sk.recall_score),
        (ScoreSpecificity(), lambda t, p: sk.recall_score(t, p, pos_label=0)),
        (ScorePrecision(), sk.precision_score),
        (ScoreF1(), sk.f1_score),
        (ScoreBalancedAccuracy(), sk.balanced_accuracy_score),
        (ScoreMCC(), sk.matthews_corrcoef),
    ],
)
def test_labels_of_two_classes(ours, theirs):
    assert ours.calculate(TRUTH, GUESS) == pytest.approx(theirs(TRUTH, GUESS), rel=1e-12)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (ScoreSensitivity(average="macro"), lambda t, p: sk.recall_score(t, p, average="macro")),
        (ScorePrecision(average="macro"), lambda t, p: sk.precision_score(t, p, average="macro")),
        (ScoreF1(average="macro"), lambda t, p: sk.f1_score(t, p, average="macro")),
        (ScoreBalancedAccuracy(), sk.balanced_accuracy_score),
        (ScoreMCC(), sk.matthews_corrcoef),
    ],
)
def test_labels_of_three_classes(ours, theirs):
    assert ours.calculate(TRUTH3, GUESS3) == pytest.approx(theirs(TRUTH3, GUESS3), rel=1e-12)


def test_probabilities():
    p2 = np.column_stack([1 - P3[:60, 0], P3[:60, 0]])
    assert ScoreAUC().calculate(TRUTH, p2) == pytest.approx(sk.roc_auc_score(TRUTH, p2[:, 1]))
    assert LossLog().calculate(TRUTH3, P3) == pytest.approx(sk.log_loss(TRUTH3, P3))
    assert LossBrier().calculate(TRUTH, p2) == pytest.approx(sk.brier_score_loss(TRUTH, p2[:, 1]))
    hand_till = sk.roc_auc_score(TRUTH3, P3, multi_class="ovo")
    own = ScoreAUC().calculate(TRUTH3, P3)
    # scikit-learn averages over pairs the areas of both ways, as is done here
    assert own == pytest.approx(hand_till)


def test_ties_of_probabilities_count_half():
    given = np.array([[0.5, 0.5]] * 4)
    assert ScoreAUC().calculate(np.array([0, 0, 1, 1]), given) == 0.5


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("squared", sk.mean_squared_error),
        ("absolute", sk.mean_absolute_error),
        ("rmse", sk.root_mean_squared_error),
        ("r2", sk.r2_score),
    ],
)
def test_regression(name, theirs):
    assert metric(name).calculate(Y, F) == pytest.approx(theirs(Y, F), rel=1e-12)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_any_quantile_has_a_name_and_is_the_loss_of_scikit_learn(q):
    from sklearn.metrics import mean_pinball_loss

    rng = np.random.default_rng(0)
    truth, predictions = rng.normal(size=(2, 50))
    loss = metric(f"pinball({q})")
    assert loss.calculate(truth, predictions) == pytest.approx(
        mean_pinball_loss(truth, predictions, alpha=q)
    )
    assert metric(loss.name).quantile == metric(f"Quantile({q})").quantile == q
    over = np.maximum(predictions - truth, 0)  # the paper's Q-loss, of alpha = 1 - q
    alpha = 1 - q
    paper = alpha * over + (1 - alpha) * np.maximum(truth - predictions, 0)
    assert loss.calculate(truth, predictions) == pytest.approx(paper.mean())


def test_a_cost_may_be_asked_for_in_capitals():
    assert metric("Cost(a>B=5)").name == metric("cost(a>B=5)").name


def test_a_quantile_that_is_none_is_told():
    with pytest.raises(AnalysisError, match=r"quantile 1\.5 is not between 0 and 1"):
        metric("pinball(1.5)")


def test_quantile_loss_is_smallest_at_its_quantile():
    ours = LossQuantile(0.8)
    assert ours.calculate(Y, F) == pytest.approx(sk.mean_pinball_loss(Y, F, alpha=0.8))
    sample = RNG.normal(size=20_000)
    losses = [ours.calculate(sample, np.full_like(sample, q)) for q in (0.5, 0.8416, 1.2)]
    assert min(losses) == losses[1]
    with pytest.raises(AnalysisError, match="between 0 and 1"):
        LossQuantile(1.0)


@pytest.mark.parametrize("score", [ScoreSensitivity, ScorePrecision, ScoreF1])
def test_zero_over_zero_has_a_rule(score):
    nothing = np.zeros(4, dtype=int)
    assert score().calculate(nothing, nothing) == 0.0
    assert score(zero_division=1.0).calculate(nothing, nothing) == 1.0
    assert np.isnan(score(zero_division=np.nan).calculate(nothing, nothing))


def test_mcc_of_one_class_is_zero():
    assert ScoreMCC().calculate(np.zeros(3, dtype=int), np.zeros(3, dtype=int)) == 0.0


@pytest.mark.parametrize("name", sorted(set(metric_names())))
def test_every_name_gives_a_metric_that_knows_itself(name):
    found = metric(name)
    assert isinstance(found.greater_is_better, bool)
    assert found.name
    assert found.uses in ("labels", "probabilities")
    low, high = found.bounds
    assert low < high
    assert found.loss(found.loss(0.25)) == 0.25


@pytest.mark.parametrize(
    ("name", "kind", "task", "loss"),
    [
        ("accuracy", True, "Classification", "1 - accuracy"),
        ("mmce", True, "Classification", "misclassification"),
        ("Balanced Accuracy", False, "Classification", "1 - balanced_accuracy"),
        ("neg_mean_absolute_error", True, "Regression", "mean_absolute_error"),
        ("neg_median_absolute_error", False, "Regression", "median_absolute_error"),
        ("r2", False, "Regression", "1 - r2"),
        ("f1_macro", False, "Classification", "1 - f1_macro"),
        ("mutual_info_score", False, "Classification", "-mutual_info_score"),
    ],
)
def test_what_a_metric_knows(name, kind, task, loss):
    found = metric(name)
    assert (found.average, found.task, found.loss_name) == (kind, task, loss)


def test_scikit_learn_by_name_gives_scikit_learns_numbers():
    assert metric("jaccard").calculate(TRUTH, GUESS) == sk.jaccard_score(TRUTH, GUESS)
    assert metric("neg_log_loss").calculate(TRUTH3, P3) == pytest.approx(-sk.log_loss(TRUTH3, P3))
    assert metric("neg_median_absolute_error").calculate(Y, F) == -sk.median_absolute_error(Y, F)
    assert metric("neg_mean_squared_error").calculate(Y, F) == pytest.approx(
        -sk.mean_squared_error(Y, F)
    )
    assert metric("neg_log_loss").uses == metric("roc_auc_ovr").uses == "probabilities"
    top = sk.top_k_accuracy_score(TRUTH3, P3, k=2, labels=[0, 1, 2])
    assert metric("top_k_accuracy").calculate(TRUTH3, P3) == pytest.approx(top)


def test_a_scorer_of_ones_own():
    fbeta = sk.make_scorer(sk.fbeta_score, beta=2)
    assert metric(fbeta).calculate(TRUTH, GUESS) == sk.fbeta_score(TRUTH, GUESS, beta=2)
    assert metric(fbeta).name == "fbeta_score(beta=2)"
    pinball = metric(sk.make_scorer(sk.mean_pinball_loss, alpha=0.9, greater_is_better=False))
    expected = -sk.mean_pinball_loss(Y, F, alpha=0.9)
    assert pinball.calculate(Y, F) == expected
    assert pinball.name == "neg_mean_pinball_loss(alpha=0.9)"
    assert pinball.cells(Y, F[None], ()).tolist() == [expected]  # as a block of regression has it
    weighted = pinball.cells(Y, F[None], (), np.arange(len(Y)))[0]
    assert weighted == -sk.mean_pinball_loss(Y, F, alpha=0.9, sample_weight=np.arange(len(Y)))
    brier = metric(sk.make_scorer(sk.brier_score_loss, response_method="predict_proba"))
    p = np.linspace(0, 1, len(TRUTH))
    assert brier.uses == "probabilities"
    assert brier.calculate(TRUTH, np.column_stack([1 - p, p])) == sk.brier_score_loss(TRUTH, p)
    with pytest.raises(AnalysisError, match="more than the labels and probabilities"):
        metric(sk.make_scorer(sk.roc_auc_score, response_method="decision_function"))


def test_a_function_of_truth_and_predictions_has_the_direction_that_is_given():
    within = metric(lambda y, f: np.mean(np.abs(y - f) < 0.5), greater_is_better=True)
    assert within.calculate(Y, F) == np.mean(np.abs(Y - F) < 0.5)
    worst = metric(partial(sk.max_error), greater_is_better=False)
    assert (worst.name, worst.loss_name, worst.loss(2.0)) == ("max_error", "max_error", 2.0)
    assert worst.cells(Y, F[None], ()).tolist() == [sk.max_error(Y, F)]
    same = metric(lambda y, p: (y == p).mean(), greater_is_better=True)
    assert same.calculate(np.array(["a", "b"]), np.array(["a", "a"])) == 0.5
    with pytest.raises(AnalysisError, match="metric <lambda> failed: ZeroDivisionError: division"):
        metric(lambda y, f: len(y) / (len(f) - 50), greater_is_better=True).calculate(Y, F)
    for function in (sk.accuracy_score, lambda y, f: (y - f).max()):
        with pytest.raises(AnalysisError, match=r"direction: use metric\(function, greater_is"):
            metric(function)
    with pytest.raises(AnalysisError, match="'accuracy' has a direction of its own"):
        metric("accuracy", greater_is_better=False)


def test_area_under_the_precision_recall_curve():
    assert metric("pr_auc").name == metric("average_precision").name == "pr_auc"
    p, weights = np.linspace(0, 1, len(TRUTH)) ** 2 % 0.37, np.arange(len(TRUTH)) % 3
    given = np.column_stack([1 - p, p])
    assert metric("pr_auc").calculate(TRUTH, given) == sk.average_precision_score(TRUTH, p)
    expected = sk.average_precision_score(TRUTH, p, sample_weight=weights)
    assert metric("pr_auc").cells(TRUTH, given[None], (), weights).tolist() == [expected]
    assert np.isnan(metric("pr_auc").calculate(np.zeros(len(TRUTH), dtype=int), given))
    several = sk.average_precision_score(np.eye(3)[TRUTH3], P3)
    assert metric("pr_auc").calculate(TRUTH3, P3) == pytest.approx(several)


def test_unknown_and_incomplete_metrics():
    with pytest.raises(AnalysisError, match="did you mean 'neg_median_absolute_error'"):
        metric("medae")
    with pytest.raises(AnalysisError, match=r"'acuracy' is not known; did you mean 'accuracy'\?"):
        metric("acuracy")
    with pytest.raises(AnalysisError, match=r"'acc' is not known; did you mean 'accuracy'\?"):
        metric("acc")
    with pytest.raises(AnalysisError, match=r"not known; .mlaut list metrics. lists those"):
        metric("xyzzy")

    class NoDirection(MLautScore):
        name = "mine"

        def calculate(self, truth, predictions):
            return 0.0

    with pytest.raises(AnalysisError, match="'mine' does not say its direction"):
        metric(NoDirection)

    class NoFormula(MLautScore):
        name, greater_is_better = "mine", False

    with pytest.raises(AnalysisError, match="computes nothing"):
        metric(NoFormula())

    class NoName(MLautScore):
        greater_is_better = False

        def calculate(self, truth, predictions):
            return 0.0

    with pytest.raises(AnalysisError, match="has no name"):
        metric(NoName)


# ------------------------------------------------------------------------- blocks


def test_a_block_is_scored_by_cell(make_block):
    truth = [0, 0, 1, 1, 1, 0]
    block = make_block(truth, [[0, 1, 1, 1, 0, 0], truth], [0, 0, 0, 1, 1, 1])
    scored = ScoreAccuracy().evaluate(block)
    assert scored.cells[:, 0].tolist() == [[2 / 3, 2 / 3], [1, 1]]
    assert scored.losses[:, 0].tolist() == [[1 / 3, 1 / 3], [0, 0]]
    assert scored.variances[0, 0] == pytest.approx([1 / 3, 1 / 3])
    assert scored.reasons == {}


def test_the_loss_is_the_mean_of_point_losses_to_the_last_bit(make_block):
    """1 - mean(right) is not quite mean(wrong): 1 - 48/50 != 2/50."""
    truth = np.zeros(50, dtype=int)
    block = make_block(truth, [np.r_[1, 1, np.zeros(48, dtype=int)]], np.zeros(50))
    assert ScoreAccuracy().evaluate(block).losses[0, 0, 0] == 2 / 50
    assert 1 - 48 / 50 != 2 / 50


@pytest.mark.parametrize("name", ["f1", "mcc", "balanced_accuracy", "specificity", "jaccard"])
def test_aggregates_by_cell_equal_the_metric_of_each_test_set(make_block, name):
    folds = np.arange(60) % 3
    block = make_block(TRUTH, [GUESS, TRUTH], folds)
    found, score = metric(name).evaluate(block), metric(name)
    for fold in range(3):
        rows = folds == fold
        assert found.cells[0, 0, fold] == score.calculate(TRUTH[rows], GUESS[rows])
    assert np.isnan(found.variances).all()


def test_regression_blocks(make_block):
    block = make_block(Y, [F], np.arange(50) % 2, task=REGRESSION)
    rows = np.arange(50) % 2 == 0
    assert LossRMSE().evaluate(block).cells[0, 0, 0] == pytest.approx(
        sk.root_mean_squared_error(Y[rows], F[rows])
    )


def test_missing_cells_have_a_reason(make_block):
    status = np.array([[[Status.DONE, Status.TIMEOUT]], [[Status.ERROR, Status.MISSING]]])
    block = make_block([0, 1, 0, 1], [[0, 1, -1, -1], [-1] * 4], [0, 0, 1, 1], status=status)
    scored = ScoreAccuracy().evaluate(block)
    assert np.isnan(scored.cells).sum() == 3
    assert scored.reasons == {(0, 0, 1): "timeout", (1, 0, 0): "error", (1, 0, 1): "missing"}


def test_undefined_values_have_a_reason(make_block):
    p = np.full((2, 1, 4, 2), 0.5, dtype=np.float32)
    p[1] = np.nan
    block = make_block(
        [0, 0, 0, 1], [[0] * 4] * 2, [0, 0, 1, 1], probabilities=p, strategies=("A", "B")
    )
    scored = ScoreAUC().evaluate(block)
    assert scored.reasons == {
        (0, 0, 0): "the test set has one class only",
        (1, 0, 0): "no probabilities",
        (1, 0, 1): "no probabilities",
    }


def test_a_loss_that_is_not_finite_is_missing(make_block):
    block = make_block([1.0, 2.0], [[1e200, 0.0]], [0, 0], task=REGRESSION)
    scored = metric("squared").evaluate(block)
    assert scored.reasons == {(0, 0, 0): "the loss is not finite"}


def test_point_losses_are_there_where_a_point_was_tested(make_block):
    block = make_block([0, 1, 1], [[0, 0, 1]], [0, -1, 1])
    points = LossMisclassification().point_losses(block)[0, 0]
    assert points[[0, 2]].tolist() == [0, 0]
    assert np.isnan(points[1])
    with pytest.raises(AnalysisError, match="aggregate"):
        ScoreF1().point_losses(block)


def test_a_user_metric_sees_labels(make_block):
    class ScoreCost(MLautScore):
        name, greater_is_better = "cost", False

        def calculate(self, truth, predictions):
            return 10.0 * np.sum((truth == "ill") & (predictions == "well"))

    block = make_block([0, 0, 1], [[1, 0, 1]], [0, 0, 0], classes=("ill", "well"))
    assert ScoreCost().evaluate(block).cells[0, 0, 0] == 10.0


def test_metrics_refuse_what_does_not_suit_them(make_block):
    block = make_block([0, 1, 2], [[0, 1, 2]], [0, 0, 0], classes=("a", "b", "c"), dataset="iris")
    with pytest.raises(
        AnalysisError, match="'iris' has 3: choose the datasets, or metric 'f1_macro'"
    ):
        ScoreF1().evaluate(block)
    with pytest.raises(AnalysisError, match="rmse is for Regression, and dataset 'iris'"):
        LossRMSE().evaluate(block)
    with pytest.raises(AnalysisError, match="'iris' has none stored"):
        LossLog().evaluate(block)
    two = make_block([0, 1], [[0, 1]], [0, 0], dataset="labor")
    with pytest.raises(AnalysisError, match="'labor' has no class 'good', only 'no' and 'yes'"):
        ScoreF1(positive="good").evaluate(two)
    assert ScoreSensitivity(positive="no").evaluate(two).cells[0, 0, 0] == 1.0
    with pytest.raises(AnalysisError, match="'binary', 'macro'"):
        ScoreF1(average="weighted")


@pytest.mark.parametrize("name", ["f1", "precision", "recall", "sensitivity", "specificity"])
def test_several_classes_name_the_metric_that_serves_them(make_block, name):
    truth, said = np.array([0, 1, 2, 1]), np.array([[0, 2, 2, 1]])
    block = make_block(truth, said, np.zeros(4), classes=("a", "b", "c"))
    own = metric(name).name
    with pytest.raises(
        AnalysisError,
        match=rf"'d' has 3: choose the datasets, or metric '{own}_macro' \(in Python also "
        rf"Score\w+\(average='macro'\)\), a mean over all classes",
    ):
        metric(name).evaluate(block)
    score = metric(f"{own}_macro").evaluate(block).cells[0, 0, 0]
    expected = {"f1": sk.f1_score, "precision": sk.precision_score}.get(name, sk.recall_score)
    if name != "specificity":
        assert score == pytest.approx(expected(truth, said[0], average="macro"))
    else:  # of each class against the rest: 3 of 3, 2 of 2, 2 of 3
        assert score == pytest.approx((1 + 1 + 2 / 3) / 3)


@pytest.mark.parametrize(
    "name",
    [
        *("rmse", "mse", "mae", "squared", "absolute", "quantile", "neg_mean_absolute_error"),
        *("neg_mean_squared_error", "neg_root_mean_squared_error", "neg_median_absolute_error"),
        *("neg_max_error", "neg_mean_poisson_deviance"),
    ],
)
def test_what_is_in_the_unit_of_the_target_says_so(name):
    assert metric(name).incomparable == "it is in the unit of each dataset's target"


@pytest.mark.parametrize(
    "name",
    [
        *("accuracy", "misclassification", "roc_auc", "log_loss", "brier", "mcc", "f1_macro", "r2"),
        *("explained_variance", "neg_mean_absolute_percentage_error", "d2_absolute_error_score"),
        *("neg_mean_squared_log_error", "neg_log_loss", "neg_brier_score"),
    ],
)
def test_what_has_no_unit_has_means(name):
    assert metric(name).incomparable == ""


@pytest.mark.parametrize(
    ("name", "has_unit"),
    [
        ("Mean_absolute_error", True),
        ("Root_mean_squared_error", True),
        ("Root_relative_squared_error", False),
        ("MeanAbsoluteScaledError", False),
        ("MeanSquaredError", True),
        ("nrmse", False),
        ("smape", False),
        ("rmsle", False),
        ("loss", False),
        ("my score", False),
    ],
)
def test_names_from_elsewhere_say_whether_they_have_a_unit(name, has_unit):
    table = pd.DataFrame({"A": [1.0, 2.0]})
    results = Results.from_table(table, metric=name, greater_is_better=False)
    assert bool(results.incomparable) == has_unit


@pytest.mark.parametrize(
    ("name", "greater"),
    [
        *[("1 - accuracy", False), ("1-auc", False), ("100 - accuracy", False), ("-rmse", True)],
        *[("1 - error", True), ("negative log loss", True), ("minus mse", True)],
        *[("Percent_incorrect", False), ("Percent_correct", True), ("inaccuracy", False)],
        *[("Brier score", None), ("interval score", None), ("energy score", None)],
        *[("error score", None), ("mean rank score", None), ("1 - time", True)],
        *[("F1 score", True), ("mean_test_score", True), ("accuracy_score", True)],
    ],
)
def test_the_direction_of_a_name_is_known_or_asked_for(name, greater):
    assert direction(name) is greater


def test_a_description_says_what_the_metric_does():
    rows = {row["name"]: row for row in describe_metrics()}
    for name, row in rows.items():
        better = "greater" if metric(name).greater_is_better else "less"
        assert (row["metric"], row["better"]) == (metric(name).name, better)
    assert rows["log_loss"]["needs"] == "probabilities"


@pytest.mark.parametrize("word", ["mae", "mse", "rmse", "r2", "accuracy"])
def test_the_usual_word_of_a_metric_comes_back(word):
    assert metric(word).name == metric(word.upper()).name == word
    assert (metric("absolute").name, metric("squared").name) == ("mae", "mse")


def test_calculate_on_top_of_inherited_points_is_an_aggregate():
    class Largest(LossSquared):
        name = "largest"

        def calculate(self, truth, predictions):
            return float(self.points(truth, predictions).max())

    score, given = Largest(), np.array([[1.0, 2.0], [0.0, 3.0]])
    assert not score.average
    scores, losses, _ = score._score_test_set(np.array([0.0, 0.0]), given, ())
    assert scores.tolist() == losses.tolist() == [4.0, 9.0]  # the means are 2.5 and 4.5

    class Halved(Largest):
        def points(self, truth, predictions):
            return np.abs(predictions - truth) / 2

    assert Halved().average
