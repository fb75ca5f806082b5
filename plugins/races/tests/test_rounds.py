"""Rounds of a race, in the order of a schedule that a test writes down."""

import numpy as np
import pytest
from mlaut_races.rounds import Rounds
from mlaut_races.terms import RaceTerms

from mlaut.experiments.plans.plan import make_plan
from mlaut.files_io import SplitEntry, StrategyEntry, StudyStore
from mlaut.records import CLASSIFICATION, Cell, Outcome, Split, Status

NAMES = ("one", "two", "three", "four")
FOLDS = ((0, 0), (0, 1))
WHY = "raced out after 1 dataset"


def entry(name):
    truth = np.array([0, 1, 0, 1], dtype=np.int32)
    split = Split(np.array([[0, 0, 1, 1]], dtype=np.int16), "kfold(2)")
    return SplitEntry(name, f"/{name}", CLASSIFICATION, "f", ("a", "b"), truth, split)


class Schedule:
    """Race whose decisions are written down: who is left after so many rounds, and why not."""

    def __init__(self, left, why=(), **terms):
        self.left, self.why, self.terms = left, dict(why), RaceTerms(**terms)
        self.order = NAMES

    def racing(self, n):
        return frozenset(self.left[min(n, len(self.left) - 1)])

    def dropped(self, n):
        return {name: why for name, (after, why) in self.why.items() if n >= after}


def rounds_of(race, study=None, too_large=()):
    wanted, splits = {name: ["A", "B"] for name in NAMES}, {name: entry(name) for name in NAMES}
    reasons = {name: dict.fromkeys(too_large, "4 rows are too many") for name in NAMES}
    return Rounds(make_plan(study, wanted, {}, splits=splits, size_reasons=reasons), race)


def begun(groups):
    """Return the groups that may begin now, as (dataset, strategy)."""
    found = []
    for group in groups:
        if group is None:
            return [*found, None]
        of, strategy, cells = group
        assert cells == FOLDS
        found.append((of.name, strategy))
    return found


def done(*groups):
    good = np.array([0, 1], dtype=np.int32)
    return [
        Outcome(Cell(dataset, strategy, *at), Status.DONE, good)
        for dataset, strategy in groups
        for at in FOLDS
    ]


def marks(outcomes):
    assert {(one.status, one.reason) for one in outcomes} <= {(Status.RACED_OUT, WHY)}
    return [(one.cell.dataset, one.cell.strategy, one.cell.fold) for one in outcomes]


def pair(*datasets):
    return [(dataset, name) for dataset in datasets for name in "AB"]


def test_a_round_overlaps_the_one_before_and_who_left_is_not_run():
    rounds = rounds_of(Schedule(["AB", "A"], {"B": (1, WHY)}))
    groups = rounds.groups()
    assert begun(groups) == [*pair("one", "two"), None]
    assert rounds.saw(done(("one", "A"))) == []
    assert begun(groups) == [None]
    assert marks(rounds.saw(done(("one", "B")))) == [
        (name, "B", fold) for name in ("three", "four") for fold in (0, 1)
    ]
    assert rounds.n_ended == 1
    assert begun(groups) == [("three", "A"), None]
    assert rounds.saw(done(*pair("two"))) == []  # its cells are marked once
    assert begun(groups) == [("four", "A")]
    rounds.saw(done(("three", "A"), ("four", "A")))
    assert rounds.n_ended == 4


@pytest.mark.parametrize(("ahead_cells", "n_begun"), [(0, 1), (3, 1), (4, 2), (7, 2), (8, 3)])
def test_rounds_begin_while_few_cells_of_earlier_ones_are_open(ahead_cells, n_begun):
    rounds = rounds_of(Schedule(["AB"], ahead=0, ahead_cells=ahead_cells))
    assert begun(rounds.groups()) == [*pair(*NAMES[:n_begun]), None]


def test_cells_that_are_skipped_keep_no_round_open():
    rounds = rounds_of(Schedule(["AB"], ahead=0), too_large=["B"])
    groups = rounds.groups()
    assert begun(groups) == [("one", "A"), None]
    assert rounds.saw(done(("one", "A"))) == []
    assert begun(groups) == [("two", "A"), None]


def test_a_race_that_is_answered_marks_all_that_it_has_not_begun():
    race = Schedule(["AB", ""], {"A": (1, WHY), "B": (1, WHY)})
    rounds = rounds_of(race)
    groups = rounds.groups()
    assert begun(groups) == [*pair("one", "two"), None]
    assert sorted(marks(rounds.saw(done(*pair("one"))))) == [
        (name, strategy, fold) for name in ("four", "three") for strategy in "AB" for fold in (0, 1)
    ]
    assert begun(groups) == []


def test_a_race_that_stops_unanswered_marks_nothing_of_rounds_that_may_still_begin():
    rounds = rounds_of(Schedule(["AB", ""], {"B": (1, WHY)}))
    groups = rounds.groups()
    assert begun(groups) == [*pair("one", "two"), None]
    assert marks(rounds.saw(done(*pair("one")))) == []
    assert begun(groups) == []


@pytest.fixture
def study(tmp_path):
    """Return a study with two strategies on four datasets, without a result."""
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([entry(name) for name in NAMES])
    study.allocate([StrategyEntry("A", "a"), StrategyEntry("B", "b")])
    return study


def test_what_is_stored_ends_rounds_and_is_not_marked_again(study):
    raced_out = Outcome(Cell("three", "B", 0, 0), Status.RACED_OUT, reason=WHY)
    with study.writing() as writer:
        writer.write(*done(*pair("one", "two")), raced_out)
    rounds = rounds_of(Schedule(["AB", "A"], {"B": (1, WHY)}), study)
    groups = rounds.groups()
    assert begun(groups) == [("three", "A"), ("four", "A")]  # the first round waits for nothing
    assert marks(rounds.left_out()) == [("three", "B", 1), ("four", "B", 0), ("four", "B", 1)]
