"""The first steps of the workflow: databases are filled and datasets are split, once."""

import os

import h5py
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

from mlaut.data import Data, HoldOut, list_datasets
from mlaut.data import api as module
from mlaut.data.splits import splitting
from mlaut.errors import DataError, StoreError, StudyError
from mlaut.files_io import FilesIO, StudyStore, accept_changes
from mlaut.records import Dataset, Split


@pytest.fixture
def data():
    return Data()


@pytest.fixture
def input_io(data, tmp_path):
    io = data.open_hdf5(tmp_path / "input.h5", mode="a")
    data.load_collection(hdf5_io=io, names=["iris", "glass", "servo", "zoo"])
    return io


@pytest.fixture
def out_io(data, tmp_path):
    return data.open_hdf5(tmp_path / "study.h5", mode="a")


def split_of(out_io, name):
    return StudyStore(out_io.path).load_split(name)


def error_of(error, call, *arguments, **named):
    with pytest.raises(error) as caught:
        call(*arguments, **named)
    text = str(caught.value)
    assert "\n" not in text
    return text


# -------------------------------------------------------------------- filling


def test_the_papers_listings_9_and_10(data, input_io, out_io):
    reader = data.open_hdf5(input_io.path, mode="r")
    (names, paths) = data.list_datasets(hdf5_io=reader, hdf5_group="starter/")
    assert names == ["glass", "iris", "servo", "zoo"]
    split_dts_list = data.split_datasets(hdf5_in=reader, hdf5_out=out_io, dataset_paths=paths)
    assert split_dts_list == names
    entry = split_of(out_io, "iris")
    assert entry.path == "/starter/iris"
    assert entry.fingerprint == reader.dataset_info("/starter/iris").fingerprint
    assert entry.classes == ("Iris-setosa", "Iris-versicolor", "Iris-virginica")
    test = entry.split.rows(0, 0)[1]
    assert len(test) == 50
    assert sorted(np.bincount(entry.truth[test])) == [16, 17, 17]
    assert split_of(out_io, "servo").classes == ()


def test_filling_again_changes_nothing(data, input_io):
    before = input_io.path.stat().st_ino
    paths = data.load_collection(hdf5_io=input_io, names=["zoo", "iris"])
    assert paths == ["/starter/zoo", "/starter/iris"]
    assert input_io.path.stat().st_ino == before


def test_folders_and_scikit_learn_go_into_groups(data, out_io, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "t.csv").write_text("x,y\n1,a\n2,b\n")
    assert data.load_folder(tmp_path / "own", hdf5_io=out_io) == ["/own/t"]
    assert data.load_folder(tmp_path / "own", hdf5_io=out_io, hdf5_group="a/b") == ["/a/b/t"]
    assert data.load_collection("sklearn", hdf5_io=out_io, names=["wine"]) == ["/sklearn/wine"]
    assert [row["path"] for row in list_datasets(out_io.path)] == [
        "/a/b/t",
        "/own/t",
        "/sklearn/wine",
    ]
    row = list_datasets(out_io.path, "own")[0]
    assert (row["name"], row["rows"], row["features"], row["classes"]) == ("t", 2, 1, 2)


def test_a_study_is_no_database_and_names_its_datasets(data, input_io, out_io):
    data.split_datasets(input_io, out_io, ["/starter/iris", "/starter/zoo"])
    message = error_of(DataError, list_datasets, out_io.path)
    assert message == (
        f"{out_io.path}: a study, not a database of datasets; its datasets are iris, zoo"
    )


def test_a_reader_is_told_before_anything_is_loaded(data, input_io, monkeypatch):
    monkeypatch.setattr(module, "collection", None)
    reader = FilesIO(input_io.path)
    message = error_of(StoreError, data.load_collection, hdf5_io=reader)
    assert "opened with mode='r'" in message
    assert "mode='r'" in error_of(StoreError, data.split_datasets, input_io, reader)


def test_arguments_of_earlier_versions_are_answered_with_those_of_today(data, input_io, out_io):
    assert error_of(StoreError, data.list_datasets, "openml/", input_io) == (
        "'openml/' is no open database: open it with mlaut.FilesIO(path, mode='a'), and pass that"
    )
    assert error_of(DataError, data.split_datasets, input_io, out_io, random_state=1) == (
        "unknown option 'random_state' of split_datasets; did you mean 'seed'?"
    )
    assert "StudyStore(path).load_splits()[name].split.rows(repeat, fold)" in error_of(
        AttributeError, getattr, data, "load_train_test_split"
    )
    assert not hasattr(data, "nothing")


