"""The journal: what is whole in it is found, and it reaches the disk by the clock."""

import os
import threading

import numpy as np
import pytest
from studies import entry, strategy

from mlaut.errors import StoreError, StudyError
from mlaut.experiments import verify_study
from mlaut.files_io import StudyStore
from mlaut.files_io.outcomes import journal as journals
from mlaut.files_io.outcomes.journal import Journal, _header, index_journal
from mlaut.files_io.outcomes.packs import pack, pack_outcomes
from mlaut.records import Cell, Outcome, Status

ID = "0" * 32


def payload(fold, n=None, **details):
    """Return a pack of one outcome, with ``fold + 1`` predictions unless ``n`` is given."""
    predictions = np.arange(fold + 1 if n is None else n, dtype="<i4")
    outcome = Outcome(Cell("iris", "tree", 0, fold), Status.DONE, predictions, details=details)
    return next(pack_outcomes([outcome]))


@pytest.fixture
def written(tmp_path):
    """Make a journal of a run and ten records; return its path and the end of each."""
    path = tmp_path / "study.h5.journal"
    journal = Journal(path, ID)
    journal.append(pack({"run": {"id": "r"}}, {}))
    ends = [path.stat().st_size]
    for fold in range(10):
        journal.append(payload(fold))
        ends.append(path.stat().st_size)
    journal.close()
    return path, ends


def folds(path):
    outcomes = list(index_journal(path, ID).outcomes("iris"))
    for outcome in outcomes:
        np.testing.assert_array_equal(outcome.predictions, np.arange(outcome.cell.fold + 1))
    return [outcome.cell.fold for outcome in outcomes]


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 0x10
    path.write_bytes(content)


def test_records_are_read_as_they_were_appended(written):
    path, ends = written
    index = index_journal(path, ID)
    assert folds(path) == list(range(10))
    assert (index.whole, index.damaged, index.runs) == (ends[-1], 0, ({"id": "r"},))
    assert not list(index.outcomes("wine"))


@pytest.mark.parametrize("cut", [1, 7, 30])
def test_a_torn_end_is_passed_over_and_cut_off(written, cut):
    path, ends = written
    os.truncate(path, ends[-1] - cut)
    index = index_journal(path, ID)
    assert folds(path) == list(range(9))
    assert (index.whole, index.damaged) == (ends[-2], 0)
    journal = Journal(path, ID)
    journal.append(payload(3))
    journal.close()
    assert folds(path) == [*range(9), 3]


def test_any_flipped_byte_costs_its_own_record_only(written):
    path, ends = written
    whole = path.read_bytes()
    for place in range(ends[3], ends[4]):  # of fold 3: length, checksum, text, arrays
        path.write_bytes(whole)
        flip(path, place)
        index = index_journal(path, ID)
        assert folds(path) == [0, 1, 2, 4, 5, 6, 7, 8, 9], place
        assert (index.whole, index.damaged) == (ends[-1], ends[4] - ends[3])


def test_records_behind_zeros_are_found(written):
    path, ends = written
    content = bytearray(path.read_bytes())
    content[ends[1] + 5 : ends[6] + 5] = bytes(ends[6] - ends[1])
    path.write_bytes(content)
    assert folds(path) == [0, 7, 8, 9]
    path.write_bytes(content[: ends[1]] + bytes(5000))
    assert folds(path) == [0]
    assert index_journal(path, ID).damaged == 0


def test_a_record_across_the_pieces_that_are_searched_is_found(written, monkeypatch):
    path, _ = written
    flip(path, 85)
    for size in range(12, 40):
        monkeypatch.setattr(journals, "_PIECE", size)
        assert folds(path) == list(range(10))


