"""The stored terms of a race; races of whole studies are in test_racing.py."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlaut_races import evidence
from mlaut_races.study_race import Draw, StudyRace, read_sealed
from mlaut_races.terms import RaceTerms

from mlaut.analysis import Results, race
from mlaut.errors import StudyError
from mlaut.files_io import StudyStore

OLD = Path(__file__).parent / "rule-1.h5.gz"
TERMS, DRAW = RaceTerms(metric="accuracy", rope=0.01), Draw(("wine", "iris"), ("A", "B"))
STORED = {**TERMS.sealed(), "order": ["wine", "iris"], "strategies": ["A", "B"], "test": "sign"}


def test_terms_are_stored_as_plain_values_and_read_again(tmp_path):
    assert StudyRace(StudyStore(tmp_path / "study.h5"), TERMS, DRAW).sealed() == STORED
    assert read_sealed(STORED, "study.h5") == (TERMS, DRAW)


@pytest.mark.parametrize(
    ("name", "value"),
    [("order", "wine"), ("alpha", "0.05"), ("ahead", True), ("metric", None), ("rope", 1),
     ("rule", "1")],
)  # fmt: skip
def test_damaged_terms(name, value):
    with pytest.raises(StudyError, match=f"study.h5: the stored race has no valid '{name}'"):
        read_sealed({**STORED, name: value}, "study.h5")


def test_terms_of_an_earlier_version_are_read_unless_strategies_lag():
    assert read_sealed({**STORED, "lag": {}, "batches": [1, 1]}, "study.h5") == (TERMS, DRAW)
    with pytest.raises(StudyError, match="strategies lag in the stored race, which this version"):
        read_sealed({**STORED, "lag": {"A": 3}}, "study.h5")


# ------------------------------------------------------------------------ rule 1


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """Return a finished race that was stored before races named their rule."""
    path = tmp_path_factory.mktemp("old") / "study.h5"
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    return StudyStore(path)


def test_a_race_without_a_rule_is_read_by_rule_1_and_decides_the_same(old):
    """If this fails, the rule has changed: raise RACE_RULE, and keep or refuse the old one."""
    raced = StudyRace.of(old)
    assert "rule" not in old.all_runs[-1]["race"]
    assert (raced.terms.rule, raced.terms.kind) == (1, "signed rank")
    now = raced.now()
    assert now.decisions == (
        "guess stopped: worse after 6 datasets (evidence 15.6), mostly by bayes",
    )
    assert now.course.runs.tolist() == [12, 6, 12]
    assert now.course.against[-1] == pytest.approx(
        [-0.49569728883629804, 2.7449719610863967, -1.174844184523404], rel=1e-9
    )


@pytest.mark.parametrize(
    ("kind", "against", "equal"),
    [
        ("sign", [-2.102211, -0.100926, 7.385483], 0.0),
        ("signed rank", [-2.306265, 1.282114, 6.410774], 0.0),
        ("mean", [-0.723569, 0.488599, 1.123515], 0.036957),
    ],
)
def test_each_kind_has_the_evidence_of_rule_1(kind, against, equal):
    """If this fails, the rule has changed: raise RACE_RULE, and keep or refuse the old one."""
    columns = {"A": [0.1, 0.2, 0.15] * 5, "B": [0.2, 0.15, 0.4] * 5, "C": [0.3, 0.3, 0.35] * 5}
    table = pd.DataFrame(columns, index=[f"d{i:02}" for i in range(15)])
    results = Results.from_table(table, metric="error")
    found = race(results, kind=kind, drop=False, rope=0.07, order=results.datasets).course
    np.testing.assert_allclose(found.against[-1], against, atol=1e-6)
    assert found.equal_sup[0, 1] == pytest.approx(equal, abs=1e-6)


def test_other_bets_are_seen(old, monkeypatch):
    monkeypatch.setattr(evidence, "BETS", (0.1, 0.2, 0.35, 0.5, 0.7, 0.8))
    now = StudyRace.of(old).now()
    assert now.course.against[-1][1] != pytest.approx(2.7449719610863967, rel=1e-3)


def test_an_unknown_rule_is_refused_by_name(old):
    terms, draw = read_sealed({**STORED, "rule": 2}, "study.h5")
    with pytest.raises(StudyError, match=r"study.h5: the race is decided by rule 2, and this .* 1"):
        StudyRace(old, terms, draw)
