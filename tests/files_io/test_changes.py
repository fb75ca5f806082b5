"""Changes in place: complete or absent at every point, for readers and for the next writer."""

import contextlib
import errno
import hashlib
import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import h5py
import numpy as np
import pytest

from mlaut.errors import StoreError
from mlaut.experiments import study_status
from mlaut.files_io import StudyStore
from mlaut.files_io.safe_files import changes, hdf5
from mlaut.files_io.safe_files.changes import change_path, read_change
from mlaut.files_io.safe_files.hdf5 import change_h5, read_h5, rewrite_h5, write_in_place
from mlaut.files_io.safe_files.hdf5_output import Bytes, FileObject, interrupted_later
from mlaut.files_io.safe_files.seal import BLOCK
from mlaut.files_io.safe_files.system_errors import explained
from mlaut.helpers.held import wait_for_lock

OLD, NEW = np.arange(1000.0), np.arange(5000.0) ** 2


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "base.h5"
    with rewrite_h5(path) as file:
        file["old"] = OLD
        file["away"] = OLD
    return path


def grow(file):
    file["group/new"] = NEW
    file["old"][3] = -1.0
    del file["away"]


def content(path):
    with read_h5(path) as file:
        found = {name: file[name][...] for name in file if isinstance(file[name], h5py.Dataset)}
        if "group" in file:
            found["new"] = file["group/new"][...]
    del found["mlaut-seal"]
    return found


def is_old(path):
    found = content(path)
    np.testing.assert_array_equal(found["old"], OLD)
    return set(found) == {"old", "away"}


def is_new(path):
    found = content(path)
    np.testing.assert_array_equal(found["old"], np.where(OLD == 3, -1, OLD))
    np.testing.assert_array_equal(found["new"], NEW)
    return set(found) == {"old", "new"}


@pytest.fixture
def decided(path, monkeypatch):
    """Leave a change that counts, and of which nothing is in the file before its sealed end."""
    with monkeypatch.context() as patch:
        patch.setattr(hdf5, "_finish", lambda *_: None)
        with change_h5(path) as file:
            grow(file)
    assert change_path(path).exists()
    return path


def test_a_change_is_made_in_the_same_file_and_leaves_nothing_beside_it(path):
    inode = path.stat().st_ino
    with change_h5(path) as file:
        grow(file)
    assert is_new(path)
    assert path.stat().st_ino == inode
    assert [file.name for file in path.parent.iterdir()] == ["base.h5"]


def test_a_change_that_fails_leaves_every_byte(path):
    before = path.read_bytes()

    def fail():
        with change_h5(path) as file:
            grow(file)
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_bytes() == before


def test_an_interrupt_in_any_call_that_hdf5_makes_is_an_interrupt(path, monkeypatch):
    left = 0

    def disturbed(real):
        def call(*arguments):
            nonlocal left
            left -= 1
            if not left:
                raise KeyboardInterrupt
            return real(*arguments)

        return interrupted_later(call)

    for name in ("seek", "read", "readinto", "write", "truncate"):
        method = getattr(FileObject, name).__wrapped__
        monkeypatch.setattr(FileObject, name, disturbed(method))
    n_open = h5py.h5f.get_obj_count()
    for number in itertools.count(1):
        left = number
        try:
            with change_h5(path) as file:
                grow(file)
        except KeyboardInterrupt:
            assert left <= 0
            assert is_old(path)
        else:
            break
    assert left > 0
    assert number > 20
    assert is_new(path)
    assert h5py.h5f.get_obj_count() == n_open


def test_an_error_of_the_disk_in_any_read_of_hdf5_is_told_as_that(path, monkeypatch):
    left, real = 0, Bytes.read

    def disturbed(*arguments):
        nonlocal left
        left -= 1
        if not left:
            raise OSError(errno.EIO, "Input/output error")
        return real(*arguments)

    monkeypatch.setattr(Bytes, "read", disturbed)
    n_open, told = h5py.h5f.get_obj_count(), []
    for number in itertools.count(1):
        left = number
        try:
            with change_h5(path) as file:
                grow(file)
        except StoreError as error:
            told.append(str(error))
        else:
            break
    assert len(told) > 5
    assert all("Input/output error" in text for text in told)
    left = 0
    assert is_new(path)
    assert h5py.h5f.get_obj_count() == n_open


@pytest.mark.parametrize(
    "error",
    [
        SystemError("it returned a result with an exception set"),
        RuntimeError("Can't decrement id ref count (driver write request failed)"),
    ],
)
def test_an_interrupt_that_comes_back_as_another_error_is_an_interrupt(error, path):
    with pytest.raises(KeyboardInterrupt), explained(path, "reading"):
        raise error from KeyboardInterrupt()