# ------------------------------------------------------------------- splitting


def test_by_default_all_datasets_are_split(data, input_io, out_io):
    assert data.split_datasets(input_io, out_io) == ["glass", "iris", "servo", "zoo"]


def test_neither_order_nor_company_changes_a_split(data, input_io, tmp_path):
    orders = (["starter/iris", "starter/zoo"], ["starter/zoo", "starter/glass", "starter/iris"])
    splits = []
    for number, paths in enumerate(orders):
        out = data.open_hdf5(tmp_path / f"{number}.h5", mode="a")
        data.split_datasets(input_io, out, paths, seed=3)
        splits.append(split_of(out, "iris").split.folds)
    assert np.array_equal(*splits)


def test_a_stored_split_is_never_drawn_again(data, input_io, out_io, monkeypatch):
    data.split_datasets(input_io, out_io, ["starter/iris"])
    before = split_of(out_io, "iris").split.folds
    inode = out_io.path.stat().st_ino
    monkeypatch.setattr(splitting, "make_split", None)
    assert data.split_datasets(input_io, out_io, ["starter/iris"]) == ["iris"]
    assert out_io.path.stat().st_ino == inode
    assert np.array_equal(split_of(out_io, "iris").split.folds, before)


def test_further_datasets_join_a_study(data, input_io, out_io):
    data.split_datasets(input_io, out_io, ["starter/iris"])
    before = split_of(out_io, "iris").split.folds
    data.split_datasets(input_io, out_io)
    assert StudyStore(out_io.path).datasets == ("glass", "iris", "servo", "zoo")
    assert np.array_equal(split_of(out_io, "iris").split.folds, before)


def test_further_repeats_extend_a_split(data, input_io, out_io):
    data.split_datasets(input_io, out_io, ["starter/zoo"], "repeated_kfold(4, 2)")
    first = split_of(out_io, "zoo").split
    data.split_datasets(input_io, out_io, ["starter/zoo"], "repeated_kfold(4, 3)")
    more = split_of(out_io, "zoo").split
    assert more.n_repeats == 3
    assert np.array_equal(more.folds[:2], first.folds)


@pytest.mark.parametrize("change", [{"seed": 1}, {"scheme": "kfold(3)"}, {"stratify": False}])
def test_another_split_of_a_dataset_is_refused(data, input_io, out_io, change):
    data.split_datasets(input_io, out_io, ["starter/iris"])
    before = split_of(out_io, "iris").split.folds
    message = error_of(
        StudyError, data.split_datasets, input_io, out_io, ["starter/iris"], **change
    )
    assert "dataset 'iris': it is split already, and otherwise (holdout(test_size=1/3)" in message
    assert np.array_equal(split_of(out_io, "iris").split.folds, before)


def test_other_content_under_a_known_name_is_refused(data, input_io, out_io):
    data.split_datasets(input_io, out_io, ["starter/iris"])
    frame, metadata = input_io.load_dataset_pd("starter/iris")
    input_io.save_pandas_dataset(frame[:-1], "starter", metadata, overwrite=True)
    message = error_of(StudyError, data.split_datasets, input_io, out_io, ["starter/iris"])
    assert "dataset 'iris': its content is not the one" in message


def test_schemes_and_their_arguments(data, input_io, out_io):
    split = data.split_datasets
    split(input_io, out_io, "starter/iris", test_size=0.2, stratify=False, seed=5)
    entry = split_of(out_io, "iris").split
    assert (entry.scheme, entry.seed) == ("holdout(test_size=1/5, stratify=False)", 5)
    split(input_io, out_io, ["starter/zoo"], HoldOut(0.5, n_repeats=3))
    assert split_of(out_io, "zoo").split.n_repeats == 3
    split(input_io, out_io, ["starter/servo"], KFold(5, shuffle=True))
    kfold = split_of(out_io, "servo").split
    assert kfold.n_folds == 5
    split(input_io, out_io, ["starter/servo"], KFold(5, shuffle=True))
    split(input_io, out_io, ["starter/glass"], ShuffleSplit(2, random_state=0))
    assert split_of(out_io, "glass").split.folds.shape == (2, 214)
    message = error_of(DataError, split, input_io, out_io, scheme="kfold", test_size=0.5)
    assert "test_size belongs to a hold-out, and the scheme is kfold(n_folds=10)" in message


