"""Tables in files."""

import gzip
import importlib
import os
import resource
import sys

import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mlaut.errors import DataError, OptionalPackageError, StoreError
from mlaut.files_io.tables import tables

ARFF = "@relation r\n@attribute 'a b' numeric\n@attribute c {x, 'y z'}\n@data\n1, x\n?, 'y z'\n"


def test_arff_is_read_by_either_copy_of_its_reader(tmp_path, monkeypatch):
    """The one that scikit-learn brings is private; liac-arff is the same."""
    path = tmp_path / "table.arff"
    path.write_text(ARFF)
    expected = tables.read_table(path)
    assert expected["c"].tolist() == ["x", "y z"]
    private = importlib.import_module("sklearn.externals._arff")
    monkeypatch.setitem(sys.modules, "sklearn.externals._arff", None)  # as if it were gone
    monkeypatch.setitem(sys.modules, "arff", None)
    with pytest.raises(OptionalPackageError, match="pip install liac-arff, or save"):
        tables.read_table(path)
    monkeypatch.setitem(sys.modules, "arff", private)
    assert tables.read_table(path).equals(expected)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("name;a;b\nx;0,5;1\ny;;-2\n", [[0.5, 1], [None, -2]]),
        ("name;a;b\nx;0.5;1,5\ny;3;2\n", [[0.5, 1.5], [3, 2]]),
        ("name,a,b\nx,0.5,1,\ny,2,3,\n", [[0.5, 1], [2, 3]]),
        ('name,a,b\n"x;y",0.5,1\nz,2,3\n', [[0.5, 1], [2, 3]]),
    ],
)
def test_semicolons_between_values_and_decimal_commas_are_read(tmp_path, text, numbers):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    frame = tables.read_table(path)
    expected = pd.DataFrame(numbers, columns=["a", "b"], dtype=float)
    pd.testing.assert_frame_equal(frame[["a", "b"]].astype(float), expected)
    assert frame["name"].str.contains("x").iloc[0]


