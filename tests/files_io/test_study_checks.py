"""Tests of what `mlaut verify` finds in a study and beside it, without datasets and strategies."""

import contextlib
import dataclasses
import itertools
import os

import numpy as np
import pytest
from studies import entry, outcome, strategy

from mlaut.errors import MlautError, StoreWarning
from mlaut.files_io import StudyStore
from mlaut.files_io.outcomes.journal import Journal
from mlaut.files_io.safe_files import hdf5
from mlaut.files_io.safe_files.changes import change_path
from mlaut.files_io.safe_files.hdf5 import change_h5, rewrite_h5
from mlaut.files_io.safe_files.lock import locked
from mlaut.files_io.safe_files.texts import put_labels
from mlaut.files_io.studies.models import models_folder, write_model
from mlaut.files_io.studies.study_checks import (
    checking,
    journal_problems,
    problems_of,
    remains_of,
)
from mlaut.records import REGRESSION, Status

IRIS = dataclasses.replace(entry("iris"), truth=np.array([0, 1, 2, 2, 1, 0], "i4"))
CPU = entry("cpu", n_rows=5, task=REGRESSION)
CELLS = "experiments/predictions/"


def new_study(path):
    study = StudyStore(path)
    study.save_splits([IRIS, CPU])
    study.allocate([strategy("tree"), strategy("svc")])
    return study


def filled(path, **more):
    """Make a study where the first cell of svc on iris has some other values."""
    study = new_study(path)
    with study.writing() as writer:
        writer.write(dataclasses.replace(outcome(IRIS, "svc"), **more))
        writer.write(outcome(IRIS, "svc", fold=1), outcome(CPU, "tree"))
        writer.write(outcome(IRIS, "tree", status=Status.ERROR))
    return study


@pytest.fixture
def study(tmp_path):
    return filled(tmp_path / "study.h5")


def test_a_sound_study_has_no_problem(study):
    assert list(problems_of(study)) == []
    assert (remains_of(study), journal_problems(study)) == ((), [])


def change(name, value):
    def how(file):
        file[name][...] = value(file[name][...])

    return how


def replace(name, values):
    def how(file):
        del file[name]
        file[name] = values

    return how


def _two_classes_of_one_name(file):
    del file["splits/iris/classes"]
    put_labels(file["splits/iris"], "classes", ["no", "no", "yes", "ü"])


@pytest.mark.parametrize(
    ("spoil", "where", "what"),
    [
        (lambda file: file.move("splits/cpu", "splits/other"), "study",
         "outcomes of datasets without split: cpu"),
        (lambda file: put_labels(file["experiments/strategies"], "name", ["tree", "knn"]),
         "dataset 'iris'", "outcomes of strategies that the study does not know: svc"),
        (change("splits/iris/folds", lambda a: a - 9), "dataset 'iris'",
         "its split has fold -9, which means nothing"),
        (change("splits/iris/folds", lambda a: np.where(a == 0, 2, a)), "dataset 'iris'",
         "no row is tested in repeat 0, fold 0"),
        (_two_classes_of_one_name, "dataset 'iris'", "a class occurs twice"),
        (change("splits/iris/truth", lambda a: a * 0), "dataset 'iris'",
         "2 of its classes have no row"),
        (change("splits/cpu/truth", lambda a: a * np.nan), "dataset 'cpu'",
         "its truth is not finite"),
        (change(CELLS + "iris/seconds", lambda a: a + 1), "dataset 'iris'",
         "svc on iris (repeat 0, fold 0): its checksum does not hold; --mend clears it"),
        (replace(CELLS + "iris/seed", np.zeros((3, 1, 2))), "dataset 'iris'",
         "must be uint32 (2, 1, 2)"),
        (lambda file: file.pop(CELLS + "iris/seed"), "dataset 'iris'", "cannot be read ("),
        (lambda file: file.attrs.__delitem__("study_id"), "study", "no study in this file"),
    ],
)  # fmt: skip
def test_a_study_that_is_spoilt_is_told(study, spoil, where, what):
    with rewrite_h5(study.path) as file:
        spoil(file)
    found = list(problems_of(study))
    assert any(place == where and what in text for place, text in found), found
    assert not [text for _, text in found if "\n" in text]


def test_a_copy_checks_as_verify_does(study, tmp_path):
    found = []
    check = checking(study, lambda *problem: found.append(problem))
    assert list(problems_of(study.copy_to(tmp_path / "sound.h5", dict, check))) == found == []
    with rewrite_h5(study.path) as file:
        change(CELLS + "iris/seconds", lambda a: a + 1)(file)
        file.move("splits/cpu", "splits/other")
    check = checking(study, lambda *problem: found.append(problem))
    assert found == [("study", "outcomes of datasets without split: cpu")]
    with contextlib.suppress(MlautError):
        study.copy_to(tmp_path / "spoilt.h5", dict, check)
    assert any("its checksum does not hold" in what for _, what in found)


