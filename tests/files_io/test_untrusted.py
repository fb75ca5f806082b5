"""Files of unknown source: nothing outside of them is opened, and nothing fills the memory.

Each hostile file is sealed as a whole one would be: who makes it can run MLaut too.
"""

import contextlib
import itertools
import os
import resource
import shutil
import struct
from dataclasses import replace

import h5py
import numpy as np
import pandas as pd
import pytest
from studies import entry, outcome, strategy

from mlaut.errors import MlautError, StoreError
from mlaut.experiments import study_status, verify_study
from mlaut.experiments.cells.search_checkpoints import checkpoint_of
from mlaut.experiments.following.status import unfinished
from mlaut.files_io import FilesIO, StudyStore, accept_changes, merge_studies
from mlaut.files_io.outcomes import traces
from mlaut.files_io.outcomes.journal import Journal
from mlaut.files_io.outcomes.packs import pack, pack_outcomes
from mlaut.files_io.outcomes.traces import pack_trace, unpack_traces
from mlaut.files_io.safe_files import seal
from mlaut.files_io.safe_files.hdf5_output import Bytes
from mlaut.files_io.safe_files.seal import BLOCK, LIST, make_seal
from mlaut.files_io.safe_files.texts import put_json
from mlaut.files_io.safe_files.untrusted import check_together
from mlaut.records import Cell, Trace
from mlaut.report import make_report

