"""A plain run refuses to go on with a race, and completes it if asked to."""

import numpy as np
import pytest

from mlaut.errors import StudyError
from mlaut.experiments.plans.races import check_no_race, clear_raced_out
from mlaut.files_io import SplitEntry, StrategyEntry, StudyStore
from mlaut.records import CLASSIFICATION, Cell, Outcome, Split, Status


@pytest.fixture
def study(tmp_path):
    """Return a study with two strategies on two datasets, of which a cell is done."""
    study = StudyStore(tmp_path / "study.h5")
    truth = np.array([0, 1, 0, 1], dtype=np.int32)
    split = Split(np.array([[0, 0, 1, 1]], dtype=np.int16), "kfold(2)")
    study.save_splits(
        SplitEntry(name, f"/{name}", CLASSIFICATION, "f", ("a", "b"), truth, split)
        for name in ("one", "two")
    )
    study.allocate([StrategyEntry("A", "a"), StrategyEntry("B", "b")])
    with study.writing() as writer:
        writer.write(Outcome(Cell("one", "A", 0, 0), Status.DONE, predictions=np.array([0, 1])))
    return study


def test_a_plain_run_does_not_go_on_with_a_race(study):
    check_no_race(StudyStore(study.path.with_name("no.h5")))
    check_no_race(study)
    for fold, alpha in enumerate((0.05, 0.1)):
        with study.writing({"race": {"alpha": alpha}}) as writer:
            writer.write(Outcome(Cell("one", "B", 0, fold), Status.ERROR))
    assert study.race == {"alpha": 0.1}
    with pytest.raises(StudyError) as error:
        check_no_race(study)
    assert str(error.value) == (
        f"{study.path}: its datasets are run as a race; restore the section [race] (in Python the "
        "argument race), or complete the race with 'mlaut run --complete' (complete=True)"
    )


def test_only_cells_that_were_raced_out_are_cleared(study):
    before = study.path.read_bytes()
    clear_raced_out(study)  # without such a cell, nothing is written
    assert study.path.read_bytes() == before
    with study.writing() as writer:
        writer.write(Outcome(Cell("two", "B", 0, 1), Status.RACED_OUT, reason="raced out"))
    assert study.status("two").tolist() == [[[0, 0]], [[0, Status.RACED_OUT]]]
    clear_raced_out(study)
    assert study.status("two").tolist() == [[[0, 0]], [[0, 0]]]
    assert study.status("one").tolist() == [[[1, 0]], [[0, 0]]]