def test_what_an_interrupted_change_leaves_behind_the_end_is_not_read_as_values(path):
    with path.open("ab") as file:
        file.write(b"\xff" * 100_000)
    assert is_old(path)
    with change_h5(path) as file:
        grow(file)
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        plist.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        space = h5py.h5s.create_simple((10_000,))
        h5py.h5d.create(file.id, b"holes", h5py.h5t.NATIVE_DOUBLE, space, dcpl=plist)
    with read_h5(path) as file:
        assert not file["holes"][...].any()


def test_a_change_that_counts_is_read_and_completed_by_the_next_writer(decided):
    assert is_new(decided)
    decided.chmod(0o444)
    assert is_new(decided)
    decided.chmod(0o644)
    with write_in_place(decided):
        pass
    assert not change_path(decided).exists()
    assert is_new(decided)


def pieces_of(path):
    with path.open("rb") as file:
        change = read_change(path, file.fileno())
    assert change is not None
    return [*change.pieces(), (0, change.new[:40]), (0, change.new)]


def test_every_prefix_of_a_change_in_the_file_is_read_as_the_whole(decided):
    pieces = pieces_of(decided)
    assert len(pieces) >= 4
    for offset, piece in pieces:
        for part in (piece[: len(piece) // 2], piece):
            with decided.open("r+b") as file:
                file.seek(offset)
                file.write(part)
            assert is_new(decided)


def test_the_list_of_another_file_is_not_used(decided, tmp_path):
    other = tmp_path / "other.h5"
    with rewrite_h5(other) as file:
        file["old"], file["away"] = OLD, OLD + 1
    shutil.copy(change_path(decided), change_path(other))
    with read_h5(other) as file:
        assert file["away"][0] == 1
    with change_h5(other) as file:
        file["more"] = OLD
    assert not change_path(other).exists()


def test_a_list_that_is_damaged_is_not_used(decided):
    listed = change_path(decided)
    whole = listed.read_bytes()
    for cut in (0, 10, 40, 600, len(whole) - 1):
        listed.write_bytes(whole[:cut])
        assert is_old(decided)
    for position in np.random.default_rng(0).integers(0, len(whole), 50).tolist():
        damaged = bytearray(whole)
        damaged[position] ^= 1
        listed.write_bytes(damaged)
        assert is_old(decided)
    listed.write_bytes(whole)
    assert is_new(decided)


def test_the_list_of_a_change_before_the_last_is_not_used(decided):
    listed = change_path(decided)
    old = listed.read_bytes()
    with change_h5(decided) as file:
        file["later"] = NEW
    listed.write_bytes(old)
    np.testing.assert_array_equal(content(decided)["later"], NEW)


def test_a_list_that_is_not_needed_goes_and_beside_a_damaged_file_it_stays(decided, monkeypatch):
    listed = change_path(decided)
    old = listed.read_bytes()
    with write_in_place(decided):
        pass
    listed.write_bytes(old)  # as if it could not have been removed
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", Mock(side_effect=OSError(errno.EIO, "Input/output error")))
        with write_in_place(decided):
            pass
    assert listed.exists()
    with write_in_place(decided):
        pass
    assert not listed.exists()
    assert is_new(decided)
    listed.write_bytes(old)
    os.truncate(decided, decided.stat().st_size - 1)
    with pytest.raises(StoreError, match=r"damaged|truncated"), write_in_place(decided):
        pass
    assert listed.exists()


def signed(body):
    """Return a list of changes with a digest that holds, as whoever can run MLaut makes it."""
    return b"MLAUT-CHANGE-1\n" + hashlib.sha256(body).digest() + body


@pytest.mark.parametrize(
    "places",
    [
        [],  # fewer than the list says
        [(1000, 5)],  # more bytes than there are
        [(100, 4)],  # over the seal
        [(2**40, 4)],  # behind the end
        [(2**64 - 4, 4)],
        [(1000, 2**64 - 4), (600, 8)],  # lengths whose sum is 4 in 64 bits
    ],
)
def test_a_list_of_an_unknown_source_that_makes_no_sense_is_not_used(decided, places):
    listed = change_path(decided)
    blocks = listed.read_bytes()[len(signed(b"")) :][: 2 * BLOCK]
    count = max(1, len(places)).to_bytes(8, "little")
    listed.write_bytes(signed(blocks + count + np.array(places, "<u8").tobytes() + b"evil"))
    before = decided.read_bytes()
    assert is_old(decided)
    with write_in_place(decided):
        pass
    assert decided.read_bytes() == before


def test_a_list_too_large_for_the_memory_is_not_used(decided):
    with change_path(decided).open("r+b") as file:
        file.truncate(2**31 + 1)  # a hole, which takes no room
    assert is_old(decided)


def test_a_change_counts_although_its_folder_could_not_be_synced(path, monkeypatch):
    """The list of changes has its name already: whoever opens the file next may see it."""

    def fail(_):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(hdf5, "fsync_folder", fail)
        with (
            pytest.raises(StoreError, match=r"base\.h5: .* while changing its structure: .*output"),
            change_h5(path) as file,
        ):
            grow(file)
    assert is_new(path)
    with write_in_place(path):
        pass
    assert not change_path(path).exists()
    assert is_new(path)


def test_a_reader_that_waited_for_a_file_that_was_replaced_opens_the_new_one(path, monkeypatch):
    waited = []

    def wait(handle, kind, real, *seconds):
        if not waited:  # as if a writer had held it so long
            with rewrite_h5(tmp := path.with_name("new.h5")) as file:
                file["new"] = NEW
            tmp.replace(path)
        waited.append(os.fstat(handle).st_ino)
        wait_for_lock(handle, kind, real, *seconds)

    monkeypatch.setattr(changes, "wait_for_lock", wait)
    with read_h5(path) as file:
        np.testing.assert_array_equal(file["new"][...], NEW)
    assert waited[-1] == path.stat().st_ino != waited[0]


def test_a_list_of_places_outside_of_the_file_is_not_used(decided):
    with decided.open("r+b") as file:
        file.truncate(decided.stat().st_size - 1)  # of what the change has added
    assert is_old(decided)


def test_a_reader_that_does_not_end_keeps_what_it_reads(path, monkeypatch):
    monkeypatch.setattr("mlaut.files_io.safe_files.changes._PATIENCE", 0.05)
    with read_h5(path) as file:
        inode = path.stat().st_ino
        with change_h5(path) as changed:
            grow(changed)
        np.testing.assert_array_equal(file["old"][...], OLD)
        assert path.stat().st_ino != inode
    assert is_new(path)
    assert [file.name for file in path.parent.iterdir()] == ["base.h5"]


def test_another_program_that_reads_with_its_lock_keeps_what_it_reads(path, monkeypatch):
    monkeypatch.setattr("mlaut.files_io.safe_files.changes._PATIENCE", 0.05)
    program = "import h5py, sys; file = h5py.File(sys.argv[1], 'r'); print('open', flush=True); "
    program += "sys.stdin.readline(); print(file['old'][3], len(file))"
    command = [sys.executable, "-c", program, path]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as reader:
        assert reader.stdout.readline() == "open\n"
        with change_h5(path) as changed:
            grow(changed)
        assert reader.communicate("read\n")[0] == "3.0 3\n"
    assert is_new(path)


def test_a_change_writes_what_is_new(tmp_path):
    """The bytes that this process writes, counted by the system."""

    def written():
        with Path("/proc/self/io").open() as file:
            return int(dict(line.split(": ") for line in file)["wchar"])

    path = tmp_path / "large.h5"
    with rewrite_h5(path) as file:
        file["large"] = np.random.default_rng(0).random(4_000_000)
    before = written()
    with change_h5(path) as file:
        file["small"] = OLD
    assert written() - before < 100_000
    with read_h5(path) as file:
        assert file["large"].shape == (4_000_000,)


def test_a_link_as_the_list_of_changes_is_refused(path, tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    change_path(path).symlink_to(victim)
    with pytest.raises(StoreError, match=r"base\.h5\.change: a link"), read_h5(path):
        pass
    assert victim.read_bytes() == b"mine"


def test_the_first_bytes_hold_the_seal_and_nothing_else(decided):
    assert decided.read_bytes()[:BLOCK].rstrip(b"\0").endswith(b"\n")


def test_status_names_a_change_that_a_killed_writer_left(tmp_path, monkeypatch):
    from studies import entry, strategy

    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([entry("iris")])
    with monkeypatch.context() as patch, contextlib.suppress(StoreError):
        patch.setattr(hdf5, "_finish", lambda *_: None)
        with change_h5(study.path) as file:
            file["note"] = [1]
    line = "study.h5.change: a change that a killed writer had decided; the next writer completes"
    assert line in str(study_status(study.path))
    study.allocate([strategy("tree")])
    assert not change_path(study.path).exists()
    with read_h5(study.path) as file:
        assert file["note"][0] == 1
