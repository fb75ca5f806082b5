"""One writer a database, whoever asks: processes, threads, links."""

import contextlib
import errno
import fcntl
import json
import multiprocessing
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
from studies import entry, outcome, strategy

from mlaut.errors import StoreError, StudyLockedError
from mlaut.files_io import FilesIO, StudyStore
from mlaut.files_io.safe_files import lock
from mlaut.files_io.safe_files.lock import holder_of, lock_path, locked
from mlaut.helpers import held


def table(number):
    return pd.DataFrame({"a": [1.0, 2.0, number], "y": ["n", "y", "n"]})


def save(path, number):
    io = FilesIO(path, mode="a")
    return io.save_pandas_dataset(
        table(number), "/", {"class_name": "y", "dataset_name": str(number)}
    )


@pytest.fixture
def study(tmp_path):
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([entry("iris")])
    study.allocate([strategy("tree"), strategy("svc")])
    return study


def in_thread(call, *args):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call, *args).result()


def test_sixteen_threads_store_sixteen_datasets_in_a_new_file(tmp_path):
    path = tmp_path / "input.h5"
    with ThreadPoolExecutor(16) as pool:
        paths = list(pool.map(lambda number: save(path, number), range(16)))
    assert sorted(paths) == sorted(FilesIO(path).list_datasets()[1])
    assert len(set(paths)) == 16
    assert list(tmp_path.iterdir()) == [path]


def test_threads_that_store_one_name_do_not_overwrite_each_other(tmp_path):
    io = FilesIO(tmp_path / "input.h5", mode="a")

    def store(number):
        try:
            io.save_pandas_dataset(table(number), "/", {"class_name": "y", "dataset_name": "one"})
        except StoreError as error:
            return str(error)
        return number

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(store, range(4)))
    (stored,) = (answer for answer in told if isinstance(answer, int))
    assert io.load_dataset_pd("one")[0]["a"].tolist() == [1.0, 2.0, stored]
    assert sum("/one exists and differs" in str(answer) for answer in told) == 3


def test_another_thread_waits_for_a_short_change(tmp_path):
    path = tmp_path / "input.h5"
    order = []

    def other():
        with locked(path):
            order.append("other")

    with locked(path):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(0.05)
        order.append("first")
        with locked(path):  # the thread that has it may take it again
            pass
        assert thread.is_alive()
    thread.join()
    assert order == ["first", "other"]
    assert not lock_path(path).exists()


def test_the_lock_stays_until_its_thread_gives_it_back(tmp_path):
    path = tmp_path / "input.h5"
    with locked(path):
        with locked(path):
            pass
        assert holder_of(path)["pid"] == os.getpid()
    assert holder_of(path) is None


def test_a_run_in_another_thread_is_refused_and_keeps_the_journal(study):
    iris = study.load_split("iris")
    with study.writing() as writer:
        for call in (study.settle, study.writing().__enter__, lambda: study.allocate([])):
            with pytest.raises(StudyLockedError, match="a run in another thread of this process"):
                in_thread(call)
        with pytest.raises(StudyLockedError, match=r"study\.h5: a run in another thread"):
            in_thread(save, study.path, 1)
        assert study.journal_path.exists()
        writer.write(outcome(iris, "svc"))
    assert study.status("iris").sum() == 1
    in_thread(study.allocate, [strategy("new")])
    assert [one.name for one in study.strategies] == ["tree", "svc", "new"]


def test_a_writer_may_write_from_another_thread(study):
    with study.writing() as writer:
        in_thread(writer.write, outcome(study.load_split("iris"), "svc"))
    assert study.status("iris").sum() == 1


def test_a_fork_does_not_keep_the_lock_of_its_parent(tmp_path):
    path = tmp_path / "study.h5"
    reader, writer = os.pipe()
    with locked(path):
        child = os.fork()
        if not child:
            os.read(reader, 1)
            os._exit(0)
    try:
        assert holder_of(path) is None
        with locked(path):
            assert holder_of(path)["pid"] == os.getpid()
    finally:
        os.write(writer, b".")
        os.waitpid(child, 0)
        os.close(reader)
        os.close(writer)


def test_a_fork_that_leaves_the_block_does_not_end_the_lock_of_its_parent(tmp_path):
    path = tmp_path / "study.h5"
    with locked(path):
        before = lock_path(path).read_bytes()
        child = 0
        with locked(path):
            child = os.fork()
        if not child:
            os._exit(3)  # the child has left a block, too
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
        assert lock_path(path).read_bytes() == before
        assert holder_of(path)["pid"] == os.getpid()
    assert holder_of(path) is None


