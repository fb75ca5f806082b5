"""Decisions: verdicts with names, cost, how sure they are, and none with too few datasets."""

import re
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
from mlaut.analysis.deciding.certainty import differs
from mlaut.analysis.deciding.decision import decide_study
from mlaut.analysis.deciding.margins import gaps, margins
from mlaut.analysis.deciding.outlook import chance_to_tell
from mlaut.analysis.deciding.terms import chosen_now
from mlaut.analysis.deciding.verdict_table import Check, Step, Way
from mlaut.errors import AnalysisError
from mlaut.report import make_report


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
    pairs = compare(frame, metric="accuracy").pairs["signed rank"]
    beaten = (pairs.p_values <= 0.05) & (pairs.table("better") > 0)
    expected = list(beaten.columns[beaten.any()])
    assert found.named("avoid") == tuple(expected) == ("C", "D")
    assert found.best == ("A", "B")
    assert found.answer() == (
        "On datasets like these, use A (chance to be the best 0.66). May be best too "
        "(chance 0.34): B. Choosing it costs at most 0.0075 of mean accuracy. "
        "Avoid C and D (accuracy 0.1 to 0.3 below A)."
    )
    likely = probability_of_best(Results.from_table(frame, metric="accuracy")).frame["P(best)"]
    np.testing.assert_array_equal(found.frame["P(best)"], likely[found.frame.index])
    means = frame.mean()
    np.testing.assert_allclose(found.frame["mean accuracy"], means[found.frame.index])
    assert found.frame["groups"].to_dict() == {"A": "a", "B": "a", "C": "b", "D": "c"}


@pytest.mark.parametrize(
    ("worse", "answer"),
    [
        (
            {"A": 0.0, "B": 0.2},
            "On datasets like these, use A. Avoid B (accuracy 0.2 below A).",
        ),
        (
            {"A": 0.0, "B": 0.2, "C": 0.3},
            "On datasets like these, use A. Avoid B and C (accuracy 0.2 to 0.3 below A).",
        ),
        (
            {"A": 0.0, "B": 0.0},
            "No clear winner: A and B may be best. If you must choose now, use A (chance to be the "
            "best 0.50). Choosing the other costs at most 0.0055 of mean accuracy.",
        ),
    ],
)
def test_answers_in_words(worse, answer):
    assert decided(table(**worse)).answer() == answer


def test_a_control_is_compared_with_each_other():
    found = decided(table(A=0.0, B=0.1, C=0.1, D=0.3), question="control: B")
    assert found.leader == "B"
    assert found.answer() == (
        "On datasets like these, use A in place of B. Undecided: C. Avoid D (accuracy 0.2 below B)."
    )
    assert found.frame["verdict"].to_dict() == {
        "A": "use",
        "B": "baseline",
        "C": "undecided",
        "D": "avoid",
    }
    assert found.n_pairs == 3
    with pytest.raises(AnalysisError, match="strategy 'X' is not in these"):
        decided(table(A=0.0, B=0.1), question="control: X")


def test_as_good_is_as_good_as_the_control():
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.6, 0.8, 40)
    frame = pd.DataFrame({"A": scores, "B": scores + rng.normal(0, 0.001, 40), "C": scores - 0.1})
    found = decided(frame, question="control: A", rope=0.02)
    assert found.named("as good") == ("B",)
    assert found.meanings()["as good"] == "practically equal to the control"


def test_a_control_needs_less_evidence_than_all_pairs():
    frame = table(n=9, A=0.0, B=0.2, C=0.2, D=0.2, E=0.2)
    needed = [decided(frame, test="t", question=q).least for q in ("control: A", "best")]
    assert needed == [8, 9]
    assert decided(frame).least == 6  # all pairs are tested together


def test_all_pairs_are_counted():
    found = decided(table(A=0.0, B=0.2, C=0.4), question="all pairs")
    assert found.answer().endswith(" 3 of 3 pairs are shown to differ.")


def test_a_strategy_that_all_pairs_together_rule_out_does_not_contradict_the_number_of_pairs():
    scores = np.random.default_rng(9).normal(0.8, 0.03, (24, 14)) - 0.002 * np.arange(14)
    found = decided(pd.DataFrame(scores).add_prefix("m"), question="all pairs")
    assert found.named("probably worse")
    assert found.n_shown < len(found.named("probably worse"))
    assert found.answer().endswith(" pairs are shown to differ, one against one.")


def test_the_words_of_a_control_are_about_it():
    meanings = decided(table(A=0.0, B=0.2, C=0.01), question="control: A").meanings()
    assert meanings["baseline"] == "the control, with which the others are compared"
    assert meanings["avoid"] == "shown to be worse than the control"


def test_practically_equal_is_said_of_what_is_within_the_region():
    found = decided(table(A=0.0, B=0.004, C=0.3), rope=0.03)
    assert found.named("as good") == ("B",)
    assert "use A. Practically as good (within 0.03 of accuracy): B. Avoid C (" in found.answer()
    with pytest.raises(AnalysisError, match="another unit on each dataset"):
        decided(table(A=0.0, B=0.1), metric="rmse", rope=0.1)


