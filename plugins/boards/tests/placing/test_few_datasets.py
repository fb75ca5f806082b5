"""Places by few datasets: prediction, calibration, arms, looks, audit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from mlaut_boards.placing.few_datasets import choose_datasets, course_of, families_of
from mlaut_boards.placing.loss_board import LossBoard, clipped_scores, prior_of, relative_ranks
from mlaut_boards.placing.published_places import place

from mlaut.analysis import Results, average_ranks, published
from mlaut.errors import AnalysisError

DELGADO = published("delgado2014")
WAINER = published("wainer2023")


def made_up(n=40, learners=36, families=9, seed=0):
    """Return a board of learners with a strength and a profile, which families share."""
    random = np.random.default_rng(seed)
    family = np.arange(learners) % families
    profile = random.normal(size=(n, 3))
    skill = random.normal(size=(3, families))[:, family] + 0.5 * random.normal(size=(3, learners))
    losses = random.normal(0, 0.7, (n, learners)) + profile @ skill + skill[0]
    names = [f"learner {k}" for k in range(learners)]
    table = pd.DataFrame(losses, index=[f"data {i}" for i in range(n)], columns=names)
    results = Results.from_table(table, metric="loss", greater_is_better=False)
    return results, dict(zip(names, family.astype(str).tolist(), strict=True))


BOARD, FAMILIES = made_up()


def without(name, results=BOARD):
    """Return a learner as a new one, and the board without it."""
    rest = results.select(strategies=[other for other in results.strategies if other != name])
    return replace(results.select(strategies=[name]), strategies=("mine",)), rest


def population(results, families):
    losses = results.losses.fillna(np.inf).to_numpy()
    labels = np.array([families[name] for name in results.strategies])
    return LossBoard(losses, labels, np.ones(len(losses)))


def test_the_prediction_is_the_conditional_mean_of_a_normal_vector():
    board = population(BOARD, FAMILIES)
    mean, covariance = board.priors[0]
    at, rest = np.array([3, 17, 8]), np.setdiff1d(np.arange(40), [3, 17, 8])
    values = board.of(board.losses)[0][5]
    seen = values[at]
    precision = np.linalg.inv(covariance)  # conditional moments by the blocks of the precision
    inner = np.linalg.inv(precision[np.ix_(rest, rest)])
    others = mean[rest] - inner @ precision[np.ix_(rest, at)] @ (seen - mean[at])
    estimate, sd, strange = board.predicted(0, at, values[None])
    assert estimate[0] == pytest.approx((seen.sum() + others.sum()) / 40)
    far = (seen - mean[at]) @ np.linalg.inv(covariance[np.ix_(at, at)]) @ (seen - mean[at])
    assert strange[0] == pytest.approx(far / 3)
    # the spread of the mean, and of a Student's t with 8 degrees before and 11 after
    assert sd[0] == pytest.approx(np.sqrt(inner.sum()) / 40 * np.sqrt((8 + far) / 11))


def test_residuals_are_those_of_leaving_each_dataset_out():
    board = population(BOARD, FAMILIES)
    at = np.array([0, 9, 30, 31])
    values = board.of(board.losses)[0][2]
    for i, residual in enumerate(board.without_each(0, at, values)):
        others = np.delete(np.arange(4), i)
        expected = board.predicted(0, at[others], values[None], at[[i]])[0]
        assert residual == pytest.approx(values[at[i]] - expected[0])


def test_each_dataset_of_the_list_leaves_least_unknown():
    board = population(BOARD, FAMILIES)
    order, unknown = board.listed(40)
    covariance = board.priors[0][1]

    def left(at):
        inner = covariance[np.ix_(at, at)]
        to_all = covariance[at].mean(axis=1)
        return covariance.mean() - to_all @ np.linalg.solve(inner, to_all)

    for m in (1, 2, 6):
        tried = {j: left([*order[: m - 1], j]) for j in range(40) if j not in order[: m - 1]}
        assert min(tried, key=tried.get) == order[m - 1]
        assert unknown[m] == pytest.approx(tried[order[m - 1]])
    assert sorted(order) == list(range(40))
    dear = LossBoard(board.losses, board.families, np.where(np.arange(40) == order[0], 100.0, 1.0))
    assert dear.listed(40)[0][0] != order[0]


def test_correlations_shrink_to_their_mean_and_variances_stay():
    values = np.random.default_rng(1).normal(size=(12, 30))  # independent: nothing but noise
    mean, covariance = prior_of(values)
    np.testing.assert_allclose(mean, values.mean(axis=0))
    variances = values.var(axis=0, ddof=1)
    np.testing.assert_allclose(np.diag(covariance), variances, atol=1e-4 * variances.mean() + 1e-9)
    sample = np.corrcoef(values.T)[np.triu_indices(30, 1)]
    sd = np.sqrt(variances)
    shrunk = (covariance / np.outer(sd, sd))[np.triu_indices(30, 1)]
    assert shrunk.std() < 0.4 * sample.std()
    assert shrunk.mean() == pytest.approx(sample.mean(), abs=1e-6)


def test_failures_are_beaten_by_all_and_have_the_lowest_score():
    losses = np.array([[0.3, np.inf, np.inf, 0.1]])
    np.testing.assert_allclose(
        relative_ranks(losses, losses).ravel(), [0.375, 0.75, 0.75, 0.125]
    )  # by hand: 1 of 4 and half of itself; 2 and half of two; half of itself
    pool = np.array([[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 5.0, 5.0, 6.0, 7.0]])
    new = np.array([[1.0, np.inf], [6.0, 5.0]])
    # median 2 and MAD 1; then more than half are equal, and 5 and 7 are the ends
    np.testing.assert_allclose(clipped_scores(new, pool), [[1.0, 0.0], [-3.0, 3.0]])


def test_calibration_leaves_families_out_and_ignores_the_order_of_learners():
    board = population(BOARD, FAMILIES)
    drawn = np.random.default_rng(3).permutation(40)
    held = board.held_out([5, 10], drawn)
    turned = np.random.default_rng(4).permutation(36)
    other = LossBoard(board.losses[:, turned], board.families[turned], board.costs)
    again = other.held_out([5, 10], drawn)
    np.testing.assert_allclose(held[..., turned], again, atol=1e-8)
    np.testing.assert_allclose(held[2][:, turned], again[2])  # how strange
    # a member of a family has no part in the errors of its relatives
    changed = board.losses.copy()
    changed[:, 0] = changed[::-1, 0]
    other = LossBoard(changed, board.families, board.costs)
    relatives = board.families == board.families[0]
    errors, same = held[:2], other.held_out([5, 10], drawn)[:2]
    np.testing.assert_allclose(errors[..., relatives][..., 1:], same[..., relatives][..., 1:])
    assert not np.allclose(errors[..., ~relatives], same[..., ~relatives])


def test_the_reach_is_the_larger_of_a_quantile_and_a_t_over_families():
    board = population(BOARD, FAMILIES)
    errors = np.linspace(-1, 1, 36)
    errors[:4] = -9
    # quantile by hand: the 34th of 36 absolute errors; t with 9 degrees at 0.95 is 1.8331
    by_family = [np.mean(errors[board.families == family] ** 2) for family in "012345678"]
    t = 1.8331129 * np.sqrt(10 / 9 * np.mean(by_family))
    assert board.reach(errors, 0.1) == pytest.approx(max(9, t))
    assert board.reach(errors / 1e3 + 1, 0.1) > 1.8


@pytest.mark.parametrize("arm", ["designed", "random"])
def test_all_datasets_give_the_average_rank_itself(arm):
    mine, rest = without("learner 7")
    placed = place(mine, rest, budget=40, arm=arm, families=FAMILIES)
    row = placed.frame.loc["mine"]
    ranks = average_ranks(BOARD).frame["average_rank"]
    ends = row[["average rank", "average rank low", "average rank high"]]
    np.testing.assert_allclose(ends.astype(float), ranks["learner 7"])
    assert (row["of"], row["datasets"], placed.more) == (36, 40, ())
    gaps = placed.pairs.loc["mine"]
    lower = BOARD.losses["learner 7"].to_numpy()[:, None] - rest.losses.to_numpy()
    # on 35 opponents of both: a rival ties with itself, as one's own would with its copy
    own = relative_ranks(BOARD.losses[["learner 7"]].to_numpy(), rest.losses.to_numpy()).mean()
    theirs = relative_ranks(rest.losses.to_numpy(), rest.losses.to_numpy()).mean(axis=1)
    np.testing.assert_allclose(gaps["difference"], 35 * (own - theirs))
    assert (gaps["verdict"] == np.where(own < theirs, "better", "worse")).all()
    assert lower.shape == (40, 35)
    assert "among these 40 datasets, and for no others" in placed.notes
    assert placed.title().endswith("scenario (b): re-trained on the seen sources")


def test_the_intervals_hold_the_truth_and_shrink():
    mine, rest = without("learner 11")
    truth = average_ranks(BOARD).frame.loc["learner 11", "average_rank"]
    for arm in ("designed", "random"):
        widths = []
        for budget in (5, 10, 20, 30):
            row = place(mine, rest, budget=budget, arm=arm, families=FAMILIES).frame.loc["mine"]
            assert row["average rank low"] <= truth <= row["average rank high"]
            assert 0 < row["strange p"] <= 1
            widths.append(row["average rank high"] - row["average rank low"])
        assert widths[3] < widths[2] < widths[0]


def test_the_draw_follows_from_the_entry_and_the_makers_seed():
    def drawn(entry, seed=0):
        course = course_of(BOARD, 10, entry, arm="random", families=FAMILIES, seed=seed)
        return course.order[:10].tolist()

    assert drawn("mine") == drawn("mine")
    assert len({tuple(one) for one in (drawn("mine"), drawn("yours"), drawn("mine", 1))}) == 3
    mine, rest = without("learner 3")
    placed = place(mine, rest, budget=6, arm="random", families=FAMILIES)
    assert "the draw follows from entry='mine', seed=0" in placed.notes[0]
    named = place(mine, rest, budget=6, arm="random", families=FAMILIES, entry="other")
    assert named.frame.loc["mine", "average rank"] != placed.frame.loc["mine", "average rank"]


def test_looks_ask_for_what_they_need_and_end_when_the_rival_is_separated():
    mine, rest = without("learner 3")
    ranks = average_ranks(BOARD).frame["average_rank"].drop("learner 3")
    how = {"budget": 30, "families": FAMILIES, "rival": ranks.idxmax()}
    first = [BOARD.datasets[0]]
    looks = []
    for _ in range(9):
        placed = place(mine.select(datasets=first), rest, **how)
        looks.append(len(placed.more))
        if not placed.more:
            break
        first = [*dict.fromkeys([*first, *placed.more])]
    assert looks[0] in (4, 5)
    assert looks[-1] == 0
    assert placed.pairs.loc[("mine", how["rival"]), "verdict"] == "better"
    assert placed.frame.loc["mine", "datasets"] < 30
    # what ran besides changes nothing: the result follows from the course alone
    again = place(mine, rest, **how)
    pd.testing.assert_frame_equal(again.frame, placed.frame)
    pd.testing.assert_frame_equal(again.pairs, placed.pairs)
    assert "intervals have 98.3 % at each of 6 looks" in placed.notes
    start = f"mine against {how['rival']}: better; their average ranks differ by -"
    assert placed.notes[-1].startswith(start)


def test_it_is_said_how_many_more_datasets_would_separate():
    mine, rest = without("learner 3")
    own = average_ranks(BOARD).frame["average_rank"]
    near = (own.drop("learner 3") - own["learner 3"]).abs().idxmin()
    placed = place(mine, rest, budget=10, families=FAMILIES, rival=near)
    more = placed.pairs.loc[("mine", near), "more"]
    assert 0 < more <= 30
    end = "more datasets would separate mine from"
    assert placed.notes[-1] == f"{more:g} {end} {near}, if all stays so"
    row = placed.pairs.loc[("mine", near)]
    assert row["difference low"] < row["difference"] < row["difference high"]
    assert row["verdict"] == "undecided"


def test_a_learner_that_was_tuned_to_the_list_is_caught():
    mine, rest = without("learner 35")
    order = course_of(rest, 10, "mine", families=FAMILIES).order
    losses = np.quantile(rest.losses, 0.9, axis=1)  # poor, but for the list
    at = order[:10]
    losses[at] = rest.losses.to_numpy()[at].min(axis=1) - 0.1
    tuned = Results.from_table(
        mine.losses.assign(mine=losses), metric="loss", greater_is_better=False
    )
    honest = place(mine, rest, budget=10, families=FAMILIES, audit=True).frame.loc["mine"]
    assert honest["audit p"] > 0.1
    placed = place(tuned, rest, budget=10, families=FAMILIES, audit=True)
    row = placed.frame.loc["mine"]
    truth = 1 + 35 * relative_ranks(losses[:, None], rest.losses.to_numpy()).mean()
    assert row["average rank high"] < truth  # no interval of a list holds for it
    assert row["audit p"] == pytest.approx(1 / 36)
    assert placed.notes[-1].startswith("mine may be tuned to the list")
    drawn = place(tuned, rest, budget=15, arm="random", families=FAMILIES).frame.loc["mine"]
    assert drawn["average rank low"] <= truth <= drawn["average rank high"]
    few = place(tuned.select(datasets=[BOARD.datasets[j] for j in at]), rest, budget=10,
                families=FAMILIES, audit=True)  # fmt: skip
    assert len(few.more) == 5
    assert "audit p" not in few.frame


def test_a_budget_of_time_buys_the_datasets_that_say_most_for_their_cost():
    mine, rest = without("learner 5")
    costs = {name: 1.0 + 9 * (i % 2) for i, name in enumerate(BOARD.datasets)}
    course = course_of(rest, 20.0, "mine", families=FAMILIES, costs=costs)
    spent = sum(costs[BOARD.datasets[j]] for j in course.order[: course.looks[0]])
    assert spent <= 20 < spent + costs[BOARD.datasets[course.order[course.looks[0]]]]
    assert course.looks[0] > 8
    # a draw must not depend on costs: as many as have the mean cost
    drawn = course_of(rest, 60.0, "mine", families=FAMILIES, costs=costs, arm="random")
    assert drawn.looks == [10]
    placed = place(mine, rest, budget=20.0, costs=costs, families=FAMILIES)
    assert placed.frame.loc["mine", "datasets"] == course.looks[0]


@pytest.mark.parametrize(
    ("results", "how", "message"),
    [
        (WAINER, {"budget": 10}, r"designed arm needs 30 published learners of 8 families, and "),
        (published("garcia2008"), {"budget": 10, "arm": "random"}, "random arm needs 9 published"),
        (WAINER, {"budget": 4, "arm": "random"}, r"budget=4 buys 4 datasets, and 5 are needed"),
        (WAINER, {"budget": 9, "arm": "randm"}, "did you mean 'random'"),
        (WAINER, {"budget": 9, "arm": "random", "rival": "svn"}, "did you mean 'svm'"),
        (WAINER, {"budget": 9, "arm": "random", "costs": {"iris": 1}}, "costs lacks 131 datasets"),
        (WAINER, {"rival": "svm"}, "rival needs a budget"),
        (WAINER, {"budget": 9, "amr": "random"}, "unknown option 'amr' of course_of; did you mean"),
        (WAINER, {"budget": "9"}, "budget = '9' is not a number"),
        (WAINER, {"budget": 9, "alpha": 5, "arm": "random"}, "alpha = 5 is not between 0 and 1"),
    ],
)
def test_what_cannot_be_placed_is_refused(results, how, message):
    first = results.strategies[0]
    mine = Results.from_table(
        results.scores[[first]].rename(columns={first: "mine"}), metric=results.metric.name
    )
    against = results if "budget" in how else "wainer2023"
    with pytest.raises(AnalysisError, match=message):
        place(mine, against, **how)


def test_another_metric_is_refused():
    mine = Results.from_table(WAINER.losses[["rf"]], metric="loss", greater_is_better=False)
    with pytest.raises(AnalysisError, match="published scores are accuracy, and these loss"):
        place(mine, "wainer2023", budget=10, arm="random")


def test_a_failed_cell_counts_and_one_that_did_not_run_is_asked_for():
    scores = WAINER.scores[["rf"]].rename(columns={"rf": "mine"})
    course = course_of("wainer2023", 8, "mine", arm="random")
    at = WAINER.datasets[course.order[2]]
    scores.loc[at] = np.nan
    mine = Results.from_table(scores, metric="accuracy")
    assert place(mine, "wainer2023", budget=8, arm="random").more == (at,)
    failed = replace(mine, reasons={(mine.datasets.index(at), 0, 0, 0): "timeout"})
    placed = place(failed, "wainer2023", budget=8, arm="random")
    assert placed.more == ()
    scores.loc[at] = 0.0  # beaten by all, too
    zero = place(
        Results.from_table(scores, metric="accuracy"), "wainer2023", budget=8, arm="random"
    )
    pd.testing.assert_frame_equal(placed.frame, zero.frame)


def test_the_list_of_a_board_keeps_the_ranking_of_families_that_did_not_choose_it():
    chosen = choose_datasets(BOARD, 8, families=FAMILIES)
    assert list(chosen.frame.index) == [
        BOARD.datasets[j] for j in course_of(BOARD, 8, "", families=FAMILIES).order[:8]
    ]
    frame = chosen.frame
    assert (frame["left"].diff().dropna() < 0).all()
    assert frame["Spearman"].iloc[-1] > frame["Spearman"].iloc[0]
    assert ((frame["Kendall"] > 0) & (frame["Kendall"] < frame["Spearman"])).all()
    drawn = choose_datasets(BOARD, 8, families=FAMILIES, arm="random", entry="mine").frame
    assert drawn["left"].iloc[-1] > frame["left"].iloc[-1]


def test_families_are_those_of_the_benchmark_or_go_by_ranks():
    known = families_of("delgado2014")
    assert (len(known), len(set(known.values())), known["rforest_R"]) == (179, 17, "RF")
    assert families_of("wainer2023") == {}
    course = course_of("delgado2014", 10, "mine")
    assert course.notes[1] == (
        "families as given; published strategies with more than 10 % failures are left out: 7"
    )
    board = course_of("wainer2023", 10, "mine", arm="random").board
    assert len(set(board.families)) == 12
    twins = dict(zip(WAINER.strategies, board.families, strict=True))
    assert twins["lgbm"] == twins["xgb"] != twins["rf"]
    assert len({twins[name] for name in ("svml", "lr", "ridge", "lda")}) == 1


@pytest.mark.slow
def test_lists_that_are_chosen_again_cover_and_a_fixed_list_does_not():
    board = population(DELGADO.select(strategies=course_of("delgado2014", 5, "").theirs.strategies),
                       families_of("delgado2014"))  # fmt: skip
    nested, fixed = [], []
    drawn = np.random.default_rng(0).permutation(121)
    for family in np.unique(board.families):
        new = board.families == family
        others, (ranks, _), at = board.without(new, 10)
        estimate, sd, _ = others.predicted(0, at, ranks)
        off = np.abs(estimate - ranks.mean(axis=1)) / sd
        errors = others.held_out([10], drawn)[0, 0]
        nested += (off <= others.reach(errors, 0.1)).tolist()
        k = others.losses.shape[1]
        own = (others.of(others.losses)[0] * k - 0.5) / (k - 1)
        inside = others.predicted(0, at, own)
        fixed += (off <= others.reach((inside[0] - own.mean(axis=1)) / inside[1], 0.1)).tolist()
    assert len(nested) == 172
    assert 0.88 <= np.mean(nested) <= 0.97
    assert np.mean(fixed) < 0.85


def test_a_copy_of_a_published_learner_is_neither_better_nor_worse():
    mine = replace(WAINER.select(strategies=["svm"]), strategies=("mine",))
    pairs = place(mine, "wainer2023", budget=132, arm="random").pairs.loc["mine"]
    assert pairs.loc["svm", "verdict"] == "undecided"
    assert pairs.loc["svm", "difference"] == pytest.approx(0, abs=1e-9)
    assert pairs["verdict"].value_counts()["undecided"] == 1
