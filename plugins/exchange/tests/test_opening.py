import hashlib
import json
import os
import random
import shutil
import stat
import subprocess
import sys
import zipfile

import h5py
import pytest
from mlaut_exchange import open_bundle, verify_bundle
from mlaut_exchange.opening import MOST_MANIFEST

from mlaut.errors import StoreError
from mlaut.files_io.kinds import Kind, kind_of


def refused(place, **how):
    with pytest.raises(StoreError) as found:
        open_bundle(place, **how)
    text = str(found.value)
    assert "\n" not in text
    return text


def named_anew(bundle):
    """Let the manifest name what is in the folder now, as an author can do who means harm."""
    manifest = bundle / "bundle.json"
    content = json.loads(manifest.read_bytes())
    for name in content["files"]:
        data = (bundle / name).read_bytes()
        content["files"][name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    manifest.write_text(json.dumps(content))


# ---------------------------------------------------------------------- folders


def test_a_folder(bundle, published):
    assert open_bundle(bundle).digest == published.digest
    assert kind_of(bundle.parent) is not Kind.BUNDLE


def test_a_folder_in_the_home_directory(published, monkeypatch):
    monkeypatch.setenv("HOME", str(published.folder.parent))
    assert open_bundle("~/bundle").study == published.folder / "study.h5"


def test_any_changed_byte_is_named(bundle):
    path = bundle / "scores.csv"
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)
    assert "scores.csv: its digest is not the one in bundle.json" in refused(bundle)
    path.write_bytes(data + b"more")
    assert f"scores.csv: has {len(data) + 4:,} bytes, and bundle.json says" in refused(bundle)
    path.unlink()
    assert "scores.csv: no such file" in refused(bundle)


def test_no_link_is_followed(bundle, tmp_path):
    outside = tmp_path / "outside.csv"
    (bundle / "scores.csv").rename(outside)
    (bundle / "scores.csv").symlink_to(outside)
    assert "a link, a pipe or a device" in refused(bundle)
    (bundle / "scores.csv").unlink()
    os.mkfifo(bundle / "scores.csv")
    assert "a link, a pipe or a device" in refused(bundle)


@pytest.mark.parametrize("name", ["study.h5.journal", "study.h5.change", ".study.h5.12345678.tmp"])
def test_nothing_lies_beside_the_files(bundle, name):
    (bundle / ".git").mkdir()
    open_bundle(bundle)
    (bundle / name).write_bytes(b"x")
    assert f"{name}: lies in the folder, and bundle.json does not name it" in refused(bundle)


def test_a_study_that_leads_out_of_its_file_is_not_read(bundle):
    (bundle / "study.h5").unlink()
    with h5py.File(bundle / "study.h5", "w") as file:
        file.attrs.update({"study_id": "x", "study_format": 2})
        file["splits"] = h5py.ExternalLink("/etc/passwd", "/")
    named_anew(bundle)
    with pytest.raises(
        StoreError, match="is a link to somewhere else, which MLaut does not follow"
    ):
        verify_bundle(bundle)


# --------------------------------------------------------------------- archives


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members:
            archive.writestr(member, content)
    return path


def files_of(bundle, prefix=""):
    return [(prefix + path.name, path.read_bytes()) for path in sorted(bundle.iterdir())]


@pytest.mark.parametrize("prefix", ["", "bundle/"])
def test_an_archive(bundle, published, tmp_path, cache, prefix):
    archive = zipped(tmp_path / "b.zip", [*files_of(bundle, prefix), (f"{prefix}notes.txt", "x")])
    found = open_bundle(archive)
    assert found.digest == published.digest
    assert found.folder == cache / published.digest
    assert not (found.folder / "notes.txt").exists()


@pytest.mark.parametrize("name", ["../study.h5", "/etc/x", "a/b/c", "x/../../y"])
def test_no_archive_writes_outside(bundle, tmp_path, name):
    archive = zipped(tmp_path / "b.zip", [*files_of(bundle), (name, b"x")])
    assert "lies outside of the folder of a bundle" in refused(archive)