def test_too_few_datasets_decide_nothing():
    found = decided(table(n=5, A=0.0, B=0.3, C=0.4))
    assert not found.decided
    assert found.headline() == (
        "Too few datasets to be sure (5, and at least 6 are needed). If you must choose now, use "
        "A. It is first on all 5 datasets. Other datasets may have another order.",
        "What next? Add 1 more dataset. Then a difference can be shown, if all agree with these.",
    )
    assert found.frame.loc["B", ["won", "tied", "lost"]].tolist() == [0, 0, 5]
    mixed = table(n=5, A=0.0, B=0.3)
    mixed.iloc[0] = [0.1, 0.9]
    assert decided(mixed).steps()[0].text == (
        "Add at least 1 more dataset, and perhaps more. No single one is first on all of these."
    )
    none = pd.DataFrame({"A": [2, 2, 2, 2], "B": [1, 3, 1, 3], "C": [3, 1, 3, 1]}) / 10
    none = none.assign(D=[0.35, 0.35, 0.35, 0.05], A=[0.15, 0.15, 0.15, 0.15])
    assert "and on none of 4 datasets" in decided(none, metric="error").answer()
    tied = table(n=5, A=0.0, B=0.3)
    tied.iloc[0] = 0.5
    assert "It is first on all 5 datasets" in decided(tied).answer()
    assert decided(tied).steps()[0].why.endswith("No single one is first on all of these.")
    first = "It is first by average rank, and on 4 of 5 datasets. B has accuracy 0.08"
    assert first in ". ".join(decided(mixed).said(300))
    assert not {"P(best)", "groups"} & set(found.frame)
    assert found.named("undecided") == tuple(found.frame.index)
    assert found.leader == ""
    assert found.best == ()
    assert found.checks == ()


def test_errors_in_several_units_have_no_mean():
    frame = 1 - table(A=0.0, B=0.2, C=0.3)
    found = decided(frame.mul(10.0 ** np.arange(len(frame)), axis=0), metric="rmse")
    assert found.chosen.analysis.test == "trinomial"
    assert not [name for name in found.frame if name.startswith("mean")]
    assert "mean" not in found.sentence()
    assert {check.how.words for check in found.checks} == {"the sign test", "Nemenyi's test"}


def test_errors_are_shown_in_their_own_direction():
    found = decided(1 - table(A=0.0, B=0.2), metric="misclassification")
    assert found.leader == "A"
    assert found.frame["mean misclassification"].is_monotonic_increasing


def test_other_tests_and_metrics_say_how_sure():
    frame = table(A=0.0, B=0.002, C=0.1)
    comparison = compare(frame, metric="accuracy")
    turned = frame.rename(columns={"A": "C", "C": "A"})
    other = adjust_pairs(wilcoxon_test(Results.from_table(turned, metric="accuracy")), "holm")
    found = decide_study(comparison, chosen_now(), others={Way("metric mcc"): other})
    by = {check.how.words: check for check in found.checks}
    assert differs(by["the sign test"], found) == "the same"
    answer = "C is not shown to be worse, and A is shown to be worse"
    assert differs(by["metric mcc"], found) == answer
    assert by["metric mcc"].without == ("A",)
    assert found.certainty()[1].startswith(
        "No: 1 of 4 other analyses shows A to be worse; shown to be worse: C by 3 of 4."
    )
    assert found.checks_frame().loc["metric mcc", "answer"] == answer
    assert found.answer().startswith("If you must choose now, use A (chance to be the best 0.66).")
    assert found.headline()[1] == "Another analysis shows A to be worse."


def test_answers_that_differ_are_told_in_words():
    found = replace(decided(table(A=0.0, B=0.002, C=0.1)), without=())
    checks = [Check(Way(f"way {n}"), ("C",), ()) for n in range(4)]
    same = Check(Way("the sign test"), (), ())
    for given, told, start in (
        ((same,), "Yes: the other analysis agrees.", "On datasets like these"),
        ((same, same), "Yes: both other analyses agree.", "On datasets like these"),
        (
            (*checks, same),
            "Partly: all keep the 2 that may be best; shown to be worse: C by 1 of 5.",
            "On datasets like these",
        ),
        (
            checks[:1],
            "Partly: the other analysis keeps the 2 that may be best; it does not "
            "confirm C as worse.",
            "On datasets like these",
        ),
        (
            [Check(Way("a way"), (), ("A",))],
            "No: the other analysis shows A to be worse.",
            "If you must choose now",
        ),
    ):
        changed = replace(found, checks=tuple(given))
        assert changed.certainty()[1] == told
        assert changed.answer().startswith(f"{start}, use A (chance to be the best 0.66). ")
        assert ("Another analysis shows A to be worse." in changed.headline()) == (
            start[:2] == "If"
        )
    against = decided(table(A=0.0, B=0.002, C=0.1), question="control: A")
    assert differs(Check(Way("a way"), ("C",), ("A", "B")), against) == (
        "C is not shown to differ, and A and B are shown to differ"
    )


def test_card_and_fold_tell_the_same_of_a_treatment():
    found = replace(decided(table(A=0.0, B=0.002, C=0.1)), without=())
    how = Way.treated("drop datasets", 31)
    found = replace(found, checks=(Check(how, (), (), ("C",)),))
    assert found.certainty()[1] == "Partly: not on the 31 complete datasets (see above)."
    told = "C is not shown to be worse than A"
    assert found.checks_frame().loc[how.words, "answer"] == told
    assert f"{how.words[:1].upper()}{how.words[1:]}, A may still be best" in found.sentence()


def test_an_avoid_that_depends_on_missing_results_is_marked_on_the_first_screen():
    frame = table(A=0.0, B=0.002, C=0.1, D=0.3)
    frame.iloc[0, 1] = np.nan
    found = compare(frame, metric="accuracy", missing="failures last").decision()
    how, start = Way.treated("drop datasets", 31), "1 result is missing: it counts as last place"
    told = f"{start}. On the 31 complete datasets, "
    clear = replace(found, checks=(Check(how, (), ()),))
    assert clear.fragile == ()
    assert "*" not in clear.meanings()
    assert "(*)" not in clear.answer()
    assert f"{told}the verdicts are the same." in clear.headline()
    for also, than in ((("C",), ()), ((), ("C",))):
        doubted = replace(found, checks=(Check(how, also, (), than),))
        assert doubted.fragile == ("C",)
        assert "of which 1 depends on how missing results are treated (*)" in doubted.answer()
        choice = "A may still be best, but C (*) is not shown to be worse than A."
        assert told + choice in doubted.headline()
        assert "*" in doubted.meanings()
    other = replace(found, checks=(Check(Way("by the sign test"), ("C",), ()),))
    assert other.fragile == ()  # a test of the same numbers is counted in the verdict itself
    faint = replace(found, checks=(Check(how, (), (), faint=("C",)),))
    assert faint.fragile == ()
    assert "(*)" not in faint.answer()
    assert f"{told}A may still be best." in faint.headline()
    few = "on the 31 complete datasets, C is not shown to be worse (too few datasets)."
    assert few in faint.certainty()[1]
    led = replace(found, checks=(Check(how, (), ("A",)),))
    assert f"{told}A is shown to be worse." in led.headline()


