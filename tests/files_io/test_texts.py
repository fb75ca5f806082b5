"""Texts and labels as HDF5 strings, in files of any source."""

import h5py
import numpy as np
import pytest

from mlaut.files_io.safe_files import texts
from mlaut.files_io.safe_files.texts import (
    append_log,
    encoding_of,
    get_attributes,
    get_labels,
    get_log,
    put_attributes,
    put_labels,
    put_values,
)
from mlaut.files_io.safe_files.untrusted import opened


@pytest.fixture
def file(tmp_path):
    with h5py.File(tmp_path / "texts.h5", "w") as file:
        yield file


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["no", "ü", ""], "S"),
        ([1, -2], "i"),
        ([0.5, 2.0], "f"),
        ([True, None, 1.5, "x"], "S"),  # as JSON
        (["a\0", "b"], "S"),
        ([2**63, 1], "S"),
        ([], "S"),
    ],
)
def test_labels_come_back_with_their_types(file, labels, kind):
    put_labels(file, "labels", labels)
    found = get_labels(file, "labels")
    assert [(type(label), label) for label in found] == [(type(label), label) for label in labels]
    assert file["labels"].dtype.kind == kind
    assert get_labels(file, "nothing") == []


def test_a_text_that_utf8_cannot_hold_is_kept_in_the_file_and_read_with_a_question_mark(file):
    put_labels(file, "labels", ["a", "\ud800"])
    assert b"\\ud800" in file["labels"][0]
    assert get_labels(file, "labels") == ["a", "?"]


def test_more_labels_or_records_than_anything_needs_are_not_read(file, monkeypatch):
    put_labels(file, "labels", list(range(20)))
    append_log(file, "log", ['"' + "x" * 70_000 + '"'])
    append_log(file, "log", ['"' + "x" * 70_000 + '"'])
    assert [len(record) for record in get_log(file, "log")] == [70_000, 70_000]
    monkeypatch.setattr(texts, "MOST_JSON", 159)
    with pytest.raises(ValueError, match="/labels has 160 bytes of labels, which nothing needs"):
        get_labels(file, "labels")
    monkeypatch.setattr(texts, "MOST_JSON", 140_000)  # more than each piece has
    with pytest.raises(ValueError, match="/log has more JSON than anything needs"):
        get_log(file, "log")
    np.testing.assert_array_equal(file["labels"][...], np.arange(20))


def test_attributes_are_read_as_h5py_reads_them(file):
    put_attributes(file, {"encoding-type": "text", "count": 3, "name": "ä"})
    file.attrs["share"] = 0.5
    file.attrs["fixed"] = np.bytes_(b"some bytes")
    group = file.create_group("plain")
    assert get_attributes(file) == {**file.attrs, "fixed": "some bytes"}
    group.attrs.update({"several": [1, 2], "texts": ["a", "b"], "none": np.zeros(0)})
    several = get_attributes(group)
    assert [several[n].tolist() for n in ("several", "texts", "none")] == [[1, 2], [b"a", b"b"], []]
    assert (encoding_of(file), encoding_of(group)) == ("text", "")


@pytest.mark.parametrize(
    "values",
    [
        np.arange(6.0).reshape(2, 3).T,
        np.zeros((0, 2), "<i2"),
        np.array([b"no", "ü".encode()], h5py.string_dtype("utf-8", 2)),
        np.array([b"no", b"yes"]),
        np.array([True, False]),
    ],
)
def test_values_are_stored_in_the_bytes_of_h5py(tmp_path, values):
    for name in ("own", "theirs"):
        with h5py.File(tmp_path / name, "w", libver="latest") as file:
            if name == "own":
                found = put_values(file, "x", values)
                assert (found.dtype, found[:].tolist()) == (values.dtype, values.tolist())
            else:
                file.create_dataset("x", data=values)
    assert (tmp_path / "own").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_a_part_that_is_the_whole_is_read_at_once(file, monkeypatch):
    values = np.arange(12).reshape(4, 3)
    stored = opened(put_values(file, "x", values).parent, "x")
    assert stored.read(slice(1, 3)).tolist() == values[1:3].tolist()
    assert stored.read(slice(2, 9)).tolist() == values[2:].tolist()
    monkeypatch.setattr(h5py, "Dataset", None)  # as a part is read
    assert stored.read(slice(0, 9)).tolist() == values.tolist()
