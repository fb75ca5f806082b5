"""Tables survive the way to HDF5 and back exactly, and their fingerprints say what they say."""

import datetime

import h5py
import numpy as np
import pandas as pd
import pytest
from dateutil.tz import tzoffset
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from hypothesis.extra import pandas as hpd
from pandas.testing import assert_frame_equal

from mlaut.errors import DataError, StoreError
from mlaut.files_io.tables.encodings import encode
from mlaut.files_io.tables.fingerprints import column_fingerprints, fingerprint
from mlaut.files_io.tables.frames import _stacked, read_columns, read_frame, write_frame


def around(frame: pd.DataFrame) -> pd.DataFrame:
    with h5py.File("table", "w", driver="core", backing_store=False) as file:
        write_frame(file, "t", frame)
        read, elements = read_frame(file["t"])
        assert fingerprint(read, elements) == fingerprint(read)
        return read


def assert_survives(frame: pd.DataFrame) -> pd.DataFrame:
    back = around(frame)
    assert_frame_equal(back, frame, check_exact=True, check_index_type="equiv")
    assert [type(a) for a in back.columns] == [type(a) for a in frame.columns]
    assert fingerprint(back) == fingerprint(frame)
    return back


MASKED = ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"]
COLUMNS = {
    **{f"f{w}": pd.Series([0.1, np.nan, -np.inf, -0.0], dtype=f"f{w}") for w in (2, 4, 8)},
    **{f"i{w}": pd.Series([-3, 0, 7, 2 ** (8 * w - 1) - 1], dtype=f"i{w}") for w in (1, 2, 4, 8)},
    **{f"u{w}": pd.Series([3, 0, 7, 2 ** (8 * w) - 1], dtype=f"u{w}") for w in (1, 2, 4, 8)},
    "big endian": pd.Series(np.array([1.5, 2.5, 3.5, 4.5], dtype=">f8")),
    "bool": pd.Series([True, False, False, True]),
    **{name: pd.Series([1, None, 3, 100], dtype=name) for name in MASKED},
    "Float32": pd.Series([1.5, None, 3, 100], dtype="Float32"),
    "Float64": pd.Series([1.1, None, 3, 100], dtype="Float64"),
    "boolean": pd.Series([True, None, False, True], dtype="boolean"),
    "object": pd.Series(["a", None, np.nan, pd.NA], dtype=object),
    "default text": pd.Series(["a", None, "", "Ünïcödé 😀 \0 end"]),
    "string python": pd.Series(["a", None, "", "b"], dtype=pd.StringDtype("python")),
    "string": pd.Series(["a", None, "", "b"], dtype="string"),
    "lone surrogate": pd.Series(["\ud800", "a", "b", "c"], dtype=object),
    "all missing": pd.Series([None] * 4, dtype=object),
    "category": pd.Series(["b", None, "a", "b"], dtype=pd.CategoricalDtype(["c", "b", "a"])),
    "ordered": pd.Series(pd.Categorical(["l", "h", None, "l"], ["l", "m", "h"], ordered=True)),
    "object category": pd.Series(pd.Categorical.from_codes(
        [0, 1, -1, 0], pd.Index(["x", "y"], dtype=object))),
    "int category": pd.Series(pd.Categorical([3, 1, None, 3])),
    "float category": pd.Series(pd.Categorical([3.5, 1.5, None, 3.5])),
    "date category": pd.Series(pd.Categorical(pd.to_datetime(["2020", "2021", None, "2020"]))),
    "no category": pd.Series(pd.Categorical([None] * 4, categories=[])),
    **{
        f"date {unit}": pd.Series(pd.to_datetime([1.5e9, None, -3, 0], unit="s")).dt.as_unit(unit)
        for unit in ("s", "ms", "us", "ns")
    },
    "utc": pd.Series(pd.to_datetime(["2020", None, "1969", "2030"], utc=True)),
    "zone": pd.Series(pd.to_datetime(["2020", None, "1969", "2030"])).dt.tz_localize("Asia/Tokyo"),
    "offset": pd.Series(pd.to_datetime(["2020", None, "1969", "2030"])).dt.tz_localize(
        datetime.timezone(datetime.timedelta(hours=5, minutes=30))
    ),
    "duration": pd.Series(pd.to_timedelta([1, None, -3, 10**9], unit="s")),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_survives(name):
    back = assert_survives(pd.DataFrame({name: COLUMNS[name]}))
    assert back[name].dtype == COLUMNS[name].dtype


def test_a_mixed_table_survives():
    assert_survives(pd.DataFrame(COLUMNS))


def test_missing_objects_are_the_same_objects():
    back = around(pd.DataFrame({"a": COLUMNS["object"]}))["a"]
    assert back[1] is None
    assert isinstance(back[2], float)
    assert back[3] is pd.NA


@pytest.mark.parametrize(
    "columns",
    [
        ["a/b", ".", "..", "", "/", "Größe", "名", "😀", "a\0b", " "],
        range(10),
        [5, 4, 3, 2, 1, 0, -1, 7, 8, 9],
        [0.5, 1.5, 2, 3, 4, 5, 6, 7, 8, 9],
        [0, "0", 1.5, True, None, "target", 2, 3, 4, 5],
        ["same"] * 10,
        pd.date_range("2020", periods=10, freq="D"),
        pd.Index(list("abcdefghij"), name="letters"),
        pd.Index(list("abcdefghij"), dtype=object),
        pd.CategoricalIndex(list("abcdefghij")),
        pd.Index(range(10), name=3),
    ],
    ids=str,
)
def test_names_of_columns_survive(columns):
    assert_survives(pd.DataFrame(np.arange(20.0).reshape(2, 10), columns=columns))


@pytest.mark.parametrize(
    "index",
    [
        [3, 1, 2],
        ["x", "y/z", ""],
        pd.RangeIndex(10, 4, -2, name="n"),
        pd.date_range("2020", periods=3, freq="D"),
        pd.date_range("2020", periods=3, freq="D", tz="Europe/Berlin"),
        pd.timedelta_range("1D", periods=3),
        pd.Index([True, False, True]),
        pd.Index([1, None, 2], dtype="Int64"),
        [1, "one", None],
    ],
    ids=str,
)
def test_index_of_rows_survives(index):
    assert_survives(pd.DataFrame({"a": [1, 2, 3], "b": list("xyz")}, index=index))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(),
        pd.DataFrame({"a": [1, 2]})[:0],
        pd.DataFrame(index=range(3)),
        pd.DataFrame(COLUMNS)[:0],
    ],
    ids=["nothing", "no rows", "no columns", "no rows of all kinds"],
)
def test_empty_tables_survive(frame):
    assert_survives(frame)