def test_groups_stay_together(data, out_io, tmp_path):
    io = data.open_hdf5(tmp_path / "groups.h5", mode="a")
    frame = pd.DataFrame({"patient": np.arange(30) % 6, "x": range(30), "y": ["a", "b", "c"] * 10})
    io.save_pandas_dataset(frame, "/", {"class_name": "y", "dataset_name": "d"})
    data.split_datasets(io, out_io, scheme=GroupKFold(3), groups="patient")
    entry = split_of(out_io, "d")
    assert entry.split.scheme.endswith(" by patient")
    for train, test in entry.split:
        assert not set(frame["patient"][train]) & set(frame["patient"][test])
    data.split_datasets(io, out_io, scheme=GroupKFold(3), groups="patient")
    message = error_of(
        DataError, data.split_datasets, io, out_io, scheme=GroupKFold(3), groups="pat"
    )
    assert "dataset 'd': no column 'pat' of groups" in message


def test_rare_classes_are_no_obstacle(data, out_io, tmp_path):
    io = data.open_hdf5(tmp_path / "rare.h5", mode="a")
    frame = pd.DataFrame({"x": range(12), "y": ["common"] * 9 + ["once", "two", "two"]})
    io.save_pandas_dataset(frame, "/", {"class_name": "y", "dataset_name": "d"})
    data.split_datasets(io, out_io)
    entry = split_of(out_io, "d")
    assert len(entry.split.rows(0, 0)[1]) == 4


# ------------------------------------------------------------------- bad input


def test_a_dataset_that_cannot_be_split_is_named_and_nothing_is_stored(data, out_io, tmp_path):
    io = data.open_hdf5(tmp_path / "bad.h5", mode="a")
    fine = pd.DataFrame({"x": [1, 2], "y": ["a", "b"]})
    bad = {"class_name": "y", "dataset_name": "b"}
    message = error_of(DataError, io.save_pandas_dataset, fine.assign(y="a"), "/", bad)
    assert "dataset 'b': target 'y': one class only, 'a'" in message
    io.save_pandas_dataset(fine, "/", {"class_name": "y", "dataset_name": "a"})
    message = error_of(DataError, data.split_datasets, io, out_io, ["a"], "kfold(10)")
    assert f"{io.path}: dataset 'a': 2 rows cannot make 10 folds" in message
    assert not StudyStore(out_io.path).exists


def test_two_datasets_of_one_name_are_refused(data, input_io, out_io):
    data.load_collection("sklearn", hdf5_io=input_io, names=["iris"])
    message = error_of(DataError, data.split_datasets, input_io, out_io)
    assert "/sklearn/iris and /starter/iris have the same name" in message


def test_paths_that_are_not_there_are_reported(data, input_io, out_io, tmp_path):
    message = error_of(DataError, data.split_datasets, input_io, out_io, ["starter/irs"])
    assert "no dataset 'starter/irs'; did you mean '/starter/iris'?" in message
    empty = data.open_hdf5(tmp_path / "empty.h5", mode="a")
    assert "no dataset to split" in error_of(DataError, data.split_datasets, empty, out_io)
    message = error_of(DataError, data.split_datasets, input_io, out_io, scheme="kfolds(3)")
    assert "no split scheme 'kfolds(3)'; did you mean 'kfold'?" in message


def test_a_read_only_output_is_told_and_left(data, input_io, out_io, monkeypatch):
    data.split_datasets(input_io, out_io, ["starter/iris"])
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    assert "study.h5: read-only" in error_of(StoreError, data.open_hdf5, out_io.path, "a")
    assert "study.h5: no permission" in error_of(StoreError, data.split_datasets, input_io, out_io)
    assert StudyStore(out_io.path).datasets == ("iris",)


# ------------------------------------------------- the split that a dataset came with


def with_split(folds, scheme="openml/t/59", name="tiny"):
    frame = pd.DataFrame({"x": range(6), "y": list("ababab")})
    return Dataset(name, frame, "y", "", split=Split(np.array(folds, dtype=np.int16), scheme))


