"""Studies of the first format are opened, read and resumed; a field more breaks nothing."""

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
from mlaut.errors import StudyError
from mlaut.files_io import FilesIO, Study
from mlaut.files_io.hdf5 import change_h5, read_h5
from mlaut.files_io.study_checks import problems_of
from mlaut.records import REGRESSION, Status

FIXTURES = Path(__file__).parent / "fixtures"
IRIS = entry("iris", n_rows=12, n_folds=2, n_repeats=2)
CPU = entry("cpu", n_rows=5, task=REGRESSION)
FIRST_RUN = [
    outcome(IRIS, "tree", 0, 1),
    outcome(IRIS, "tree", 1, 0, seed=3),
    outcome(CPU, "svc", 0, 0),
    outcome(IRIS, "svc", 0, 0, Status.ERROR),
]
IN_JOURNAL = [outcome(IRIS, "svc", 1, 1, seed=8), outcome(CPU, "tree", 0, 1)]


@pytest.fixture
def old(tmp_path):
    for file in FIXTURES.glob("format-1.h5*"):
        shutil.copy(file, tmp_path / file.name.replace("format-1", "study"))
    return Study(tmp_path / "study.h5")


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


def test_a_study_of_the_first_format_is_read_and_not_changed(old):
    before = old.path.read_bytes()
    assert_same(old, expected(*FIRST_RUN, *IN_JOURNAL))
    assert old.block("iris").classes == ("no", "yes", "ü")
    assert [run["seed"] for run in old.runs] == [1]
    details = {(d["strategy"], d["repeat"]): d for d in old.details("iris")}
    assert details["tree", 1]["best_params"] == {"C": 3}
    assert details["svc", 0]["reason"] == "error of seed 1"
    assert details["svc", 1]["best_params"] == {"C": 8}
    assert "checksum" not in details["tree", 1]
    assert old.path.read_bytes() == before


def test_a_study_of_the_first_format_is_resumed(old):
    shutil.rmtree(old.path.with_name("study.h5.models"), ignore_errors=True)
    with old.writing({"seed": 2}) as writer:
        writer.write(outcome(IRIS, "tree", 0, 0), outcome(IRIS, "svc", 0, 0, seed=4))
    with h5py.File(old.path) as file:
        assert file.attrs["study_format"] == 2
    known = expected(*FIRST_RUN, *IN_JOURNAL)
    known.write(outcome(IRIS, "tree", 0, 0), outcome(IRIS, "svc", 0, 0, seed=4))
    assert_same(old, known)
    assert [run["seed"] for run in old.runs] == [1, 1, 2]
    details = {(d["strategy"], d["repeat"], d["fold"]): d for d in old.details("iris")}
    assert details["tree", 1, 0]["best_params"] == {"C": 3}
    assert details["svc", 0, 0]["reason"] == ""  # what the failed attempt left is not taken over
    assert not [*problems_of(old)]
    old.save_splits([entry("iris", n_rows=12, n_folds=2, n_repeats=3)])
    old.allocate([strategy("new")])
    block = old.block("iris")
    assert block.strategies == ("tree", "svc", "new")
    assert (block.status > 0).sum() == 5
    np.testing.assert_array_equal(block.predictions[:2, :2], known.block("iris").predictions)


def test_a_table_of_the_first_format_is_read(old):
    table, about = FilesIO(old.path).load_dataset_pd("tables/words")
    assert table["word"].tolist()[::2] == ["a", "ü"]
    assert table["word"].isna().tolist() == [False, True, False]
    assert about["class_name"] == "y"


def test_a_newer_format_is_refused(old):
    with change_h5(old.path) as file:
        file.attrs["study_format"] = 3
    with pytest.raises(StudyError, match="study format 3, and this MLaut reads up to 2; update"):
        old.block("iris")


@pytest.mark.parametrize("fields", ["started, elapsed, peak_memory, energy", "elapsed, cores"])
def test_other_fields_of_a_cell_break_nothing(tmp_path, monkeypatch, fields):
    """A study of another version may have more fields for each cell, or fewer."""
    study = Study(tmp_path / "study.h5")
    given = {"started": 1.7e9, "elapsed": 2.5, "peak_memory": 1e6, "energy": 7.0, "cores": 3.0}
    first, second = (outcome(IRIS, "tree", 0, fold) for fold in range(2))
    for one in (first, second):
        one.details.update(given)
    for module in ("study_arrays", "study_records"):
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
    ((_, numbers),) = study.numbers()
    both = numbers["usage"][0, 0]
    assert both[:, 1].tolist() == [2.5, 2.5]
    assert np.isnan(both[:, 0]).all() == ("started" not in fields)
    with read_h5(study.path) as file:
        stored = file["experiments/predictions/iris/usage"]
        assert stored.attrs["fields"] == fields
        assert stored[0, 0, 0].tolist() == [given[name] for name in fields.split(", ")]


def example(language):
    """Return the example of the page on other programs."""
    page = (Path(__file__).parents[2] / "docs/other-programs.md").read_text("utf-8")
    return page.partition(f"```{language}\n")[2].partition("```")[0]


@pytest.fixture
def read_by_others(tmp_path):
    """A study with a cell that is not done, and the accuracies of its second repeat."""
    study = Study(tmp_path / "study.h5")
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
    main(["compact", str(old.path)])
    assert "bytes on the disk before" in capsys.readouterr().out
    assert old.path.stat().st_size < before - 1_000_000
    assert_same(old, expected(*FIRST_RUN, *IN_JOURNAL))
    assert io.load_dataset("three").frame.equals(noise)
    assert {d["reason"] for d in old.details("iris")} >= {"error of seed 1"}
    before, after = Study(old.path).compact()
    assert after == before