@pytest.mark.parametrize(
    ("gaps_of_c", "gaps_of_d", "faint", "fragile"),
    [(0, 16, ("C",), ()), (1, 16, (), ("C",)), (1, 20, ("C", "D"), ())],
)
def test_what_fewer_datasets_do_not_show_is_marked_only_if_a_missing_result_may_be_why(
    gaps_of_c, gaps_of_d, faint, fragile
):
    frame = table(24, A=0.0, B=0.002, C=0.008, D=0.3)
    frame.iloc[:gaps_of_c, 2] = frame.iloc[:gaps_of_d, 3] = np.nan
    (section,) = make_report(Results.from_table(frame, metric="accuracy")).sections
    found = section.decision
    assert "C" in found.named("avoid")
    (check,) = [x for x in found.checks if x.how.treats]
    assert check.how.words == f"on the {24 - gaps_of_d} complete datasets"
    assert check.faint == faint
    assert found.fragile == fragile
    assert any(check.how.words[1:] in text for text in found.headline())


def test_where_averages_have_another_order_the_choice_by_them_is_named():
    frame = table(A=0.0, B=0.05)
    frame.loc[:2, "A"] -= 0.6
    found = decided(frame)
    assert found.first == ("A",)
    assert found.headline()[1] == (
        "By the average difference B would be first (accuracy 0.04 above A), but it is worse on 17 "
        "of 20: the average rank among all decides, not the size of differences."
    )


def test_letters_of_pairs_say_where_a_joint_test_rules_out_more():
    frame = decided(table(A=0.0, B=0.1)).frame
    frame["verdict"] = ["use", "probably worse"]
    assert "one against one" in replace(decided(table(A=0.0, B=0.1)), frame=frame).notes_text()[0]
    assert "one against one" not in decided(table(A=0.0, B=0.1)).notes_text()[0]
    found = compare(table(A=0.0, B=0.002, C=0.1), metric="accuracy")
    (said,) = [x for x in found.sentences() if "best with" in x]
    assert said.endswith(
        "one against one; verdicts rest on a test of all together, which can rule out more."
    )


def test_what_more_datasets_would_tell_is_said_where_it_is_hardly_anything():
    nothing = decided(table(A=0.0, B=0.001, C=0.003)).outlook
    assert (nothing.rival, nothing.chance < 0.2, np.isnan(nothing.folds)) == ("B", True, True)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal([0.82, 0.8], 0.03, (20, 2)), columns=["A", "B"])
    found = decided(frame.assign(C=0.3))
    assert found.best == ("A", "B")
    told = "With 20 more datasets like these, the chance to tell A and B apart is below 10 %."
    for chance in (0.01, 0.09, 0.11, 0.99):
        seen = replace(found, outlook=found.outlook._replace(chance=chance))
        assert (told in seen.sentence()) == (chance < 0.1)
        assert ("the chance" in seen.sentence().replace(told, "")) is False
    slim = found.outlook._replace(chance=0.01)
    level = replace(found, outlook=slim, frame=found.frame.assign(verdict="may be best"))
    tie = "Try A, B and C on your own data. A and B are close to a tie: with 20 more datasets like "
    assert level.steps()[0].text == f"{tie}these, the chance to tell them apart is below 10 %."
    sure = decided(table(A=0.0, B=0.2))
    assert sure.outlook is None
    assert sure.headline()[-1] == "What next? More datasets are not needed for these verdicts."
    fewest = decided(table(n=6, A=0.0, B=0.2))
    assert fewest.named("avoid") == ("B",)
    assert "not needed" not in fewest.sentence()  # a tie on one more dataset would change it


def test_the_forecast_learns_from_all_strategies_how_different_they_are():
    rng = np.random.default_rng(2)
    near = rng.normal([0.0, 0.2], 1, (20, 2))
    alike, apart = (np.c_[near, rng.normal(mean, 1, (20, 4))] for mean in (0.1, [1, 1.5, 2, 3]))
    assert chance_to_tell(alike, 20) < chance_to_tell(apart, 20)
    two = decided(pd.DataFrame(0.8 - 0.01 * near, columns=["A", "B"]))
    assert {*two.best} == {"A", "B"}
    assert two.outlook is None  # two strategies alone show no such thing
    assert not any("the chance to tell" in line or "not needed" in line for line in two.headline())


def of_folds(noise, seed):
    rng = np.random.default_rng(seed)
    true = rng.normal([0.5, 0.5, 0.4], 0.02, (20, 3)) + 0.1
    cells = true[:, :, None] + rng.normal(0, noise, (20, 3, 8))
    index = pd.MultiIndex.from_product(
        [range(20), ["A", "B", "C"], range(8)], names=["d", "s", "fold"]
    )
    rows = pd.DataFrame({"accuracy": cells.ravel()}, index=index).reset_index()
    results = Results.from_long(
        rows, dataset="d", strategy="s", value="accuracy", fold="fold", metric="accuracy"
    )
    return compare(results).decision()


@pytest.mark.parametrize(("noise", "unit"), [(0.002, "datasets"), (0.1, "folds or repeats")])
def test_what_helps_more_datasets_or_folds(noise, unit):
    found = of_folds(noise, 5)
    assert len(found.best) == 2
    pair = f"{found.leader} and {found.outlook.rival}"
    assert found.steps()[-1].to_do == f"To tell {pair} apart, add {unit}."
    assert (found.outlook.folds > 0.5) == (unit != "datasets")


