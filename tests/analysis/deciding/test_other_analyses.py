"""Other tests, metrics and treatments of missing results: how sure a decision is."""

from dataclasses import replace

import numpy as np
import pytest
from decided_tables import decided, table

from mlaut.analysis import Results, adjust_pairs, compare, treat_missing, wilcoxon_test
from mlaut.analysis.deciding.certainty import differs
from mlaut.analysis.deciding.decision import decide_study
from mlaut.analysis.deciding.terms import chosen_now
from mlaut.analysis.deciding.verdict_table import Check, Way
from mlaut.errors import AnalysisError
from mlaut.report import make_report


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
            "Partly: all 5 other analyses keep the 2 that may be best; "
            "shown to be worse: C by 1 of 5.",
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
    failing = clear.frame.assign(verdict=clear.frame["verdict"].replace("avoid", "fails"))
    assert f"{told}the other verdicts are the same." in replace(clear, frame=failing).headline()
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


def test_a_test_that_was_not_computed_is_named():
    with pytest.raises(AnalysisError, match=r"the test 't' cannot be used here .*choose one of"):
        decided(table(A=0.0, B=0.1), metric="rmse", test="t")
    with pytest.raises(AnalysisError, match=r"computed with rope = 0 and not 0\.1"):
        compare(table(A=0.0, B=0.1), metric="accuracy").decision(test="Bayesian sign", rope=0.1)


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


def test_a_comparison_by_a_test_decides_and_speaks_by_it(capsys):
    found = compare(table(A=0.0, B=0.2), metric="accuracy", test="t")
    assert found.decision().chosen.analysis.test == "t"
    assert "with the paired t-test" in found.decision().details()[0]
    found.show()
    assert "signed rank test, level" not in capsys.readouterr().out
    assert found.decision(test="sign").chosen.analysis.test == "sign"