def test_what_the_machine_cannot_open_now_is_no_fault_of_the_table(tmp_path):
    """Found by ``simulate.py --seeds 12 13``: a race went on with three of its four datasets."""
    path = tmp_path / "table.csv"
    path.write_text("a,target\n1,x\n2,y\n3,x\n4,y\n")
    assert len(tables.read_table(path)) == 4  # and all that it needs is imported
    first_free = os.open(path, os.O_RDONLY)
    os.close(first_free)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (first_free, limits[1]))
    try:
        with pytest.raises(
            StoreError, match=r"table\.csv: too many files are open while reading a table"
        ):
            tables.read_table(path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


# --------------------------------------------------------------------- time series

TS = "# a comment\n@problemName x\n\n@timeStamps false\n@classLabel true a b\n@data\n"


def written(path, text):
    path.write_text(text)
    return path


def test_time_series_keep_their_shape(tmp_path):
    one = written(tmp_path / "one.ts", TS + "1,2.5,?:a\n3,4,5:b\n")
    frame, series = tables.read_rows(one)
    assert frame["target"].tolist() == ["a", "b"]
    np.testing.assert_array_equal(series, [[[1, 2.5, np.nan]], [[3, 4, 5]]])
    several = TS.replace("@classLabel true a b", "@targetLabel true")
    two = written(tmp_path / "two.ts", several + "1,2:3,4:0.5\n5,6:7,8:2\n")
    frame, series = tables.read_rows(two)
    assert series.tolist() == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    assert frame["target"].tolist() == [0.5, 2]
    with pytest.raises(
        DataError, match=r"one.ts: holds an array of shape \(2, 1, 3\), and a table "
    ):
        tables.read_table(one)


def test_arrays_and_sparse_rows_of_files(tmp_path):
    X, y = np.arange(24, dtype="u1").reshape(2, 3, 4), np.array(["a", "b"])
    np.savez(tmp_path / "images.npz", X=X, y=y)
    frame, images = tables.read_rows(tmp_path / "images.npz")
    assert (frame["target"].tolist(), images.dtype) == (["a", "b"], np.uint8)
    assert np.array_equal(images, X)
    np.savez(tmp_path / "table.npz", X=X[:, 0], y=y)
    assert tables.read_table(tmp_path / "table.npz").columns.tolist() == [
        *("x0", "x1", "x2", "x3", "target")
    ]
    matrix = sparse.csr_matrix(X[:, 0])
    sparse.save_npz(tmp_path / "texts.npz", matrix)
    with pytest.raises(
        DataError, match=r"texts.npz: cannot be read as NPZ .*, and no labels as 'y'"
    ):
        tables.read_rows(tmp_path / "texts.npz")
    with np.load(tmp_path / "texts.npz") as stored:
        np.savez(tmp_path / "texts.npz", **stored, y=y)
    assert (tables.read_rows(tmp_path / "texts.npz")[1] != matrix).nnz == 0
    frame, rows = tables.read_rows(written(tmp_path / "few.svm", "1 1:0.5 3:2\n-1 2:1\n"))
    assert (rows.toarray().tolist(), frame["target"].tolist()) == (
        [[0.5, 0, 2], [0, 1, 0]],
        [1, -1],
    )


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.ts", TS.replace("false", "true"), "its series have time stamps; resample them"),
        ("a.ts", TS.replace("true a b", "false"), "its series have no label to be the target"),
        ("a.ts", TS + "1,2:1:a\n1:1:b\n", "the channels of a series differ in length; pad or"),
        ("a.ts", TS + "1:2:a\n1:b\n", "cannot be read as TS .*shorter"),
        ("a.csv", "a,b\n1,2,3\n", "its rows have more values than its header has names"),
        ("a.csv", "age,age,b\n1,2,3\n", "two columns are called 'age'; rename one of them"),
        ("a.csv", "age;age;b\n1;2;3\n", "two columns are called 'age'; rename one of them"),
        ("a.csv", "", "cannot be read as CSV .No columns to parse"),
        ("a.arff", "@relation r\n@attribute d date\n@data\n", "An attribute of dates or relations"),
        ("a.arff", "@relation r\n@attribute c {x}\n@data\ny\n", "cannot be read as ARFF"),
        ("a.txt", "a,b\n", "not a table that can be read .*csv"),
        ("a.arff.gz", "x", "not a table that can be read"),
    ],
)
def test_a_table_that_cannot_be_read_is_told_in_one_line(tmp_path, name, text, message):
    with pytest.raises(DataError, match=f"{name}: .*{message}") as told:
        tables.read_table(written(tmp_path / name, text))
    assert "\n" not in str(told.value)


def test_a_table_without_columns_and_one_that_is_not_there_are_told(tmp_path):
    pd.DataFrame(index=range(3)).to_parquet(tmp_path / "t.parquet", index=False)
    with pytest.raises(DataError, match=r"t\.parquet: a table without columns; check the file"):
        tables.read_table(tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"none\.csv: no such file; check the path"):
        tables.read_table(tmp_path / "none.csv")


def test_a_sparse_arff_file_has_the_first_category_or_0_where_nothing_is_said(tmp_path):
    text = ARFF.partition("@data")[0] + "@data\n{0 2.5}\n{1 'y z'}\n"
    frame = tables.read_table(written(tmp_path / "table.arff", text))
    assert frame["a b"].tolist() == [2.5, 0]
    assert frame["c"].tolist() == ["x", "y z"]


def test_parquet_and_packed_files_are_read(tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2.5], "y": ["n", "y"]})
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.tsv.gz", sep="\t", index=False)
    for name in ("t.parquet", "t.tsv.gz"):
        pd.testing.assert_frame_equal(tables.read_table(tmp_path / name), frame)
        assert tables.stem_of(name) == "t"


