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
)


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
    group.attrs["several"] = [1, 2]
    assert get_attributes(group)["several"].tolist() == [1, 2]
    assert (encoding_of(file), encoding_of(group)) == ("text", "")