def without_status(study):
    """Store outcomes of several statuses, take their status away, and return what verify says."""
    statuses = [Status.ERROR, Status.DIVERGED, *[Status.DONE] * 2]
    with study.writing() as writer:
        writer.forget("iris", ["svc", "tree"], np.ones((2, 1, 2), dtype=bool))
        for k, status in enumerate(statuses):
            writer.write(outcome(IRIS, ["tree", "svc"][k // 2], fold=k % 2, status=status))
    with rewrite_h5(study.path) as file:
        change(CELLS + "iris/status", lambda a: a * 0)(file)
        change(CELLS + "cpu/status", lambda a: a * 0)(file)
    lost = "its outcome is whole, but its status is lost; --mend clears it"
    cells = [f"{name} on iris (repeat 0, fold {k})" for name in ("tree", "svc") for k in range(2)]
    return [("dataset 'cpu'", f"tree on cpu (repeat 0, fold 0): {lost}")] + [
        ("dataset 'iris'", f"{cell}: {lost}") for cell in cells
    ]


def test_cells_that_have_lost_their_status_alone_are_told_and_mended(study):
    expected = without_status(study)
    assert list(problems_of(study)) == expected
    assert study.mend() == {"cpu": 1, "iris": 4}
    assert list(problems_of(study)) == []
    with study.reading() as file:
        assert not file[CELLS + "iris/checksum"][...].any()


def test_each_changed_bit_of_a_status_is_told(study):
    with study.reading() as file:
        cells = file[CELLS + "iris/status"]
        begin, size = cells.id.get_chunk_info(0).byte_offset, cells.size
        np.testing.assert_array_equal(cells, [[[2, 0]], [[1, 1]]])
    with study.path.open("r+b", buffering=0) as raw:
        for place, bit in itertools.product(range(begin, begin + size), range(8)):
            content = os.pread(raw.fileno(), 1, place)
            os.pwrite(raw.fileno(), bytes([content[0] ^ 1 << bit]), place)
            ((where, what),) = problems_of(study)
            assert where == "dataset 'iris'"
            assert what.endswith("--mend clears it"), (place, bit)
            os.pwrite(raw.fileno(), content, place)
    assert list(problems_of(study)) == []


def test_a_cell_without_status_is_told_until_a_writer_has_settled_the_study(study):
    expected = without_status(study)
    with contextlib.closing(Journal(study.journal_path, study.id)):
        with locked(study.path):
            assert list(problems_of(study)) == []
        assert list(problems_of(study)) == expected
    with pytest.warns(StoreWarning, match=r"checksums of \d cells? did not match"):
        study.settle()
    assert list(problems_of(study)) == []
    assert not study.status("iris").any()


def test_what_lies_in_the_places_of_missing_cells_is_no_problem(study):
    before = study.status("iris")
    with rewrite_h5(study.path) as file:
        for name in ("checksum", "seed", "seconds"):  # HDF5 gives them places it does not clear
            change(CELLS + f"iris/{name}", lambda a, m=before == 0: _filled(a, m))(file)
    assert list(problems_of(study)) == []
    np.testing.assert_array_equal(study.status("iris"), before)


def _filled(values, where):
    values[where] = 1_127_114_099
    return values


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"predictions": np.array([0, 3, -1], "i4")}, "2 predictions are no class, or no finite"),
        ({"seconds": (0.5, np.nan, 0.5)}, "1 cells are done without times"),
        ({"probabilities": np.full((3, 3), 0.5, "f4")},
         "'svc' gave 3 rows of probabilities that are not in [0, 1] with the sum 1; mend the"),
        ({"details": {"model": {"file": "iris/svc/none.m", "sha256": "0" * 64}}},
         "model iris/svc/none.m is not there, or not the one recorded"),
    ],
)  # fmt: skip
def test_values_that_no_run_of_today_stores_are_told(tmp_path, more, what):
    study = filled(tmp_path / "study.h5", **more)
    write_model(models_folder(study.path), outcome(IRIS, "tree").cell, b"of another", ".m")
    ((where, text),) = problems_of(study)
    assert where == "dataset 'iris'"
    assert what in text


def test_a_regression_with_an_infinite_prediction_is_told(tmp_path):
    study = new_study(tmp_path / "study.h5")
    one = outcome(CPU, "tree")
    with study.writing() as writer:
        writer.write(dataclasses.replace(one, predictions=one.predictions * np.inf))
    found = [("dataset 'cpu'", "3 predictions are no class, or no finite number")]
    assert list(problems_of(study)) == found


def test_predictions_of_other_programs_need_no_times(tmp_path):
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([IRIS])
    study.allocate([dataclasses.replace(strategy("R"), metadata={"foreign": "R 4.3"})])
    with study.writing() as writer:
        writer.write(dataclasses.replace(outcome(IRIS, "R"), seconds=(np.nan,) * 3))
    assert list(problems_of(study)) == []


def test_the_journal_of_a_living_run_is_no_problem_and_a_damaged_one_is(study):
    with study.writing() as writer:
        writer.write(outcome(CPU, "svc"))
        with study.journal_path.open("r+b") as file:
            file.write(b"mlaut")
        assert journal_problems(study) == []
        damaged = study.journal_path.read_bytes()
    study.journal_path.write_bytes(damaged)
    (line,) = journal_problems(study)
    assert line.startswith("study.h5.journal: 5 bytes of this journal are damaged; the next run")
    study.journal_path.unlink()
    study.journal_path.symlink_to(study.path)
    (line,) = journal_problems(study)
    assert "study.h5.journal: a link, a pipe or a device" in line


def test_a_change_that_was_decided_remains_until_the_next_writer(study, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(hdf5, "_finish", lambda *_: None)
        with change_h5(study.path) as file:
            file["note"] = [1]
    (line,) = remains_of(study)
    assert line.startswith("study.h5.change: a change that a killed writer had decided; the next")
    study.settle()
    study.allocate([strategy("new")])
    assert remains_of(study) == ()
    assert not change_path(study.path).exists()