OWN_FOLDS = [[0, 0, 1, 1, -1, -2], [1, 1, 0, 0, -2, -1]]


def test_a_split_of_its_own_is_stored_with_the_dataset_and_used(data, out_io, tmp_path):
    io = data.open_hdf5(tmp_path / "own.h5", mode="a")
    io.save_datasets([with_split(OWN_FOLDS)], "/openml")
    stored = io.load_dataset("openml/tiny").split
    assert (stored.folds.tolist(), stored.scheme, stored.seed) == (OWN_FOLDS, "openml/t/59", None)
    assert stored.folds.dtype == np.int16
    assert io.dataset_info("openml/tiny").split == "openml/t/59"
    data.split_datasets(io, out_io)
    split = split_of(out_io, "tiny").split
    assert (split.folds.tolist(), split.scheme, split.seed) == (OWN_FOLDS, "openml/t/59", None)


def test_a_split_of_its_own_is_kept_and_never_read_again(data, out_io, tmp_path, monkeypatch):
    io = data.open_hdf5(tmp_path / "own.h5", mode="a")
    io.save_datasets([with_split(OWN_FOLDS)])
    data.split_datasets(io, out_io)
    monkeypatch.setattr(splitting, "encode_target", None)
    assert data.split_datasets(io, out_io, scheme="own") == ["tiny"]


def test_who_names_a_scheme_gets_it(data, input_io, out_io):
    input_io.save_datasets([with_split(OWN_FOLDS)], "/openml")
    data.split_datasets(input_io, out_io, ["openml/tiny", "starter/iris"])
    assert split_of(out_io, "iris").split.scheme == "holdout(test_size=1/3)"
    entries = data.make_splits(input_io, ["openml/tiny"], "kfold(2)")
    assert entries[0].split.scheme == "kfold(n_folds=2)"
    entries = data.make_splits(input_io, ["openml/tiny"], test_size=0.5)
    assert entries[0].split.scheme == "holdout(test_size=1/2)"


def test_a_dataset_without_a_split_of_its_own_is_reported(data, input_io, out_io):
    message = error_of(DataError, data.split_datasets, input_io, out_io, scheme="own")
    assert "dataset 'glass': it has no split of its own; name a scheme, for example" in message
    message = error_of(
        DataError, data.split_datasets, input_io, out_io, scheme="own", test_size=0.5
    )
    assert "the dataset's own split has its rows already; leave out test_size and groups" in message


@pytest.mark.parametrize(
    ("other", "change"),
    [
        (with_split([OWN_FOLDS[1], OWN_FOLDS[0]]), "another split"),
        (with_split(OWN_FOLDS, "openml/t/60"), "split 'openml/t/59' is now 'openml/t/60'"),
        (Dataset("tiny", with_split(OWN_FOLDS).frame, "y", ""), "without its split"),
    ],
    ids=["folds", "scheme", "none"],
)
def test_another_split_is_another_dataset(data, tmp_path, other, change):
    io = data.open_hdf5(tmp_path / "own.h5", mode="a")
    io.save_datasets([with_split(OWN_FOLDS)])
    io.save_datasets([with_split(OWN_FOLDS)])
    assert f"/tiny exists and differs: {change}; " in error_of(
        StoreError, io.save_datasets, [other]
    )
    io.save_datasets([other], overwrite=True)
    assert io.dataset_info("tiny").split == (other.split.scheme if other.split else "")


def test_a_split_that_is_lost_is_reported(data, tmp_path):
    io = data.open_hdf5(tmp_path / "own.h5", mode="a")
    io.save_datasets([with_split(OWN_FOLDS)])
    with h5py.File(io.path, "r+") as file:
        del file["tiny/split"]
    accept_changes(io.path)
    message = error_of(StoreError, io.load_dataset, "tiny")
    assert "own.h5: dataset 'tiny' has lost its split; restore the file from a copy" in message


def test_a_split_that_does_not_fit_is_refused(data, tmp_path):
    io = data.open_hdf5(tmp_path / "own.h5", mode="a")
    message = error_of(DataError, io.save_datasets, [with_split([[0, 1]])])
    assert message == "dataset 'tiny': its split is of 2 rows, and it has 6; mend one"
    assert "its split has no scheme" in error_of(
        DataError, io.save_datasets, [with_split([[0]], "")]
    )
