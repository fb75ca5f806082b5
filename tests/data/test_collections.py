"""The starter collection is what it was when it was released, and says where it comes from."""

import re

import pandas as pd
import pytest

from mlaut.data import (
    collection,
    collection_entries,
    encode_target,
    list_collections,
    list_datasets,
)
from mlaut.data.tables.collections import STARTER
from mlaut.data.tables.folders import read_manifest
from mlaut.errors import DataError


@pytest.fixture(scope="module")
def starter():
    return {dataset.name: dataset for dataset in collection("starter")}


def test_every_fingerprint_holds(starter):
    manifest = {row["name"]: row["fingerprint"] for row in read_manifest(STARTER)}
    assert {name: dataset.fingerprint for name, dataset in starter.items()} == manifest
    assert all(re.fullmatch("[0-9a-f]{64}", fingerprint) for fingerprint in manifest.values())
    assert len(set(manifest.values())) == len(manifest)


def test_a_changed_table_would_be_noticed(tmp_path, starter):
    import shutil

    from mlaut.data import load_folder

    shutil.copytree(STARTER, tmp_path / "copy")
    path = tmp_path / "copy" / "tables" / "iris.csv"
    path.write_text(path.read_text().replace("5.1,3.5,1.4,0.2", "5.1,3.5,1.4,0.3", 1))
    with pytest.raises(DataError, match=r"iris.csv: dataset 'iris' is not the table"):
        load_folder(tmp_path / "copy", names=["iris"])


def test_its_size(starter):
    tasks = [dataset.task for dataset in starter.values()]
    assert (tasks.count("Classification"), tasks.count("Regression")) == (25, 6)
    assert max(len(dataset.frame) for dataset in starter.values()) <= 2000
    assert sum(path.stat().st_size for path in STARTER.rglob("*") if path.is_file()) < 600_000


def test_the_list_tells_what_the_tables_are(starter):
    entries = {entry.name: entry for entry in collection_entries("starter")}
    assert list(entries) == list(starter)
    for name, entry in entries.items():
        dataset = starter[name]
        _, classes = encode_target(dataset.labels, dataset.task)
        assert (entry.task, entry.n_rows, entry.n_features) == (
            dataset.task,
            *dataset.features.shape,
        )
        assert entry.n_classes == (len(classes) or None)


def test_each_has_its_source_and_licence(starter):
    attribution = (STARTER / "ATTRIBUTION.md").read_text()
    for name, dataset in starter.items():
        about = dataset.metadata
        assert about["licence"] == "CC BY 4.0"
        assert about["source"].endswith(f"archive.ics.uci.edu/dataset/{about['dataset_id']}")
        assert re.fullmatch(r"10\.24432/C5\w{4}", about.get("doi", "10.24432/C5XXXX"))
        assert (
            f"| {name} | {about['creators'].rstrip('.')}. {about['title']} [Dataset]."
            in attribution
        )
        assert about.get("doi", f"dataset/{about['dataset_id']} |") in attribution


# Facts of the tables' own documentation at the UCI repository.
FACTS = {
    "iris": ((150, 5), 0, {"Iris-setosa": 50}),
    "wine": ((178, 14), 0, {1: 59, 2: 71, 3: 48}),
    "breast-cancer-wisc": ((699, 10), 16, {2: 458, 4: 241}),
    "breast-cancer-wisc-diag": ((569, 31), 0, {"B": 357, "M": 212}),
    "car": ((1728, 7), 0, {"unacc": 1210, "acc": 384, "good": 69, "vgood": 65}),
    "congressional-voting": ((435, 17), 392, {"democrat": 267, "republican": 168}),
    "credit-approval": ((690, 16), 67, {"+": 307, "-": 383}),
    "german-credit": ((1000, 21), 0, {"good": 700, "bad": 300}),
    "glass": ((214, 10), 0, {1: 70, 2: 76, 3: 17, 5: 13, 6: 9, 7: 29}),
    "heart-cleveland": ((303, 14), 6, {0: 164}),
    "hepatitis": ((155, 20), 167, {1: 32, 2: 123}),
    "ionosphere": ((351, 35), 0, {"g": 225, "b": 126}),
    "tic-tac-toe": ((958, 10), 0, {"positive": 626, "negative": 332}),
    "zoo": ((101, 17), 0, {1: 41}),
}


@pytest.mark.parametrize("name", FACTS)
def test_classification_tables_agree_with_their_documentation(starter, name):
    shape, gaps, classes = FACTS[name]
    dataset = starter[name]
    assert dataset.frame.shape == shape
    assert int(dataset.frame.isna().sum().sum()) == gaps
    counts = dataset.labels.value_counts().to_dict()
    assert {label: counts[label] for label in classes} == classes


@pytest.mark.parametrize(
    ("name", "n", "target", "mean", "least", "most"),
    [
        ("auto-mpg", 398, "mpg", 23.514573, 9, 46.6),
        ("computer-hardware", 209, "PRP", 105.617225, 6, 1150),
        ("concrete-strength", 1030, "compressive_strength", 35.817961, 2.33, 82.6),
        ("servo", 167, "target", 1.389708, 0.13125, 7.10011),
        ("liver-disorders", 345, "drinks", 3.455072, 0, 20),
        ("automobile-price", 159, "price", 11445.729560, 5118, 35056),
    ],
)
def test_regression_tables_agree_with_their_documentation(
    starter, name, n, target, mean, least, most
):
    labels = starter[name].labels
    assert (len(labels), starter[name].target) == (n, target)
    assert labels.mean() == pytest.approx(mean, abs=1e-6)
    assert (labels.min(), labels.max()) == (least, most)


def test_columns_have_the_kinds_that_the_manifest_says(starter):
    assert isinstance(starter["auto-mpg"].frame["origin"].dtype, pd.CategoricalDtype)
    assert starter["auto-mpg"].frame["origin"].cat.categories.tolist() == [1, 2, 3]
    assert starter["heart-cleveland"].frame["cp"].dtype.kind == "i"
    categories = starter["car"].features.dtypes.map(str).unique().tolist()
    assert categories == ["category"]


def test_a_part_of_a_collection_by_name_and_task():
    assert [one.name for one in collection(names=["zoo", "iris"])] == ["zoo", "iris"]
    assert len(collection(task="regression")) == 6
    assert [one.name for one in collection("sklearn", names=["wine"])] == ["wine"]
    assert len(collection_entries("sklearn", task="Regression")) == 2


def test_unknown_collections_and_datasets_are_answered_with_the_nearest():
    assert list_collections() == ("starter", "sklearn")
    for call in (collection, collection_entries):
        with pytest.raises(DataError, match=r"no collection 'startr'; did you mean 'starter'\?"):
            call("startr")
    with pytest.raises(DataError, match=r"no dataset 'iriss'; did you mean 'iris'\?"):
        collection(names=["iriss"])


def test_the_list_for_the_command_line():
    rows = list_datasets()
    assert len(rows) == 31
    assert rows[0] == {
        "name": "balance-scale",
        "task": "Classification",
        "rows": 625,
        "features": 4,
        "classes": 3,
        "source": "UCI Machine Learning Repository, https://archive.ics.uci.edu/dataset/12",
        "path": "",
    }