def test_large_columns_survive_compressed():
    rng = np.random.default_rng(0)
    numbers, letters = rng.integers(0, 5, 20_000), rng.choice(list("abc"), 20_000)
    assert_survives(pd.DataFrame({"n": numbers, "letter": letters, "x": rng.random(20_000)}))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    hpd.data_frames(
        [
            hpd.column("x", dtype=float),
            hpd.column("n", elements=st.integers(-(2**63), 2**63 - 1), dtype="i8"),
            hpd.column("t", elements=st.text(), dtype=object),
            hpd.column("d", elements=hnp.from_dtype(np.dtype("M8[ns]")), dtype="M8[ns]"),
        ],
        index=hpd.range_indexes(max_size=8),
    )
)
def test_any_table_survives(frame):
    assert_survives(frame)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1, 2], [3]], r"such as the list \[1, 2\]; make a column of each"),
        (["a", 1], "mixed kinds, such as the int 1; convert"),
        ([datetime.date(2020, 1, 1)], "such as the date datetime.date"),
        (pd.Series([True, None], dtype=object), r"\(boolean\); convert them with .convert_dtypes"),
        (pd.Series([1, 2], dtype=object), r"\(integer\); convert them with .convert_dtypes"),
        ([1 + 2j], "no encoding for dtype complex128; convert it to numbers"),
        (np.array([1.0], dtype=np.longdouble), r"convert it with .astype\('float64'\)"),
        (pd.period_range("2020", periods=1, freq="M"), r"no encoding for dtype period\[M\]"),
        (pd.arrays.SparseArray([0, 1]), "make it dense with .sparse.to_dense()"),
        (
            pd.cut([1, 2], 2),
            r"its categories: no encoding for dtype interval.*rename_categories\(str\)",
        ),
        (pd.array([1], dtype="int64[pyarrow]"), r"no encoding for dtype int64\[pyarrow\]"),
        (pd.to_datetime(["2020"]).tz_localize(tzoffset("here", 3600)), "time zone tzoffset"),
    ],
    ids=str,
)
def test_what_cannot_be_stored_is_named_with_a_way_out(values, message):
    frame = pd.DataFrame({"fine": 1, "no/good": values})
    with pytest.raises(DataError, match=f"column 'no/good': .*{message}"):
        around(frame)
    with pytest.raises(DataError, match="column 'no/good'"):
        fingerprint(frame)


