"""Arrays and sparse matrices as features: stored as they are, and read as they are."""

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from mlaut import Study
from mlaut.arrays import Series
from mlaut.errors import DataError, StoreError
from mlaut.files_io import FilesIO
from mlaut.files_io.tables import arrays
from mlaut.files_io.tables.arrays import (
    Mapped,
    array_fingerprint,
    checked_array,
    count_repeated,
)
from mlaut.records import Dataset

RNG = np.random.default_rng(0)
LABELS = pd.DataFrame({"y": list("abab") * 3})
SHAPED = {
    "images": RNG.integers(0, 256, (12, 4, 5), dtype=np.uint8),
    "series": RNG.normal(size=(12, 2, 7)).astype(">f4"),
    "films": RNG.normal(size=(12, 2, 3, 2, 2)),
    "flags": RNG.random((12, 2, 2)) > 0.5,
    "sparse": sp.random(12, 40, 0.1, random_state=0, format="coo"),
    "empty": sp.csr_matrix((12, 3)),
}


@pytest.fixture
def io(tmp_path):
    return FilesIO(tmp_path / "input.h5", mode="a")


def dense(X):
    return X.toarray() if sp.issparse(X) else X


@pytest.mark.parametrize("name", SHAPED)
@pytest.mark.parametrize("mapped", [False, True], ids=["in memory", "mapped"])
def test_they_are_read_as_they_were_stored(io, name, mapped, monkeypatch):
    X = SHAPED[name]
    if mapped:
        monkeypatch.setattr(arrays, "ON_DISK", 0)
        monkeypatch.setattr(arrays, "_AT_ONCE", 100)
    (path,) = io.save_datasets([Dataset(name, LABELS, "y", "", array=X)])
    read, info = io.load_dataset(path), io.dataset_info(path)
    assert read.features.dtype == X.dtype.newbyteorder("<")
    assert np.array_equal(dense(read.features), dense(X))
    assert isinstance(read.array, Mapped) == (mapped and not sp.issparse(X))
    assert (info.shape, info.n_features) == (X.shape[1:], np.prod(X.shape[1:]))
    assert info.sparse == sp.issparse(X)
    assert io.save_datasets([read]) == (path,)
    with pytest.raises(DataError, match=rf"'{name}' is no table; load_dataset\('/{name}'\).featur"):
        io.load_dataset_pd(path)


def test_other_programs_read_them(io):
    io.save_datasets([Dataset(n, LABELS, "y", "", array=SHAPED[n]) for n in ("images", "sparse")])
    with h5py.File(io.path) as file:
        item, group = file["images/X"], file["sparse/X"]
        assert (item.dtype, item.compression, item.fletcher32) == (np.uint8, "gzip", True)
        assert np.array_equal(item[3:5], SHAPED["images"][3:5])
        parts = tuple(group[name][...] for name in ("data", "indices", "indptr"))
        read = sp.csr_matrix(parts, group.attrs["shape"])
        assert np.array_equal(read.toarray(), SHAPED["sparse"].toarray())


def test_a_change_of_any_value_type_or_shape_is_another_content():
    X = np.arange(24.0).reshape(2, 3, 4)
    others = [X + np.eye(4)[:3], X.astype("f4"), X.reshape(2, 4, 3), sp.csr_matrix(X[:, 0])]
    assert len({array_fingerprint(one) for one in [X, *others]}) == 5
    assert array_fingerprint(X.astype(">f8")) == array_fingerprint(X)


def test_the_order_of_the_entries_of_a_sparse_matrix_is_no_content(io):
    X = sp.csr_matrix(([1.0, 2.0, 3.0], [2, 0, 0], [0, 2, 3]), (2, 3))
    twice = sp.coo_matrix(([2.0, 0.5, 0.5, 3.0], ([0, 0, 0, 1], [0, 2, 2, 0])), (2, 3))
    labels = pd.DataFrame({"y": ["a", "b"]})
    io.save_datasets([Dataset("d", labels, "y", "", array=X)])
    assert io.save_datasets([Dataset("d", labels, "y", "", array=twice)]) == ("/d",)