def test_more_datasets_are_not_said_to_help_where_they_hardly_do():
    found = of_folds(0.01, 0)
    assert found.outlook.chance < 0.1
    assert found.steps()[0].text == (
        "More datasets would hardly help. With 20 more datasets like these, the chance to tell B "
        "and A apart is below 10 %."
    )


def test_of_equal_ranks_the_mean_decides_and_the_order_of_columns_never():
    frame = pd.DataFrame({"svm": [0.1] * 3 + [0.9] * 3, "tree": [0.2] * 3 + [0.1] * 3})
    for table_ in (frame, frame[["tree", "svm"]]):
        found = decided(table_, metric="error")
        assert (found.leader, found.first) == ("tree", ("tree",))
    cycle = pd.DataFrame({"C": [1.0, 2, 3] * 4, "A": [2.0, 3, 1] * 4, "B": [3.0, 1, 2] * 4})
    for order in ("CAB", "BAC"):
        found = compare(cycle[list(order)] / 10, metric="error").decision()
        assert found.first == ("A", "B", "C")
        assert found.answer() == ("If you must choose now, use one of A, B and C (first together).")
        assert {*found.named("may be best")} == {*order}


def test_a_leader_that_is_probably_not_the_best_only_leads():
    found = decided(table(A=0.0, B=0.0))
    assert found.named("use") == ()
    assert found.best == ("A", "B")
    assert round(found.frame["P(best)"]["A"], 2) <= 0.5


def test_a_test_that_was_not_computed_is_named():
    with pytest.raises(AnalysisError, match=r"the test 't' cannot be used here .*choose one of"):
        decided(table(A=0.0, B=0.1), metric="rmse", test="t")
    with pytest.raises(AnalysisError, match=r"computed with rope = 0 and not 0\.1"):
        compare(table(A=0.0, B=0.1), metric="accuracy").decision(test="Bayesian sign", rope=0.1)


def test_the_same_input_has_the_same_decision():
    one, other = (decided(table(A=0.0, B=0.01, C=0.02)) for _ in range(2))
    assert one.sentence() == other.sentence()
    pd.testing.assert_frame_equal(one.frame, other.frame)


def test_how_the_leader_was_run_makes_its_choice_provisional_and_comes_first():
    found = decided(table(A=0.0, B=0.2))
    told = Step("Tune B as well.", "B was not tuned: this may change the choice.", True)
    warned = replace(found, cautions=(told,))
    assert warned.answer().startswith("Provisional: on datasets like these, use A. ")
    assert "first step of What next?" in warned.meanings()["provisional"]
    assert "provisional" not in found.meanings()
    assert warned.headline()[-3:] == (
        "What next?",
        "1. Tune B as well. B was not tuned: this may change the choice.",
        "2. More datasets are not needed for these verdicts.",
    )
    of_other = replace(found, cautions=(told._replace(of_choice=False),))
    assert of_other.answer() == found.answer()
    assert of_other.headline()[-3:] == warned.headline()[-3:]


def test_what_next_names_a_step_where_nothing_has_to_be_mended():
    none = replace(decided(table(A=0.0, B=0.001, C=0.2)), outlook=None)
    assert none.steps()[-1].text == "To tell the 2 that may be best apart, add datasets."
    fewest = decided(table(n=6, A=0.0, B=0.2))
    assert fewest.steps()[0].text.startswith("Nothing has to be mended. For datasets of another")


