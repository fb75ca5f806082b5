"""Decisions: verdicts with names, cost, how sure they are, and none with too few datasets."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mlaut.analysis import (
    Results,
    adjust_pairs,
    compare,
    probability_of_best,
    treat_missing,
    wilcoxon_test,
)
from mlaut.analysis.deciding.decision import Check, decide_study
from mlaut.analysis.deciding.margins import gaps, margins
from mlaut.analysis.deciding.terms import chosen_now
from mlaut.analysis.deciding.verdicts import verdicts_of_best
from mlaut.errors import AnalysisError


def table(n=20, **worse):
    """Return accuracies around 0.8, lower by ``worse`` for each strategy."""
    rng = np.random.default_rng(3)
    level = rng.uniform(0.7, 0.9, n)
    return pd.DataFrame({k: level - w + rng.normal(0, 0.01, n) for k, w in worse.items()})


def decided(frame, metric="accuracy", **terms):
    comparison = compare(frame, metric=metric, rope=terms.get("rope", 0.0))
    return comparison.decision(**terms)


def test_the_verdicts_are_those_of_the_corrected_test():
    frame = table(A=0.0, B=0.002, C=0.1, D=0.3)
    found = decided(frame)
    pairs = adjust_pairs(wilcoxon_test(Results.from_table(frame, metric="accuracy")), "holm")
    beaten = (pairs.p_values <= 0.05) & (pairs.table("better") > 0)
    expected = list(beaten.columns[beaten.any()])
    assert found.named("clearly worse") == tuple(expected) == ("C", "D")
    assert found.best == ("A", "B")
    assert found.answer() == (
        "A has the best average rank of 4 strategies on these 20 datasets. "
        "B is not shown to be worse; C and D are clearly worse."
    )
    likely = probability_of_best(Results.from_table(frame, metric="accuracy")).frame["P(best)"]
    np.testing.assert_array_equal(found.frame["P(best)"], likely[found.frame.index])
    means = frame.mean()
    np.testing.assert_allclose(found.frame["mean accuracy"], means[found.frame.index])
    assert found.frame["groups"].to_dict() == {"A": "a", "B": "a", "C": "b", "D": "c"}


@pytest.mark.parametrize(
    ("worse", "answer"),
    [
        ({"A": 0.0, "B": 0.2}, "A is better than B on these 20 datasets."),
        (
            {"A": 0.0, "B": 0.2, "C": 0.3},
            "A is the best of 3 strategies on these 20 datasets: the others are clearly worse.",
        ),
        (
            {"A": 0.0, "B": 0.0},
            "A and B share the best average rank of 2 strategies on these 20 datasets, but no "
            "strategy is shown to be worse than another.",
        ),
    ],
)
def test_answers_in_words(worse, answer):
    assert decided(table(**worse)).answer() == answer


def test_a_control_is_compared_with_each_other():
    found = decided(table(A=0.0, B=0.1, C=0.1, D=0.3), question="control: B")
    assert found.leader == "B"
    assert found.answer() == (
        "Compared with B on these 20 datasets: A is clearly better; D is clearly worse; "
        "C is not shown to differ."
    )
    assert found.n_pairs == 3
    with pytest.raises(AnalysisError, match="strategy 'X' is not in these"):
        decided(table(A=0.0, B=0.1), question="control: X")


def test_a_control_needs_less_evidence_than_all_pairs():
    frame = table(n=9, A=0.0, B=0.2, C=0.2, D=0.2, E=0.2)
    assert not decided(frame).decided or decided(frame).least <= 9
    assert decided(frame, question="control: A").least < decided(frame).least


def test_all_pairs_are_counted():
    found = decided(table(A=0.0, B=0.2, C=0.4), question="all pairs")
    assert found.answer().endswith(" 3 of 3 pairs are shown to differ.")


def test_practically_equal_is_said_of_what_is_within_the_region():
    found = decided(table(A=0.0, B=0.004, C=0.3), rope=0.03)
    assert found.named("practically equal") == ("B",)
    assert "B is practically equal (within 0.03 of accuracy); C is clearly worse." in found.answer()
    with pytest.raises(AnalysisError, match="another unit on each dataset"):
        decided(table(A=0.0, B=0.1), metric="rmse", rope=0.1)


def test_too_few_datasets_decide_nothing():
    found = decided(table(n=5, A=0.0, B=0.3, C=0.4))
    assert not found.decided
    assert found.headline() == (
        "Do not choose by these results: at least 2 more datasets are needed.",
        "Too few datasets to decide: there are 5, and at least 7 are needed for 3 strategies.",
    )
    assert found.certainty()[0] == (
        "With 2 more datasets a difference can be shown, if all agree on it."
    )
    assert not {"P(best)", "groups", "verdict"} & set(found.frame)
    assert found.leader == ""
    assert found.best == ()
    assert found.checks == ()


def test_errors_in_several_units_have_no_mean():
    frame = 1 - table(A=0.0, B=0.2, C=0.3)
    found = decided(frame.mul(10.0 ** np.arange(len(frame)), axis=0), metric="rmse")
    assert found.chosen.analysis.test == "trinomial"
    assert not [name for name in found.frame if name.startswith("mean")]
    assert "mean" not in found.sentence()
    assert {check.how for check in found.checks} == {"the sign test", "Nemenyi's test"}


def test_errors_are_shown_in_their_own_direction():
    found = decided(1 - table(A=0.0, B=0.2), metric="misclassification")
    assert found.leader == "A"
    assert found.frame["mean misclassification"].is_monotonic_increasing


def test_other_tests_and_metrics_say_how_sure():
    frame = table(A=0.0, B=0.002, C=0.1)
    comparison = compare(frame, metric="accuracy")
    turned = frame.rename(columns={"A": "C", "C": "A"})
    other = adjust_pairs(wilcoxon_test(Results.from_table(turned, metric="accuracy")), "holm")
    found = decide_study(comparison, chosen_now(), others={"metric mcc": other})
    by = {check.how: check for check in found.checks}
    assert by["the sign test"].same
    answer = "C may be the best too, and A is shown to be worse"
    assert by["metric mcc"].words() == answer
    assert not by["metric mcc"].leads
    assert found.certainty()[0] == (
        "Asked in 5 ways, the answer is the same in 4, and A is among the best in 4. "
        f"By metric mcc, {answer}."
    )
    assert found.checks_frame().loc["metric mcc", "answer"] == answer


def test_answers_that_differ_are_told_in_words():
    found = decided(table(A=0.0, B=0.002, C=0.1))
    checks = [Check(f"way {n}", ("C",), (), True) for n in range(4)]
    same = Check("the sign test", (), (), True)
    assert replace(found, checks=(same,)).certainty()[0] == (
        "Asked in 2 ways, the answer is the same in all."
    )
    assert replace(found, checks=(*checks, same)).certainty()[0] == (
        "Asked in 6 ways, the answer is the same in 2, and A is among the best in all. "
        "By way 0, C may be the best too; by way 1, C may be the best too; 2 more answers differ."
    )
    assert replace(found, checks=tuple(checks[:1])).certainty()[0] == (
        "Asked in 2 ways, only this one gives this answer, and A is among the best in all. "
        "By way 0, C may be the best too."
    )
    assert Check("a way", ("C",), ("A", "B"), True, control=True).words() == (
        "C is shown to differ too, and A and B are not shown to differ"
    )


def test_what_more_datasets_would_show():
    found = decided(table(A=0.0, B=0.003, C=0.3))
    assert list(found.needed) == ["B"]
    assert found.needed["B"] > 20
    assert "C" not in found.needed
    assert "are rough" in found.certainty()[1]


def test_a_cycle_has_no_best():
    better = np.roll(np.eye(3, dtype=bool), 1, axis=1)
    words = verdicts_of_best(better, np.array([2.0, 2.0, 2.0]), np.zeros(3, dtype=bool))
    assert words == ["clearly worse"] * 3


def test_a_test_that_was_not_computed_is_named():
    with pytest.raises(AnalysisError, match=r"the test 't' cannot be used here .*choose one of"):
        decided(table(A=0.0, B=0.1), metric="rmse", test="t")
    with pytest.raises(AnalysisError, match=r"computed with rope = 0 and not 0\.1"):
        compare(table(A=0.0, B=0.1), metric="accuracy").decision(test="Bayesian sign", rope=0.1)


def test_the_same_input_has_the_same_decision():
    one, other = (decided(table(A=0.0, B=0.01, C=0.02)) for _ in range(2))
    assert one.sentence() == other.sentence()
    pd.testing.assert_frame_equal(one.frame, other.frame)


def test_show_begins_with_the_decision(capsys):
    compare(table(A=0.0, B=0.2), metric="accuracy").show()
    assert capsys.readouterr().out.startswith(
        "On datasets like these, use A. A is better than B on these 20 datasets. Over all"
    )


def test_results_with_filled_in_cells_are_decided():
    frame = table(A=0.0, B=0.1, C=0.3)
    frame.iloc[:3, 1] = np.nan
    results = Results.from_table(frame, metric="accuracy")
    found = compare(treat_missing(results, "worst rank")).decision()
    assert found.frame["failures"].to_dict() == {"A": 0, "B": 3, "C": 0}
    assert found.frame["datasets"].to_dict() == {"A": 20, "B": 17, "C": 20}
    expected = (frame["B"] - frame["A"]).mean()  # and not with a loss just above C's
    assert found.frame.loc["B", "difference"] == pytest.approx(expected)
    assert found.frame.loc["B", "lost"] == 17


def test_a_strategy_that_often_fails_does_not_look_as_good_as_the_best():
    found = decided(table(A=0.0, B=0.002, C=0.1, D=0.3))
    often, once = (found.frame.assign(failures=[0, n, 0, 0]) for n in (13, 1))
    assert replace(found, frame=often).answer().split(". ")[1] == (
        "B (which failed on 13 of 20 datasets) is not shown to be worse; C and D are clearly worse."
    )
    assert "failed" not in replace(found, frame=once).answer()


def test_strategies_that_no_number_of_datasets_would_separate_are_named():
    found = decided(table(A=0.0, B=0.002, C=0.1, D=0.3))
    needed = {"B": 41.0, "E": np.inf, "F": 5000.0}
    assert (
        replace(found, needed=needed)
        .certainty()[1]
        .startswith(
            "If more datasets are like these, a difference from A is shown with about so many "
            "datasets in all: 41 for B and more than 1000 for E and F. It takes"
        )
    )


# ---------------------------------------------------------------- against the leader


def test_margins_are_counted_where_both_have_a_result():
    frame = table(A=0.0, B=0.01, C=0.2)
    frame.iloc[:3, 1] = np.nan
    frame.iloc[3, 2] = frame.iloc[3, 0]
    results = Results.from_table(frame, metric="accuracy")
    found = margins(results, "A")
    gaps = frame.sub(frame["A"], axis=0)
    for name in "BC":
        assert found.loc[name, "won"] == (gaps[name] > 0).sum()
        assert found.loc[name, "lost"] == (gaps[name] < 0).sum()
        assert found.loc[name, "difference"] == pytest.approx(gaps[name].mean())
    assert found.loc["A"].isna().all()


def test_margins_of_errors_are_ratios_that_no_unit_changes():
    errors = 1 - table(A=0.0, B=0.2)
    other = errors.mul(10.0 ** np.arange(len(errors)), axis=0)
    one, two = (margins(Results.from_table(e, metric="rmse"), "A") for e in (errors, other))
    pd.testing.assert_frame_equal(one, two)
    assert one.loc["B", "ratio"] == pytest.approx(stats.gmean(errors["B"] / errors["A"]))
    assert one.loc["B", "lost"] == (errors["B"] > errors["A"]).sum()
    own = gaps(Results.from_table(errors, metric="rmse"), "A")
    np.testing.assert_allclose(own, errors.div(errors["A"], axis=0))
    errors.iloc[0, 1] = 0.0  # has no ratio
    assert np.isnan(margins(Results.from_table(errors, metric="rmse"), "A").loc["B", "ratio"])


def test_a_strategy_that_often_failed_is_compared_where_it_ran():
    found = decided(table(A=0.0, B=0.002, C=0.1, D=0.3))
    second = found.named("not shown to be worse")[0]
    frame = found.frame.copy()
    frame.loc[second, ["failures", "won", "lost"]] = [found.n // 2, 6, 1]
    expected = (
        f"Where both have a result, {second} is better than {found.leader} on 6 datasets and worse "
        f"on 1; it failed on {found.n // 2}."
    )
    assert expected in replace(found, frame=frame).headline()
    assert not any("Where both" in sentence for sentence in found.headline())


def test_a_strategy_that_is_hardly_the_best_is_said_apart():
    found = decided(table(A=0.0, B=0.002, C=0.1, D=0.3))
    assert "B is not shown to be worse; C and D" in found.answer()
    frame = found.frame.copy()
    frame.loc["B", "P(best)"] = 0.049
    assert (
        "B is unlikely to be the best, but not shown to be worse; C and D are clearly worse."
        in replace(found, frame=frame).answer()
    )


def test_the_best_rank_may_be_of_a_strategy_that_is_beaten():
    found = decided(table(A=0.0, B=0.002, C=0.1, D=0.3))
    frame = found.frame.copy()
    frame.loc["C", "average rank"] = 1.0
    answer = replace(found, frame=frame).answer()
    start = (
        "A has the best average rank of those that no other is shown to beat on these 20 datasets"
    )
    assert answer.startswith(f"{start}. B is not shown to be worse")


# ------------------------------------------------------------------------- advice

NEAR = {"A": 0.0, "B": 0.002, "C": 0.1, "D": 0.3}


@pytest.mark.parametrize(
    ("worse", "terms", "advice"),
    [
        ({"A": 0.0, "B": 0.2}, {}, "On datasets like these, use A."),
        ({"A": 0.0, "B": 0.2, "C": 0.3}, {}, "On datasets like these, use A."),
        (NEAR, {}, "On datasets like these, use A; B may be as good; avoid C and D."),
        (
            {"A": 0.0, "B": 0.004, "C": 0.3},
            {"rope": 0.03},
            "On datasets like these, use A; B is practically as good; avoid C.",
        ),
        (
            {**NEAR, "E": 0.31, "F": 0.32, "G": 0.33},
            {},
            "On datasets like these, use A; B may be as good; avoid the 5 that are clearly worse.",
        ),
        (NEAR, {"question": "control: C"}, "On datasets like these, use A in place of C."),
        (
            NEAR,
            {"question": "control: A"},
            "Nothing here speaks against A: no other strategy is shown to be better.",
        ),
        (
            {"A": 0.0, "B": 0.3},
            {"least": 21},
            "Do not choose by these results: at least 1 more dataset is needed.",
        ),
    ],
)
def test_advice_says_no_more_than_the_verdicts(worse, terms, advice):
    found = decided(table(**worse), **terms)
    assert found.advice() == found.headline()[0] == advice


def test_advice_where_nothing_is_shown_says_how_many_datasets_would_tell():
    found = decided(table(A=0.0, B=0.0))
    no = "Do not choose by these results: "
    for needed, why in (
        (38.0, "about 18 more datasets like these would tell A from B."),
        (134.0, "about 110 more datasets like these would tell A from B."),
        (3.0, "1 more dataset like these would tell A from B."),
        (1e5, "the differences are too small to show."),
    ):
        assert replace(found, needed={"B": needed}).advice() == no + why
    assert (
        replace(found, leader="").advice() == no + "each strategy is shown to be worse than "
        "another."
    )


def test_advice_names_what_is_much_quicker():
    found = decided(table(**NEAR))
    start = "On datasets like these, use A; B may be as good"
    for share, words in ((0.26, ", and takes about a quarter of the training time"), (0.6, "")):
        quick = replace(found, time_shares={"B": share, "C": 0.01})
        assert quick.advice() == f"{start}{words}; avoid C and D."
    verdicts = found.frame.assign(verdict=["best", *["not shown to be worse"] * 2, "clearly worse"])
    two = replace(found, frame=verdicts.assign(**{"P(best)": 0.3}), time_shares={"C": 0.011})
    assert two.advice() == (
        "On datasets like these, use A; B and C may be as good, and C takes about a hundredth of "
        "the training time; avoid D."
    )


def test_advice_to_use_what_often_failed_says_so():
    found = decided(table(A=0.0, B=0.2))
    failing = replace(found, frame=found.frame.assign(failures=[5, 0]))
    assert failing.advice() == ("On datasets like these, use A (which failed on 5 of 20 datasets).")
