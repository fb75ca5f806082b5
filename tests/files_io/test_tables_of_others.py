"""Tables of other libraries: what is stored is what the same DataFrame would be."""

import datetime
import decimal
import sqlite3

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from mlaut import Study
from mlaut.data import from_frame
from mlaut.errors import DataError
from mlaut.files_io import FilesIO
from mlaut.files_io.tables import tables_of_others
from mlaut.files_io.tables.tables_of_others import as_pandas, of_pair

TABLE = pd.DataFrame(
    {
        "x": [1.5, 2.5, np.nan, 4.0],
        "n": [1, 2, 3, 4],
        "colour": ["red", None, "blue", "red"],
        "day": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"]),
        "y": ["a", "b", "a", "b"],
    }
)


def test_a_table_of_pyarrow_is_the_same_dataset():
    pytest.importorskip("narwhals")
    pyarrow = pytest.importorskip("pyarrow")
    arrow = pyarrow.Table.from_pandas(TABLE)
    assert (
        from_frame(arrow, "y", name="d").fingerprint == from_frame(TABLE, "y", name="d").fingerprint
    )


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[1.5, 2], 3, 4, 5], "lists of several lengths; pass one label for each row"),
        (np.zeros(4, dtype=[("event", bool), ("time", float)]), "fields event, time: survival ti"),
        (pd.Series(range(4))[::-1], r"rows in different orders; pass y.loc\[X.index\]"),
    ],
)
def test_targets_that_no_row_can_have_are_refused(labels, message):
    with pytest.raises(DataError, match=message):
        of_pair(TABLE, labels, "target", {})[0]


def test_labels_in_one_column_are_taken_under_a_name_that_is_free():
    frame = of_pair(TABLE, np.arange(4.0)[:, None], "target", {})[0]
    assert frame["target"].tolist() == [0, 1, 2, 3]
    with pytest.raises(DataError, match="the table has a column 'y' already; name the target diff"):
        of_pair(TABLE, [1, 2, 3, 4], "y", {})[0]


def test_labels_in_an_array_of_objects_have_the_type_of_their_values():
    labels = np.array([1.5, 2.0, 1.5, 2.0], dtype=object)
    assert of_pair(TABLE, labels, "target", {})[0]["target"].dtype == np.float64


def values_of_many_types(pyarrow):
    """Return a table of pyarrow, and what each of its columns is in a dataset."""
    day, price = datetime.date(2020, 1, 1), decimal.Decimal("1.50")
    columns = {
        "x": ([1.5, None], "float64"),
        "n": ([1, 2], "int64"),
        "flag": ([True, None], "boolean"),
        "price": ([price, None], "float64"),
        "day": ([day, None], "datetime64[s]"),
        "when": ([datetime.datetime(2020, 1, 1, 3)] * 2, "datetime64[us]"),
        "wait": ([datetime.timedelta(hours=1)] * 2, "timedelta64[us]"),
        "colour": (pyarrow.array(["red", None]).dictionary_encode(), "category"),
        "y": (["u", "v"], "str"),
    }
    values = {name: given for name, (given, _) in columns.items()}
    return pyarrow.table(values), {name: dtype for name, (_, dtype) in columns.items()}


@pytest.mark.parametrize("in_pandas", [False, True])
def test_columns_of_pyarrow_have_the_types_of_their_values(in_pandas):
    pytest.importorskip("narwhals")
    arrow, types = values_of_many_types(pytest.importorskip("pyarrow"))
    given = arrow.to_pandas(types_mapper=pd.ArrowDtype) if in_pandas else arrow
    found = from_frame(given, "y", name="d").frame
    texts = {"str", "object"}  # texts are objects in pandas 2
    assert {
        name: "str" if str(dtype) in texts else str(dtype) for name, dtype in found.dtypes.items()
    } == types
    assert found["price"].tolist()[0] == 1.5
    assert found["flag"].isna().tolist() == [False, True]
    assert found["day"].tolist() == [pd.Timestamp("2020-01-01"), pd.NaT]
    if in_pandas:
        assert given.dtypes["x"] == "double[pyarrow]"  # what was given is not changed


def test_what_pyarrow_cannot_convert_is_refused_in_one_line_and_other_objects_stay():
    pytest.importorskip("narwhals")
    pyarrow = pytest.importorskip("pyarrow")
    values = [pyarrow.array([1]), pyarrow.array(["x"])]
    kinds, places = pyarrow.array([0, 1], "int8"), pyarrow.array([0, 0], "int32")
    union = pyarrow.UnionArray.from_dense(kinds, places, values)
    with pytest.raises(
        DataError, match=r"a pyarrow\.lib\.Table cannot be converted .*; mend that"
    ) as no:
        as_pandas(pyarrow.table({"u": union}))
    assert "\n" not in str(no.value)
    lists = as_pandas(pyarrow.table({"l": [[1], [2, 3]]}))["l"]
    assert [list(one) for one in lists] == [[1], [2, 3]]