def test_show_begins_with_the_decision(capsys):
    compare(table(A=0.0, B=0.2), metric="accuracy").show()
    assert capsys.readouterr().out.startswith(
        "On datasets like these, use A. Avoid B (accuracy 0.2 below A). What next? More "
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
    assert "May be best too (chance 0.34): B (no result on 13 of 20 datasets)" in (
        replace(found, frame=often).answer()
    )
    assert "failed" not in replace(found, frame=once).answer()


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
        assert found.loc[name, "tied"] == (gaps[name] == 0).sum()
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
    errors["C"] = errors["A"]
    ratios = margins(Results.from_table(errors, metric="rmse"), "A")["ratio"]
    assert (np.isnan(ratios["B"]), ratios["C"]) == (True, 1)
    none = margins(Results.from_table(errors[["A", "B"]], metric="rmse"), "A")
    assert list(none) == ["won", "tied", "lost"]


def test_a_strategy_that_often_failed_is_compared_where_it_ran():
    frame = table(A=0.0, B=0.002, C=0.1)
    frame.iloc[:7, 1] = np.nan
    found = compare(frame, metric="accuracy", missing="failures last").decision()
    assert found.frame.loc["B", "reason"] == "B has no result on 7 of 20 datasets."
    assert found.frame.loc["B", ["won", "tied", "lost"]].sum() == 13
    assert "7 results are missing: each counts as last place." in found.headline()


def test_the_reason_is_said_where_numbers_seem_to_contradict_a_verdict():
    rng = np.random.default_rng(1)
    level = rng.uniform(0.7, 0.8, 14)
    frame = pd.DataFrame({"A": level, "little": level - 0.01 - rng.uniform(0, 0.01, 14)})
    frame["much"] = np.where(np.arange(14) < 8, level - 0.1, level + 0.1)
    frame.iloc[0, 1] = frame.iloc[0, 0]
    found = decided(frame)
    assert found.frame["verdict"].to_dict() == {
        "A": "use",
        "little": "avoid",
        "much": "may be best",
    }
    assert found.frame["reason"].to_dict() == {
        "A": "",
        "little": (
            "little is worse than A on 13 of 14 datasets, often by little (by less than much on "
            "average)."
        ),
        "much": "much is worse than A on 8 of 14 datasets, which may be chance.",
    }
    assert found.headline()[1:3] == tuple(found.frame["reason"][["little", "much"]])
    assert found.frame.loc["little", ["won", "tied", "lost"]].tolist() == [0, 1, 13]


def test_a_candidate_that_mostly_loses_says_why_it_may_be_best():
    level = np.linspace(0.7, 0.8, 8)
    lost = np.array([0.2, 0.2, 0.01, 0.01, 0.01, 0.01, 0.01, -0.1])
    found = decided(pd.DataFrame({"A": level, "B": level - lost}))
    assert found.named("may be best") == ("B",)
    assert found.headline()[1] == (
        "B is worse than A on 7 of 8 datasets, and 2 of them make up most of its gap: seldom by "
        "much."
    )


def test_no_reason_calls_chance_what_is_none():
    level = np.linspace(0.5, 0.7, 12)
    gap = np.r_[np.full(9, 0.01), np.full(3, -0.1)]
    ahead = decided(pd.DataFrame({"A": level, "B": level - gap}))
    assert ahead.named("may be best") == ("B",)
    assert (
        ahead.frame["reason"]["B"] == "B is worse than A on 9 of 12 datasets, but not on average."
    )
    scores = np.random.default_rng(0).normal(0.8, 0.02, (14, 4))
    frame = pd.DataFrame(scores, columns=[*"ABCD"]).assign(A=scores[:, 0] + 0.08)
    frame.iloc[:5, 0] = np.nan
    found = compare(frame, metric="accuracy", missing="failures last").decision()
    assert found.leader == "A"
    assert found.frame["reason"]["B"] == (
        "B is worse than A on all 9 datasets, but A has no result on 5."
    )
    assert "close to a tie" not in found.sentence()


def test_a_baseline_that_may_be_best_is_named_and_those_ruled_out_are_not_denied():
    level = np.random.default_rng(2).normal(0.7, 0.03, (24, 7))
    frame = pd.DataFrame(level, columns=["dummy", *"abcdef"])
    answer = decided(frame).answer()
    assert answer.startswith("No clear winner: 6 strategies may be best, even dummy. ")
    assert answer.endswith("Probably worse: b.")
    few = decided(frame[["dummy", "a", "b"]]).answer()
    assert "even" not in few
    assert "dummy" in few


def test_rounding_to_single_precision_decides_nothing():
    scores = np.array([3 / 7, 4 / 7, 5 / 7, 6 / 7, 5 / 11, 6 / 11])
    found = decided(pd.DataFrame({"b": scores, "a": scores.astype(np.float32)}))
    assert found.headline()[0] == "If you must choose now, use one of a and b (first together)."


def test_what_adds_up_to_nothing_is_no_difference():
    rows = [(0.1, 0.2, 0.3), (0.3, 0.1, 0.2), (0.2, 0.3, 0.1)] * 12
    frame = pd.DataFrame(rows, columns=[*"ABC"]) + 0.001 * np.arange(36)[:, None]
    found = decided(frame, metric="error")
    assert found.first == ("A", "B", "C")
    assert found.frame["difference"][["B", "C"]].tolist() == [0, 0]
    assert found.caveats() == ()


def test_a_reason_names_the_test_that_does_not_show_it():
    """Others may: "shown to be worse: c by 1 of 3" stands on the same screen."""
    gain = np.array([0, 0.005, 0.02, -0.03, 0])
    scores = (0.8 + np.random.default_rng(11).normal(size=(18, 5)) * 0.02 + gain).round(3)
    found = decided(pd.DataFrame(scores, columns=[*"abcde"]), question="all best")
    assert "e" in found.named("probably worse")
    assert found.frame["reason"]["e"] == (
        "e is ruled out as the best among all, though no pair shows it to be worse by the signed "
        "rank test."
    )
    assert "e by 1 of 3" in found.certainty()[1]
    versus = decided(pd.DataFrame(scores, columns=[*"abcde"]), question="control: a")
    assert versus.steps()[-1].text == "To tell b and e from a, add datasets."


def test_a_sentence_keeps_the_names_of_datasets():
    level = np.linspace(0.5, 0.7, 12)
    frame = pd.DataFrame({"A": level, "B": level - 0.1, "C": level - 0.2}).iloc[[0, *range(12)]]
    frame.index = ["aB", "cD", *"defghijklmn"]
    assert decided(frame).caveats() == (
        "aB and cD have the same scores by every strategy: if they are one table, say so with "
        "clusters, which may change the choice: they count as independent.",
    )


def test_a_gap_keeps_the_names_of_strategies():
    gaps = ("svm left out: tried on none", "no accuracy of tree on 2 datasets: left out")
    assert replace(decided(table(A=0.0, B=0.2)), gaps=gaps).caveats() == (
        "svm left out: tried on none.",
        "No accuracy of tree on 2 datasets: left out.",
    )


def test_costs_are_told_before_the_sizes_of_what_to_avoid():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(0.7, 0.02, (40, 6)) + 0.006 * np.arange(6), columns=[*"ABCDEF"])
    found = decided(frame)
    assert "(accuracy 0." in found.said(300)[-1]
    assert "Choosing " in found.answer()
    assert re.search(r"Avoid \d others$", found.said()[-1])


def test_what_half_of_the_other_tests_doubt_is_probably_worse():
    """With ten datasets the joint test shows what Holm's and Nemenyi's tests do not."""
    frame = table(n=11, **{name: 0.01 * (n > 0) + 0.0025 * n for n, name in enumerate("ABCDEFGH")})
    found = decided(frame)
    pairs = compare(frame, metric="accuracy").pairs
    for name in found.frame.index.drop("A"):
        tests = ("sign", "t", "Nemenyi")
        shown = [pairs[test].p_values.loc["A", name] <= 0.05 for test in tests]
        worse = pairs["signed rank"].p_values.loc["A", name] <= 0.05
        expected = "avoid" if worse and 2 * sum(shown) >= 3 else "probably worse"
        assert found.frame.loc[name, "verdict"] == expected
    assert {"avoid", "probably worse"} <= {*found.frame["verdict"]}


