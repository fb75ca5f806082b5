import json
from pathlib import Path

import pytest
from mlaut_exchange.manifest import DATASETS, KINDS, read_manifest

from mlaut.errors import StoreError


def content_of(bundle, **changes):
    return json.dumps({**json.loads(bundle.to_json()), **changes}).encode()


def refused(content):
    with pytest.raises(StoreError) as found:
        read_manifest(content, Path("here"), "here/bundle.json")
    text = str(found.value)
    assert "\n" not in text
    return text


def test_a_manifest_is_read_as_it_was_written(published):
    found = read_manifest(published.to_json(), published.folder, "x")
    assert found == published
    assert found.title == "Small study"
    assert found.authors == ("Ada", "Charles")


NAMES = [
    "../study.h5",
    "/etc/passwd",
    "a/b.csv",
    "model.pickle",
    "strategies.pkl",
    "study.h5.journal",
]


@pytest.mark.parametrize("name", NAMES)
def test_no_file_that_no_bundle_has(published, name):
    file = {"size": 1, "sha256": "0" * 64}
    text = refused(content_of(published, files={"study.h5": file, name: file}))
    assert text == (
        f"bundle.json names the file {name!r}, and a bundle has no such file; do not trust it"
    )


def test_no_kind_of_file_is_a_pickle_or_leads_elsewhere():
    assert all("/" not in name and not name.startswith(".") for name in KINDS)
    assert not {"pickle", "pkl", "joblib", "z"} & {name.rpartition(".")[2] for name in KINDS}


CHANGES = [
    {"format": 2},
    {"files": {}},
    {"files": []},
    {"files": {"study.h5": {"size": -1, "sha256": "0" * 64}}},
    {"files": {"study.h5": {"size": True, "sha256": "0" * 64}}},
    {"files": {"study.h5": {"size": 1, "sha256": "../" + "0" * 61}}},
    {"title": 1},
    {"authors": None},
    {"date": "today"},
    {"datasets": [{"name": "iris"}]},
    {"datasets": [dict.fromkeys(("name", "fingerprint", "reference", "licence", "source"), "")]},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_every_value_is_checked(published, change):
    assert refused(content_of(published, **change)).startswith("here/bundle.json: ")


@pytest.mark.parametrize("content", [b"", b"[]", b"3", b"[" * 100_000, b"\xff"], ids=len)
def test_what_is_no_manifest(content):
    assert "is no manifest of a bundle" in refused(content)


def test_tables_that_are_not_there_are_not_included(published):
    files = json.loads(published.to_json())["files"]
    del files[DATASETS]
    assert "tables are included" in refused(content_of(published, files=files))
