"""A decision does not depend on what changes no result: order, rounding, dummies, copies, units."""

import numpy as np
import pandas as pd
import pytest
from decided_tables import decided, table

from mlaut.analysis import compare


def equal_ones(k=20):
    """Return scores of strategies that are equal but for noise."""
    scores = np.random.default_rng(7).normal(0.8, 0.03, (40, k)).clip(0, 1)
    return pd.DataFrame(scores).add_prefix("s")


def test_the_same_input_has_the_same_decision():
    one, other = (decided(table(A=0.0, B=0.01, C=0.02)) for _ in range(2))
    assert one.sentence() == other.sentence()
    pd.testing.assert_frame_equal(one.frame, other.frame)


def test_rounding_to_single_precision_decides_nothing():
    scores = np.array([3 / 7, 4 / 7, 5 / 7, 6 / 7, 5 / 11, 6 / 11])
    found = decided(pd.DataFrame({"b": scores, "a": scores.astype(np.float32)}))
    assert found.headline()[0] == "If you must choose now, use one of a and b (first together)."


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


def test_of_many_equal_strategies_few_are_ruled_out():
    """Each of 60 has a small chance on few datasets, which is no evidence against it."""
    n_out = 0
    for seed in range(3):
        scores = 0.8 + np.random.default_rng(seed).normal(0, 0.02, (8, 60))
        frame = pd.DataFrame(scores).add_prefix("s")
        found = compare(frame, metric="accuracy", n_samples=0).decision()
        n_out += 60 - len(found.best)
    assert n_out <= 0.05 * 180


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


def test_a_copy_counts_as_one_strategy():
    """Also for Holm's correction and for ranks, which the number of strategies changes."""
    rng = np.random.default_rng(47)
    for _ in range(6):
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
            costs = {"z": plain.bounds["m1"]} if plain.bounds else {}
            assert again.bounds == plain.bounds | costs
            assert again.frame["reason"]["z"] == ""
            assert len({*again.headline()}) == len(again.headline())
