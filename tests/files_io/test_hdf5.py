"""Changing a database: on a full disk, and after writers that were killed."""

import errno
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import h5py
import numpy as np
import pytest
from studies import assert_same_block, entry, outcome, strategy

from mlaut.errors import StoreError
from mlaut.experiments import study_status, verify_study
from mlaut.files_io import FilesIO, StudyStore
from mlaut.files_io.safe_files.hdf5 import accept_changes, read_h5, rewrite_h5, write_in_place
from mlaut.files_io.safe_files.hdf5_output import Bytes
from mlaut.files_io.safe_files.system_errors import damage_told, explained
from mlaut.files_io.studies.study_layout import copy_study
from mlaut.helpers.held import leftovers

HERE = Path(__file__).parent

# ------------------------------------------------------------------------ a full disk

# Everything that makes a database larger, each tried where there is room for a part of it. What
# HDF5 says on standard error it says while files are closed, some of it when the process ends.
CALLS = """
    import os, resource, signal, sys
    sys.path.insert(0, {here!r})
    from studies import entry, outcome, strategy
    import numpy as np, pandas as pd
    from mlaut.errors import StoreError
    from mlaut.files_io import FilesIO, StudyStore

    folder = {folder!r}
    study, io = StudyStore(folder + "/study.h5"), FilesIO(folder + "/input.h5", mode="a")
    study.save_splits([entry("big", n_rows=3000, n_folds=5)])
    study.allocate([strategy("a"), strategy("b")])
    table = pd.DataFrame({{"a": np.random.default_rng(0).normal(size=2000), "b": "text"}})
    table["y"] = np.arange(len(table)) % 2

    def save():
        about = [{{"class_name": "y", "dataset_name": str(i)}} for i in range(8)]
        io.pandas_to_db([table] * 8, about)

    def run():
        with study.writing() as writer:
            writer.write(*(outcome(study.load_split("big"), "a", fold=f) for f in range(5)))

    calls = {{
        "split": lambda: study.save_splits([entry(f"e{{i}}", n_rows=500) for i in range(25)]),
        "allocate": lambda: study.allocate([strategy(f"s{{i}}") for i in range(8)]),
        "save": save,
        "run": run,
    }}
    before = study.path.read_bytes(), io.path.read_bytes()
"""
LIMITED = """
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    full = []
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    rooms = {"split": [20_000, 80_000], "allocate": [0, 10_000, 200_000],
             "save": [3000, 60_000, 200_000], "run": [60, 100, 9000]}
    for name, room in ((name, room) for name in calls for room in rooms[name]):
        call = calls[name]
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
        try:
            call()
        except StoreError as error:
            said = str(error)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert "is full while" in said and "\\n" not in said, (name, room, said)
        full.append(name)
        said = "no error"
    assert {*study.datasets} == {"big"} and not io.list_datasets()[0]
    print(len(full))
"""
MOUNTED = """
    full = []
    file_system = os.statvfs(folder)
    for name, call in calls.items():
        for room in (0, 1, 5, 25):
            fill = os.open(folder + "/fill", os.O_WRONLY | os.O_CREAT)
            free = os.statvfs(folder).f_bavail - room
            os.posix_fallocate(fill, 0, free * file_system.f_frsize)
            os.close(fill)
            try:
                call()
                break  # what is new has fitted
            except StoreError as error:
                said = str(error)
            finally:
                os.unlink(folder + "/fill")
            assert "is full while" in said and "intact" in said and "\\n" not in said, (name, said)
            full.append(name)
    print({name: full.count(name) >= 2 for name in calls})
    for call in calls.values():
        call()
    assert len(study.datasets) == 26 and len(io.list_datasets()[0]) == 8
    assert study.status("big")[0].all() and len(study.strategies) == 10
    left = sorted(os.listdir(folder))
    assert left == ["input.h5", "study.h5"], left
"""