def test_a_lock_that_its_holder_removed_meanwhile_is_taken_anew(tmp_path, monkeypatch):
    path = tmp_path / "study.h5"
    opened, real = [], lock.open_plain

    def open_plain(name, *how):
        handle = real(name, *how)
        if not opened:  # the holder gives it back between our open and our lock
            name.unlink()
        opened.append(handle)
        return handle

    monkeypatch.setattr(lock, "open_plain", open_plain)
    with locked(path, for_run=True):
        assert len(opened) == 2
        assert json.loads(lock_path(path).read_text())["pid"] == os.getpid()
        assert f"process {os.getpid()} on" in refused_elsewhere(path)


def refused_elsewhere(path):
    """Try to write in another process, and return the last line of what it says."""
    program = "import sys; from mlaut.files_io import StudyStore; StudyStore(sys.argv[1]).settle()"
    told = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True)
    return told.stderr.strip().rpartition("\n")[2]


@contextlib.contextmanager
def held_elsewhere(path):
    """Hold the lock of a short change in another process; a line ends it."""
    program = (
        "import sys; from pathlib import Path; from mlaut.files_io.safe_files.lock import locked\n"
        "with locked(Path(sys.argv[1])): print(1, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        try:
            assert other.stdout.readline() == b"1\n"
            yield other
        finally:
            other.kill()


def test_another_process_waits_for_a_short_change(tmp_path, monkeypatch):
    path, waited = tmp_path / "input.h5", []
    with held_elsewhere(path) as other:

        def wait(seconds):
            assert seconds < 1
            waited.append(seconds)
            if len(waited) == 2 * lock._TRIES:
                other.communicate(b"\n")

        monkeypatch.setattr(lock._changed, "wait", wait)
        save(path, 1)
    assert len(waited) == 2 * lock._TRIES
    assert FilesIO(path).list_datasets()[0] == ["1"]


def test_another_process_does_not_wait_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_PATIENCE", 0.2)
    path = tmp_path / "input.h5"
    with held_elsewhere(path) as other:
        message = rf"process {other.pid} on .* is writing to it since .*; wait until it ends"
        with pytest.raises(StudyLockedError, match=message):
            save(path, 1)


def test_six_processes_that_add_to_one_database_all_do(tmp_path):
    path = tmp_path / "input.h5"
    context = multiprocessing.get_context("fork")

    def add(number):
        for k in range(3):
            save(path, 10 * number + k)

    writers = [context.Process(target=add, args=(number,)) for number in range(6)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 6
    assert len(FilesIO(path).list_datasets()[0]) == 18


def test_a_symbolic_link_is_the_study_that_it_leads_to(study, tmp_path):
    folder = tmp_path / "links"
    folder.mkdir()
    link = folder / "link.h5"
    link.symlink_to(study.path)
    linked = StudyStore(link)
    iris = linked.load_split("iris")
    with linked.writing() as writer:
        assert linked.journal_path == study.journal_path
        assert study.journal_path.exists()
        writer.write(outcome(iris, "svc"))
        with pytest.raises(StudyLockedError):
            in_thread(study.settle)
        assert f"process {os.getpid()} on" in refused_elsewhere(study.path)
    linked.allocate([strategy("new")])
    save(link, 7)
    assert link.is_symlink()
    assert list(folder.iterdir()) == [link]
    assert [one.name for one in study.strategies] == ["tree", "svc", "new"]
    assert study.status("iris").sum() == 1
    assert FilesIO(study.path).list_datasets()[0] == ["7"]


def test_a_link_to_nothing_yet_is_followed_when_the_file_is_made(tmp_path):
    (tmp_path / "far").mkdir()
    link = tmp_path / "link.h5"
    link.symlink_to(tmp_path / "far" / "input.h5")
    save(link, 1)
    assert link.is_symlink()
    assert FilesIO(tmp_path / "far" / "input.h5").list_datasets()[0] == ["1"]


def test_a_relative_path_has_the_same_lock(study, monkeypatch):
    monkeypatch.chdir(study.path.parent)
    with StudyStore("study.h5").writing():
        assert json.loads(lock_path(study.path).read_text())["pid"] == os.getpid()
        with pytest.raises(StudyLockedError):
            in_thread(study.settle)


def test_a_file_with_hard_links_is_read_and_not_written(study, tmp_path):
    other = tmp_path / "other.h5"
    other.hardlink_to(study.path)
    before = other.read_bytes()
    assert StudyStore(other).datasets == ("iris",)
    message = r"other\.h5: the file has 2 names \(hard links\)"
    for call in (
        lambda: StudyStore(other).allocate([strategy("new")]),
        lambda: StudyStore(other).writing().__enter__(),
        lambda: save(other, 1),
    ):
        with pytest.raises(StoreError, match=message) as raised:
            call()
        assert "\n" not in str(raised.value)
    study.path.unlink()
    assert other.read_bytes() == before
    StudyStore(other).allocate([strategy("new")])
    assert list(tmp_path.iterdir()) == [other]


def test_who_only_looks_keeps_no_writer_out(tmp_path, monkeypatch):
    path = tmp_path / "study.h5"
    looking = os.open(lock_path(path), os.O_RDWR | os.O_CREAT)
    fcntl.flock(looking, fcntl.LOCK_EX)
    monkeypatch.setattr(lock._changed, "wait", lambda _: os.close(looking))
    with locked(path):
        assert holder_of(path)["pid"] == os.getpid()


@pytest.mark.parametrize("call", [lambda study: study.load_splits(), StudyStore.compact])
def test_a_file_that_another_program_has_locked_is_not_waited_for_without_end(
    study, monkeypatch, call
):
    monkeypatch.setattr(held, "PATIENCE", 0.2)
    program = "import h5py, sys; f = h5py.File(sys.argv[1], 'r+'); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program, study.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        try:
            assert other.stdout.readline() == b"1\n"
            with pytest.raises(StudyLockedError, match=r"study\.h5: .* has the file open") as error:
                call(study)
        finally:
            other.kill()
    if sys.platform.startswith("linux"):
        assert f"process {other.pid} (" in str(error.value)
        assert "import h5py, sys" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_thread_does_not_wait_for_another_one_without_end(study, monkeypatch):
    monkeypatch.setattr(lock, "_PATIENCE", 0.2)
    with (
        locked(study.path),
        pytest.raises(StudyLockedError, match=r"another thread .* for 0\.2 s"),
    ):
        in_thread(study.settle)


def test_no_lock_is_waited_for_by_the_system():
    package = Path(held.__file__).parent
    for path in package.rglob("*.py"):
        for line in path.read_text().splitlines():
            if "fcntl.flock(" in line:
                assert "LOCK_NB" in line or "LOCK_UN" in line, (path, line)
            assert not re.search(r"fcntl\.(lockf|fcntl\(.*LK)", line), (path, line)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, 524])