def test_left_out_datasets_are_no_failures():
    frame = table(A=0.0, B=0.1)
    frame.iloc[:4, 1] = np.nan
    dropped = compare(frame, metric="accuracy", missing="drop datasets").decision()
    assert dropped.frame["failures"].tolist() == [0, 0]
    assert "failed" not in dropped.sentence()


def test_a_baseline_is_a_baseline_unless_it_may_be_the_best():
    found = decided(table(A=0.0, B=0.002, DummyClassifier=0.3))
    assert found.frame.loc["DummyClassifier", "verdict"] == "baseline"
    assert (
        "use A (chance to be the best 0.66). May be best too (chance 0.34): B. Choosing"
        in found.answer()
    )
    assert "DummyClassifier" not in found.sentence()
    assert decided(table(A=0.0, Baseline=0.0)).named("baseline") == ()
    errors = 1 - table(A=0.0, baseline=0.3)
    assert decided(errors, metric="misclassification").named("baseline") == ("baseline",)


@pytest.mark.parametrize(
    ("seconds", "verdict", "told"),
    [
        ([4.0, 1.0, 2.0], "may be best", "trains 4 times faster (1 s against 4 s"),
        ([4.0, 1.0, 2.0], "avoid", ""),
        ([1.0, 12.0, 2.0], "may be best", "trains 12 times slower (12 s against 1 s"),
        ([1.0, 12.0, 2.0], "undecided", ""),
        ([0.04, 0.48, 0.01], "may be best", ""),
        ([4.0, 3.0, 2.0], "may be best", ""),
    ],
)
def test_the_trade_off_is_of_what_one_would_consider(seconds, verdict, told):
    found = decided(table(A=0.0, B=0.002, C=0.1))
    frame = found.frame.assign(
        **{"training seconds": seconds, "verdict": ["use", verdict, "avoid"]}
    )
    shares = {"B": seconds[1] / seconds[0], "C": seconds[2] / seconds[0]}
    texts = replace(found, frame=frame, time_shares=shares).headline()
    offered = [text for text in texts if text.startswith("Trade-off: ")]
    assert len(offered) == bool(told)
    if told:
        assert offered[0].startswith("Trade-off: B is 0.0")
        assert told in offered[0]


# ------------------------------------------------------------------------- advice

NEAR = {"A": 0.0, "B": 0.002, "C": 0.1, "D": 0.3}


@pytest.mark.parametrize(
    ("worse", "terms", "advice"),
    [
        (
            NEAR,
            {},
            "use A (chance to be the best 0.66). May be best too (chance 0.34): B. "
            "Choosing it costs at most 0.0075 of mean accuracy. "
            "Avoid C and D (accuracy 0.1 to 0.3 below A).",
        ),
        (
            {"A": 0.0, "B": 0.004, "C": 0.3},
            {"rope": 0.03},
            "use A. Practically as good (within 0.03 of accuracy): B. Avoid C (accuracy "
            "0.3 below A).",
        ),
        (
            {**NEAR, "E": 0.31, "F": 0.32, "G": 0.33},
            {},
            "use A (chance to be the best 0.66). May be best too (chance 0.34): B. "
            "Choosing it costs at most 0.0075 of mean accuracy. "
            "Avoid 5 others (accuracy 0.1 to 0.33 below A).",
        ),
        (
            NEAR,
            {"question": "control: C"},
            "use one of A and B in place of C. Avoid D (accuracy 0.2 below C).",
        ),
        (
            NEAR,
            {"question": "control: A"},
            "keep A: no other strategy is shown to be clearly better. "
            "Undecided: B. Avoid C and D (accuracy 0.1 to 0.3 below A).",
        ),
    ],
)
def test_the_answer_follows_from_the_verdicts(worse, terms, advice):
    found = decided(table(**worse), **terms)
    assert found.answer() == found.headline()[0] == f"On datasets like these, {advice}"


def test_a_cycle_is_no_reason_to_choose():
    assert replace(decided(table(A=0.0, B=0.0)), leader="").answer() == (
        "No choice is safe: each strategy is shown to be worse than another. If you must choose "
        "now, use A."
    )


def test_an_answer_to_use_what_often_failed_says_so():
    found = decided(table(A=0.0, B=0.2))
    failing = replace(found, frame=found.frame.assign(failures=[5, 0]))
    assert "use A (no result on 5 of 20 datasets). Avoid B" in failing.answer()


def test_rounding_noise_promises_nothing():
    """Columns that are equal to 1e-12 are copies: no number of datasets tells them apart."""
    rng = np.random.default_rng(0)
    scores = 0.5 + rng.random(12) / 4
    frame = pd.DataFrame({"A": scores, "B": scores + 1e-13 * rng.random(12), "C": scores - 0.2})
    found = decided(frame)
    assert found.copies == (("A", "B"),)
    assert found.outlook is None
    assert found.steps()[0].text == "More datasets are not needed for these verdicts."
    assert found.named("use") == ("A", "B")
    assert found.answer() == (
        "On datasets like these, use A (= B). Avoid C (accuracy 0.2 below A)."
    )
    assert found.frame["P(best)"]["A"] == found.frame["P(best)"]["B"]


def test_the_rival_of_the_outlook_is_no_copy_of_the_leader():
    rng = np.random.default_rng(0)
    scores = rng.random(12)
    frame = pd.DataFrame({"A": scores, "B": scores, "C": scores + rng.normal(0, 0.01, 12)})
    found = decided(frame.assign(D=frame["A"] - 0.3).sub(0.02).clip(0, 1))
    assert set(found.best) == {"A", "B", "C"}
    assert {found.leader, found.outlook.rival} in ({"A", "C"}, {"B", "C"})


# ------------------------------------------------------------------- what changes nothing


def equal_ones(k=20):
    """Return scores of strategies that are equal but for noise."""
    scores = np.random.default_rng(7).normal(0.8, 0.03, (40, k)).clip(0, 1)
    return pd.DataFrame(scores).add_prefix("s")


