"""Kinds of columns and their values."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from mlaut.errors import DataError
from mlaut.estimators.preparing.columns import (
    CATEGORY,
    DATE,
    DURATION,
    EMPTY,
    NUMBER,
    ORDER,
    Column,
    as_numbers,
    as_texts,
    complete_numbers,
    kinds_of,
)

KINDS = [
    ([1, 2], NUMBER),
    ([1.5, None], NUMBER),
    ([True, False], NUMBER),
    (pd.Series([True, None], dtype=object), NUMBER),
    (pd.array([1, None], dtype="Int64"), NUMBER),
    (pd.array([True, None], dtype="boolean"), NUMBER),
    ([Decimal("1.5"), Decimal("2")], NUMBER),
    (pd.to_datetime(["2020-01-01", None]), DATE),
    (pd.to_datetime(["2020-01-01"]).tz_localize("Europe/London"), DATE),
    (pd.Series([date(2020, 1, 1), None], dtype=object), DATE),
    (pd.period_range("2020-01", periods=2, freq="M"), DATE),
    (pd.to_timedelta(["1 day", None]), DURATION),
    (pd.Categorical(["a", "b"], ordered=True), ORDER),
    (pd.Categorical(["a", "b"]), CATEGORY),
    (pd.Categorical([1, 2]), CATEGORY),
    (["a", None], CATEGORY),
    (pd.Series([1, "a"], dtype=object), CATEGORY),
    ([None, None], EMPTY),
    (pd.Categorical([None], categories=["a"]), EMPTY),
]


@pytest.mark.parametrize(("values", "kind"), KINDS, ids=[str(i) for i in range(len(KINDS))])
def test_kind(values, kind):
    (column,) = kinds_of(pd.DataFrame({"x": values}))
    assert column.kind == kind


def test_complex_numbers_are_refused_by_name():
    with pytest.raises(DataError, match="Complex data not supported: column 'x'; split it"):
        kinds_of(pd.DataFrame({"x": [1j]}))


@pytest.mark.parametrize(
    ("values", "kind", "numbers"),
    [
        ([1, None, np.inf, -np.inf], NUMBER, [1, np.nan, np.nan, np.nan]),
        (["3", "x"], NUMBER, [3, np.nan]),
        (pd.Categorical([3, None]), NUMBER, [3, np.nan]),
        (pd.array([True, None], dtype="boolean"), NUMBER, [1, np.nan]),
        ([Decimal("1.5")], NUMBER, [1.5]),
        (pd.to_datetime(["1970-01-02 12:00", None]), DATE, [1.5, np.nan]),
        (pd.to_datetime(["1970-01-02"]).tz_localize("Etc/GMT-12"), DATE, [0.5]),
        (pd.Series([date(1970, 1, 3), None], dtype=object), DATE, [2, np.nan]),
        (pd.PeriodIndex(["1970-02"], freq="M"), DATE, [31]),
        ([None, None], DATE, [np.nan, np.nan]),
        (pd.to_timedelta(["36 h", None]), DURATION, [1.5, np.nan]),
        (["a", 1], EMPTY, [np.nan, np.nan]),
    ],
)
def test_as_numbers(values, kind, numbers):
    read = as_numbers(pd.Series(values), Column("x", kind))
    assert read.dtype == np.float64
    np.testing.assert_array_equal(read, numbers)


def test_an_ordered_category_is_its_position_whatever_type_it_comes_in():
    column = Column("size", ORDER, ("S", "M", "L"))
    np.testing.assert_array_equal(
        as_numbers(pd.Series(["L", "S", "XL", None]), column), [2, 0, np.nan, np.nan]
    )
    other = pd.Series(pd.Categorical(["M", None], categories=["M", "Q"]))
    np.testing.assert_array_equal(as_numbers(other, column), [1, np.nan])


@pytest.mark.parametrize(
    "values", [[1, 2, 1], [1.0, 2.0, 1.0], pd.Categorical([1, 2, 1]), ["1", "2", "1"]]
)
def test_a_category_reads_the_same_from_any_type(values):
    assert as_texts(pd.Series(values)).tolist() == ["1", "2", "1"]


def test_gaps_of_a_category_are_nan():
    texts = as_texts(pd.Series(["a", None, pd.NA, np.nan], dtype=object))
    assert texts[0] == "a"
    assert all(isinstance(text, float) for text in texts[1:])


@pytest.mark.parametrize(
    ("values", "is_complete"),
    [
        ([1, 2], True),
        (np.array([1.5], dtype=np.float32), True),
        ([1.5, None], False),
        ([1.5, np.inf], False),
        ([True, False], False),
        (pd.array([1, 2], dtype="Int64"), False),
        (["a"], False),
    ],
)
def test_complete_numbers(values, is_complete):
    frame = pd.DataFrame({"first": np.arange(len(values)), "second": values})
    numbers = complete_numbers(frame)
    assert (numbers is not None) is is_complete
    if is_complete:
        assert numbers.dtype == np.float64
        assert numbers.tolist() == frame.to_numpy().tolist()