def test_a_multiindex_and_odd_labels_are_refused():
    frame = pd.DataFrame({("a", "b"): [1]})
    with pytest.raises(DataError, match="index of the columns: a MultiIndex; flatten it"):
        around(frame)
    with pytest.raises(DataError, match="index of the rows: a MultiIndex"):
        around(frame.T)
    odd = pd.DataFrame([[1, 2]], columns=pd.Index(["a", frozenset([1])], dtype=object))
    with pytest.raises(DataError, match=r"index of the columns: the label frozenset"):
        around(odd)


def strings(group):
    return group.attrs["encoding-type"] == "text" and "values" in group


TEXTS = {
    "plain": ["a", "ü", None, ""],
    "a NUL at the end": ["a\0", "b"],
    "half of a character": ["\ud800", "b"],
    "one long among many": ["x" * 100_000, *"abcdefgh" * 100],
}


@pytest.mark.parametrize("texts", TEXTS)
def test_texts_are_plain_strings_where_strings_can_hold_them(tmp_path, texts):
    frame = pd.DataFrame({"t": pd.Series(TEXTS[texts], dtype=object)})
    with h5py.File(tmp_path / "t.h5", "w") as file:
        write_frame(file, "t", frame)
        pd.testing.assert_frame_equal(read_frame(file["t"])[0], frame)
        stored = file["t/body/0"]
        assert ("values" in stored) == (texts == "plain")
        if texts == "plain":
            assert stored["values"].asstr()[:2].tolist() == ["a", "ü"]
        del file["t"].attrs["rows"]
        assert read_columns(file["t"], ["t", "none"]).equals(frame)


def test_a_column_is_read_without_the_others(tmp_path):
    numbers = np.arange(12.0).reshape(4, 3)
    frame = pd.DataFrame(numbers, columns=["a", "b", "c"]).assign(t=["p", "q", None, "r"], d=1.5)
    with h5py.File(tmp_path / "t.h5", "w") as file:
        write_frame(file, "t", frame)
        for names in (["b"], ["d", "a"], ["t", "c"]):
            pd.testing.assert_frame_equal(read_columns(file["t"], names), frame[names])
        del file["t/body/1"]["missing"]
        assert read_columns(file["t"], ["b"])["b"].tolist() == [1, 4, 7, 10]
        with pytest.raises(StoreError, match="column 't': cannot be read"):
            read_columns(file["t"], ["t"])


def test_nothing_is_pickled_or_of_variable_length():
    with h5py.File("table", "w", driver="core", backing_store=False) as file:
        write_frame(file, "t", pd.DataFrame(COLUMNS))

        def check(name: str, item: h5py.Group | h5py.Dataset) -> None:
            if isinstance(item, h5py.Dataset):
                assert item.dtype.kind in "biufS", name
                assert h5py.check_vlen_dtype(item.dtype) is None
            elif name != "t/body":
                assert item.attrs["encoding-version"] == 1 + ("values" in item and strings(item)), (
                    name
                )
                assert item.attrs["encoding-type"], name

        file.visititems(check)


def test_wide_tables_are_one_array():
    with h5py.File("table", "w", driver="core", backing_store=False) as file:
        write_frame(file, "t", pd.DataFrame(np.zeros((3, 500))))
        assert list(file["t/body"]) == ["0"]
        assert file["t/body/0/values"].shape == (500, 3)


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("columns", "the index of its columns"),
        ("index/values", "the index of its rows"),
        ("body", "its columns"),
        ("body/0", "column 'x'"),
        ("body/1/values", "column 'a/b'"),
        ("body/2/categories", "column 'c'"),
    ],
)
def test_damage_names_file_dataset_and_column(tmp_path, path, what):
    file_path = tmp_path / "store.h5"
    frame = pd.DataFrame(
        {"x": [1.5, 2], "a/b": ["p", "q"], "c": pd.Categorical(["r", "s"])}, [4, 5]
    )
    with h5py.File(file_path, "w") as file:
        write_frame(file, "t", frame)
        del file["t"][path]
        with pytest.raises(StoreError) as caught:
            read_frame(file["t"], "iris")
    assert f"{file_path}: dataset 'iris', {what}: cannot be read" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "restore the file from a copy" in str(caught.value)


