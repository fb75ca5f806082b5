"""Results show themselves: text, notebook, DataFrame, LaTeX, one sentence; never p = 0."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Estimate, Pairwise, ResultTable, TestResult
from mlaut.analysis.common.display import SMALLEST_P, Shown, number, p_text
from mlaut.errors import AnalysisError

EFFECT = Estimate(name="mean difference", value=-0.0155, low=-0.027, high=-0.0037, method="t", n=14)
RESULT = TestResult(
    name="Paired t-test",
    strategies=("A", "B_2"),
    metric="error",
    null="the expected difference is 0",
    statistic=-2.8462370435,
    statistic_name="t",
    df=13.0,
    p_value=0.0137558308,
    effects=(EFFECT,),
    n=14,
    ties=2,
    notes=("a <note>",),
    source="Demsar 2006",
)


def square(values, names=("A", "B")):
    return pd.DataFrame(values, index=list(names), columns=list(names))


def test_numbers_are_rounded_for_display_only():
    assert number(1 / 3) == "0.3333"
    assert number(7.0) == "7"
    assert number(np.nan) == number(None) == "-"
    assert number(np.inf) == "inf"
    assert number(True) == "True"
    assert number((8.0, 960.0)) == "8, 960"
    assert p_text(0.05) == "p = 0.05"
    assert p_text(1.3e-17) == "p = 1.3e-17"
    assert p_text(SMALLEST_P) == "p < 2.2e-308"
    assert RESULT.to_frame().loc["Paired t-test", "t"] == -2.8462370435


def test_a_result_in_one_sentence():
    assert RESULT.sentence() == (
        "Paired t-test of A against B_2 on error (14 datasets, 2 ties): t(13) = -2.846, "
        "p = 0.0138, mean difference -0.0155, 95 % interval [-0.027, -0.0037], scenario (c)."
    )


def test_a_result_as_text_html_and_latex():
    text, page, latex = repr(RESULT), RESULT._repr_html_(), RESULT.to_latex()
    for word in ("null hypothesis", "-2.84624", "0.0138", "re-trained on an unseen source"):
        assert word in text
        assert word in page
    assert "Note: a <note>" in text
    assert "a &lt;note&gt;" in page
    assert latex.startswith("\\begin{tabular}")
    assert "\\toprule" in latex
    assert "| p " in RESULT.to_markdown()


def test_latex_escapes_names():
    table = ResultTable(name="x", frame=pd.DataFrame({"a_b": [1.0]}, index=["c_d"]), source="s")
    assert "a\\_b" in table.to_latex()
    assert "c\\_d" in table.to_latex()


def test_a_frame_has_every_number_and_text():
    row = RESULT.to_frame().loc["Paired t-test"]
    assert row["mean difference low"] == -0.027
    assert (row["statistic"], row["statistic_name"], row["t"]) == (
        -2.8462370435, "t", -2.8462370435,
    )  # fmt: skip
    assert row["mean difference method"] == "t"
    assert (row["n"], row["ties"], row["df"], row["null"]) == (
        14, 2, 13.0, "the expected difference is 0",
    )  # fmt: skip


def test_results_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        RESULT.p_value = 0.5


def test_p_is_never_zero():
    result = dataclasses.replace(RESULT, p_value=0.0)
    assert result.p_value == SMALLEST_P > 0
    assert any("upper bound" in note for note in result.notes)
    pairs = Pairwise(
        name="t", strategies=("A", "B"), null="", source="",
        tables={"p_value": square([[np.nan, 0.0], [0.0, np.nan]])},
    )  # fmt: skip
    assert pairs.value("p_value", "A", "B") == SMALLEST_P
    assert "p < 2.2e-308" in pairs.pair("A", "B").sentence()


@pytest.mark.parametrize("p", [np.nan, -0.1, 1.1])
def test_what_is_no_probability_is_refused(p):
    with pytest.raises(AnalysisError, match="is not a probability"):
        dataclasses.replace(RESULT, p_value=p)


def test_unknown_scenarios_are_refused():
    for make in (
        lambda: dataclasses.replace(RESULT, scenario="(d)"),
        lambda: dataclasses.replace(EFFECT, scenario="c"),
        lambda: ResultTable(name="x", frame=pd.DataFrame(), source="", scenario=""),
    ):
        with pytest.raises(AnalysisError, match=r"one of '\(a\)', '\(b\)', '\(c\)'"):
            make()


def test_rejection():
    assert RESULT.rejects(0.05)
    assert not RESULT.rejects(0.01)
    bayesian = dataclasses.replace(RESULT, p_value=None, probabilities={"P(A better)": 0.9})
    with pytest.raises(AnalysisError, match="no p-value; see its probabilities"):
        bayesian.rejects()
    assert "P(A better) = 0.9" in bayesian.sentence()


def test_pairs_give_single_results():
    tables = {
        "statistic": square([[np.nan, -2.0], [2.0, np.nan]]),
        "p_value": square([[np.nan, 0.03], [0.03, np.nan]]),
        "d": square([[np.nan, -0.5], [0.5, np.nan]]),
        "d low": square([[np.nan, -0.9], [0.1, np.nan]]),
        "d high": square([[np.nan, -0.1], [0.9, np.nan]]),
        "P(row better)": square([[np.nan, 0.8], [0.2, np.nan]]),
        "ties": square([[np.nan, 3], [3, np.nan]]),
    }
    pairs = Pairwise(
        name="T", strategies=("A", "B"), null="n", source="s", tables=tables, n=9, df=8.0,
        effects={"d": "exact"}, pair_notes={("A", "B"): "a note"},
    )  # fmt: skip
    one = pairs.pair("B", "A")
    assert (one.statistic, one.p_value, one.ties, one.df) == (2.0, 0.03, 3, 8.0)
    assert (one.effect.value, one.effect.low, one.effect.method) == (0.5, 0.1, "exact")
    assert one.probabilities == {"P(row better)": 0.2}
    named = dataclasses.replace(pairs, statistic_name="wins")
    assert named.table("wins").equals(pairs.statistics)
    assert one.notes == ("a note",)
    assert pairs.to_frame().loc[("A", "B"), "d low"] == -0.9
    assert pairs.sentence() == "T of 2 strategies (9 datasets): 1 of 1 pairs at or below 0.05, " \
        "scenario (c)."  # fmt: skip
    with pytest.raises(AnalysisError, match="'C' is not one of A, B"):
        pairs.pair("A", "C")
    with pytest.raises(AnalysisError, match="not compared with itself"):
        pairs.pair("A", "A")
    with pytest.raises(AnalysisError, match="T has no table 'W'; it has"):
        pairs.table("W")


def test_tables_must_have_the_strategies_as_labels():
    with pytest.raises(AnalysisError, match="table 'p_value' is not labelled by"):
        Pairwise(
            name="T", strategies=("A", "B"), null="", source="",
            tables={"p_value": square([[0.1] * 2] * 2, ("B", "A"))},
        )  # fmt: skip


def test_long_tables_are_cut_for_display_only():
    frame = pd.DataFrame({"x": np.arange(200.0)})
    table = ResultTable(name="long", frame=frame, source="")
    assert repr(table).count("\n") < 70
    assert "..." in repr(table)
    assert table.to_latex().count("\\\\") > 200
    assert len(table.to_frame()) == 200


def test_what_shows_itself_must_say_how():
    for method in ("title", "to_frame", "sentence"):
        with pytest.raises(NotImplementedError):
            getattr(Shown(), method)()


def test_an_estimate_shows_itself():
    assert "re-trained on an unseen source, t" in repr(EFFECT)
    assert EFFECT.to_frame().loc["mean difference", "low"] == -0.027
    assert Estimate(name="x", value=1.0).words() == "x 1"
    assert RESULT.effect is EFFECT
    assert dataclasses.replace(RESULT, effects=()).effect is None