def test_a_dataset_of_an_array_is_renamed_and_copied(io, tmp_path):
    io.save_datasets([Dataset("d", LABELS, "y", "", array=SHAPED["films"])], "g")
    assert io.rename_dataset("g/d", "e") == "/g/e"
    copy = io.copy_to(tmp_path / "copy.h5").load_dataset("g/e")
    assert np.array_equal(copy.features, SHAPED["films"])
    assert copy.fingerprint == io.fingerprints(["g/e"])[0]


def test_what_changed_is_told(io):
    X = SHAPED["images"]
    io.save_datasets([Dataset("d", LABELS, "y", "", array=X)])
    for other, told in (
        (X + 1, "other values in its array"),
        (X.astype(float), r"another type \(uint8, now float64\)"),
        (X[:, 1:], r"rows of an array \(4, 5\) are now of an array \(3, 5\)"),
        (sp.csr_matrix(X[:, 0]), r"rows of an array \(4, 5\) are now of a sparse array \(5,\)"),
    ):
        with pytest.raises(StoreError, match=told):
            io.save_datasets([Dataset("d", LABELS, "y", "", array=other)])


@pytest.mark.parametrize(
    ("form", "way"), [("sparse", r"X.toarray\(\)"), ("images", r"X.reshape\(len\(X\), -1\)")]
)
def test_an_array_that_is_stored_as_a_table_is_told(io, form, way):
    X = SHAPED[form]
    flat = X.toarray() if form == "sparse" else X.reshape(len(X), -1)
    table = pd.DataFrame(flat).add_prefix("x")
    io.save_datasets([Dataset("d", pd.concat([table, LABELS], axis=1), "y", "")])
    with pytest.raises(StoreError, match=rf"a table of the same values \(to go on .* pass {way}"):
        io.save_datasets([Dataset("d", LABELS, "y", "", array=X)])
    with pytest.raises(StoreError, match=r"without columns 'x0'.* rows of a table are now of"):
        io.save_datasets([Dataset("d", LABELS, "y", "", array=X * 2)])


@pytest.mark.parametrize("name", ["images", "sparse"])
def test_damage_is_told(io, name):
    big = np.repeat(RNG.integers(0, 9, (500, 4, 50)), 2, axis=1)
    X = big if name == "images" else sp.random(500, 400, 0.2, random_state=0, format="csr")
    frame = pd.DataFrame({"y": ["a", "b"] * 250})
    io.save_datasets([Dataset(name, frame, "y", "", array=X)])
    with h5py.File(io.path) as file:
        item = file[f"{name}/X"] if name == "images" else file[f"{name}/X/data"]
        chunk = item.id.get_chunk_info(0)
        place = chunk.byte_offset + chunk.size // 2
    content = bytearray(io.path.read_bytes())
    content[place] ^= 255
    io.path.write_bytes(content)
    with pytest.raises(StoreError, match=rf"'{name}' has a damaged array .*; restore the file fr"):
        io.load_dataset(name)


@pytest.mark.parametrize(
    ("X", "told"),
    [
        (np.zeros((3, 2, 2)), "3 rows and 12 targets"),
        (np.zeros((12, 0, 2)), r"shape \(12, 0, 2\) has no values"),
        (np.zeros((12, 2, 2), dtype=object), "an array of object values; convert it with .astype"),
        (np.zeros((12, 2, 2), dtype=complex), "an array of complex128 values"),
        (np.zeros((12, 2)), "a ndarray is no array of rows"),
    ],
)
def test_what_cannot_be_stored_is_told_in_one_line(io, X, told):
    with pytest.raises(DataError, match=rf"^dataset 'd': .*{told}") as found:
        io.save_datasets([Dataset("d", LABELS, "y", "", array=X)])
    assert "\n" not in str(found.value)


def test_a_column_beside_an_array_has_a_role(io):
    frame = LABELS.assign(day=range(12))
    io.save_datasets([Dataset("d", frame, "y", "", array=SHAPED["films"], roles={"time": "day"})])
    assert io.dataset_info("d").roles == {"time": ("day",)}
    with pytest.raises(DataError, match="column 'day' beside an array has no role; name one, or"):
        io.save_datasets([Dataset("e", frame, "y", "", array=SHAPED["films"])])