def test_a_table_that_unpacks_to_more_than_the_memory_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("x,y\n" + "1,a\n" * 500_000)
    assert path.stat().st_size < 20_000
    assert len(tables.read_table(path)) == 500_000
    monkeypatch.setattr(tables, "MEMORY", 2**20)
    with pytest.raises(DataError, match="more than 524,288 bytes, a quarter of the memory"):
        tables.read_table(path)
    (tmp_path / "t.csv").write_text("x,y\n" + "1,a\n" * 200_000)
    with pytest.raises(DataError, match="more than 524,288 bytes, a quarter of the memory"):
        tables.read_table(tmp_path / "t.csv")


def test_gaps_are_named_by_their_texts_where_a_file_has_texts(tmp_path):
    path = written(tmp_path / "a.csv", "x,y\nNA,1\n,2\nDE,3\nNA,4\n")
    assert tables.gaps_in(path, "x", ("", "NA")) == "'NA' (2), '' (1)"
    assert tables.gaps_in(path.rename(tmp_path / "a.arff"), "x", ("", "NA")) == ""


def test_rows_and_labels_of_two_npy_files(tmp_path):
    X, y = np.arange(24.0).reshape(4, 2, 3), np.array([b"a", b"\xc3\xa9", b"a", b"b"])
    np.save(tmp_path / "digits_X.npy", X)
    with pytest.raises(DataError, match=r"no labels beside it; name .*digits_X.npy\?y=labels.npy'"):
        tables.read_rows(tmp_path / "digits_X.npy")
    np.save(tmp_path / "digits_y.npy", y)
    frame, rows = tables.read_rows(tmp_path / "digits_X.npy")
    assert frame["target"].tolist() == ["a", "é", "a", "b"]
    assert np.array_equal(rows, X)
    assert tables.stem_of("digits_X.npy") == "digits"
    np.save(tmp_path / "other.npy", np.arange(4))
    named = {"y": "other.npy"}
    assert tables.read_rows(tmp_path / "digits_X.npy", apart=named)[0]["target"].tolist() == [
        0,
        1,
        2,
        3,
    ]
    with pytest.raises(DataError, match=r"none.npy: no such file of labels"):
        tables.read_rows(tmp_path / "digits_X.npy", apart={"y": "none.npy"})
    np.save(tmp_path / "other.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(DataError, match=r"cannot be read as NPY .*allow_pickle"):
        tables.read_rows(tmp_path / "digits_X.npy", apart=named)


def test_rows_and_labels_of_an_hdf5_file(tmp_path):
    X, path = np.arange(24, dtype="u1").reshape(4, 2, 3), tmp_path / "scans.h5"
    with h5py.File(path, "w") as file:
        file["deep/images"], file["labels"] = X, ["a", "é", "a", "b"]
        file.create_dataset("codes", data=np.array([b"a", b"b", b"a", b"b"]))
    for labels, told in (("labels", ["a", "é", "a", "b"]), ("/codes", ["a", "b", "a", "b"])):
        frame, rows = tables.read_rows(path, apart={"X": "deep/images", "y": labels})
        assert frame["target"].tolist() == told
        assert rows.dtype == "u1" and np.array_equal(rows, X)  # noqa: PT018
    for apart, told in (
        ({}, r"no array 'X'; it has codes \(4,\), deep/images \(4, 2, 3\), labels \(4,\); name "),
        ({"X": "deep/image", "y": "labels"}, "no array 'deep/image'; did you mean 'deep/images'?"),
        ({"X": "deep/images"}, "no array 'y'; .* as in 'scans.h5.X=images&y=labels'"),
    ):
        with pytest.raises(DataError, match=told) as found:
            tables.read_rows(path, apart=apart)
        assert "\n" not in str(found.value)
    path.write_bytes(b"no HDF5")
    with pytest.raises(DataError, match="cannot be read as H5"):
        tables.read_rows(path)


def test_names_of_which_one_has_a_number_behind_are_as_they_stand(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("age,age.1,b\n1,2,3\n")
    assert list(tables.read_table(path).columns) == ["age", "age.1", "b"]
