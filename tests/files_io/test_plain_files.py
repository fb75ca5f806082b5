"""Plain files: pipes and devices are refused, reading has a limit, writing is all or nothing."""

import errno
import os
import stat
from pathlib import Path

import pytest

from mlaut.errors import StoreError
from mlaut.files_io.safe_files.plain_files import (
    read_plain,
    read_text,
    read_toml,
    strict_json,
    write_file,
    write_files,
)


@pytest.fixture(params=["pipe", "device", "link to a pipe", "link to a device"])
def endless(request, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    place = Path("/dev/zero") if "device" in request.param else tmp_path / "pipe"
    if "link" in request.param:
        (tmp_path / "link").symlink_to(place)
        return tmp_path / "link"
    return place


@pytest.mark.parametrize(
    "use",
    [read_plain, read_text, read_toml, lambda path: write_file(path, "x")],
    ids=["plain", "text", "toml", "write"],
)
def test_a_pipe_or_a_device_is_refused_at_once(endless, use):
    with pytest.raises(StoreError, match="a pipe or a device, and must be a file; name another"):
        use(endless)


def test_a_text_has_a_limit_and_may_have_a_mark_of_its_order(tmp_path):
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1\r\n")
    assert read_toml(path) == {"a": 1}
    with pytest.raises(StoreError, match="has more than 5 bytes; not read"):
        read_text(path, 5)


@pytest.mark.parametrize("text", ["a = " + "[" * 10**5, "a = " + "1" * 5000, "a", "a = '\xe9"])
def test_what_is_no_toml_is_a_value_error(tmp_path, text):
    (tmp_path / "a.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=r".+"):
        read_toml(tmp_path / "a.toml")


@pytest.mark.parametrize(
    ("text", "reason"),
    [('[{"a": 1, "b": 2, "a": 1}]', "the key 'a' twice"), ("[" * 10**5, "nested too deeply"),
     ('{"a":' * 10**5, "nested too deeply"), ("[" + "1" * 5000 + "]", "4300")],
)  # fmt: skip
def test_what_is_no_json_is_a_value_error(text, reason):
    with pytest.raises(ValueError, match=reason):
        strict_json(text)


def test_the_same_key_in_two_objects_is_json():
    assert strict_json('[{"a": 1, "b": {"a": 2}}, {}]') == [{"a": 1, "b": {"a": 2}}, {}]


@pytest.fixture
def full(monkeypatch):
    def fail(path, content):
        with path.open("wb") as file:
            file.write(content[:1])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", fail)


def test_a_full_disk_leaves_what_was_there(tmp_path, full):
    (tmp_path / "old").write_text("old")
    with pytest.raises(StoreError, match="is full while writing it"):
        write_file(tmp_path / "old", "new")
    with pytest.raises(StoreError, match="is full while writing it"):
        write_file(tmp_path / "absent", "new", new=True)
    with pytest.raises(StoreError, match="is full while writing its files"):
        write_files(tmp_path, [("old", "new"), ("more/below", "new")])
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_text() == "old"


def test_a_file_keeps_its_mode_and_a_link_leads_to_it(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    write_file(file, "old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_file(link, "new \ud800")
    assert file.read_text() == "new \\ud800"
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_nothing_is_replaced_where_a_file_must_be_new(tmp_path):
    write_file(tmp_path / "file", "old", new=True)
    with pytest.raises(StoreError, match="exists, and nothing is overwritten"):
        write_file(tmp_path / "file", "new", new=True)
    assert (tmp_path / "file").read_text() == "old"


def test_a_name_that_no_system_takes_is_one_line(tmp_path):
    with pytest.raises(StoreError, match="File name too long"):
        write_file(tmp_path / ("n" * 300), "x")


def test_a_file_that_may_not_be_written_is_told_and_left(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("old")
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    with pytest.raises(StoreError, match="file: no permission while writing it"):
        write_file(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "old"


def test_files_of_a_folder_replace_what_was_there_and_follow_no_link(tmp_path):
    folder, elsewhere = tmp_path / "new" / "folder", tmp_path / "elsewhere"
    elsewhere.write_text("kept")
    paths = write_files(folder, [("a", "old"), ("below/b", b"\xff")])
    assert paths == (folder / "a", folder / "below" / "b")
    (folder / "below" / "b").unlink()
    (folder / "below" / "b").symlink_to(elsewhere)
    assert write_files(folder, [("a", "new \ud800"), ("below/b", b"\xff\0")]) == paths
    assert [path.read_bytes() for path in paths] == [b"new \\ud800", b"\xff\0"]
    assert elsewhere.read_text() == "kept"
    assert sorted(path.name for path in folder.iterdir()) == ["a", "below"]