IRIS = "experiments/predictions/iris"
LARGE = 2**40


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a study, and another folder with the same, which each test gets a copy of."""
    folder = tmp_path_factory.mktemp("made")
    made = StudyStore(folder / "study.h5")
    made.save_splits([entry("iris", n_rows=30)])
    made.allocate([strategy("tree"), strategy("svc")])
    with made.writing({"seed": 0}) as writer:
        for name in ("tree", "svc"):
            for fold in range(2):
                writer.write(outcome(entry("iris", n_rows=30), name, 0, fold))
    shutil.copytree(folder, folder / "other")
    return folder


@pytest.fixture
def study(made, tmp_path):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return StudyStore(tmp_path / "study.h5")


def change(study, how):
    """Change a study as its maker could, and seal it, whatever it has become."""
    with h5py.File(study.path, "r+") as file:
        how(file)
        del file[LIST]
        item = file.create_dataset(LIST, data=np.zeros((1, 2), "u8"))
        offset = item.id.get_offset()
    with study.path.open("r+b") as file:
        file.write(make_seal(Bytes(file.fileno()), offset, 0))


USES = {
    "status": lambda path: (study_status(path), unfinished(path)),
    "report": make_report,
    "verify": lambda path: str(verify_study(path)),
    "merge": lambda path: merge_studies(
        [path, path.parent / "other" / path.name], path.parent / "merged.h5"
    ),
    "models": lambda path: [record.get("model") for record in StudyStore(path).details("iris")],
    "input": lambda path: FilesIO(path).list_datasets(),
}


def told_by_all(study):
    """Use a study in every way that a study of unknown source may be used; give what is told."""
    said = {}
    for name, use in USES.items():
        try:
            said[name] = str(use(study.path))
        except MlautError as error:
            said[name] = str(error)
            assert "\n" not in said[name]
    return said


def _replace(name, make):
    def how(file):
        if name in file:
            del file[name]
        make(file, name)

    return how


def _external(file, name):
    file[name] = h5py.ExternalLink("secret.h5", "/secret")


def _external_storage(file, name):
    file.create_dataset(name, (30,), "i4", external=[("secret.h5", 0, h5py.h5f.UNLIMITED)])


def _virtual(file, name):
    layout = h5py.VirtualLayout((30,), "i4")
    layout[:] = h5py.VirtualSource("secret.h5", "secret", (30,))
    file.create_virtual_dataset(name, layout)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        (IRIS, _external),
        (f"{IRIS}/predictions", _external),
        ("splits/iris/truth", _external),
        ("splits/iris/truth", _external_storage),
        ("splits/iris/truth", _virtual),
        (f"{IRIS}/status", _external_storage),
        (f"{IRIS}/details", _virtual),
        (f"{IRIS}/details", lambda file, name: file.__setitem__(name, h5py.SoftLink("/splits"))),
        ("splits/iris/more", lambda file, name: file.__setitem__(name, file["/"])),
    ],
)
def test_nothing_outside_of_the_file_is_opened(study, name, make):
    secret = study.path.with_name("secret.h5")
    with h5py.File(secret, "w") as file:
        file["secret"] = np.arange(30, dtype="i4")
    change(study, _replace(name, make))
    opened = secret.stat().st_atime_ns
    os.utime(secret, ns=(1, 1))
    said = told_by_all(study)
    assert secret.stat().st_atime_ns == 1 < opened
    refused = [text for text in said.values() if "do not trust this file" in text]
    assert len(refused) >= 3, said
    assert not study.path.with_name("merged.h5").exists()


def _declared(file, name):
    file.create_dataset(name, (LARGE,), "i4")


def _chunked(file, name):
    file.create_dataset(name, (LARGE,), "i4", chunks=(2**20,), compression="gzip")


def _filled(file, name):
    item = file.create_dataset(name, (2**38,), "u1", chunks=(2**22,), compression="gzip")
    item[: 2**22] = 32


def _of_any_length(file, name):
    file.create_dataset(name, data=["[" * 1000] * 30, dtype=h5py.string_dtype())


@pytest.mark.parametrize("make", [_external, _external_storage, _virtual])
def test_sealing_follows_nothing_either(study, make):
    with h5py.File(study.path.with_name("secret.h5"), "w") as file:
        file["secret"] = np.arange(30, dtype="i4")
    with h5py.File(study.path, "r+") as file:
        _replace(f"{IRIS}/status", make)(file)
    before = study.path.read_bytes()
    with contextlib.suppress(StoreError):
        accept_changes(study.path)
        before = None
    if make is _external:
        assert study.path.read_bytes() == before
    with pytest.raises(MlautError):
        study.status("iris")


@pytest.mark.parametrize("make", [_declared, _chunked, _filled, _of_any_length])
@pytest.mark.parametrize("name", ["splits/iris/truth", f"{IRIS}/details", f"{IRIS}/status",
                                  "splits/iris/about", "experiments/strategies"])  # fmt: skip
def test_a_bomb_is_told_and_not_read(study, name, make):
    change(study, _replace(name, make))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    said = told_by_all(study)
    assert len([text for text in said.values() if str(study.path) in text]) >= 4, said
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 200 * 1024  # KiB; the smallest of the bombs is 256 GiB


def test_a_table_that_declares_more_than_is_stored_is_told(tmp_path):
    io = FilesIO(tmp_path / "input.h5", mode="a")
    frame = pd.DataFrame({"a": np.arange(9.0), "y": list("abcabcabc")})
    path = io.save_pandas_dataset(frame, metadata={"class_name": "y", "dataset_name": "t"})
    with h5py.File(io.path, "r+") as file:
        del file[path + "/table/body/0/values"]
        file.create_dataset(path + "/table/body/0/values", (1, LARGE), "f8", chunks=(1, 2**20))
    accept_changes(io.path)
    with pytest.raises(StoreError, match=r"/values: it declares 8,796,093,022,208 bytes, and 0 "):
        io.load_dataset(path)


@pytest.mark.parametrize("name", ["truth", "folds"])
def test_numbers_that_are_compressed_are_told_and_not_read(study, name):
    """MLaut stores them as they are: 4 datasets of such rows took 5 GB, from a file of 5 MB."""
    n = 2**20
    shape, kind = ((1, n), "i2") if name == "folds" else ((n,), "i4")

    def how(file):
        for array, (rows, dtype) in {"folds": ((1, n), "i2"), "truth": ((n,), "i4")}.items():
            del file[f"splits/iris/{array}"]
            options = {"compression": "gzip"} if array == name else {}
            file.create_dataset(f"splits/iris/{array}", data=np.zeros(rows, dtype), **options)

    change(study, how)
    size = np.prod(shape) * np.dtype(kind).itemsize
    with pytest.raises(StoreError, match=f"{name}: it declares {size:,} bytes, and .* stored"):
        study.load_splits()
    told_by_all(study)


def test_shapes_are_compared_before_values_are_read(study):
    def how(file):
        del file["splits/iris/truth"]
        file.create_dataset("splits/iris/truth", data=np.zeros(2**25, "i4"))  # 128 MiB

    change(study, how)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    said = told_by_all(study)
    assert sum("the split of dataset 'iris' contradicts itself" in x for x in said.values()) >= 3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


def test_the_splits_of_all_datasets_are_limited_together(study, monkeypatch):
    study.save_splits([entry(f"d{i}", n_rows=30) for i in range(5)])
    monkeypatch.setattr("mlaut.files_io.studies.study_layout.MEMORY", 1500)
    assert study.load_split("iris").truth.size == 30
    with pytest.raises(StoreError, match="its splits need more than half of the memory"):
        study.load_splits()


def test_traces_of_a_dataset_are_limited_together(monkeypatch):
    few = np.ones(2, dtype=np.float32)
    packed = pack_trace(Trace("grid", ({"C": 1}, {"C": 9}), np.eye(2), few, few, np.arange(2)))
    assert len(unpack_traces(dict.fromkeys(range(9), packed))) == 9
    monkeypatch.setattr(traces, "MEMORY", 8000)
    with pytest.raises(ValueError, match=r"a trace of more than \d+ bytes"):
        unpack_traces(dict.fromkeys(range(9), packed))


def test_a_lack_of_memory_is_one_line(study, monkeypatch):
    def fail(*_):
        raise MemoryError("Unable to allocate 768. MiB")

    monkeypatch.setattr(seal, "_read", {})  # what is known of the file is not read again
    monkeypatch.setattr("mlaut.files_io.studies.study_layout.get_json", fail)
    with pytest.raises(StoreError, match=r"the memory does not suffice .*Unable to alloc"):
        study.load_splits()


@pytest.mark.parametrize(
    "text",
    [b"[" * 10**6, b'{"a":' * 10**6, b"[]" * 10, b"\xff\xfe", b"3", b"NaN", b'["a", 1]', b"[1e999]",
     b'["tree", "none"]', b'[{"strategy": "tree", "repeat": 0, "fold": 0, "reason": "\\ud800"}]',
     b'[{"strategy": ["x"], "repeat": 0, "fold": 0}]',
     b'[{"strategy": "tree", "repeat": 0, "fold": 0, "reason": ["x"]}]',
     b'[{"strategy": "tree", "repeat": 0, "fold": 0, "warnings": [1]}]',
     b'[{"strategy": "tree", "repeat": 0, "fold": 0, "model": "../x"}]',
     b'[{"name": 3, "fingerprint": "", "identity": {}}]', b'[{"id": 3, "started": "now"}]',
     b'[{"name": "\\ud800", "fingerprint": ""}]'],
    ids=lambda text: repr(text[:12]),
)  # fmt: skip
@pytest.mark.parametrize(
    "name", [f"{IRIS}/details", f"{IRIS}/strategies", "experiments/strategies", "experiments/runs",
             "splits/iris/about", "splits/iris/classes"]
)  # fmt: skip
def test_json_of_any_kind_is_read_or_told_in_one_line(study, name, text):
    def put(file, name):
        data = np.frombuffer(text, dtype=np.uint8)
        file.create_dataset(name, data=data, compression="gzip", chunks=True)

    change(study, _replace(name, put))
    told_by_all(study)


def test_more_json_than_anything_needs_is_told(study):
    def put(file, name):
        item = file.create_dataset(name, (2**28 + 1,), "u1", chunks=(2**22,), compression="gzip")
        for start in range(0, 2**28, 2**26):
            item[start : start + 2**26] = ord(" ")

    change(study, _replace("experiments/runs", put))
    with pytest.raises(StoreError, match="has 268,435,457 bytes of JSON, which nothing needs"):
        _ = study.runs


def moved(path, name, place):
    """Have an array of a file begin elsewhere, in the bytes of its structure."""
    with h5py.File(path, "r") as file:
        item = file[name].id
        begin = item.get_chunk_info(0).byte_offset if file[name].chunks else item.get_offset()
    content = path.read_bytes()
    known = struct.pack("<Q", begin - BLOCK)
    assert content.count(known) == 1
    path.write_bytes(content.replace(known, struct.pack("<Q", place)))


@pytest.mark.parametrize("name", [f"{IRIS}/predictions", "input/table/body/0/values"])
def test_arrays_that_lie_outside_of_the_file_are_not_sealed(study, name, monkeypatch):
    """HDF5 itself does not look where the pieces of an array are, in its older forms of files."""
    monkeypatch.setattr("mlaut.files_io.safe_files.hdf5_output._FORM", ("earliest", "v110"))
    io = FilesIO(study.path, "a")
    frame = pd.DataFrame({"a": np.arange(5000.0), "y": ["n", "y"] * 2500})
    io.save_pandas_dataset(frame, metadata={"class_name": "y", "dataset_name": "input"})
    moved(study.path, name, 2**40)
    before = study.path.read_bytes()
    with pytest.raises(StoreError, match=r"damaged, for (it cannot be seal|its groups)") as told:
        accept_changes(study.path)
    assert "\n" not in str(told.value)
    assert study.path.read_bytes() == before
    change(study, len)  # who makes such a file can seal it
    before = study.path.read_bytes()
    with pytest.raises(StoreError, match=r"damaged, for (it cannot be seal|its groups)"):
        io.save_pandas_dataset(frame, metadata={"class_name": "y", "dataset_name": "more"})
    assert study.path.read_bytes() == before
    assert sorted(file.name for file in study.path.parent.iterdir()) == ["other", "study.h5"]


def test_a_kind_that_is_no_text_can_be_sealed(study):
    with h5py.File(study.path, "r+") as file:
        file[IRIS].attrs["encoding-type"] = np.arange(3)
    accept_changes(study.path)
    told_by_all(study)


@pytest.mark.parametrize("kind", ["reference", "lists"])
def test_attributes_of_any_kind_are_told_and_not_read(tmp_path, kind):
    """HDF5 wrote them beyond the memory of the value, and ended the process."""
    with h5py.File(tmp_path / "input.h5", "w") as file:
        group, lists = file.create_group("table"), np.empty(2, object)
        lists[:] = np.arange(3.0), np.arange(2.0)
        if kind == "reference":
            group.attrs["encoding-type"] = group.ref
        else:
            group.attrs.create("encoding-type", lists, dtype=h5py.vlen_dtype(float))
    with pytest.raises(StoreError, match="'encoding-type' is no text and no number"):
        FilesIO(tmp_path / "input.h5").dataset_infos()


def test_what_a_group_holds_is_opened_to_some_depth_only(tmp_path):
    with h5py.File(tmp_path / "deep.h5", "w") as file:
        file["table/kind"] = np.dtype("f4")  # of its own name
        file["table/columns/a"] = np.arange(3)
        held = check_together(file["table"])
        assert {*held.inside} == {"kind", "columns"}
        group = file["table"]
        for _ in range(2000):
            group = group.create_group("a")
        with pytest.raises(StoreError, match="/table: groups lie too deep in it"):
            check_together(file["table"])


def test_ways_that_multiply_are_not_walked(tmp_path):
    path = tmp_path / "ways.h5"
    with h5py.File(path, "w") as file:
        group = file.create_group("0")
        for _ in range(60):
            group["b"] = group.create_group("a")
            group = group["a"]
    with pytest.raises(StoreError, match="is a second name of a group"):
        FilesIO(path)


def test_a_file_whose_groups_are_damaged_is_told(tmp_path):
    path = tmp_path / "other.h5"
    with h5py.File(path, "w") as file:
        file["group/x"] = np.arange(3)
    path.write_bytes(path.read_bytes().replace(b"SNOD", b"snod"))  # the lists of members
    with pytest.raises(StoreError, match=r"other\.h5: damaged, for its groups cannot") as told:
        FilesIO(path)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("name", ["splits/iris/truth", f"{IRIS}/status", f"{IRIS}/predictions"])
def test_a_group_in_the_place_of_an_array_is_told(study, name):
    change(study, _replace(name, lambda file, name: file.create_group(name)))
    with pytest.raises(StoreError, match=f"a study was expected .*/{name} is no array"):
        study.block("iris")


def test_an_array_that_is_stored_and_larger_than_the_memory_is_told(study, monkeypatch):
    monkeypatch.setattr(seal, "_read", {})
    monkeypatch.setattr("mlaut.files_io.safe_files.untrusted.MEMORY", 119)
    with pytest.raises(
        StoreError, match="truth: it needs 120 bytes, more than half of the memory that may be used"
    ):
        study.block("iris")


def test_arrays_that_together_are_larger_than_the_memory_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr("mlaut.files_io.safe_files.untrusted.MEMORY", 119)
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["one"], file["two"] = np.ones(8), np.ones(8)
        with pytest.raises(StoreError, match="needs 128 bytes, more than half of the memory"):
            check_together(file)


def test_a_second_name_of_an_array_is_not_refused(tmp_path):
    path = tmp_path / "other.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(3)
        file["y"] = file["x"]
    assert FilesIO(path).list_datasets() == ([], [])


@pytest.mark.parametrize("name", ["study.h5", "study.h5.journal"])
def test_a_pipe_is_not_waited_for(study, name):
    place = study.path.with_name(name)
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    with pytest.raises(StoreError, match="a pipe or a device, and "):
        make_report(study.path)
    told_by_all(study)


@pytest.mark.parametrize(
    "record",
    [
        {"dataset": "iris"},
        {"dataset": ["iris"]},
        {"dataset": "iris", "strategies": ["tree"], "told": []},
        {"dataset": "iris", "strategy": "tree", "repeat": 9, "fold": 0, "status": "done"},
        {"dataset": "none", "strategy": "x", "repeat": 0, "fold": 0, "status": "error"},
        {"run": 3},
        3,
    ],
)
def test_a_journal_that_tells_nonsense_is_told_in_one_line(study, record):
    journal = Journal(study.journal_path, study.id)
    journal.append(pack(record, {}))
    journal.close()
    told_by_all(study)


def test_the_input_that_a_study_names_is_opened_below_its_folder_only(study, tmp_path):
    """A study could otherwise have `verify` open any file."""
    elsewhere = tmp_path.parent / f"{tmp_path.name}-input.h5"
    FilesIO(elsewhere, mode="a")
    runs = [{"id": "a", "seed": 0, "input": f"../{elsewhere.name}"}]
    change(study, lambda file: put_json(file, "experiments/runs", runs))
    told = verify_study(study.path)
    assert not [what for _, what in told.problems if str(elsewhere) in what]
    assert told.unchecked == (
        "the datasets were not checked: the study records that its datasets are in "
        f"../{elsewhere.name}, outside its folder, and such a path is not opened; "
        "name them with --input (hdf5_input_io)"
    )
    assert told.unchecked in str(told)
    assert told.to_dict()["unchecked"] == told.unchecked


def laid(kind, place, victim):
    """Put something at a place that leads to another file of the user."""
    if kind == "link":
        place.symlink_to(victim)
    elif kind == "link to nothing":
        place.symlink_to(victim.with_name("new"))
    elif kind == "second name":
        place.hardlink_to(victim)
    else:
        os.mkfifo(place)


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [
        *itertools.product(["lock", "journal"], ["link", "link to nothing", "pipe"]),
        ("lock", "second name"),
    ],
)
def test_a_writer_changes_no_file_that_something_beside_the_study_leads_to(tmp_path, suffix, kind):
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([entry()])
    victim = tmp_path / "precious"
    victim.write_bytes(b"precious")
    laid(kind, tmp_path / f"study.h5.{suffix}", victim)
    with (
        pytest.raises(StoreError, match=rf"study\.h5\.{suffix}: a link, a pipe or a device, and"),
        study.writing(),
    ):
        pass
    assert victim.read_bytes() == b"precious"
    assert not (tmp_path / "new").exists()
    assert study.status("iris").shape == (0, 1, 2)


def test_scores_of_searches_are_kept_in_no_folder_that_is_a_link(tmp_path):
    (tmp_path / "other").mkdir()
    folder = tmp_path / "study.h5.searches"
    folder.symlink_to("other")
    assert checkpoint_of(folder, Cell("iris", "SVC")) is None
    assert checkpoint_of(tmp_path / "other", Cell("iris", "SVC")) is not None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"predictions": np.zeros(15, "i4"), "probabilities": np.ones((15, 2), "f4")},
         "probabilities of shape"),
        ({"predictions": np.zeros(99, "i4"), "probabilities": None}, r"predictions of shape \(99,"),
        ({"predictions": np.zeros(9, "i4"), "probabilities": None}, r"predictions of shape \(9,"),
    ],
)  # fmt: skip
def test_a_journal_with_arrays_of_other_shapes_changes_no_cell(study, wrong, message):
    given = outcome(entry("iris", n_rows=30), "tree")
    with contextlib.closing(Journal(study.journal_path, study.id)) as journal:
        journal.append(*pack_outcomes([replace(given, **wrong)]))
    before = study.path.read_bytes()
    with pytest.raises(StoreError, match=message):
        study.settle()
    assert study.path.read_bytes() == before


def test_a_run_of_a_journal_whose_identifier_is_no_text_is_told(study):
    with contextlib.closing(Journal(study.journal_path, study.id)) as journal:
        journal.append(pack({"run": {"id": 3}}, {}))
    with pytest.raises(StoreError, match="a record that is not that of a run; restore"):
        study.settle()
