"""What a crash, a full disk or damage leaves in a journal, and what the next writer makes of it."""

import contextlib
import errno
import os
import resource
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import h5py
import numpy as np
import pytest
from studies import assert_same_block, broken_off, entry, outcome, strategy

from mlaut.analysis import Results
from mlaut.errors import StoreError, StoreWarning
from mlaut.experiments import study_status, verify_study
from mlaut.files_io import StudyStore
from mlaut.files_io.outcomes.journal import Journal, index_journal
from mlaut.files_io.safe_files.hdf5 import InPlace, rewrite_h5
from mlaut.files_io.studies.study_writer import put_again
from mlaut.records import Status

HERE = Path(__file__).parent


def test_journal_is_put_back_after_a_crash(study, tmp_path):
    """The arrays lose what the system had not written; the journal has it."""
    iris = study.load_split("iris")
    untouched = study.path.read_bytes()
    writing = study.writing()
    writer = writing.__enter__()
    writer.write(outcome(iris, "svc", fold=1, seed=9), outcome(iris, "tree", status=Status.ERROR))
    journal = study.journal_path.read_bytes()
    writing.__exit__(None, None, None)
    complete = study.block("iris")
    study.path.write_bytes(untouched)
    study.journal_path.write_bytes(journal + b"\x50\x00\x00\x00half a record")
    for settled in (False, True):  # readers need no writer, and change nothing
        assert (study.path.read_bytes() == untouched, study.journal_path.exists()) == (
            (False, False) if settled else (True, True)
        )
        assert_same_block(study.block("iris"), complete)
        parts = [part.status for part in study.parts(["iris"])]
        assert np.concatenate(parts).tolist() == [[[Status.ERROR, 0]], [[0, Status.DONE]]]
        ((_, _, numbers),) = study.numbers(["iris"])
        assert numbers["seed"].tolist() == [[[1, 0]], [[0, 9]]]
        assert sorted((d["status"], d["seed"]) for d in study.details("iris")) == [
            ("done", 9),
            ("error", 1),
        ]
        counts = study_status(study.path).total
        assert (counts[Status.DONE], counts[Status.ERROR]) == (1, 1)
        assert set(Results.from_study(study, "accuracy").strategies) == {"svc", "tree"}
        study.settle()


def test_the_record_of_a_run_is_on_the_disk_before_its_first_outcome(study, monkeypatch):
    """A power cut may keep later pages of a journal alone: outcomes without the terms of a race."""
    synced = {}

    def fsync(handle):
        about = os.fstat(handle)
        synced[about.st_ino] = about.st_size

    monkeypatch.setattr("mlaut.files_io.outcomes.journal.os.fsync", fsync)
    with study.writing({"race": {}}):
        about = study.journal_path.stat()
        assert synced[about.st_ino] == about.st_size