def test_a_journal_made_to_be_searched_for_ever_is_given_up(tmp_path):
    """Each twelve bytes may be the begin of a record that goes to the end of the file."""
    path, size = tmp_path / "study.h5.journal", 600_000
    frame = journals._FRAME.pack(size // 2, 0) + journals.LENGTH.pack(9) + journals._BEGIN
    path.write_bytes(journals._header(ID) + frame * (size // len(frame)))
    read = []

    class Counting:
        def __init__(self, file):
            self._file = file

        def __getattr__(self, name):
            return getattr(self._file, name)

        def read(self, size):
            content = self._file.read(size)
            read.append(len(content))
            return content

    with path.open("rb") as file:
        assert len(list(journals._payloads(Counting(file)))) == 1
    assert sum(read) < 25 * size


def test_the_last_record_of_each_cell_counts(tmp_path):
    journal = Journal(tmp_path / "journal", ID)
    for fold, number in ((0, 1), (1, 2), (0, 3)):
        journal.append(payload(fold, number=number))
    journal.close()
    last = index_journal(journal.path, ID).last_outcomes("iris")
    assert {one.cell.fold: one.details["number"] for one in last} == {0: 3, 1: 2}


def test_what_a_reader_would_not_take_is_not_written(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "journal", ID)
    journal.append(payload(0))
    size = journal.path.stat().st_size
    largest = size - 80 - 8  # the payload of that record: without the header, and its frame
    monkeypatch.setattr(journals, "LARGEST_RECORD", largest)
    journal.append(payload(0))
    with pytest.raises(StudyError, match=r"a record of \d+ bytes .*'iris'.* more than") as raised:
        journal.append(payload(0, n=2))
    assert "\n" not in str(raised.value)
    assert journal.path.stat().st_size == 80 + 2 * (size - 80)
    journal.append(payload(0))
    journal.close()
    assert folds(journal.path) == [0, 0, 0]


def test_what_a_reader_has_found_stays_when_the_run_ends(written):
    path, _ = written
    index = index_journal(path, ID)
    path.unlink()
    assert [outcome.cell.fold for outcome in index.outcomes("iris")] == list(range(10))
    assert not index_journal(path, ID).packs


@pytest.fixture
def syncs(monkeypatch):
    """Count the syncs of files that are not folders; each is waited for as an event."""
    done = threading.Semaphore(0)
    fsync = os.fsync

    def counted(handle):
        fsync(handle)
        done.release()

    monkeypatch.setattr(journals.os, "fsync", counted)
    return done


def test_what_was_appended_is_synced_without_another_append(tmp_path, syncs):
    journal = Journal(tmp_path / "journal", ID)
    while syncs.acquire(blocking=False):
        pass
    journal.append(payload(0))
    assert syncs.acquire(timeout=300)
    assert journal.append(payload(1))  # says that it was synced
    journal.close()


def test_nothing_new_is_not_synced_again(tmp_path, syncs):
    journal = Journal(tmp_path / "journal", ID)
    journal.append(payload(0))
    journal.sync()
    while syncs.acquire(blocking=False):
        pass
    journal.sync()
    assert not syncs.acquire(blocking=False)
    journal.close()


def append_for_ever(journal):
    while True:
        journal.append(payload(0))


def test_a_sync_that_fails_is_told_at_the_next_append_and_for_good(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "journal", ID)
    tried, fsync = threading.Event(), os.fsync

    def broken(handle):
        tried.set()
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(journals.os, "fsync", broken)
    journal.append(payload(0))
    assert tried.wait(60)
    monkeypatch.setattr(journals.os, "fsync", fsync)
    with pytest.raises(StoreError, match=r"while syncing the journal: .*Input/output error"):
        append_for_ever(journal)  # the thread may not have noted it yet
    with pytest.raises(StoreError, match="syncing"):
        journal.close()
    assert not journal._clock.is_alive()


def test_a_closed_journal_leaves_no_thread(tmp_path):
    before = threading.active_count()
    Journal(tmp_path / "journal", ID).close()
    assert threading.active_count() == before


def test_the_journal_of_another_study_is_refused(written):
    with pytest.raises(StoreError, match=r"not the journal of this study \(id 11111111\)"):
        index_journal(written[0], "1" * 32)


def test_records_that_are_appended_together_are_each_whole_or_absent(tmp_path):
    journal = Journal(tmp_path / "journal", ID)
    journal.append(*map(payload, range(3)))
    journal.close()
    content = journal.path.read_bytes()
    assert folds(journal.path) == [0, 1, 2]
    journal.path.write_bytes(content[:-1])  # as a kill in the middle of the write leaves it
    assert folds(journal.path) == [0, 1]
    journal.path.write_bytes(content)
    flip(journal.path, len(content) // 2)
    assert folds(journal.path) == [0, 2]


def test_a_journal_that_cannot_be_read_is_a_problem_for_verify(tmp_path):
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([entry("iris", n_rows=12)])
    study.allocate([strategy("tree")])
    assert verify_study(study.path).ok
    study.journal_path.write_bytes(_header("1" * 32))
    found = verify_study(study.path)
    assert not found.ok
    ((where, what),) = found.problems
    assert where == "journal"
    assert "not the journal of this study" in what
    assert "keep it under another name" in what