@pytest.mark.parametrize("k", [4, 20])
def test_a_dummy_changes_nothing_for_the_others(k):
    frame = equal_ones(k)
    plain, dummy = decided(frame), decided(frame.assign(dummy=0.4))
    assert dummy.best == plain.best
    assert dummy.answer() == plain.answer()
    assert dummy.named("baseline") == ("dummy",)
    assert decided(frame.assign(ZeroR_weka=0.4)).named("baseline") == ("ZeroR_weka",)
    assert dummy.details()[1:] == plain.details()[1:]
    if k == 20:
        assert plain.answer() == (
            "No clear winner: 20 strategies may be best. If you must choose now, use s18 (chance "
            "to be the best 0.08). Choosing another of these costs at most 0.028 of mean accuracy."
        )
        assert plain.named("may be best") == tuple(plain.frame.index)


@pytest.mark.parametrize("clusters", [False, True])
def test_copies_units_and_names_change_no_advice(clusters):
    frame = equal_ones(5).add([0.05, 0.05, 0.03, 0.0, -0.1])
    sources = {name: f"source {name % 9}" for name in frame.index} if clusters else {}

    def best(table, greater=True, of=sources):
        found = compare(
            table, metric="points", greater_is_better=greater, clusters=of or None
        ).decision()
        return set(found.best), found.named("avoid")

    known, worse = best(frame)
    assert known == {"s0", "s1"}
    assert best(frame.assign(copy=frame["s1"]))[0] == known | {"copy"}
    assert best(frame.assign(copy=frame["s4"]))[0] == known
    assert best(-1e3 * frame, greater=False) == (known, worse)
    names = {"s0": "z", "s1": "y", "s2": "x", "s3": "w", "s4": "v"}
    other = best(frame.rename(columns=names).iloc[:, ::-1])
    assert other[0] == {names[name] for name in known}
    assert set(other[1]) == {names[name] for name in worse}
    if clusters:  # a copy of a table within its source
        again = pd.concat([frame, frame.rename("copy of {}".format)])
        of = sources | {f"copy of {name}": source for name, source in sources.items()}
        assert best(again, of=of) == (known, worse)


# ------------------------------------------------------------------------- sizes and costs


def test_clearly_takes_a_size_and_most_other_tests():
    frame = table(A=0.0, B=0.1)
    frame["C"] = frame["A"] - 1e-4
    found = decided(frame)
    assert found.named("avoid") == ("C", "B")
    assert "Avoid C and B (accuracy 0.0001 to 0.1 below A)." in found.answer()
    assert decided(frame, rope=0.01).named("as good") == ("C",)
    far = frame["A"].sub(1e-4).where(frame.index > 1, frame["A"] + 0.05)  # rarely better, by more
    found = decided(frame.assign(C=far), test="sign")
    assert found.frame.loc["C", "verdict"] == "undecided"
    assert (
        found.frame.loc["C", "reason"] == "C is worse than A on many datasets, but not on average."
    )
    assert found.answer() == (
        "On datasets like these, use A. Undecided: C. Avoid B (accuracy 0.1 below A)."
    )


def test_a_size_is_of_the_datasets_on_which_both_have_a_result():
    frame = table(A=0.0, C=0.2, D=0.3, E=0.4)
    frame.iloc[:2, 1] = frame.iloc[2:5, 3] = np.nan
    found = compare(frame, metric="accuracy", missing="failures last").decision()
    assert found.answer().endswith("Avoid C, D and E (accuracy 0.2 to 0.4 below A).")
    assert found.frame["reason"]["C"] == "C has no result on 2 of 20 datasets."
    assert found.frame.loc["C", ["won", "tied", "lost"]].sum() == 18


def test_one_word_for_what_only_fails_another_for_what_is_worse():
    """B is first wherever it has a result; C and D are worse there, too."""
    frame = table(A=0.0, B=-0.002, C=0.2, D=0.3)
    frame.iloc[:14, 1] = frame.iloc[:2, 2] = np.nan
    found = compare(frame, metric="accuracy", missing="failures last").decision()
    assert found.frame["verdict"].to_dict() == {
        "A": "use",
        "B": "fails",
        "C": "avoid",
        "D": "avoid",
    }
    assert "Avoid B for failures on 14 of 20 datasets. Avoid C and D (" in found.answer()
    assert found.frame["reason"]["B"] == "B has no result on 14 of 20 datasets."
    assert found.frame.loc["B", ["won", "tied", "lost"]].sum() == 6
    assert found.meanings()["fails"].startswith("worse only by its failures: not shown to be")


def test_names_give_way_to_numbers_where_an_answer_would_be_longer_than_two_lines():
    names = [f"organisation/model-{at}-with-a-long-name" for at in range(9)]
    worse = dict(zip(names, [0.0, 0.0, 0.001, 0.001, 0.2, 0.2, 0.2, 0.3, 0.3], strict=True))
    answer = decided(table(**worse)).answer()
    assert len(answer) <= 200
    assert names[0] in answer or names[1] in answer


def test_the_cost_of_choosing_is_bounded():
    frame = table(A=0.0, B=0.002, C=0.1)
    found = decided(frame)
    bound = found.bounds
    assert 0 < bound["A"] < bound["B"] < 0.02 < 0.1 < bound["C"]
    assert (
        f"May be best too (chance 0.34): B. Choosing it costs at most {bound['B']:.2g}"
        in found.answer()
    )
    units = decided(1 - frame, metric="rmse")
    assert not units.bounds
    assert "costs" not in units.sentence()
    frame.iloc[0, 0] = np.nan  # means of A are of other datasets: it may be the best, unmeasured
    assert not compare(frame, metric="accuracy", missing="failures last").decision().bounds
    assert "costs" not in decided(table(A=0.0, B=0.1)).sentence()


