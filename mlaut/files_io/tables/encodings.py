"""Conversion of pandas columns and indexes to plain arrays of fixed type, and back.

An `Element` is a column in storable form. These are its encodings, all of version 1:

=============  ===================================================  ================================
encoding       arrays                                               about
=============  ===================================================  ================================
array          values
masked         values, missing                                      dtype
text           bytes (UTF-8), offsets (n + 1), missing (n)          dtype, storage
categorical    codes, -1 where missing; a part: categories          ordered
datetime       values (int64), the smallest where missing           dtype, freq of an index
timedelta      values (int64), the smallest where missing           dtype, freq of an index
range                                                               start, stop, step
labels         values: the UTF-8 bytes of a JSON list
=============  ===================================================  ================================

``missing`` of a text is 0 for a value, 1 for None, 2 for NaN, 3 for ``pd.NA``. Only indexes are
encoded as a range or as labels. Labels are names of mixed types, such as ``[0, 1, "target"]``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, cast

import numpy as np

from mlaut.errors import DataError
from mlaut.helpers.lazy import pd

MASKED = frozenset(
    ["boolean", "Float32", "Float64"]
    + [f"{sign}Int{width}" for sign in ("", "U") for width in (8, 16, 32, 64)]
)
NONE, NAN, NA = 1, 2, 3  # the stored code of each kind of gap; 0 is no gap
UTF8 = ("utf-8", "surrogatepass")


@dataclass(frozen=True, eq=False)
class Element:
    """A column or an index in storable form."""

    encoding: str
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    about: Mapping[str, str | int | bool] = field(default_factory=dict)
    parts: Mapping[str, Element] = field(default_factory=dict)


# ------------------------------------------------------------------- encoding


def encode(values: pd.Series | pd.Index) -> Element:
    """Return the storable form of a column.

    Raises
    ------
    DataError
        The type of the column has no encoding; the message does not name the column.

    Examples
    --------
    >>> element = encode(pd.Series(["a", None], dtype=object))
    >>> element.encoding, element.arrays["missing"].tolist()
    ('text', [0, 1])
    """
    dtype: Any = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _encode_categorical(pd.Series(values))
    if isinstance(dtype, pd.StringDtype):
        kind = "string" if dtype.na_value is pd.NA else "str"
        return _encode_text(values, {"dtype": kind, "storage": dtype.storage})
    if pd.api.types.is_object_dtype(dtype):
        return _encode_objects(values)
    if isinstance(dtype, np.dtype | pd.DatetimeTZDtype) and dtype.kind in "mM":
        return _encode_time(values, dtype)
    if str(dtype) in MASKED:
        missing = values.isna()
        plain = values.to_numpy(dtype=dtype.numpy_dtype, na_value=dtype.type(0))
        arrays = {"values": plain, "missing": np.asarray(missing, dtype=bool)}
        return Element("masked", arrays, {"dtype": str(dtype)})
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf" and dtype.itemsize <= 8:
        return Element("array", {"values": values.to_numpy()})
    raise DataError(f"no encoding for dtype {dtype}; {_way_out(dtype)}")


def encode_columns(frame: pd.DataFrame) -> list[Element]:
    """Return the storable form of each column of a table.

    Raises
    ------
    DataError
        The type of a column has no encoding; the message names the column.
    """
    elements = []
    for name, column in frame.items():
        try:
            elements.append(encode(column))
        except DataError as error:
            raise DataError(f"column {name!r}: {error}") from None
    return elements


def _way_out(dtype: Any) -> str:
    if isinstance(dtype, pd.IntervalDtype):
        return "make them texts: .cat.rename_categories(str) keeps their order, or .astype(str)"
    if isinstance(dtype, pd.SparseDtype):
        return "make it dense with .sparse.to_dense()"
    if getattr(dtype, "kind", "O") == "f":
        return "convert it with .astype('float64')"
    return _ANY_WAY_OUT.replace("them", "it")


def _encode_objects(values: pd.Series | pd.Index) -> Element:
    kind = pd.api.types.infer_dtype(values, skipna=True)
    if kind in ("string", "empty"):
        return _encode_text(values, {"dtype": "object"})
    if kind in ("boolean", "integer", "floating", "mixed-integer-float"):
        raise DataError(f"Python objects ({kind}); convert them with .convert_dtypes()")
    present = [value for value in values if not _is_gap(value)]
    example = next(value for value in present if not isinstance(value, str))
    name, mixed = type(example).__name__, len(set(map(type, present))) > 1
    raise DataError(
        f"Python objects{' of mixed kinds' * mixed}, such as the {name} {example!r:.40}; "
        f"{_ANY_WAY_OUT if mixed else _WAYS_OUT.get(name, _ANY_WAY_OUT)}"
    )


_ANY_WAY_OUT = "convert them to numbers, strings, categories or dates"
_WAYS_OUT = {
    "Decimal": "convert them with .astype('float64')",
    "UUID": "convert them with .astype('str')",
    "bytes": "convert them with .str.decode('utf-8')",
    "date": "convert them with pandas.to_datetime",
    "datetime": "convert them with pandas.to_datetime",
    "Timestamp": "convert them with pandas.to_datetime",
    "Timedelta": "convert them with pandas.to_timedelta",
    "timedelta": "convert them with pandas.to_timedelta",
    "dict": "make a column of each key",
    "list": "make a column of each entry",
    "ndarray": "make a column of each entry",
    "tuple": "make a column of each entry",
}
"""What to do with Python objects, by the name of their class."""


def _is_gap(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))


def _encode_text(values: pd.Series | pd.Index, about: dict[str, str | int | bool]) -> Element:
    objects = values.to_numpy(dtype=object)
    missing = np.asarray(values.isna()).astype(np.uint8)
    for row in np.flatnonzero(missing):
        gap = objects[row]
        missing[row] = NONE if gap is None else NA if gap is pd.NA else NAN
    texts = np.where(missing > 0, "", objects).tolist() if missing.any() else objects.tolist()
    joined = np.frombuffer("".join(texts).encode(*UTF8), dtype=np.uint8)
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    if offsets[-1] != len(joined):  # some characters have several bytes
        np.cumsum([len(text.encode(*UTF8)) for text in texts], out=offsets[1:])
    return Element("text", {"bytes": joined, "offsets": offsets, "missing": missing}, about)


def _encode_categorical(values: pd.Series) -> Element:
    try:
        categories = encode(values.cat.categories)
    except DataError as error:
        raise DataError(f"its categories: {error}") from None
    return Element(
        "categorical",
        {"codes": values.cat.codes.to_numpy()},
        {"ordered": bool(values.cat.ordered)},
        {"categories": categories},
    )


def _encode_time(values: pd.Series | pd.Index, dtype: Any) -> Element:
    if dtype.kind == "m":
        return Element(
            "timedelta", {"values": pd.TimedeltaIndex(values).asi8}, {"dtype": str(dtype)}
        )
    if isinstance(dtype, pd.DatetimeTZDtype) and _zone_of(str(dtype)) != dtype:
        raise DataError(
            f"no encoding for the time zone {dtype.tz!r}; "
            "convert it with .dt.tz_convert and a name such as 'Europe/Berlin'"
        )
    return Element("datetime", {"values": pd.DatetimeIndex(values).asi8}, {"dtype": str(dtype)})


def _zone_of(name: str) -> pd.DatetimeTZDtype | None:
    try:
        return cast(pd.DatetimeTZDtype, pd.DatetimeTZDtype.construct_from_string(name))
    except TypeError:
        return None


def encode_index(index: pd.Index) -> Element:
    """Return the storable form of an index of rows or of columns.

    Raises
    ------
    DataError
        The index is a MultiIndex, or the type of its labels has no encoding.
    """
    if isinstance(index, pd.MultiIndex):
        raise DataError("a MultiIndex; flatten it, or make columns of it with .reset_index()")
    if isinstance(index, pd.RangeIndex):
        steps = {"start": index.start, "stop": index.stop, "step": index.step}
        element = Element("range", about=steps)
    else:
        element = _encode_labels(index)
    about = {**element.about, "name": _as_json(index.name)}
    if isinstance(index, pd.DatetimeIndex | pd.TimedeltaIndex) and index.freqstr is not None:
        about["freq"] = index.freqstr
    return replace(element, about=about)


def _encode_labels(index: pd.Index) -> Element:
    try:
        return encode(index)
    except DataError:
        if index.dtype != object:
            raise
    text = f"[{', '.join(_as_json(label) for label in index)}]"
    return Element("labels", {"values": np.frombuffer(text.encode(), dtype=np.uint8)})


def _as_json(label: Any) -> str:
    plain = label.item() if isinstance(label, np.generic) else label
    if plain is None or isinstance(plain, str | int | float):
        return json.dumps(plain)
    raise DataError(f"the label {label!r:.40}; use strings or numbers as labels")


# ------------------------------------------------------------------- decoding


def decode(element: Element) -> Any:
    """Return the values of a column as a NumPy array or an extension array of the original dtype.

    Examples
    --------
    >>> decode(encode(pd.Series([1, None], dtype="Int8")))
    <IntegerArray>
    [1, <NA>]
    Length: 2, dtype: Int8
    """
    return _DECODERS[element.encoding](element)


def _decode_masked(element: Element) -> Any:
    dtype: Any = pd.api.types.pandas_dtype(str(element.about["dtype"]))
    return dtype.construct_array_type()(element.arrays["values"], element.arrays["missing"])


def _decode_text(element: Element) -> Any:
    joined, missing = element.arrays["bytes"].tobytes(), element.arrays["missing"]
    ends = element.arrays["offsets"].tolist()
    objects = np.empty(len(missing), dtype=object)
    if joined.isascii():  # slices of one text need no decoding of their own
        whole = joined.decode()
        objects[:] = [whole[start:end] for start, end in pairwise(ends)]
    else:
        objects[:] = [joined[start:end].decode(*UTF8) for start, end in pairwise(ends)]
    dtype = _text_dtype(element.about)
    for code, gap in ((NONE, None), (NAN, np.nan), (NA, pd.NA)):
        objects[missing == code] = gap
    return objects if dtype is None else pd.array(objects, dtype=dtype)


def _text_dtype(about: Mapping[str, Any]) -> Any:
    """Return the dtype of a text on this machine; None for objects.

    Without pyarrow, the same strings are stored in Python objects. In pandas 2, a column of the
    dtype ``str`` of pandas 3 becomes a column of objects.
    """
    if about["dtype"] == "object":
        return None
    storage = about["storage"] if find_spec("pyarrow") else "python"
    if about["dtype"] == "string":
        return pd.StringDtype(storage)
    try:
        return pd.StringDtype(storage, na_value=np.nan)
    except TypeError:  # pragma: no cover - raised by pandas 2 alone
        return None


def _decode_categorical(element: Element) -> Any:
    categories = _as_index(decode(element.parts["categories"]))
    dtype = pd.CategoricalDtype(categories, ordered=bool(element.about["ordered"]))
    return pd.Categorical.from_codes(element.arrays["codes"], dtype=dtype)


def _decode_time(element: Element) -> Any:
    name, values = str(element.about["dtype"]), element.arrays["values"]
    zone = _zone_of(name)
    if zone is None:
        return values.view(np.dtype(name))
    utc = pd.DatetimeIndex(values.view(f"M8[{zone.unit}]")).tz_localize("UTC")
    return utc.tz_convert(zone.tz).array


_DECODERS: dict[str, Callable[[Element], Any]] = {
    "array": lambda element: element.arrays["values"],
    "masked": _decode_masked,
    "text": _decode_text,
    "categorical": _decode_categorical,
    "datetime": _decode_time,
    "timedelta": _decode_time,
}


def decode_index(element: Element) -> pd.Index:
    """Return an index with its name and frequency."""
    about: Any = element.about
    name = json.loads(about["name"])
    if element.encoding == "range":
        return pd.RangeIndex(about["start"], about["stop"], about["step"], name=name)
    if element.encoding == "labels":
        labels = json.loads(element.arrays["values"].tobytes())
        return pd.Index(labels, dtype=object, name=name)
    index = _as_index(decode(element))
    index.name = name
    if isinstance(index, pd.DatetimeIndex | pd.TimedeltaIndex) and "freq" in about:
        return type(index)(index, freq=about["freq"])
    return index


def _as_index(values: Any) -> pd.Index:
    # Without the dtype, pandas would infer that objects are strings.
    return pd.Index(values, dtype=values.dtype)
