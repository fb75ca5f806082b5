"""Saved models: a study names files below its own folder only, with the digest that it recorded."""

import hashlib
import os
import re
import stat

import pytest

from mlaut.errors import StoreError
from mlaut.estimators import as_strategies
from mlaut.files_io.models import copy_model, is_recorded, model_path, read_model, write_model
from mlaut.records import Cell

CELL = Cell("a/b", "..", 1, 2)
SECRET = b"not a model"
DIGEST = hashlib.sha256(SECRET).hexdigest()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "secret").write_bytes(SECRET)
    (tmp_path / "study.h5.models").mkdir()
    return tmp_path / "study.h5.models"


def test_what_is_written_is_read_and_copied(folder, tmp_path):
    record = write_model(folder, CELL, b"content", ".pickle")
    assert record["file"] == "a%2Fb/%2E%2E/r1-f2.pickle"
    assert read_model(folder, record) == b"content"
    assert is_recorded(folder, record)
    copied = copy_model(folder, record, tmp_path / "other")
    assert copied == tmp_path / "other" / record["file"]
    assert copied.read_bytes() == b"content"


@pytest.mark.parametrize("name", ["../secret", "a/../../secret", "{}/secret", "link", "to/secret"])
def test_no_name_leads_out_of_the_folder(folder, tmp_path, name):
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "to").symlink_to(tmp_path)
    record = {"file": name.format(tmp_path), "sha256": DIGEST}
    for use in (model_path, read_model, lambda *a: copy_model(*a, tmp_path / "new")):
        with pytest.raises(StoreError, match=r"lies outside of this folder.*do not trust") as told:
            use(folder, record)
        assert "\n" not in str(told.value)
    assert not is_recorded(folder, record)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "record",
    [
        {"file": "", "sha256": DIGEST},
        {"file": 3, "sha256": DIGEST},
        {"file": "a\0b", "sha256": DIGEST},
        {"file": "a"},
        {"file": "a", "sha256": "x"},
        {"sha256": DIGEST},
        "a",
    ],
)
def test_a_record_that_makes_no_sense_is_told(folder, record):
    with pytest.raises(StoreError, match="does not say which file a model is in"):
        read_model(folder, record)
    assert not is_recorded(folder, record)


def test_a_pipe_is_not_waited_for(folder):
    os.mkfifo(folder / "pipe")
    with pytest.raises(StoreError, match="no plain file"):
        read_model(folder, {"file": "pipe", "sha256": DIGEST})


def test_another_content_is_neither_read_nor_copied(folder, tmp_path):
    record = write_model(folder, CELL, b"content", ".pickle")
    (folder / record["file"]).write_bytes(b"other")
    said = re.escape(str(folder / record["file"])) + ": not the model that the study recorded"
    for use in (read_model, lambda *a: copy_model(*a, tmp_path / "new")):
        with pytest.raises(StoreError, match=said):
            use(folder, record)


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_who_may_read_other_new_files_may_read_models(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        record = write_model(tmp_path, Cell("iris", "SVC"), b"fitted", ".pickle.z")
        strategy = as_strategies("GaussianNaiveBayes")[0].save(tmp_path / "strategy")
    finally:
        os.umask(before)
    for path in (tmp_path / record["file"], strategy):
        assert stat.S_IMODE(path.stat().st_mode) == mode