def test_arrays_of_other_lengths_are_damage(tmp_path):
    with h5py.File(tmp_path / "store.h5", "w") as file:
        write_frame(file, "t", pd.DataFrame({"x": [1.5, 2]}, [4, 5]))
        del file["t/body/0/values"]
        file["t/body/0/values"] = np.zeros((1, 3))
        with pytest.raises(StoreError, match="dataset '/t', column 'x': cannot be read"):
            read_frame(file["t"])


def test_a_lost_last_column_is_damage(tmp_path):
    with h5py.File(tmp_path / "store.h5", "w") as file:
        write_frame(file, "t", pd.DataFrame({"x": [1.5, 2], "y": ["a", "b"]}))
        del file["t/body/1"]
        with pytest.raises(StoreError, match="dataset '/t', its columns together: cannot be read"):
            read_frame(file["t"])


def test_newer_versions_and_unknown_encodings_are_told(tmp_path):
    with h5py.File(tmp_path / "store.h5", "w") as file:
        write_frame(file, "t", pd.DataFrame({"x": [1.5, 2]}))
        file["t/body/0"].attrs["encoding-type"] = "array/xyz"
        with pytest.raises(StoreError, match="column 'x': cannot be read"):
            read_frame(file["t"])
        file["t/body/0"].attrs["encoding-version"] = 2
        with pytest.raises(StoreError, match=r"version 2 of encoding 'array/xyz'.*update MLaut"):
            read_frame(file["t"])
        with pytest.raises(StoreError, match=r"dataset '/t/index', its layout"):
            read_frame(file["t/index"])


def test_without_pyarrow_strings_are_held_in_python(monkeypatch):
    from mlaut.files_io.tables import encodings

    frame = pd.DataFrame({"s": pd.Series(["a", None]), "t": pd.Series(["a", None], dtype="string")})
    monkeypatch.setattr(encodings, "find_spec", lambda _: None)
    back = around(frame)
    assert all(getattr(dtype, "storage", "python") == "python" for dtype in back.dtypes)
    assert back["t"].dtype == pd.StringDtype("python")
    assert fingerprint(back) == fingerprint(frame)


SAME = {
    "width of integers": ([1, 2, 250], ["u1", "i2", "i8", "f4", "f8", "Int16", "Float64"]),
    "missing numbers": ([1, None, 2], ["f4", "f8", "Int8", "UInt64", "Float32"]),
    "truth values": ([True, False, True], ["bool", "boolean"]),
    "texts": (["a", None, ""], [object, "string", pd.StringDtype("python")]),
    "dates": (pd.to_datetime(["2020", None, "1960"]), ["M8[s]", "M8[ms]", "M8[us]", "M8[ns]"]),
    "durations": (pd.to_timedelta(["1s", None, "-3s"]), ["m8[s]", "m8[ms]", "m8[ns]"]),
    "wide integers": ([2**60, 2**60 + 1, 1], ["i8", "u8", "Int64"]),
}


@pytest.mark.parametrize("what", SAME)
def test_fingerprint_does_not_depend_on_the_storage(what):
    values, dtypes = SAME[what]
    assert len({fingerprint(pd.DataFrame({"a": pd.Series(values, dtype=d)})) for d in dtypes}) == 1


def test_fingerprint_treats_both_zeros_and_all_nans_alike():
    payload = np.array([0x7FF8000000000001], dtype="u8").view("f8")
    one = pd.DataFrame({"a": [0.0, np.nan]})
    two = pd.DataFrame({"a": [-0.0, payload[0]]})
    assert fingerprint(one) == fingerprint(two)


def category(values, categories=("x", "y"), ordered=False):
    return pd.DataFrame({"a": pd.Categorical(values, list(categories), ordered=ordered)})


