"""The outlook of a decision: what more datasets or folds would tell."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from decided_tables import decided, table

from mlaut.analysis import Results, compare
from mlaut.analysis.deciding.outlook import chance_to_tell


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