def told(folder, how):
    program = textwrap.dedent(CALLS.format(here=str(HERE), folder=str(folder))) + textwrap.dedent(
        how
    )
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_a_limit_of_files_is_told_as_a_full_disk_and_hdf5_says_nothing(tmp_path):
    answer = told(tmp_path, LIMITED)
    assert (answer.returncode, answer.stderr, answer.stdout) == (0, "", "11\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
def test_a_disk_that_is_full_is_told_so_and_the_next_call_goes_on(tmp_path):
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", tmp_path]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        answer = told(tmp_path, MOUNTED)
    finally:
        subprocess.run(["umount", tmp_path], check=True)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout == "{'split': True, 'allocate': True, 'save': True, 'run': True}\n"


def test_an_error_of_the_block_is_not_taken_for_one_of_the_disk(tmp_path):
    path = tmp_path / "study.h5"
    StudyStore(path).save_splits([entry("iris")])
    before = path.read_bytes()
    with pytest.raises(ZeroDivisionError), rewrite_h5(path):
        _ = 1 / 0
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# ------------------------------------------------------------- after a killed writer


@pytest.fixture
def killed(tmp_path):
    """Make a study beside which a killed writer has left its copy."""
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([entry("iris")])
    study.allocate([strategy("tree")])
    program = f"""
        import os
        from mlaut.files_io.safe_files.hdf5 import rewrite_h5
        change = rewrite_h5({str(study.path)!r})
        change.__enter__()
        os.kill(os.getpid(), 9)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False)
    return study


def test_the_copy_of_a_killed_writer_is_named_and_the_next_writer_removes_it(killed):
    (left,) = leftovers(killed.path)
    size = left.stat().st_size
    assert left.name.startswith(".study.h5.")
    assert size >= killed.path.stat().st_size
    line = f"{left.name}: an unfinished copy of {size} bytes that a killed writer left"
    assert line in str(study_status(killed.path))
    assert line in str(verify_study(killed.path))
    assert study_status(killed.path).to_dict()["remains"][0].startswith(line)
    killed.allocate([strategy("new")])
    assert not leftovers(killed.path)
    assert [path.name for path in killed.path.parent.iterdir()] == ["study.h5"]
    assert "unfinished" not in str(study_status(killed.path))


def test_a_run_removes_it_too(killed):
    with killed.writing() as writer:
        assert not leftovers(killed.path)
        writer.write(outcome(killed.load_split("iris"), "tree"))
    assert [path.name for path in killed.path.parent.iterdir()] == ["study.h5"]


def test_what_a_living_writer_makes_and_the_files_of_others_stay(tmp_path):
    path = tmp_path / "study.h5"
    StudyStore(path).save_splits([entry("iris")])
    others = [".study.h5.abc.tmp", ".study.h5.other.abcdefgh.tmp", "study.h5.abcdefgh.tmp"]
    others += [".studyXh5.abcdefgh.tmp", ".study.h5.abcdefgh.tmp.txt"]
    for name in others:
        (tmp_path / name).write_text("mine")
    alive = tmp_path / ".study.h5.00000000.tmp"
    with alive.open("w") as file, rewrite_h5(path):
        fcntl.flock(file, fcntl.LOCK_EX)
        assert leftovers(path) == ()
    StudyStore(path).allocate([strategy("tree")])
    assert {*others, "study.h5"} <= {path.name for path in tmp_path.iterdir()}


def test_a_new_file_has_the_rights_that_the_user_asked_for(tmp_path):
    mask = os.umask(0o027)
    try:
        io = FilesIO(tmp_path / "input.h5", mode="a")
        assert io.path.stat().st_mode & 0o777 == 0o640
        io.path.chmod(0o604)
        with rewrite_h5(io.path):
            pass
        assert io.path.stat().st_mode & 0o777 == 0o604
    finally:
        os.umask(mask)


# ----------------------------------------------------------------------- compacting


@pytest.mark.parametrize("n_strategies", [1, 2, 20])
@pytest.mark.parametrize("n_rows", [12, 150, 1000])
def test_compacting_never_makes_a_file_larger(tmp_path, n_rows, n_strategies):
    study, names = StudyStore(tmp_path / "study.h5"), [f"s{k}" for k in range(n_strategies)]
    entries = [entry(name, n_rows=n_rows) for name in ("iris", "wine")]
    study.save_splits(entries)
    study.allocate(list(map(strategy, names)))
    with study.writing() as writer:
        for of in entries:
            for name in names:
                writer.write(*(outcome(of, name, fold=fold) for fold in range(2)))
    blocks, on_disk = list(study.blocks()), study.path.stat().st_blocks
    for _ in range(2):
        before, after = study.compact()
        assert before == on_disk * 512
        on_disk = study.path.stat().st_blocks
        assert after == on_disk * 512 <= before
    for one, other in zip(study.blocks(), blocks, strict=True):
        assert_same_block(one, other)


def test_room_for_further_strategies_stays_empty(tmp_path):
    study, names = StudyStore(tmp_path / "study.h5"), [f"s{k}" for k in range(20)]
    of = entry("iris", n_rows=1000)
    study.save_splits([of])
    study.allocate(list(map(strategy, names)))
    with study.writing() as writer:
        writer.write(*(outcome(of, name, fold=fold) for name in names for fold in range(2)))
    with read_h5(study.path) as old, rewrite_h5(tmp_path / "new.h5", fresh=True) as new:
        copy_study(old, new)  # HDF5 writes whole pieces, of 16 strategies each
    content = (tmp_path / "new.h5").read_bytes()
    with read_h5(tmp_path / "new.h5") as file:
        array = file["experiments/predictions/iris/predictions"]
        assert array.chunks == (16, 1, 1000)
        last = array.id.get_chunk_info_by_coord((16, 0, 0))
    begin = last.byte_offset + 4 * 1000 * 4  # behind the rows of four strategies
    assert not content[begin : last.byte_offset + last.size].strip(b"\0")


def test_a_file_is_kept_where_the_new_one_is_no_smaller(tmp_path):
    path = tmp_path / "study.h5"
    StudyStore(path).save_splits([entry("iris")])
    before = path.stat().st_ino, path.read_bytes()
    with rewrite_h5(path, if_smaller=True) as file:
        file["more"] = np.ones(10**4)
    assert (path.stat().st_ino, path.read_bytes()) == before
    assert [file.name for file in tmp_path.iterdir()] == ["study.h5"]


# ------------------------------------------------------ files that are no whole HDF5 files


def cut(path):
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(10_000)
    with path.open("r+b") as file:
        file.truncate(40_000)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Path.exists, "no such file while sealing it; check the path"),
        (lambda path: path.write_text("a,b\n1,2\n" * 99), "not an HDF5 file; check the path"),
        (cut, r"a truncated HDF5 file \(40000 bytes\); restore it from a copy"),
    ],
)
def test_what_is_no_whole_hdf5_file_cannot_be_sealed(tmp_path, make, message):
    path = tmp_path / "new.h5"
    make(path)
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(StoreError, match=rf"new\.h5: {message}") as told:
        accept_changes(path)
    assert "\n" not in str(told.value)
    assert (path.read_bytes() if path.exists() else None) == before
    assert len(list(tmp_path.iterdir())) == (before is not None)


def test_a_truncated_file_of_another_program_is_told(tmp_path):
    cut(tmp_path / "new.h5")
    with pytest.raises(StoreError, match=r"new\.h5: a truncated HDF5 file \(40000 bytes\)"):
        FilesIO(tmp_path / "new.h5")


def test_values_cannot_be_written_into_a_file_that_is_not_there(tmp_path):
    with (
        pytest.raises(StoreError, match=r"new\.h5: no such file"),
        write_in_place(tmp_path / "new.h5"),
    ):
        pass
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(fcntl, "F_SETLEASE"), reason="only Linux has leases")
def test_a_file_that_another_program_does_not_give_up_is_told(tmp_path):
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([entry("iris")])
    study.journal_path.write_bytes(b"")
    handler = signal.signal(signal.SIGIO, signal.SIG_IGN)  # by which the system asks for it
    handle = os.open(study.journal_path, os.O_RDONLY)
    try:
        try:  # as a server of files does: whoever opens it without waiting is then refused
            fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except OSError:
            pytest.skip("this file system has no leases")
        with pytest.raises(StoreError, match=r"another process is writing to it while reading the"):
            study.settle()
    finally:
        os.close(handle)
        signal.signal(signal.SIGIO, handler)
    study.settle()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (BlockingIOError(errno.EAGAIN, "busy"), "another process is writing to it while reading;"),
        (OSError("unable to lock file, errno = 11"), "another process is writing to it while read"),
        (OSError(errno.EDQUOT, "Quota"), "the disk .* is full while reading; what was stored bef"),
        (OSError(errno.EROFS, "Read-only"), "no permission while reading; make the file and its"),
        (RuntimeError("Can't read (errno = 5, error message = 'x')"), "cannot be used while readi"),
    ],
)
def test_an_error_of_the_system_is_one_line_with_a_way_out(tmp_path, error, message):
    path = tmp_path / "new.h5"
    with (
        pytest.raises(StoreError, match=rf"new\.h5: {message}"),
        explained(path, "reading"),
        damage_told(path, "it says nothing of the file"),
    ):
        raise error


def test_zeros_replace_what_was_there(tmp_path):
    """Pages of zeros become holes only where the file has none or nothing."""
    path = tmp_path / "bytes"
    content = np.random.default_rng(0).integers(1, 255, 4 * 4096, dtype=np.uint8)
    path.write_bytes(content.tobytes() + bytes(4096))
    with path.open("r+b") as file:
        Bytes(file.fileno()).write(bytes(3 * 4096), 4000)
    content[4000 : 4000 + 3 * 4096] = 0
    assert path.read_bytes() == content.tobytes() + bytes(4096)