def test_roles_beside_x_and_y_may_be_arrays(tmp_path):
    study = Study(tmp_path / "study.h5")
    y, who = LABELS["y"], np.repeat(range(4), 3)
    study.add_datasets((SHAPED["series"], y), name="s", roles={"group": who, "weight": who + 1.0})
    study.add_datasets((RNG.normal(size=(12, 2)), y), name="t", roles={"group": who, "id": "x0"})
    io = FilesIO(study.datasets_path)
    assert io.load_dataset("s").frame["group"].tolist() == who.tolist()
    assert io.load_dataset("t").features.columns.tolist() == ["x1"]
    with pytest.raises(DataError, match="12 rows and 3 values of group"):
        study.add_datasets((SHAPED["series"], y), name="u", roles={"group": who[:3]})


def test_rows_that_occur_twice_are_counted(io):
    X = np.zeros((12, 2, 2))
    X[4:, 0, 0] = range(8)
    assert count_repeated(X, np.zeros(12)) == 5
    assert count_repeated(sp.csr_matrix(X[:, 0]), np.zeros(12)) == 5
    io.save_datasets([Dataset("d", LABELS, "y", "", array=X)])
    assert io.dataset_info("d").repeated_rows == 5  # two a, two b; and 0 in row 4 is a


UNEQUAL = [RNG.normal(size=(2, n)).astype("f4") for n in (3, 9, 4, 5, 5, 2, 7, 8, 3, 1, 6, 4)]


@pytest.mark.parametrize("mapped", [False, True], ids=["in memory", "mapped"])
def test_series_of_different_lengths_are_lengths_and_one_array(tmp_path, mapped, monkeypatch):
    if mapped:
        monkeypatch.setattr(arrays, "ON_DISK", 0)
    study = Study(tmp_path / "study.h5")
    study.add_datasets((UNEQUAL, LABELS["y"]), name="s")
    io = FilesIO(study.datasets_path)
    read, info = io.load_dataset("s"), io.dataset_info("s")
    assert all(map(np.array_equal, read.features[:], UNEQUAL))
    assert all(map(np.array_equal, read.features[[7, 1]], (UNEQUAL[7], UNEQUAL[1])))
    assert (info.shape, info.shortest, info.n_features) == ((2, 9), 1, 18)
    with h5py.File(io.path) as file:
        group = file["s/X"]
        assert group["lengths"][:3].tolist() == [3, 9, 4]
        assert np.array_equal(group["values"][3:12], UNEQUAL[1].T)
        assert (group.attrs["encoding-type"], file["s"].attrs["encoding-version"]) == (
            "mlaut-series",
            4,
        )
    objects = np.empty(12, dtype=object)
    objects[:] = UNEQUAL
    assert study.add_datasets((objects, LABELS["y"]), name="s") == ["s"]
    with pytest.raises(StoreError, match="other values in its array"):
        study.add_datasets(([one + 1 for one in UNEQUAL], LABELS["y"]), name="s")
    with pytest.raises(StoreError, match=r"rows of series of up to \(2, 9\) are now of an array"):
        study.add_datasets((SHAPED["films"], LABELS["y"]), name="s")


def test_lists_of_arrays_of_one_shape_are_an_array_or_a_table(tmp_path):
    study, y = Study(tmp_path / "study.h5"), LABELS["y"]
    study.add_datasets((list(SHAPED["images"]), y), name="images")
    study.add_datasets((list(SHAPED["series"][:, 0]), y), name="table")
    study.add_datasets(([one[0] for one in UNEQUAL], y), name="one channel")
    io = FilesIO(study.datasets_path)
    assert np.array_equal(io.load_dataset("images").array, SHAPED["images"])
    assert io.load_dataset("table").features.shape == (12, 7)
    assert io.load_dataset("one channel").array.shape == (12, 1, 9)
    for wrong in ([np.zeros((1, 3)), np.zeros((2, 3))], [np.zeros((1, 0)), np.zeros((1, 3))]):
        with pytest.raises(DataError, match=r"a list of arrays of shapes \(1, .*the same channels"):
            study.add_datasets((wrong, ["a", "b"]), name="w")


def test_series_that_occur_twice_are_counted(io):
    X = Series.of([np.ones((1, 2)), np.ones((1, 3)), np.ones((1, 2)), np.zeros((1, 2))])
    assert count_repeated(X, np.zeros(4)) == 2


def test_arrays_of_a_dataset_may_be_a_list():
    assert checked_array([np.zeros((1, 3)), np.zeros((1, 2))], 2).lengths.tolist() == [3, 2]