def test_a_journal_that_cannot_be_removed_is_told_and_nothing_is_lost(study, monkeypatch):
    real, told = Path.unlink, "journal: cannot be used while removing this journal, whose outcomes"

    def unlink(path, missing_ok=False):
        if path == study.journal_path:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        real(path, missing_ok=missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", unlink)
        with pytest.raises(StoreError, match=told), study.writing() as writer:  # at the end
            writer.write(outcome(study.load_split("iris"), "svc"))
        with pytest.raises(StoreError, match=told):  # by the next writer
            study.settle()
    assert study.journal_path.exists()
    study.settle()
    assert not study.journal_path.exists()
    assert study.status("iris").sum() == len(study.details("iris")) == 1


def test_torn_cell_is_cleared_after_a_crash(study):
    iris = study.load_split("iris")
    with study.writing() as writer:
        writer.write(*(outcome(iris, "svc", fold=f) for f in range(2)))
    writing = study.writing()
    writer = writing.__enter__()
    writer.write(outcome(iris, "tree"))
    journal = study.journal_path.read_bytes()
    writing.__exit__(None, None, None)
    with h5py.File(study.path, "r+") as file:
        file["experiments/predictions/iris/predictions"][1, 0, 0] += 1
    study.journal_path.write_bytes(journal)
    with pytest.warns(StoreWarning, match="checksums of 1 cell did not match .* repeats them"):
        study.settle()
    assert study.status("iris").tolist() == [[[1, 0]], [[0, 1]]]


def test_a_torn_cell_counts_as_done_for_no_reader_before_the_study_is_settled(study):
    """A power cut took the record of the journal, and of the cell all but status and checksum."""
    iris = study.load_split("iris")
    with study.writing() as writer:
        writer.write(outcome(iris, "svc"), outcome(iris, "tree"))
    with h5py.File(study.path, "r+") as file:
        file["experiments/predictions/iris/predictions"][0, 0, :] = 0
    with contextlib.closing(Journal(study.journal_path, study.id)):
        pass
    for settled in (False, True):
        if settled:
            with pytest.warns(StoreWarning, match="checksums of 1 cell did not match"):
                study.settle()
        assert study.status("iris").tolist() == [[[0, 0]], [[Status.DONE, 0]]]
        assert study_status(study.path).total[Status.DONE] == 1
        assert [one["strategy"] for one in study.details("iris")] == ["svc"]
        assert study.block("iris").status.tolist() == [[[0, 0]], [[Status.DONE, 0]]]


def test_settling_writes_nothing_over_cells_that_are_whole(study):
    """A kill while it does must not take from readers what was there; here no write is possible."""
    iris = study.load_split("iris")
    broken_off(study, outcome(iris, "svc", fold=0, seed=3), outcome(iris, "svc", fold=1))
    before = study.block("iris")
    index = index_journal(study.journal_path, study.id)
    with contextlib.closing(InPlace(study.path)) as file:
        put_again(file, index)
    assert_same_block(study.block("iris"), before)
    study.settle()
    assert_same_block(study.block("iris"), before)


def test_settling_leaves_the_last_of_several_outcomes_of_a_cell_alone(study):
    iris = study.load_split("iris")
    last = outcome(iris, "svc", seed=4)
    broken_off(study, outcome(iris, "svc", status=Status.ERROR), outcome(iris, "svc", seed=5), last)
    index = index_journal(study.journal_path, study.id)
    with contextlib.closing(InPlace(study.path)) as file:
        put_again(file, index)
    study.settle()
    found = study.block("iris").predictions[1, 0, iris.split.rows(0, 0)[1]]
    np.testing.assert_array_equal(found, last.predictions)


@pytest.mark.parametrize("array", ["predictions", "probabilities", "checksum", "status", "seed"])
def test_settling_writes_a_cell_again_that_is_not_what_the_journal_holds(study, array):
    iris = study.load_split("iris")
    broken_off(study, outcome(iris, "svc", seed=3), outcome(iris, "tree", seed=4))
    before = study.block("iris")
    with h5py.File(study.path, "r+") as file:
        file[f"experiments/predictions/iris/{array}"][1, 0, 0] += 1
    study.settle()
    assert_same_block(study.block("iris"), before)


def test_a_journal_with_damage_is_kept_and_all_that_is_whole_is_used(study):
    iris = study.load_split("iris")
    untouched = study.path.read_bytes()
    cells = [(name, fold) for name in ("tree", "svc") for fold in range(2)]
    broken_off(study, *(outcome(iris, name, fold=fold) for name, fold in cells))
    complete = study.block("iris")
    study.path.write_bytes(untouched)  # as after a power cut
    content = bytearray(study.journal_path.read_bytes())
    content[content.index(b'"tree"', content.index(b'"tree"') + 1)] ^= 1  # in the second record
    for name in ("study.h5.journal.damaged", "study.h5.journal.damaged-1"):
        study.path.write_bytes(untouched)
        study.journal_path.write_bytes(content)
        line = "bytes of this journal are damaged; the next run goes on from what"
        assert line in str(study_status(study.path))
        assert line in str(verify_study(study.path))
        with pytest.warns(
            StoreWarning, match=rf"bytes of this journal were damaged.* kept as {name}$"
        ):
            study.settle()
        assert study.status("iris").ravel().tolist() == [1, 0, 1, 1]
        assert study.path.with_name(name).read_bytes() == content
    assert not study.journal_path.exists()
    assert "damaged-1: a damaged journal" in str(study_status(study.path))
    with study.writing() as writer:
        writer.write(outcome(iris, "tree", fold=1))
    assert_same_block(study.block("iris"), complete)


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lambda content: content.replace(b"MLAUT-JOURNAL", b"MLAUT-jOURNAL"), [1, 0]),
        (lambda content: bytes(80) + content[80:], [1, 0]),
        (lambda content: bytes(96) + content[96:], [1, 0]),
        (lambda content: content[7:], [1, 0]),
        (lambda _: b"notes of the user", [0, 0]),
        (lambda _: b"a longer text of the user\n" * 20, [0, 0]),
    ],
)
def test_a_journal_whose_header_is_damaged_is_kept_and_what_is_whole_is_used(study, damage, found):
    iris = study.load_split("iris")
    untouched = study.path.read_bytes()
    broken_off(study, outcome(iris, "tree"))
    study.path.write_bytes(untouched)  # as after a power cut
    content = damage(study.journal_path.read_bytes())
    study.journal_path.write_bytes(content)
    assert "bytes of this journal are damaged" in str(study_status(study.path))
    with pytest.warns(StoreWarning, match=r"kept as study\.h5\.journal\.damaged$"):
        study.settle()
    assert study.status("iris")[0].ravel().tolist() == found
    assert study.path.with_name("study.h5.journal.damaged").read_bytes() == content
    assert not study.journal_path.exists()


