"""The stored terms of a race; races of whole studies are in tests/test_racing.py."""

import pytest

from mlaut.analysis.racing.study_race import Sealed
from mlaut.errors import StudyError

SEALED = Sealed(order=("wine", "iris"), strategies=("A", "B"), metric="accuracy", rope=0.01)


def test_terms_are_stored_as_plain_values_and_read_again():
    stored = SEALED.to_dict()
    assert stored["order"] == ["wine", "iris"]
    assert Sealed.read(stored, "study.h5") == SEALED


@pytest.mark.parametrize(
    ("name", "value"),
    [("order", "wine"), ("alpha", "0.05"), ("ahead", True), ("metric", None), ("rope", 1)],
)
def test_damaged_terms(name, value):
    stored = SEALED.to_dict() | {name: value}
    with pytest.raises(StudyError, match=f"study.h5: the stored race has no valid '{name}'"):
        Sealed.read(stored, "study.h5")


def test_a_study_without_a_seed_of_its_order_was_drawn_with_zero():
    stored = SEALED.to_dict()
    del stored["seed"]
    assert Sealed.read(stored, "study.h5").seed == 0
