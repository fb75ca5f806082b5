"""Other programs read a study; a field more breaks nothing; compacting changes no value."""

import gzip
import json
import os
import shutil
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
from memory_study import MemoryStudy
from studies import assert_same_block, entry, outcome, strategy

from mlaut.cli import main
from mlaut.errors import StoreError, StudyError
from mlaut.files_io import FilesIO, StudyStore, merge_studies
from mlaut.files_io.safe_files.hdf5 import change_h5, read_h5
from mlaut.files_io.studies.study_arrays import _STATUS_BITS, room_of
from mlaut.files_io.studies.study_checks import problems_of
from mlaut.records import REGRESSION, Status

IRIS = entry("iris", n_rows=12, n_folds=2, n_repeats=2)
CPU = entry("cpu", n_rows=5, task=REGRESSION)
FIRST_RUN = [
    outcome(IRIS, "tree", 0, 1),
    outcome(IRIS, "tree", 1, 0, seed=3),
    outcome(CPU, "svc", 0, 0),
    outcome(IRIS, "svc", 0, 0, Status.ERROR),
]
IN_JOURNAL = [outcome(IRIS, "svc", 1, 1, seed=8), outcome(CPU, "tree", 0, 1)]


def expected(*outcomes):
    study = MemoryStudy()
    study.save_splits([IRIS, CPU])
    study.allocate([strategy("tree"), strategy("svc")])
    study.write(*outcomes)
    return study


def assert_same(study, known):
    for name in known.datasets:
        assert_same_block(study.block(name), known.block(name))
    assert study.strategies == known.strategies


@pytest.fixture
def old(tmp_path):
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([IRIS, CPU])
    study.allocate([strategy("tree"), strategy("svc")])
    with study.writing({"seed": 1}) as writer:
        writer.write(*FIRST_RUN)
    with study.writing({"seed": 1}) as writer:
        writer.write(*IN_JOURNAL)
    return study


def test_a_newer_format_is_refused(old):
    with change_h5(old.path) as file:
        file.attrs["study_format"] = 3
    with pytest.raises(StudyError, match="study format 3, and this MLaut reads up to 2; update"):
        old.block("iris")


@pytest.mark.parametrize("fields", ["started, elapsed, peak_memory, energy", "elapsed, cores"])
def test_other_fields_of_a_cell_break_nothing(tmp_path, monkeypatch, fields):
    """A study of another version may have more fields for each cell, or fewer."""
    study = StudyStore(tmp_path / "study.h5")
    given = {"started": 1.7e9, "elapsed": 2.5, "peak_memory": 1e6, "energy": 7.0, "cores": 3.0}
    first, second = (outcome(IRIS, "tree", 0, fold) for fold in range(2))
    for one in (first, second):
        one.details.update(given)
    for module in ("studies.study_arrays", "outcomes.study_records", "outcomes.packs"):
        monkeypatch.setattr(f"mlaut.files_io.{module}.USAGE", tuple(fields.split(", ")))
    study.save_splits([IRIS])
    study.allocate([strategy("tree")])
    with study.writing() as writer:
        writer.write(first)
    monkeypatch.undo()
    with study.writing() as writer:
        writer.write(second)
    study.allocate([strategy("svc")])
    study.save_splits([entry("iris", n_rows=12, n_folds=2, n_repeats=3)])
    assert study.status("iris")[0, 0].tolist() == [1, 1]
    assert not [*problems_of(study)]
    ((_, _, numbers),) = study.numbers()
    both = numbers["usage"][0, 0]
    assert both[:, 1].tolist() == [2.5, 2.5]
    assert np.isnan(both[:, 0]).all() == ("started" not in fields)
    with read_h5(study.path) as file:
        stored = file["experiments/predictions/iris/usage"]
        assert stored.attrs["fields"] == fields
        assert stored[0, 0, 0].tolist() == [given[name] for name in fields.split(", ")]


def test_lost_names_of_fields_are_told_in_one_line(tmp_path):
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([IRIS])
    study.allocate([strategy("tree")])
    with study.writing() as writer:
        writer.write(outcome(IRIS, "tree", 0, 0))
    sound = shutil.copy(study.path, tmp_path / "sound.h5")
    with change_h5(study.path) as file:
        del file["experiments/predictions/iris/usage"].attrs["fields"]
    lost = "study.h5: damaged .*usage of dataset 'iris' has lost the names of its fields"
    with pytest.raises(StoreError, match=lost):
        [*study.numbers()]
    with pytest.raises(StoreError, match=lost):
        merge_studies([study.path, sound], tmp_path / "merged.h5")


def example(language):
    """Return the example of the page on other programs."""
    page = (Path(__file__).parents[2] / "docs/other-programs.md").read_text("utf-8")
    return page.partition(f"```{language}\n")[2].partition("```")[0]


