"""All of it for all pairs at once."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import (
    Results,
    adjust,
    bayesian_sign_test,
    compare,
    t_test,
    wilcoxon_test,
)
from mlaut.errors import AnalysisError, MissingCellsError


@pytest.fixture(scope="module")
def found(mlaut2018):
    return compare(mlaut2018, control="SVC")


def test_what_was_found_in_sentences(found):
    assert found.sentences() == (
        "Over 121 datasets RandomForestClassifier has the lowest mean misclassification, 0.1627 "
        "[0.1387, 0.19], scenario (c).",
        "Average ranks differ (Friedman, p = 1.4e-148): RandomForestClassifier is best with 2.492, "
        "not told apart from SVC, BaggingClassifier by Nemenyi's test.",
        "At level 0.05 after the holm correction these differ: 33 of 36 pairs by the paired "
        "t-test, 31 of 36 pairs by the signed rank test, 30 of 36 pairs by the trinomial test.",
    )
    assert found.sentence() == " ".join(found.sentences())


def test_probabilities_of_many_pairs_do_not_read_as_corrected(found):
    assert "probability" not in found.sentence()
    (note,) = [note for note in found.notes if "not corrected for 36 pairs" in note]
    assert note.startswith("Bayesian sign, Bayesian signed rank: probabilities are not corrected")
    assert found.bayesian["Bayesian sign"].sentence() == (
        "Bayesian sign test of 9 strategies on misclassification (121 datasets): surest of 36 "
        "pairs, not corrected for their number, is BaggingClassifier better than "
        "BaselineClassifier with probability 1, scenario (c)."
    )


def test_the_probability_of_one_pair_is_said_as_it_is(mlaut2018):
    two = mlaut2018.select(strategies=["SVC", "BaggingClassifier"])
    pairs = bayesian_sign_test(two)
    p = pairs.table("P(row better)").max(axis=None)
    assert pairs.sentence().endswith(f"with probability {p:.4g}, scenario (c).")
    assert "corrected" not in " ".join((pairs.sentence(), *pairs.notes))


def test_every_part_is_that_of_its_own_function(found, mlaut2018):
    raw = t_test(mlaut2018).to_frame()["p_value"]
    frame = found.to_frame()
    assert frame[("t", "p (unadjusted)")].equals(raw)
    assert frame[("t", "p_value")].to_numpy() == pytest.approx(adjust(raw.to_numpy(), "holm"))
    signed = wilcoxon_test(mlaut2018).to_frame()
    assert frame[("Wilcoxon", "rank-biserial correlation")].equals(
        signed["rank-biserial correlation"]
    )
    assert found.portmanteau["Friedman F"].statistic == pytest.approx(131.5435, abs=5e-5)
    assert found.critical_difference == pytest.approx(1.0921, abs=5e-5)
    assert len(frame) == 36
    assert list(found.tables()) == [
        "estimates (c)", "ranks", "Friedman F", "Friedman chi2", "Quade", "aligned ranks",
        "t", "Wilcoxon", "sign", "trinomial", "Nemenyi", "Bayesian sign", "Bayesian signed rank",
        "control",
    ]  # fmt: skip


def test_probabilities_stand_beside_the_p_values(found, mlaut2018):
    exact = bayesian_sign_test(mlaut2018).to_frame()["P(row better)"]
    assert found.to_frame()[("Bayesian sign", "P(row better)")].equals(exact)
    shown = found.display_frame()
    assert "P(first better) Bayesian signed rank" in shown
    assert "P(equivalent) Bayesian sign" not in shown  # there is no region: it is 0
    with_region = compare(mlaut2018, rope=0.01, n_samples=0)
    assert "P(equivalent) Bayesian sign" in with_region.display_frame()
    assert list(with_region.bayesian) == ["Bayesian sign"]
    same = compare(mlaut2018, seed=0).bayesian["Bayesian signed rank"]
    other = compare(mlaut2018, seed=1).bayesian["Bayesian signed rank"]
    drawn = found.bayesian["Bayesian signed rank"]
    assert drawn.table("P(row better)").equals(same.table("P(row better)"))
    assert not drawn.table("P(row better)").equals(other.table("P(row better)"))


def test_the_poisson_binomial_test_of_a_study_counts_its_test_points(make_block):
    rng = np.random.default_rng(0)
    blocks = []
    for name in ("iris", "wine", "sonar"):
        truth = rng.integers(0, 2, 40)
        said = [np.where(rng.random(40) < p, 1 - truth, truth) for p in (0.1, 0.4)]
        folds = np.zeros(40)
        blocks.append(make_block(truth, said, folds, dataset=name, strategies=("A", "B")))
    results = Results.from_blocks(blocks, "accuracy")
    found = compare(results, n_samples=0)
    assert list(found.bayesian) == ["Bayesian sign", "Poisson binomial"]
    assert found.bayesian["Poisson binomial"].value("P(row better)", "A", "B") > 0.9
    aggregate = compare(Results.from_blocks(blocks, "f1"), n_samples=0)
    assert list(aggregate.bayesian) == ["Bayesian sign"]


def test_it_shows_itself(found):
    page, text = found._repr_html_(), repr(found)
    for word in ("RandomForestClassifier", "p Wilcoxon", "critical difference 1.09209"):
        assert word in page
        assert word in text
    assert "against SVC" in page
    assert found.to_latex().startswith("\\begin{tabular}")


def test_scenario_a_where_the_point_losses_are_known():
    table = pd.DataFrame({"A": [0.9, 0.8, 0.7], "B": [0.8, 0.7, 0.75]})
    results = Results.from_table(table, metric="accuracy", n_test=100)
    assert list(compare(results).estimates) == ["(c)", "(a)"]


def test_no_difference_is_said(losses):
    rng = np.random.default_rng(0)
    base = rng.uniform(size=20)
    results = losses({name: base + rng.normal(0, 0.1, 20) for name in "ABC"})
    said = compare(results).sentences()
    assert "Friedman's test does not show that average ranks differ" in said[1]
    assert "0 of 3 pairs" in said[2]


def test_choices(mlaut2018, losses):
    found = compare(mlaut2018, alpha=0.01, correction="shaffer", zeros="zsplit", confidence=0.9)
    assert found.correction == "shaffer"
    assert any("ranked and shared by both sides" in note for note in found.notes)
    assert found.pairs["t"].confidence == 0.9
    gap = losses({"A": [0.1, 0.2, np.nan], "B": [0.2, 0.3, 0.1]})
    with pytest.raises(MissingCellsError):
        compare(gap)
    assert any("left out" in note for note in compare(gap, missing="drop datasets").notes)
    with pytest.raises(AnalysisError, match="did you mean 'holm'"):
        compare(mlaut2018, correction="hoolm")


def test_identical_strategies_and_constant_differences(losses):
    results = losses({"A": [0.1] * 5, "B": [0.1] * 5, "C": [0.2] * 5})
    frame = compare(results).to_frame()
    for test in ("t", "Wilcoxon", "sign", "trinomial", "Nemenyi"):
        assert frame.loc[("A", "B"), (test, "p_value")] == 1.0
        assert 0 < frame.loc[("A", "C"), (test, "p_value")] <= 1.0
