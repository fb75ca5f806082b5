"""Tables in shared memory: one copy for all workers, which nobody can change."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from sklearn.dummy import DummyClassifier

from mlaut import Study
from mlaut.errors import DataError, StudyError
from mlaut.experiments.cells.cell_input import FoldTable
from mlaut.experiments.workers import tables
from mlaut.experiments.workers.batches import DatasetRef
from mlaut.experiments.workers.tables import SharedTables, load_table, map_table, share_table
from mlaut.files_io import FilesIO

RNG = np.random.default_rng(0)
FRAMES = {
    "floats": pd.DataFrame(RNG.normal(size=(30, 4))).add_prefix("x"),
    "floats in rows": pd.DataFrame(np.asfortranarray(RNG.normal(size=(30, 4)).T).T),
    "integers and floats": pd.DataFrame({"a": np.arange(30), "b": RNG.normal(size=30)}),
    "float32": pd.DataFrame(RNG.normal(size=(30, 2)).astype(np.float32), columns=["a", "b"]),
    "gaps": pd.DataFrame({"a": [np.nan, *range(29)], "b": 1.5}),
    "nullable": pd.DataFrame({"a": pd.array([None, *range(29)], dtype="Int64")}),
    "texts": pd.DataFrame({"a": [None, *map(str, range(29))], "b": RNG.normal(size=30)}),
    "categories": pd.DataFrame({"a": pd.Categorical([None, *"abc" * 9, "a", "b"])}),
    "dates": pd.DataFrame({"a": pd.date_range("2020", periods=30, tz="Europe/Berlin")}),
    "one column": pd.DataFrame({"a": RNG.normal(size=30)}),
}


def n_open():
    return len(list(Path("/proc/self/fd").iterdir()))


def shared(table):
    memory = share_table(table)
    try:
        return map_table(memory)
    finally:
        os.close(memory)


@pytest.mark.parametrize("name", FRAMES)
def test_a_mapped_table_has_the_same_values_in_the_same_order_in_memory(name):
    table = FoldTable(FRAMES[name], np.repeat(["no", "yes"], 15), ("no", "yes"))
    mapped, rows = shared(table), np.array([3, 17, 4])
    assert_frame_equal(mapped.features, table.features)
    assert mapped.labels.tolist() == table.labels.tolist()
    assert (mapped.classes, mapped.names_of_one_type) == (table.classes, table.names_of_one_type)
    assert_frame_equal(mapped.rows(rows), table.rows(rows))
    one, other = (np.asarray(t.rows(rows)) for t in (mapped, table))
    assert one.flags.f_contiguous == other.flags.f_contiguous
    assert (mapped.numbers is None) == (table.numbers is None)
    if table.numbers is not None:
        assert mapped.numbers.tobytes("A") == table.numbers.tobytes("A")
        assert mapped.numbers.flags.f_contiguous == table.numbers.flags.f_contiguous
        assert mapped.rows_of_numbers(rows).flags.c_contiguous == (
            table.rows_of_numbers(rows).flags.c_contiguous
        )


def test_numbers_and_features_of_one_type_are_one_array():
    frame = pd.DataFrame(RNG.normal(size=(1000, 20)))
    table = FoldTable(frame, np.zeros(1000), ())
    memory = share_table(table)
    mapped = map_table(memory)
    assert os.fstat(memory).st_size < 1.2 * frame.to_numpy().nbytes
    assert np.shares_memory(mapped.numbers, mapped.features.to_numpy())
    os.close(memory)


def test_nobody_can_change_a_table_and_rows_of_it_are_copies():
    memory = share_table(FoldTable(FRAMES["floats"], np.zeros(30), ()))
    table = map_table(memory)
    for change in (
        lambda: os.write(memory, b"x"),
        lambda: os.truncate(memory, 0),
        lambda: table.numbers.__setitem__(0, 1.0),
        lambda: table.labels.__setitem__(0, 1.0),
    ):
        with pytest.raises((PermissionError, ValueError)):
            change()
    os.close(memory)
    rows = np.arange(10)
    for taken in (table.rows_of_numbers(rows), table.rows_of_floats(rows)):
        taken[:] = -1.0  # as an estimator with copy=False may do
    frame = table.rows(rows)
    frame.iloc[:, 0] = -1.0
    assert_frame_equal(table.features, FRAMES["floats"])


@pytest.fixture
def refs(tmp_path):
    """Three datasets of 80 kB each."""
    input_io = FilesIO(tmp_path / "input.h5", mode="a")
    found = []
    for name in "abc":
        frame = pd.DataFrame(RNG.normal(size=(1000, 10))).add_prefix("x")
        frame["y"] = frame["x0"] > 0
        path = input_io.save_pandas_dataset(frame, "/", {"class_name": "y", "dataset_name": name})
        info = input_io.dataset_info(path)
        classes = (False, True)
        found.append(DatasetRef(str(input_io.path), path, name, info.fingerprint, classes))
    return found


@pytest.mark.parametrize(("bound", "most"), [("_KEPT", 200_000), ("_MOST_KEPT", 2)])
def test_a_dataset_is_loaded_once_while_its_table_is_kept(refs, monkeypatch, bound, most):
    loaded = []

    def noted(ref):
        loaded.append(ref.name)
        return load_table(ref)

    monkeypatch.setattr(tables, "load_table", noted)
    monkeypatch.setattr(tables, bound, most)  # of bytes or number: two tables
    kept = SharedTables()
    for ref in [*refs[:2], *refs[:2], refs[2], refs[1], refs[0]]:
        memory, _ = kept._of(ref)
        assert map_table(memory).features.shape == (1000, 10)
        os.close(memory)
    assert loaded == ["a", "b", "c", "a"]
    before = n_open()
    kept.close()
    assert before - n_open() == 2


def test_a_table_that_is_lent_outlives_its_place_among_the_kept(refs, monkeypatch):
    monkeypatch.setattr(tables, "_MOST_KEPT", 1)
    kept = SharedTables()
    memory, _ = kept._of(refs[0])  # by one thread
    os.close(kept._of(refs[1])[0])  # by another, before the first has sent its table
    assert map_table(memory).features.shape == (1000, 10)
    os.close(memory)
    kept.close()


def test_what_cannot_be_shared_is_one_line(refs, monkeypatch):
    changed = DatasetRef(*[getattr(refs[0], f) for f in ("database", "path", "name")], "f", ())
    with pytest.raises(DataError, match="dataset 'a' was changed while the study runs"):
        SharedTables()._of(changed)
    before = n_open()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tables, "write_all", full)
    with pytest.raises(StudyError, match=r"dataset 'a': no shared memory .*No space left.*; free"):
        SharedTables()._of(refs[0])
    assert n_open() == before


def test_where_memory_without_a_name_is_unknown_a_removed_file_takes_its_place(monkeypatch):
    monkeypatch.delattr(os, "memfd_create")
    memory = share_table(FoldTable(FRAMES["floats"], np.zeros(30), ()))
    assert str(Path(f"/proc/self/fd/{memory}").readlink()).endswith("(deleted)")
    assert_frame_equal(map_table(memory).features, FRAMES["floats"])
    os.close(memory)


def test_descriptors_do_not_grow_with_the_datasets_of_a_run(tmp_path, monkeypatch):
    counts = []

    def counted(ref):
        counts.append(n_open())
        return load_table(ref)

    monkeypatch.setattr(tables, "load_table", counted)
    monkeypatch.setattr(tables, "_MOST_KEPT", 2)
    frames = {f"d{i}": pd.DataFrame({"x": RNG.normal(size=8), "y": [0, 1] * 4}) for i in range(20)}
    study = Study(tmp_path / "study.h5")
    study.add_datasets(frames, target="y", task="Classification")
    study.run([DummyClassifier()], split="kfold(2)", n_jobs=1, verbose=0)
    assert len(counts) == len(frames)
    assert max(counts[5:]) - min(counts[5:]) <= 4
