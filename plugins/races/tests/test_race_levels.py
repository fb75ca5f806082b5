"""The simulation of many races at once, which docs/when-is-it-enough.md reports."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from mlaut_races.course import follow
from mlaut_races.evidence import KINDS
from mlaut_races.terms import RaceTerms

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "race_levels.py"


@pytest.fixture(scope="module")
def levels():
    spec = importlib.util.spec_from_file_location("race_levels", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("losses", ["normal", "tied"])
def test_many_races_at_once_are_the_races_one_by_one(levels, kind, losses):
    drawn = [levels.LOSSES[losses](np.random.default_rng(seed), 40, 5) for seed in range(5)]
    table = np.stack(drawn, axis=1) + np.linspace(0, 0.1, 5)
    together = levels.dropped_after(table, kind, alpha=0.2)
    for race in range(5):
        terms = RaceTerms(kind=kind, alpha=0.2)
        course = follow(table[:, race], table[:, race], terms, span=1.0)
        alone = np.full(5, np.inf)
        for decision in course.decisions:
            alone[decision.first] = decision.after
        np.testing.assert_array_equal(together[race], alone)
    if kind == "sign":
        assert np.isfinite(together).any()


@pytest.mark.parametrize("losses", ["normal", "skewed", "tied", "uneven", "closed collection"])
def test_a_race_drops_the_best_with_at_most_its_level(levels, losses):
    """400 races: the standard error of 5 % is 1.1 points."""
    dropped = levels.best_errors(400, 3, "sign", levels.LOSSES[losses], 60)
    assert np.isfinite(dropped).mean() <= 0.05 + 2 * 0.011


@pytest.mark.parametrize("kind", ["sign", "signed rank"])
def test_the_first_claim_about_pairs_is_that_of_the_races_one_by_one(levels, kind):

    def draw(rng, n, k):
        return rng.normal(size=(n, k)) + np.array([0.0, 0.2, 0.5])

    found = levels.pair_errors(6, 3, kind, draw, 60)
    assert np.isfinite(found).any()
    for race in range(6):
        chosen = draw(np.random.default_rng([race, 3, 60]), 60, 3)
        course = follow(chosen, chosen, RaceTerms(question="all pairs", kind=kind))
        assert found[race] == min((d.after for d in course.decisions), default=np.inf)


@pytest.mark.parametrize("kind", ["sign", "mean"])
def test_an_adversary_who_knows_the_evidence_gains_nothing(levels, kind):
    """400 races: the standard error of 5 % is 1.1 points."""
    dropped = levels.adversary_errors(400, 2, kind, 60)
    assert 0.01 <= np.isfinite(dropped).mean() <= 0.05 + 2 * 0.011


def test_claims_of_practical_equality_at_the_edge(levels):
    """400 races: the standard error of 5 % is 1.1 points."""
    assert 0.005 <= np.isfinite(levels.equal_errors(400, 2, "sign", 60)).mean() <= 0.05 + 2 * 0.011