@pytest.fixture
def read_by_others(tmp_path):
    """A study with a cell that is not done, and the accuracies of its second repeat."""
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([IRIS])
    study.allocate([strategy("tree"), strategy("süc")])
    with study.writing({"seed": 1}) as writer:
        writer.write(*(outcome(IRIS, "süc", 1, fold) for fold in range(2)))
        writer.write(outcome(IRIS, "tree", 1, 0))
    block, fold = study.block("iris"), IRIS.split.folds[1]
    right = block.predictions[:, 1] == block.truth
    return study, {"tree": right[0, fold == 0].mean(), "süc": right[1].mean()}


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is needed")
def test_r_reads_names_and_scores(read_by_others):
    """The example of the page on other programs, with hdf5r."""
    study, expected = read_by_others
    needs = 'if (!requireNamespace("hdf5r")) quit(status = 77)'
    shows = 'found <- accuracies("study.h5", "iris", 2)\ncat(names(found), found, sep = "\\n")'
    told = subprocess.run(
        ["Rscript", "-e", f"{needs}\n{example('r')}\n{shows}"],
        cwd=study.path.parent,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if told.returncode == 77:
        pytest.skip("the package hdf5r of R is needed")
    assert told.returncode == 0, told.stderr
    names, numbers = np.array_split(told.stdout.split(), 2)
    assert names.tolist() == list(expected)
    assert np.allclose(numbers.astype(float), [*expected.values()], atol=1e-6)


def test_other_programs_read_names_and_scores(read_by_others):
    """The example of the page on other programs, with h5py and pandas alone."""
    study, expected = read_by_others
    names: dict = {}
    exec(example("python"), names)
    assert names["accuracies"](study.path, "iris", 1).to_dict() == expected
    with h5py.File(study.path, locking=False) as file:
        assert file["splits/iris/classes"].asstr()[...].tolist() == ["no", "yes", "ü"]
        assert file["experiments/strategies/name"].asstr()[...].tolist() == ["tree", "süc"]
        assert json.loads(file["experiments/runs/0"].asstr()[0])[0]["seed"] == 1


def test_compacting_frees_what_was_replaced_and_changes_no_value(old, capsys):
    assert_same(old, expected(*FIRST_RUN, *IN_JOURNAL))
    io = FilesIO(old.path, mode="a")
    noise = pd.DataFrame(np.random.default_rng(0).random((60_000, 4))).rename(columns=str)
    for name in ("one", "two", "three"):
        io.save_pandas_dataset(noise, "/", {"class_name": "0", "dataset_name": name})
    io.delete_dataset("two")
    before = old.path.stat().st_size
    main(["study", "compact", str(old.path)])
    assert "bytes on the disk before" in capsys.readouterr().out
    assert old.path.stat().st_size < before - 1_000_000
    assert_same(old, expected(*FIRST_RUN, *IN_JOURNAL))
    assert io.load_dataset("three").frame.equals(noise)
    assert {d["reason"] for d in old.details("iris")} >= {"error of seed 1"}
    before, after = StudyStore(old.path).compact()
    assert after == before


@pytest.mark.parametrize(("rows", "repeats"), [(40, 50), (3000, 1)])
def test_the_room_of_cells_is_foretold_in_whole_blocks(tmp_path, rows, repeats):
    """Tables of few rows share blocks of the disk with strategies that may come later."""
    of = entry("iris", n_rows=rows, n_folds=5, n_repeats=repeats)
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([of])
    study.allocate([strategy("a"), strategy("b")])
    before = study.path.stat().st_blocks * 512
    with study.writing() as writer:
        cells = ((s, r, f) for s in "ab" for r in range(repeats) for f in range(5))
        writer.write(*(outcome(of, s, r, f, probabilities=True) for s, r, f in cells))
    grown = study.path.stat().st_blocks * 512 - before
    assert grown == pytest.approx(room_of(of, 2), rel=0.3)


def test_a_study_of_the_form_of_hdf5_1_8_is_read_and_goes_on(tmp_path):
    """Its arrays have room for 16 strategies from the start, also for a dataset without any."""
    study = StudyStore(tmp_path / "study.h5")
    stored = Path(__file__).with_name("form-1.8.h5.gz").read_bytes()
    study.path.write_bytes(gzip.decompress(stored))
    iris, later = entry("iris", n_rows=12), entry("later")
    known = MemoryStudy()
    known.save_splits([iris, CPU, later])
    known.allocate([strategy("tree"), strategy("svc")])
    more = [outcome(iris, "tree", 0, 1, seed=3), outcome(iris, "svc", 0, 0, Status.ERROR)]
    known.write(outcome(iris, "tree"), *more, outcome(CPU, "svc"))
    assert_same_block(study.block("iris"), known.block("iris"))
    assert study.block("later").strategies == ()
    longer = entry("iris", n_rows=12, n_repeats=2)
    new = [outcome(longer, "svm", 1, 1), outcome(later, "svm", 0, 1)]
    for target in (study, known):
        target.save_splits([longer])
        target.allocate([strategy("tree"), strategy("svc"), strategy("svm")])
    known.write(*new)
    with study.writing() as writer:
        writer.write(*new)
    assert_same(study, known)
    assert not list(problems_of(study))


def test_datasets_and_strategies_take_little_room(tmp_path):
    study = StudyStore(tmp_path / "study.h5")
    entries = [entry(f"set {i}", n_rows=100, n_folds=5) for i in range(50)]
    study.save_splits(entries)
    study.allocate([strategy("tree"), strategy("svc")])
    values = 2 * 100 * (4 + 3 * 4) + 2 * 5 * (1 + 4 + 4 + 3 * 8 + 3 * 8)
    assert study.path.stat().st_size < 50 * (values + 6_000)
    before = study.path.stat().st_size
    study.allocate([strategy("tree"), strategy("svc"), strategy("svm")])
    assert study.path.stat().st_size - before < 50 * (1.5 * values + 1_500)  # arrays move, once


def test_every_status_of_a_cell_has_its_own_code_in_a_checksum():
    """A ninth would be taken for another, and studies that hold it for damaged."""
    stored = [status & _STATUS_BITS for status in Status if status]  # missing has no checksum
    assert len({*stored}) == len(stored)