def test_a_file_system_without_locks_is_named_with_the_way_out(tmp_path, monkeypatch, number):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(lock.fcntl, "flock", refuse)
    with pytest.raises(StoreError, match=r"no locks \(flock\).*-o flock.*scratch in \[slurm\]"):
        save(tmp_path / "study.h5", 1)
    assert holder_of(tmp_path / "study.h5") is None


@pytest.fixture
def elsewhere(study, monkeypatch):
    """The lock file of a run on another machine, whose kernel lock this one does not see."""
    monkeypatch.setattr(lock, "_LOOK_SECONDS", 0.02)
    file = lock_path(study.path)
    who = {"pid": 7, "host": "node1", "job": "45_3", "since": "noon", "for_run": True}
    file.write_text(json.dumps({**who, "command": "mlaut run"}))
    return file


def test_a_run_on_another_machine_that_beats_keeps_the_lock(study, elsewhere):
    assert holder_of(study.path)["job"] == "45_3"
    threading.Timer(0.1, os.utime, (elsewhere,)).start()
    named = "process 7 of job 45_3 on node1 is writing to it since noon .mlaut run.; wait until"
    with pytest.raises(StudyLockedError, match=named):
        study.settle()
    assert elsewhere.exists()


def test_the_lock_of_a_silent_run_on_another_machine_is_taken(study, elsewhere, monkeypatch):
    monkeypatch.setattr(lock, "_SILENCE", 0.3)
    study.settle()
    assert not elsewhere.exists()
    assert holder_of(study.path) is None


@pytest.mark.parametrize(
    ("variables", "job"),
    [
        ({"SLURM_JOB_ID": "47", "SLURM_ARRAY_JOB_ID": "45", "SLURM_ARRAY_TASK_ID": "3"}, "45_3"),
        ({"SLURM_JOB_ID": "47"}, "47"),
        ({"PBS_JOBID": "12.server"}, "12.server"),
        ({}, ""),
    ],
)
def test_a_lock_names_the_job_of_its_holder(tmp_path, monkeypatch, variables, job):
    for name in (*lock._JOB_IDS, "SLURM_ARRAY_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with locked(tmp_path / "study.h5"):
        assert json.loads(lock_path(tmp_path / "study.h5").read_text())["job"] == job
