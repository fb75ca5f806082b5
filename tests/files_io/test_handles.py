"""A file that something else in this process has open in h5py."""

from io import BytesIO

import h5py
import pandas as pd
import pytest
from studies import entry, outcome, strategy

from mlaut.errors import StoreError
from mlaut.files_io import FilesIO, StudyStore, accept_changes
from mlaut.files_io.safe_files import handles

HANDLES = (
    ("mode 'r'", {"mode": "r"}),
    ("mode 'r'", {"mode": "r", "locking": False}),
    ("mode 'r', swmr", {"mode": "r", "swmr": True}),
    ("mode 'r+'", {"mode": "a"}),
    ("mode 'r+'", {"mode": "r+", "locking": False}),
)


@pytest.fixture
def study(tmp_path):
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([entry()])
    study.allocate([strategy("a")])
    return study


@pytest.fixture
def io(tmp_path):
    io = FilesIO(tmp_path / "input.h5", mode="a")
    save(io, "first")
    return io


def save(io, name):
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]})
    io.save_pandas_dataset(frame, "/", {"class_name": "y", "dataset_name": name})


def run(study):
    with study.writing() as writer:
        writer.write(outcome(entry(), "a"))


@pytest.mark.parametrize(("mode", "options"), HANDLES)
def test_each_call_names_the_handle(study, io, mode, options):
    calls = {
        study.path: [
            lambda: study.strategies,
            lambda: study.block("iris"),
            lambda: study.allocate([strategy("b")]),
            lambda: run(study),
            lambda: study.compact(),
            lambda: accept_changes(study.path),
        ],
        io.path: [
            lambda: FilesIO(io.path),
            lambda: io.list_datasets(),
            lambda: io.load_dataset("first"),
            lambda: save(io, "second"),
            lambda: io.delete_dataset("first"),
        ],
    }
    for path, several in calls.items():
        with h5py.File(path, **options):
            for call in several:
                with pytest.raises(StoreError, match="this process has it") as refused:
                    call()
                assert str(refused.value).startswith(f"{path}: this process has it")
                assert f"({mode})" in str(refused.value)
        if "r+" not in mode:  # such a handle breaks the seal
            several[0]()


def test_nothing_is_changed_beside_a_handle(study):
    content = study.path.read_bytes()
    with h5py.File(study.path, locking=False):
        for change in (lambda: study.allocate([strategy("b")]), lambda: run(study)):
            with pytest.raises(StoreError, match=r"close that h5py\.File"):
                change()
    assert study.path.read_bytes() == content
    run(study)
    study.allocate([strategy("b")])
    assert study.block("iris").done.tolist() == [[[True, False]], [[False, False]]]


def test_what_is_no_handle_on_the_file(study, tmp_path):
    copy = tmp_path / "copy.h5"
    copy.write_bytes(study.path.read_bytes())
    with (
        h5py.File(copy),
        study.path.open("rb") as stream,
        h5py.File(stream),
        h5py.File(study.path, driver="core", backing_store=False),
    ):
        run(study)
        assert study.block("iris").done.any()


def test_own_handles_are_none(study):
    blocks = study.blocks()
    next(blocks)
    with study.writing() as writer:  # holds the file open, and is read meanwhile
        writer.write(outcome(entry(), "a"))
        assert study.status("iris").any()
    assert next(blocks, None) is None


class InterruptedAt(set):
    """A set that an interrupt hits as something is about to be added to it."""

    def add(self, _):
        raise KeyboardInterrupt


def test_a_file_that_an_interrupt_left_open_is_mlauts_own(study, monkeypatch):
    monkeypatch.setattr(handles, "_own", InterruptedAt())
    try:
        study.strategies  # noqa: B018 - read for its interrupt
    except KeyboardInterrupt:  # whose traceback keeps the file open
        handles.refuse_other_handles(study.path)
    else:
        pytest.fail("nothing was interrupted")


def test_an_interrupt_at_opening_a_file_object_passes(study, monkeypatch):
    monkeypatch.setattr(handles, "_own", InterruptedAt())
    with pytest.raises(KeyboardInterrupt), handles.open_own(BytesIO(), "w"):
        pass