def test_journal_of_another_study_is_refused(study, tmp_path):
    other = StudyStore(tmp_path / "other.h5")
    other.save_splits([entry("iris")])
    other.allocate([strategy("tree")])
    writing = other.writing()
    writing.__enter__().write(outcome(other.load_split("iris"), "tree"))
    foreign = other.journal_path.read_bytes()
    writing.__exit__(None, None, None)
    study.journal_path.write_bytes(foreign)
    with pytest.raises(StoreError, match=r"study\.h5\.journal: not the journal of this study"):
        study.settle()


def test_full_disk_loses_nothing(study):
    """A limit on the size of files stands for the full disk: the writes really fail."""
    iris = study.load_split("iris")
    with study.writing() as writer:
        writer.write(outcome(iris, "svc", seed=4))
    before = study.block("iris")
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with study.writing() as writer:
            resource.setrlimit(resource.RLIMIT_FSIZE, (200, limits[1]))
            with pytest.raises(StoreError, match=r"journal: .* while appending"):
                writer.write(outcome(iris, "tree"))
            with pytest.raises(StoreError, match=r"study\.h5: .*while changing its structure"):
                rewrite_h5(study.path).__enter__()
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            writer.write(outcome(iris, "tree", fold=1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    after = study.block("iris")
    np.testing.assert_array_equal(after.predictions[1], before.predictions[1])
    assert after.status.tolist() == [[[0, 1]], [[1, 0]]]
    assert list(study.path.parent.iterdir()) == [study.path]


def _killed_while_writing(path, after):
    """Write cells in a process that acknowledges each, and kill it after so many."""
    program = f"""
        import sys
        sys.path.insert(0, {str(HERE)!r})
        from studies import outcome, strategy, entry
        from mlaut.files_io import StudyStore
        study = StudyStore({str(path)!r})
        big = study.load_split("big")
        cells = [(s, f) for s in ("tree", "svc") for f in range(big.split.n_folds)]
        done = study.status("big")
        print("ready", flush=True)
        with study.writing() as writer:
            for s, f in cells:
                if not done[("tree", "svc").index(s), 0, f]:
                    writer.write(outcome(big, s, fold=f))
                    print(s, f, flush=True)
        study.allocate([strategy("new")])
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True
    )
    told = [process.stdout.readline() for _ in range(1 + after)]
    process.kill()
    told += process.communicate()[0].splitlines()
    return {tuple(line.split()) for line in told if len(line.split()) == 2}


def test_killed_writers_lose_nothing_that_was_reported(tmp_path):
    study = StudyStore(tmp_path / "study.h5")
    big = entry("big", n_rows=4000, n_folds=200)
    study.save_splits([big])
    study.allocate([strategy("tree"), strategy("svc")])
    reported = set()
    generator = np.random.default_rng(0)
    for after in generator.integers(0, 40, size=6):
        reported |= _killed_while_writing(study.path, int(after))
        study.settle()
        block = study.block("big")
        for name, fold in reported:
            test = big.split.rows(0, int(fold))[1]
            found = block.predictions[block.strategies.index(name), 0, test]
            np.testing.assert_array_equal(found, outcome(big, name, fold=int(fold)).predictions)
    assert len(reported) >= 6


def test_the_journal_moves_into_the_study_while_a_run_lasts(study, monkeypatch):
    iris = study.load_split("iris")
    monkeypatch.setattr("mlaut.files_io.studies.study_writer.LARGEST_JOURNAL", 200)
    with study.writing({"seed": 1}) as writer:
        for fold in range(2):
            writer.write(outcome(iris, "svc", fold=fold, seed=5 + fold))
            assert study.journal_path.stat().st_size < 200
            assert study.status("iris")[1, 0, fold] == Status.DONE
    assert [run["seed"] for run in study.runs] == [1]
    assert [d["best_params"] for d in study.details("iris")] == [{"C": 5}, {"C": 6}]