DIFFERENT = [
    pd.DataFrame({"a": [1, 0]}),
    pd.DataFrame({"a": [0, 1]}),
    pd.DataFrame({"a": [0, 1.0000000000000002]}),
    pd.DataFrame({"a": [0, np.nan]}),
    pd.DataFrame({"a": [0]}),
    pd.DataFrame({"a": [1, 0], "b": [1, 0]}),
    pd.DataFrame({"b": [1, 0]}),
    pd.DataFrame({"a": [True, False]}),
    pd.DataFrame({"a": ["1", "0"]}),
    pd.DataFrame({"a": ["10", ""]}),
    pd.DataFrame({"a": [None, "10"]}),
    pd.DataFrame({"a": ["", "10"]}),
    pd.DataFrame({1: [1, 0]}),
    pd.DataFrame({"1": [1, 0]}),
    pd.DataFrame({"a": ["x", "y"]}),
    category(["x", "y"]),
    category(["x", "y"], ("y", "x")),
    category(["x", "y"], ordered=True),
    category(["x", "y"], ("x", "y", "z")),
    category(["x", None]),
    pd.DataFrame({"a": pd.to_datetime(["2020", "2021"])}),
    pd.DataFrame({"a": pd.to_datetime(["2020", "2021"], utc=True)}),
    pd.DataFrame({"a": pd.to_timedelta([0, 1])}),
    pd.DataFrame({"a": [2**60, 0]}),
    pd.DataFrame({"a": [2**60 + 1, 0]}),
]


def test_fingerprint_depends_on_what_is_said():
    assert len({fingerprint(frame) for frame in DIFFERENT}) == len(DIFFERENT)


def test_fingerprint_ignores_the_index_and_not_the_order_of_rows():
    frame = pd.DataFrame({"a": [1, 2]})
    assert fingerprint(frame.set_axis(["p", "q"])) == fingerprint(frame)
    assert fingerprint(frame[::-1]) != fingerprint(frame)


def test_fingerprint_is_the_same_for_ever():
    frame = pd.DataFrame(
        {
            "n": [1, None],
            "t": ["a", None],
            "b": [True, False],
            "c": pd.Categorical(["x", "y"], ["y", "x"]),
            "d": pd.to_datetime(["2020-01-01", None]),
        }
    )
    assert fingerprint(frame) == (
        "8ff29f457257caa90f9845a2513cddc55e88c9c8ee2c24b2aac59ba7a263b3b7"
    )


def test_column_fingerprints_say_where_tables_differ():
    one = column_fingerprints(pd.DataFrame({"a": [1, 2], 5: [1, 2]}))
    two = column_fingerprints(pd.DataFrame({"a": [1, 3], 5: [1, 2]}))
    assert [name for name, _ in one] == ["a", 5]
    assert one[0] != two[0]
    assert one[1] == two[1]


def test_encode_of_an_index():
    assert encode(pd.Index(["a"])).encoding == "text"


@pytest.mark.parametrize("dtype", ["<f8", "<f4", "<i2"])  # pandas chooses from no other order
def test_columns_of_one_block_are_stored_as_they_are_whatever_was_chosen_of_them(dtype):
    whole = pd.DataFrame(np.arange(60).reshape(12, 5).astype(dtype))
    chosen = [whole, whole[::-1], whole.iloc[:, ::-1], whole.iloc[:, 1:3], whole.iloc[::2]]
    for frame in (*chosen, whole.iloc[3:9], whole[:1], whole[:0], whole.assign(more=1.5)):
        columns = [frame[name].to_numpy() for name in frame.columns[:2]]
        np.testing.assert_array_equal(_stacked(columns), np.stack(columns, dtype=columns[0].dtype))
        assert _stacked(columns).dtype == columns[0].dtype
        assert_survives(frame)
    # pandas 2 keeps the order of the array that it is given, and pandas 3 turns it to this one.
    ordered = pd.DataFrame(np.asfortranarray(whole.to_numpy()))
    columns = [ordered[name].to_numpy() for name in ordered.columns]
    assert np.shares_memory(_stacked(columns), columns[0])


@pytest.mark.parametrize("axis", [0, 1])
def test_labels_of_a_type_without_an_encoding_are_told(axis):
    days = pd.to_datetime(["2020", "2021"]).tz_localize(tzoffset("here", 3600))
    frame = pd.DataFrame(np.eye(2)).set_axis(days, axis=axis)
    what = ("rows", "columns")[axis]
    with pytest.raises(DataError, match=rf"index of the {what}: .*time zone tzoffset"):
        around(frame)