def test_no_link_in_an_archive(bundle, tmp_path):
    link = zipfile.ZipInfo("scores.csv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    members = [(n, c) for n, c in files_of(bundle) if n != link.filename]
    archive = zipped(tmp_path / "b.zip", [*members, (link, "/etc/passwd")])
    assert "'scores.csv' is a link or a device" in refused(archive)


def test_no_file_twice_in_an_archive(bundle, tmp_path):
    archive = zipped(tmp_path / "b.zip", [*files_of(bundle), ("x/study.h5", b"x")])
    assert "holds 'study.h5' twice" in refused(archive)


def test_no_archive_unpacks_to_more_than_its_manifest_says(bundle, tmp_path, cache):
    members = dict(files_of(bundle))
    archive = zipped(tmp_path / "b.zip", [*{**members, "scores.csv": b"0" * 10**7}.items()])
    size = len(members["scores.csv"])
    assert f"scores.csv: more than the {size:,} bytes that are allowed" in refused(archive)
    assert not list(cache.rglob("scores.csv"))


def test_no_archive_unpacks_to_more_than_the_limit(bundle, tmp_path):
    content = json.loads((bundle / "bundle.json").read_bytes())
    content["files"]["study.h5"]["size"] = 2**40
    members = {**dict(files_of(bundle)), "bundle.json": json.dumps(content).encode()}
    archive = zipped(tmp_path / "b.zip", members.items())
    assert "bytes, and 1,073,741,824 are allowed" in refused(archive)


def test_no_unusual_compression(bundle, tmp_path):
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.write(bundle / "bundle.json", "bundle.json")
    assert "'bundle.json' is not deflated; make a usual .zip of it" in refused(tmp_path / "b.zip")


@pytest.mark.slow
def test_any_flipped_bit_of_an_archive_is_refused_or_changes_nothing(
    bundle, published, tmp_path, cache
):
    whole = zipped(tmp_path / "b.zip", files_of(bundle)).read_bytes()
    heads = [at for at in range(len(whole) - 1) if whole[at : at + 2] == b"PK"]
    generator, told = random.Random(0), []
    for _ in range(60):
        data = bytearray(whole)
        at = min(generator.choice(heads) + generator.randrange(46), len(data) - 1)
        data[at] ^= 1 << generator.randrange(8)
        (tmp_path / "b.zip").write_bytes(data)
        shutil.rmtree(cache, ignore_errors=True)
        try:
            assert open_bundle(tmp_path / "b.zip").digest == published.digest
        except StoreError as error:
            told.append(str(error))
    assert told
    assert "\n" not in "".join(told)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04no archive"], ids=["empty", "torn"])
def test_what_is_no_archive(tmp_path, content):
    (tmp_path / "b.zip").write_bytes(content)
    assert "cannot be unpacked" in refused(tmp_path / "b.zip")


# -------------------------------------------------------------------- addresses


def test_an_address_is_fetched_once(bundle, published, server, cache):
    for address in (
        f"{server.url}/bundle",
        f"{server.url}/bundle/",
        f"{server.url}/bundle/bundle.json",
    ):
        found = open_bundle(address)
        assert found.digest == published.digest
    assert found.folder == cache / published.digest
    assert server.asked.count("/bundle/bundle.json") == 3
    assert server.asked.count("/bundle/study.h5") == 1
    (found.folder / "scores.csv").write_bytes(b"damaged")
    open_bundle(f"{server.url}/bundle")
    assert server.asked.count("/bundle/scores.csv") == 2


def test_an_archive_at_an_address(bundle, published, server, tmp_path):
    zipped(tmp_path / "b.zip", files_of(bundle))
    assert open_bundle(f"{server.url}/b.zip").digest == published.digest
    assert "more than the 1,000 bytes" in refused(f"{server.url}/b.zip", limit=1000)


def test_what_a_server_may_not_send(bundle, server, cache):
    address = f"{server.url}/bundle"
    assert "bytes, and 1,000 are allowed; raise the limit" in refused(address, limit=1000)
    manifest = (bundle / "bundle.json").read_bytes()
    (bundle / "bundle.json").write_bytes(b" " * (MOST_MANIFEST + 1))
    assert "more than 16,777,216 bytes; not read" in refused(address)
    (bundle / "bundle.json").write_bytes(manifest)
    (bundle / "README.md").write_bytes(b"x" * 10**6)
    assert "README.md: more than the" in refused(address)
    (bundle / "README.md").write_bytes(b"x")
    assert "README.md: its digest is not the one in bundle.json" in refused(address)
    (bundle / "README.md").unlink()
    assert "README.md: the server answered 404" in refused(address)
    assert not list(cache.rglob("README.md"))


def test_no_redirection_to_another_protocol(bundle, server):
    server.moved["/bundle/README.md"] = (bundle / "README.md").as_uri()
    assert "the server answered 302" in refused(f"{server.url}/bundle")


def test_what_is_no_address():
    assert "is no address (Invalid IPv6 URL); check it" in refused("http://[half/bundle")


def test_a_server_that_is_not_there(server):
    port = server.server_address[1] + 1
    text = refused(f"http://127.0.0.1:{port if port < 65536 else 1}/bundle")
    assert "cannot be read" in text
    assert "check the address and the network" in text


def test_a_bundle_is_opened_without_anything_that_can_run_code_of_it(bundle):
    able = "cloudpickle", "joblib", "skops", "mlaut.estimators", "mlaut.experiments"
    program = f"""
import sys
from mlaut_exchange import open_bundle
open_bundle({str(bundle)!r})
print([name for name in {able!r} if name in sys.modules])
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (told.stdout, told.stderr) == ("[]\n", "")