def test_above_12_strategies_sets_of_ranks_replace_letters():
    worse = {f"s{n:02}": 0.1 * (n > 0) + 0.1 * (n > 11) for n in range(13)}
    frame = decided(table(n=30, **worse)).frame
    assert "groups" not in frame
    assert frame["ranks"].to_dict() == {"s00": "1 to 1", "s12": "13 to 13"} | {
        f"s{n:02}": "2 to 12" for n in range(1, 12)
    }
    assert "groups" in decided(table(**dict(list(worse.items())[:12]))).frame


def test_a_set_of_ranks_has_1_where_the_verdict_allows_it():
    """Some are ruled out as the best although no pair of them and another is shown to differ."""
    rng, seen = np.random.default_rng(5), set()
    for _ in range(8):
        scores = 0.8 - np.r_[0, np.sort(rng.random(13)) * 0.06] + rng.normal(0, 0.03, (16, 14))
        found = decided(pd.DataFrame(scores).add_prefix("s"))
        for verdict, ranks in found.frame[["verdict", "ranks"]].itertuples(index=False):
            assert (verdict in ("use", "may be best")) == ranks.startswith("1 to "), ranks
            seen.add((verdict, ranks.endswith(" to 14")))
    assert ("probably worse", True) in seen


def test_tables_with_the_same_rows_are_pointed_out_before_the_answer():
    frame = table(n=20, A=0.0, B=0.1, C=0.3).rename("d{}".format)
    twice = pd.concat([frame, frame.iloc[[3]].rename({"d3": "again"}.get)])
    found = decided(twice)
    assert found.headline()[1].startswith(
        "again and d3 have the same scores by every strategy: if they are one table, say so with"
    )
    sources = {name: name for name in twice.index} | {"again": "d3"}
    known = compare(twice, metric="accuracy", clusters=sources).decision()
    assert not known.hint
    assert not decided(twice.round(0)).hint  # too coarse to tell


def test_a_copy_of_a_dataset_is_pointed_out_by_its_content_whatever_its_scores():
    results = Results.from_table(table(n=12, A=0.0, B=0.1), metric="accuracy")
    marks = [*map(str, range(11)), "3"]
    found = compare(replace(results, fingerprints=tuple(marks))).decision()
    last, first = results.datasets[3], results.datasets[11]
    assert found.headline()[1].startswith(f"{first} and {last} are the same table: say so with cl")
    sources = dict(zip(results.datasets, marks, strict=True))
    assert not compare(results, clusters=sources).decision().hint


def test_a_comparison_by_a_test_decides_and_speaks_by_it(capsys):
    found = compare(table(A=0.0, B=0.2), metric="accuracy", test="t")
    assert found.decision().chosen.analysis.test == "t"
    assert "with the paired t-test" in found.decision().details()[0]
    found.show()
    assert "signed rank test, level" not in capsys.readouterr().out
    assert found.decision(test="sign").chosen.analysis.test == "sign"


@pytest.mark.parametrize(("n", "words"), [(1, "ties on 1 dataset,"), (2, "ties on 2 datasets,")])
def test_ties_are_counted_in_words(n, words):
    frame = table(A=0.0, B=0.1, C=0.2)
    frame.iloc[:n, 1] = frame.iloc[:n, 0]
    notes = compare(frame, metric="accuracy").portmanteau["Friedman F"].notes
    assert any(note.startswith(words) for note in notes)


# ------------------------------------------------------------------- sources, sizes, copies


def test_reasons_and_wins_count_sources():
    """One source has 33 of 40 datasets: B wins there, and nowhere else."""
    rng = np.random.default_rng(0)
    gain = np.r_[np.full(33, 0.08), np.full(7, -0.03)]
    level = rng.uniform(0.6, 0.9, 40)
    frame = pd.DataFrame({"A": level, "B": level + gain, "C": level - 0.2})
    sources = {name: "big" if name < 33 else str(name) for name in frame.index}
    found = compare(frame, metric="accuracy", clusters=sources).decision()
    assert found.leader == "A"
    assert found.frame.loc["B", ["won", "tied", "lost"]].tolist() == [1, 0, 7]
    assert (
        found.frame.loc["B", "reason"]
        == "B is worse than A on 7 of 8 sources, which may be chance."
    )


@pytest.mark.parametrize("metric", ["accuracy", "rmse"])
def test_a_size_is_told_where_a_test_of_means_shows_it(metric):
    """B is nearly always a little worse, and once much better."""
    level = np.linspace(0.5, 0.7, 20)
    gap = np.r_[np.linspace(0.01, 0.02, 19), -0.25]
    worse = {"accuracy": -1, "rmse": 1}[metric]
    frame = pd.DataFrame({"A": level, "B": level + worse * gap, "C": level + worse * 0.2})
    found = decided(frame, metric=metric)
    assert found.by_mean == ("C",)
    assert found.answer().endswith("Avoid B and C.")  # a range of both would mix kinds


def test_a_copy_counts_as_one_strategy():
    """Also for Holm's correction and for ranks, which the number of strategies changes."""
    rng = np.random.default_rng(47)
    for _ in range(12):
        n, k = int(rng.integers(6, 26)), int(rng.integers(3, 7))
        scores = 0.8 + rng.choice([0.0, 0.03, 0.05], size=k) + rng.normal(size=(n, k)) * 0.04
        frame = pd.DataFrame(scores.round(3).clip(0, 1)).add_prefix("m")
        plain = decided(frame)
        for copy in (frame["m1"], frame["m1"].astype(np.float32)):
            again = decided(frame.assign(z=copy))
            rest = again.frame.drop(index="z").drop(columns=["P(best)"])
            kept = [name for name in rest if name in plain.frame]
            pd.testing.assert_frame_equal(rest[kept], plain.frame[kept], check_like=True)
            assert again.frame.loc["z", "verdict"] == plain.frame.loc["m1", "verdict"]
            assert again.copies == (("m1", "z"),)