def test_a_type_that_another_library_cannot_convert_is_refused_in_one_line():
    pytest.importorskip("narwhals")
    polars = pytest.importorskip("polars")
    wide = polars.DataFrame({"n": polars.Series([2**70, 1], dtype=polars.Int128), "y": [1, 2]})
    with pytest.raises(DataError, match="DataFrame cannot be converted") as found:
        as_pandas(wide)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("lazy", [False, True])
def test_a_table_of_polars_is_the_same_dataset(lazy):
    pytest.importorskip("narwhals")
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {"x": [1.5, None], "n": [1, 2], "s": ["a", None], "b": [True, False], "y": ["u", "v"]}
    )
    same = pd.DataFrame(
        {"x": [1.5, None], "n": [1, 2], "s": ["a", None], "b": [True, False], "y": ["u", "v"]}
    )
    found = from_frame(frame.lazy() if lazy else frame, "y", name="d")
    assert found.fingerprint == from_frame(same, "y", name="d").fingerprint


def test_a_table_of_polars_needs_no_pyarrow(monkeypatch):
    polars = pytest.importorskip("polars")
    day, moment = datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5, 6)
    frame = polars.DataFrame(
        {
            "n": [1, None, 3],
            "bool": [True, None, False],
            "day": [day, None, day],
            "moment": [moment, None, moment],
            "long": [datetime.timedelta(1), None, datetime.timedelta(hours=1)],
            "money": [decimal.Decimal("1.5"), None, decimal.Decimal("2.25")],
            "nothing": [None] * 3,
            "text": ["a", None, "b"],
        }
    ).with_columns(
        polars.Series("kind", ["x", "y", None], dtype=polars.Enum(["z", "y", "x"])),
        polars.Series("tiny", [1, None, 3], dtype=polars.UInt8),
        polars.Series("float", [1, 2, 3], dtype=polars.Float32),
        polars.Series("zone", [moment] * 3, dtype=polars.Datetime("ms", "Europe/Rome")),
    )
    with_it = as_pandas(frame)
    monkeypatch.setattr(tables_of_others, "find_spec", lambda _: None)
    for table in (frame, frame.lazy()):
        without = as_pandas(table)
        assert [str(t) for t in without.dtypes] == [str(t) for t in with_it.dtypes]
        pd.testing.assert_frame_equal(without, with_it, check_dtype=False, check_categorical=False)


def test_arrays_are_given_with_their_labels(tmp_path):
    X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
    study = Study(tmp_path / "study.h5")
    labels = ["a", "b", "a"]
    assert study.add_datasets((X, labels), name="dense") == ["dense"]
    study.add_datasets((pd.DataFrame(X, columns=["x0", "x1"]), pd.Series(labels)), name="frame")
    io = FilesIO(study.datasets_path)
    prints = {info.fingerprint for info in io.dataset_infos()}
    assert len(prints) == 1
    assert io.load_dataset("dense").features.columns.tolist() == ["x0", "x1"]


def test_the_result_of_a_query_is_a_table(tmp_path):
    with sqlite3.connect(":memory:") as database:
        TABLE.drop(columns="day").to_sql("flowers", database, index=False)
        frame = pd.read_sql("select x, colour, y from flowers where n > 1", database)
    study = Study(tmp_path / "study.h5")
    assert study.add_datasets(frame, name="flowers", target="y") == ["flowers"]


class NotATable:
    """Object without rows."""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            NotATable(),
            r"a table is needed, not a tests\.files_io\.\w+\.NotATable; pass a DataFrame",
        ),
        ({"x": [1]}, "a table is needed, not a builtins.dict; pass a DataFrame of pandas or po"),
        (np.zeros(3), r"a table has rows and columns, and this is a numpy.ndarray of shape \(3,\)"),
        (
            scipy.sparse.csr_matrix((200_000, 5_000)),
            r"this is a scipy\.sparse\._csr\.csr_matrix of shape \(200000, 5000\); as features, pa",
        ),
    ],
    ids=["object", "dict", "vector", "sparse"],
)
def test_what_is_no_table_is_refused_by_its_type(given, message):
    with pytest.raises(DataError, match=message) as found:
        as_pandas(given)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 2, 3], "4 rows and 3 targets; each row needs one"),
        (np.zeros((4, 2, 1)), r"targets of shape \(4, 2, 1\); here one target is taken"),
    ],
)
def test_labels_that_do_not_suit_the_rows_are_refused(tmp_path, labels, message):
    with pytest.raises(DataError, match=message):
        Study(tmp_path / "s.h5").add_datasets((TABLE.drop(columns="y"), labels), name="d")


def test_what_holds_no_dataset_is_refused(tmp_path):
    with pytest.raises(DataError, match="a int holds no dataset; pass a table"):
        Study(tmp_path / "s.h5").add_datasets(7, name="d")
    with pytest.raises(DataError, match="a table has no name; pass name="):
        Study(tmp_path / "s.h5").add_datasets(TABLE, target="y")
    with pytest.raises(DataError, match="a int holds no dataset; pass a table"):
        Study(tmp_path / "s.h5").add_datasets((7, [1, 2]), name="d")
