"""Answers of a decision: names, costs, provisional choices, trade-offs, what to do next."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from decided_tables import decided, table

from mlaut.analysis import Results, compare
from mlaut.analysis.deciding.verdict_table import Step

NEAR = {"A": 0.0, "B": 0.002, "C": 0.1, "D": 0.3}


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


def test_the_words_of_a_control_are_about_it():
    meanings = decided(table(A=0.0, B=0.2, C=0.01), question="control: A").meanings()
    assert meanings["baseline"] == "the control, with which the others are compared"
    assert meanings["avoid"] == "shown to be worse than the control"


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


def test_where_averages_have_another_order_the_choice_by_them_is_named():
    frame = table(A=0.0, B=0.05)
    frame.loc[:2, "A"] -= 0.6
    found = decided(frame)
    assert found.first == ("A",)
    assert found.headline()[1] == (
        "By the average difference B would be first (accuracy 0.04 above A), but it is worse on 17 "
        "of 20: the average rank among all decides, not the size of differences."
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


def test_a_baseline_that_may_be_best_is_named_and_those_ruled_out_are_not_denied():
    level = np.random.default_rng(2).normal(0.7, 0.03, (24, 7))
    frame = pd.DataFrame(level, columns=["dummy", *"abcdef"])
    answer = decided(frame).answer()
    assert answer.startswith("No clear winner: 6 strategies may be best, even dummy. ")
    assert answer.endswith("Probably worse: b.")
    few = decided(frame[["dummy", "a", "b"]]).answer()
    assert "even" not in few
    assert "dummy" in few


def test_costs_are_told_before_the_sizes_of_what_to_avoid():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(0.7, 0.02, (40, 6)) + 0.006 * np.arange(6), columns=[*"ABCDEF"])
    found = decided(frame)
    assert "(accuracy 0." in found.said(300)[-1]
    assert "Choosing " in found.answer()
    assert re.search(r"Avoid \d others$", found.said()[-1])


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
