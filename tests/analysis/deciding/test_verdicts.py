"""Verdicts and their reasons: which strategy is used, as good, probably worse, avoided, and why."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from decided_tables import decided, table

from mlaut.analysis import Results, compare, probability_of_best
from mlaut.errors import AnalysisError


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


def test_as_good_is_so_on_average_too():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.uniform(0.5, 0.9, (30, 1)) + rng.normal(0, 0.002, (30, 2)))
    frame = frame.set_axis(["A", "B"], axis=1)
    assert "as good" in {*decided(frame, rope=0.01).frame["verdict"]}
    frame.loc[4, decided(frame).leader] -= 0.5
    found = decided(frame, rope=0.01)
    assert 0.01 < found.losses.abs().max() < 0.02
    assert not found.named("as good")


def test_a_leader_by_ranks_may_cost_more_than_others():
    rng = np.random.default_rng(3)
    scores = np.c_[rng.uniform(0.7, 0.72, 12), np.full(12, 0.7), np.full(12, 0.69)]
    scores[:2, 0] -= 0.3
    found = decided(pd.DataFrame(scores, columns=[*"ABC"]))
    costs = {name: f"{found.bounds[name]:.2g}" for name in "AB"}
    assert found.leader == "A"
    assert f"costs at most {costs['B']} of mean accuracy, A at most {costs['A']}" in found.answer()


def test_what_the_level_is_of():
    found = decided(table(A=0.0, B=0.002, C=0.1))
    ruled_out = "to avoid one together, and for each that is ruled out as the best;"
    assert f"level 0.05 for all claims {ruled_out}" in found.details()[0]
    versus = decided(table(A=0.0, B=0.002, C=0.1), question="control: A")
    assert "level 0.05 for all claims together;" in versus.details()[0]


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


def test_practically_equal_is_said_of_what_is_within_the_region():
    found = decided(table(A=0.0, B=0.004, C=0.3), rope=0.03)
    assert found.named("as good") == ("B",)
    assert "use A. Practically as good (within 0.03 of accuracy): B. Avoid C (" in found.answer()
    with pytest.raises(AnalysisError, match="another unit on each dataset"):
        decided(table(A=0.0, B=0.1), metric="rmse", rope=0.1)


def test_errors_are_shown_in_their_own_direction():
    found = decided(1 - table(A=0.0, B=0.2), metric="misclassification")
    assert found.leader == "A"
    assert found.frame["mean misclassification"].is_monotonic_increasing


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
