"""Saved models: a study names files below its own folder only, with the digest that it recorded."""

import fcntl
import hashlib
import os
import re
import stat

import pytest

from mlaut.errors import StoreError
from mlaut.estimators import as_strategies
from mlaut.files_io.studies.models import (
    copy_model,
    is_recorded,
    model_path,
    prepare_models,
    read_model,
    write_model,
)
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


@pytest.mark.parametrize("inner", ["", "a%2Fb", "a%2Fb/%2E%2E"])
def test_no_model_is_written_through_a_link(folder, tmp_path, inner):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place = folder / inner
    if inner:
        place.parent.mkdir(parents=True, exist_ok=True)
    else:
        folder.rmdir()
    place.symlink_to(elsewhere)
    with pytest.raises(StoreError, match=f"{re.escape(str(place))}: a link, a pipe or a device"):
        write_model(folder, CELL, b"content", ".pickle")
    assert not list(elsewhere.iterdir())


def test_a_folder_of_models_that_is_a_link_is_refused_before_the_first_cell(folder, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(folder)
    with pytest.raises(StoreError, match="link: a link, a pipe or a device"):
        prepare_models(link)


def test_what_killed_writers_left_is_removed_and_what_living_ones_write_is_not(folder):
    kept = folder / write_model(folder, CELL, b"content", ".pickle")["file"]
    left, living = (kept.with_name(f".{digit * 16}.tmp") for digit in "01")
    other = kept.with_name(".notes.tmp")
    for path in (left, living, other):
        path.write_bytes(b"half")
    with living.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        prepare_models(folder)
    assert sorted(kept.parent.iterdir()) == sorted([kept, living, other])


def test_the_name_of_a_new_folder_of_models_survives_a_power_cut(tmp_path, monkeypatch):
    """It lies in the folder above; seed 13 of the simulation lost all models with it."""
    synced = []
    monkeypatch.setattr("mlaut.files_io.studies.models.fsync_folder", synced.append)
    prepare_models(tmp_path / "study.h5.models")
    assert (tmp_path / "study.h5.models").is_dir()
    assert synced == [tmp_path]


def test_a_model_is_locked_while_it_is_written(folder, monkeypatch):
    replaced = type(folder).replace

    def replace(self, target):
        prepare_models(folder)
        return replaced(self, target)

    monkeypatch.setattr(type(folder), "replace", replace)
    record = write_model(folder, CELL, b"content", ".pickle")
    assert read_model(folder, record) == b"content"


@pytest.mark.parametrize("name", ["loop", "loop/model"])
def test_a_link_that_leads_to_itself_is_no_model(folder, tmp_path, name):
    (folder / "loop").symlink_to(folder / "loop")
    record = {"file": name, "sha256": DIGEST}
    for use in (read_model, lambda *a: copy_model(*a, tmp_path / "new")):
        with pytest.raises(StoreError, match=r"loop.*: cannot be used while .* symbolic links"):
            use(folder, record)
    assert not is_recorded(folder, record)
    assert not (tmp_path / "new").exists()


def test_another_file_in_the_place_of_a_model_is_kept(folder):
    first = write_model(folder, CELL, b"content", ".pickle")
    assert write_model(folder, CELL, b"content", ".pickle") == first
    second = write_model(folder, CELL, b"other", ".pickle")
    assert second["file"] == f"a%2Fb/%2E%2E/r1-f2-{second['sha256'][:12]}.pickle"
    assert (read_model(folder, first), read_model(folder, second)) == (b"content", b"other")


def test_names_that_are_too_long_for_a_folder_stay_apart(folder):
    long = "\N{GREEK SMALL LETTER ALPHA}" * 125  # 250 bytes
    cells = [Cell(long + end, "svc", 0, 0) for end in "ab"]
    records = [write_model(folder, cell, cell.dataset.encode(), ".pickle") for cell in cells]
    for cell, record in zip(cells, records, strict=True):
        assert read_model(folder, record) == cell.dataset.encode()
        part, strategy, name = record["file"].split("/")
        assert part.startswith(long[:40] + "-")
        assert len(part.encode()) <= 255
        assert (strategy, name) == ("svc", "r0-f0.pickle")
