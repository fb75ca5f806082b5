"""The verbs of a database of datasets, and what they say of bad input."""

import errno
import os
import pickle
from dataclasses import replace
from decimal import Decimal

import h5py
import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from mlaut.data import Data
from mlaut.errors import DataError, StoreError
from mlaut.files_io import FilesIO, StudyStore, files_io
from mlaut.files_io.safe_files import hdf5
from mlaut.files_io.safe_files.changes import change_path
from mlaut.files_io.safe_files.hdf5 import read_h5, rewrite_h5
from mlaut.files_io.safe_files.lock import lock_path
from mlaut.files_io.safe_files.texts import get_json, put_json
from mlaut.files_io.tables.datasets import VERSION, checked_dataset, infer_task
from mlaut.records import CLASSIFICATION, REGRESSION, Dataset, Split


def table(n=6):
    return pd.DataFrame(
        {
            "x": np.linspace(0, 1, n),
            "colour": pd.Categorical((["red", None, "blue"] * n)[:n]),
            "y": (["no", "yes"] * n)[:n],
        }
    )


def meta(name="iris", **more):
    return {"class_name": "y", "dataset_name": name, "source": "UCI", "dataset_id": 53, **more}


def datasets(*names, n=6):
    return [Dataset(name, table(n), "y", CLASSIFICATION, {"source": "UCI"}) for name in names]


@pytest.fixture
def io(tmp_path):
    return FilesIO(tmp_path / "input.h5", mode="a")


def one_line(caught):
    text = str(caught.value)
    assert "\n" not in text
    return text


# ------------------------------------------------------------- store and load


def test_the_papers_verbs(io):
    path = io.save_pandas_dataset(dataset=table(), save_loc="/openml", metadata=meta())
    assert path == "/openml/iris"
    names, paths = io.list_datasets(hdf5_group="openml/")
    assert (names, paths) == (["iris"], ["/openml/iris"])
    frame, metadata = io.load_dataset_pd(paths[0])
    assert_frame_equal(frame, table())
    assert metadata == {**meta(), "task": CLASSIFICATION}


def test_a_loaded_dataset_knows_all_of_itself(io):
    io.save_pandas_dataset(table(), "/uci/small", meta(note="ü", id2=np.int64(3)))
    dataset = io.load_dataset("uci/small/iris")
    assert (dataset.name, dataset.path) == ("iris", "/uci/small/iris")
    assert (dataset.target, dataset.task) == ("y", CLASSIFICATION)
    assert dataset.metadata == {"source": "UCI", "dataset_id": 53, "note": "ü", "id2": 3}
    assert list(dataset.features) == ["x", "colour"]
    assert dataset.labels.tolist() == ["no", "yes"] * 3
    info = io.dataset_info("/uci/small/iris")
    assert (info.n_rows, info.n_features, info.n_classes) == (6, 2, 2)
    assert info.fingerprint == dataset.fingerprint
    assert len(info.fingerprint) == 64


def test_descriptions_are_read_in_the_asked_order(io):
    paths = [io.save_pandas_dataset(table(), "/g", meta(name)) for name in ("b", "a")]
    assert [info.name for info in io.infos_of(paths)] == ["b", "a"]
    assert io.infos_of(paths)[1] == io.dataset_info(paths[1])
    with pytest.raises(DataError, match="qqq"):
        io.infos_of([*paths, "/g/qqq"])


@pytest.mark.parametrize("name", ["a/b", ".", "..", "50 %", "a%2Fb", "Größe 名 😀", " "])
def test_odd_names(io, name):
    path = io.save_pandas_dataset(table(), "/g", meta(name))
    assert io.list_datasets("g") == ([name], [path])
    assert io.load_dataset(path).name == name


def test_lists_are_of_a_group_and_its_groups_in_order(io):
    assert io.list_datasets() == ([], [])
    io.save_datasets(datasets("wine", "iris"), "/uci")
    io.save_datasets(datasets("iris"), "/uci/old")
    io.save_datasets(datasets("zoo"))
    assert io.list_datasets("/uci/old")[1] == ["/uci/old/iris"]
    assert io.list_datasets("uci")[1] == ["/uci/iris", "/uci/old/iris", "/uci/wine"]
    assert io.list_datasets()[0] == ["iris", "iris", "wine", "zoo"]
    assert [info.path for info in io.dataset_infos("uci/old")] == ["/uci/old/iris"]


def test_many_datasets_are_one_change_of_the_file(io, monkeypatch):
    calls = []
    real = files_io.change_h5
    monkeypatch.setattr(files_io, "change_h5", lambda *a, **k: calls.append(a) or real(*a, **k))
    assert io.save_datasets(iter(datasets("a", "b", "c")), "g") == ("/g/a", "/g/b", "/g/c")
    assert len(calls) == 1


def test_a_table_that_is_changed_after_its_check_is_stored_as_it_is_then(io):
    checked = checked_dataset(next(iter(datasets("a"))))
    checked.frame["colour"] = "grey"
    io.save_datasets([checked])
    assert set(io.load_dataset("a").frame["colour"]) == {"grey"}


def test_a_set_with_one_bad_dataset_is_not_stored_at_all(io):
    bad = Dataset("bad", table(), "z", CLASSIFICATION)
    with pytest.raises(DataError, match="dataset 'bad': no column 'z'"):
        io.save_datasets([*datasets("a"), bad])
    assert io.list_datasets() == ([], [])


def test_a_name_given_twice_is_refused(io):
    with pytest.raises(DataError, match="dataset 'a': given twice for /g/a; rename one"):
        io.save_datasets(datasets("a", "b", "a"), "g")


# ------------------------------------------------------------- the same again


def test_where_names_must_differ_a_dataset_stays_in_its_group(io):
    """As in a study, whose datasets have one name each."""
    (path,) = io.save_datasets(datasets("a"), "/g")
    io.names_differ = True
    before = io.path.read_bytes()
    assert io.save_datasets(datasets("a")) == (path,)
    assert io.path.read_bytes() == before
    with pytest.raises(StoreError, match="/g/a exists and differs: 6 rows are now 8"):
        io.save_datasets(datasets("a", n=8))
    assert io.save_datasets(datasets("a", n=8), overwrite=True) == (path,)
    assert io.save_datasets(datasets("b")) == ("/b",)
    assert [info.n_rows for info in io.dataset_infos()] == [6, 8]


def test_the_same_dataset_again_changes_nothing(io):
    io.save_pandas_dataset(table(), "/g", meta())
    before = io.path.stat()
    assert io.save_pandas_dataset(table(), "/g", meta()) == "/g/iris"
    assert io.path.stat().st_ino == before.st_ino


def test_a_source_that_is_named_later_belongs_into_the_report(io):
    io.save_pandas_dataset(table(), "/g", meta())
    with pytest.raises(StoreError, match="other metadata cluster; leave it as it was") as caught:
        io.save_pandas_dataset(table(), "/g", meta(cluster="flowers"))
    assert "'mlaut report --clusters'" in one_line(caught)


OTHERS = {
    "6 rows are now 8": (table(8), {}),
    "other values in column 'x'": (table().assign(x=0.0), {}),
    "with new column 'n'": (table().assign(n=1), {}),
    "without column 'colour'": (table().drop(columns="colour"), {}),
    "columns in another order": (table()[["y", "x", "colour"]], {}),
    "with new columns 1, 2, 3 and 1 more": (table().join(
        pd.DataFrame(0, range(6), [1, 2, 3, 4])), {}),
    "target 'y' is now 'x'": (table(), {"class_name": "x"}),
    "task Classification is now Regression": (table(), {"task": "regression"}),
    "other metadata licence, source": (table(), {"source": "PMLB", "licence": "MIT"}),
}  # fmt: skip


@pytest.mark.parametrize("change", OTHERS)
def test_other_content_under_a_known_name_is_refused_and_told(io, change):
    io.save_pandas_dataset(table(), "/g", meta())
    frame, metadata = OTHERS[change]
    with pytest.raises(StoreError) as caught:
        io.save_pandas_dataset(frame, "/g", meta(**metadata))
    assert f"/g/iris exists and differs: {change}" in one_line(caught)
    assert "save it under a new name, or pass overwrite=True" in str(caught.value)
    assert_frame_equal(io.load_dataset("/g/iris").frame, table())
    io.save_pandas_dataset(frame, "/g", meta(**metadata), overwrite=True)
    assert_frame_equal(io.load_dataset("/g/iris").frame, frame)


def test_overwriting_and_deleting_leave_the_rest_and_no_hole(io):
    io.save_datasets(datasets("big", n=50_000), "g")
    large = io.path.stat().st_size
    io.save_datasets(datasets("other"), "g")
    io.save_datasets(datasets("big"), "g", overwrite=True)
    assert io.path.stat().st_size < large / 2
    assert io.dataset_info("g/big").n_rows == 6
    io.delete_dataset("g/big")
    assert io.list_datasets("g") == (["other"], ["/g/other"])
    assert_frame_equal(io.load_dataset("g/other").frame, table())


def test_a_study_in_the_same_file_is_kept(io, tmp_path):
    from mlaut.files_io import SplitEntry
    from mlaut.records import Split

    study = StudyStore(io.path)
    split = Split(np.array([[0, 1]], dtype=np.int16), "by hand")
    study.save_splits(
        [SplitEntry("s", "/s", CLASSIFICATION, "f", ("a", "b"), np.array([0, 1], "i4"), split)]
    )
    io.save_datasets(datasets("a", "b"), "g")
    io.delete_dataset("g/a")
    assert study.datasets == ("s",)
    assert io.list_datasets()[1] == ["/g/b"]
    with pytest.raises(StoreError, match="/splits/a cannot be stored"):
        io.save_datasets(datasets("a"), "/splits")


def test_a_dataset_is_no_group(io):
    io.save_datasets(datasets("a"), "/g")
    with pytest.raises(StoreError, match="/g/a/b cannot be stored: /g/a is no group of datasets"):
        io.save_datasets(datasets("b"), "/g/a")
    with pytest.raises(StoreError, match="/g cannot be stored: /g is no group of datasets"):
        io.save_datasets(datasets("g"))


def test_only_datasets_that_are_new_are_written(io, monkeypatch):
    io.save_datasets(datasets("a"), "g")
    written, real = [], files_io.put_dataset
    monkeypatch.setattr(files_io, "put_dataset", lambda *a: written.append(a[1]) or real(*a))
    assert io.save_datasets(datasets("a", "b"), "g") == ("/g/a", "/g/b")
    assert written == ["b"]
    assert io.list_datasets("g")[0] == ["a", "b"]


def test_the_same_datasets_complete_what_a_killed_writer_had_decided(io, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(hdf5, "_finish", lambda *_: None)  # as if killed before it
        io.save_datasets(datasets("a"))
    lock_path(io.path).write_text('{"pid": 1}')
    assert change_path(io.path).exists()
    assert io.save_datasets(datasets("a")) == ("/a",)
    assert [file.name for file in io.path.parent.iterdir()] == ["input.h5"]
    assert_frame_equal(io.load_dataset("a").frame, table())


def test_a_shared_table_is_kept_only_while_its_file_is_as_it_was(io, monkeypatch):
    io.save_datasets(datasets("a", "b"))
    first = io.load_dataset("a", shared=True)
    with monkeypatch.context() as patch:
        patch.setattr(FilesIO, "loading", None)  # the file is not opened again
        assert io.load_dataset("/a", shared=True) is first
    with monkeypatch.context() as patch:
        patch.setattr(hdf5, "_finish", lambda *_: None)  # the change counts, and is not in the file
        io.save_datasets(datasets("c"))
    assert change_path(io.path).exists()
    assert io.load_dataset("a", shared=True).frame.equals(first.frame)
    io.save_pandas_dataset(table(8), metadata=meta("a"), overwrite=True)  # completes the change
    assert not change_path(io.path).exists()
    assert len(io.load_dataset("a", shared=True).frame) == 8
    with read_h5(io.path) as file:
        sealed = file["b/about"].id.get_offset()
    content = bytearray(io.path.read_bytes())
    content[sealed] ^= 1
    io.path.write_bytes(content)
    with pytest.raises(StoreError, match="its seal does not hold"):
        io.load_dataset("a", shared=True)


def test_errors_beside_a_file_that_is_read_are_no_damage(io):
    io.save_datasets(datasets("a"))
    with pytest.raises(ValueError, match="of a splitter"), io.loading():
        raise ValueError("of a splitter")


def test_the_groups_of_datasets_are_opened_once_for_each_seal_of_their_file(io, monkeypatch):
    io.save_datasets(datasets("a", "b"))
    looked = []
    is_dataset = files_io.is_dataset
    monkeypatch.setattr(
        files_io, "is_dataset", lambda item: looked.append(item and item.name) or is_dataset(item)
    )
    for _ in range(2):
        names, paths = io.list_datasets()
        assert [info.name for info in io.dataset_infos()] == names == ["a", "b"]
        assert io.infos_of(paths) == io.dataset_infos("/")
    assert looked == ["/a", "/b", "/mlaut-seal", "/a", "/b"]
    io.delete_dataset("a")
    assert io.list_datasets() == (["b"], ["/b"])
    with pytest.raises(DataError, match="no dataset '/a'"):
        io.dataset_info("/a")


def test_a_copy_holds_every_dataset_and_takes_changes(io, tmp_path):
    io.save_datasets(datasets("a", "b"), "/g/h")
    copy = io.copy_to(tmp_path / "copy.h5")
    copy.delete_dataset("/g/h/a")
    assert io.list_datasets()[1] == ["/g/h/a", "/g/h/b"]
    assert copy.list_datasets()[1] == ["/g/h/b"]
    assert copy.dataset_infos() == io.dataset_infos()[1:]


def test_a_dataset_gets_a_new_name_that_is_free_and_the_file_notes_it(io):
    io.save_datasets(datasets("a", "b"), "g")
    assert io.rename_dataset("g/a", "c/d") == "/g/c%2Fd"
    assert io.list_datasets("g")[0] == ["b", "c/d"]
    assert_frame_equal(io.load_dataset("g/c%2Fd").frame, table())
    with pytest.raises(StoreError, match="/g/b exists; choose another name"):
        io.rename_dataset("g/c%2Fd", "b")
    io.delete_dataset("g/b")
    assert io.names_changed() == {"a": "c/d", "b": None}
    for noted in ("no json", "[1]", 3):
        with rewrite_h5(io.path) as file:
            file.attrs["changed names: dataset"] = noted
        assert io.names_changed() == {}


def test_a_path_is_no_open_database(io):
    assert files_io.opened(io) is io
    with pytest.raises(StoreError, match=r"'input\.h5' is no open database: open it with mlaut"):
        files_io.opened("input.h5")


# ------------------------------------------------------- splits of its own


def with_split(*folds, scheme="of the source", n=6, **more):
    split = Split(np.array([folds], dtype=np.int16), scheme)
    return Dataset("a", table(n), "y", CLASSIFICATION, split=split, **more)


def test_a_dataset_keeps_the_split_that_it_came_with(io):
    given = with_split(0, 1, 0, 1, -1, -2)
    (path,) = io.save_datasets([given])
    assert io.save_datasets([given]) == (path,)
    found = io.load_dataset(path).split
    assert (found.folds.tolist(), found.scheme) == ([[0, 1, 0, 1, -1, -2]], "of the source")
    assert io.dataset_info(path).split == "of the source"
    others = {
        "without its split": datasets("a")[0],
        "another split": with_split(0, 1, 0, 1, -1, -1),
        "split 'of the source' is now 'by hand'": with_split(0, 1, 0, 1, -1, -2, scheme="by hand"),
    }
    for change, other in others.items():
        with pytest.raises(StoreError, match=f"/a exists and differs: .*{change}"):
            io.save_datasets([replace(other, metadata={})])
    io.save_datasets(datasets("a"), overwrite=True)
    with pytest.raises(StoreError, match="/a exists and differs: with a split of its own"):
        io.save_datasets([replace(given, metadata={"source": "UCI"})])
    io.save_datasets([given], overwrite=True)
    with rewrite_h5(io.path) as file:
        del file["a/split"]
    with pytest.raises(StoreError, match="dataset 'a' has lost its split"):
        io.load_dataset("a")


def test_a_split_that_does_not_fit_is_refused(io):
    with pytest.raises(DataError, match="dataset 'a': its split has no scheme; say in words"):
        io.save_datasets([with_split(0, 1, 0, 1, 0, 1, scheme="")])
    with pytest.raises(DataError, match="'a': its split is of 2 rows, and it has 6; mend one"):
        io.save_datasets([with_split(0, 1)])
    assert io.list_datasets() == ([], [])


# -------------------------------------------------------------------- the task


@pytest.mark.parametrize(
    ("labels", "task"),
    [
        (["a", "b"], CLASSIFICATION),
        (pd.Series(["a", None], dtype="string"), CLASSIFICATION),
        (pd.Series([True, False]), CLASSIFICATION),
        (pd.Series([True, None], dtype="boolean"), CLASSIFICATION),
        (pd.Categorical([1.5, 2.5]), CLASSIFICATION),
        ([1, 2], CLASSIFICATION),
        ([1.0, np.nan, 3.0], CLASSIFICATION),
        (list(range(20)), CLASSIFICATION),
        (list(range(21)), REGRESSION),
        ([1.0, 2.5], REGRESSION),
        (pd.array([1, None, *range(30)], dtype="Int64"), REGRESSION),
    ],
    ids=str,
)
def test_inferred_task(labels, task):
    assert infer_task(pd.Series(labels)) == task


@pytest.mark.parametrize("digits", [1, 3])
@pytest.mark.parametrize("hidden", [False, True])
def test_repeated_rows_are_counted_as_pandas_counts_them(io, digits, hidden):
    """With one digit most numbers occur twice, with three few."""
    rng = np.random.default_rng(digits)
    frame = pd.DataFrame({"c": rng.choice(["a", "b"], 90), "x": rng.random(90).round(digits)})
    frame.loc[::17, "x"] = np.nan
    frame["y"] = rng.choice(["no", "yes"], 90)
    frame = pd.concat([frame, frame.sample(20, random_state=digits)], ignore_index=True)
    frame["id"] = np.arange(110) / 3
    roles = {"id": ["id"]} if hidden else {}
    io.save_datasets([Dataset("d", frame, "y", CLASSIFICATION, roles=roles)])
    expected = frame.drop(columns="id" if hidden else []).duplicated(keep=False).sum()
    assert io.dataset_infos()[0].repeated_rows == expected
    assert (expected > 0) == hidden


def test_repeated_rows_with_texts_that_have_no_hash_are_counted(io):
    texts = pd.Series(["\ud800", "a", "\ud800", "b", "b", "b"], dtype=object)
    io.save_datasets([Dataset("d", table().assign(x=1, colour=texts), "y", CLASSIFICATION)])
    assert io.dataset_infos()[0].repeated_rows == 4  # y tells one of the three b from the others


def test_a_given_task_wins_and_a_misspelt_one_is_told(io):
    io.save_pandas_dataset(table(), "/g", meta(class_name="x", task="classification"))
    assert io.dataset_info("/g/iris").task == CLASSIFICATION
    with pytest.raises(DataError, match="no task 'regresion'; did you mean 'Regression'"):
        io.save_pandas_dataset(table(), "/g", meta("b", class_name="x", task="regresion"))


def test_survival_times_are_not_taken_for_a_regression(io):
    frame = table().assign(time=np.arange(6) + 0.5, death_event=[0, 1] * 3)
    about = meta("d", class_name="time")
    with pytest.raises(DataError, match="'time' beside 'death_event' looks like survival times"):
        io.save_pandas_dataset(frame, "/g", about)
    for kept in ({"task": "Regression"}, {"roles": {"ignore": ["death_event"]}}):
        io.save_pandas_dataset(frame, "/g", about | kept, overwrite=True)
    several = frame.assign(death_event=range(6))  # a number, and no event
    io.save_pandas_dataset(several, "/g", about, overwrite=True)


# ------------------------------------------------------------------- bad input


BAD = {
    r"the metadata of a dataset need 'class_name'": (table(), {"dataset_name": "d"}),
    r"the metadata of a dataset need 'dataset_name'": (table(), {"class_name": "d"}),
    r"dataset 'd': no column 'Colours' to be the target; did you mean 'colour'": (
        table(), meta("d", class_name="Colours")),
    r"dataset 'd': no column 'target' to be the target; name it: the last columns are 'age'": (
        pd.DataFrame({"age": [1, 2]}),
        meta("d", class_name="target"),
    ),
    r"dataset 'd': no column 'zzz' to be the target; name it: the last columns are 'x', ": (
        table(), meta("d", class_name="zzz")),
    r"dataset 'd': two columns are called 'x'; rename one": (
        table().rename(columns={"colour": "x"}), meta("d")),
    r"dataset 'd': two columns are called 1; rename one": (
        pd.DataFrame(np.eye(6)[:, :3], columns=[0, 1, 1]), meta("d", class_name=0)),
    r"dataset 'd': the table has no rows": (table()[:0], meta("d")),
    r"dataset 'd': no column beside the target 'y'": (table()[["y"]], meta("d")),
    r"dataset 'd': column 'l': Python objects, such as the list \[1\]; make a column of each": (
        table().assign(l=[[1]] * 6), meta("d")),
    r"column 'l': Python objects of mixed kinds, such as the int 1; convert them to numbers": (
        table().assign(l=["a", 1] * 3), meta("d")),
    r"column 'l': Python objects, such as the Decimal .*; convert them with .astype\('float64'": (
        table().assign(l=[Decimal("1.5")] * 6), meta("d")),
    r"dataset 'd': its metadata 'what' is a set; use texts": (table(), meta("d", what={1})),
    r"dataset 'd': a table is needed, not a builtins.dict; pass a DataFrame": ({}, meta("d")),
    r"dataset 'd': target 'x': .* beside other targets, and of several targets each is a label": (
        table(), meta("d", class_name=["x", "y"], task="Classification")),
    r"dataset 'd': targets \['x', 'x'\]: one is named twice": (
        table(), meta("d", class_name=["x", "x"])),
    r"dataset 'd': no column 'z' to be the target": (table(), meta("d", class_name=["x", "z"])),
    r"dataset 'd': lists of the labels \[1\]; a classification needs two at least": (
        table().assign(y=[[1]] * 6), meta("d")),
    r"dataset 'd': lists of labels that have no order; make them texts": (
        table().assign(y=[[1, "a"]] * 6), meta("d")),
    r"dataset 'd': the label 'x' of 'y' is also a column; rename one": (
        table().assign(y=[["x", "a"]] * 6), meta("d")),
    r"dataset 'd': target 'y': a void in a row; give one label or number": (
        table().assign(y=list(np.zeros(6, dtype=[("event", bool), ("time", float)]))), meta("d")),
    r"a dataset needs a text as its name, not ''": (table(), meta("")),
    r"dataset 'd': target 'y': 2 values are missing, the first in row 1; drop these rows": (
        table().assign(y=["a", None, "b", None, "a", "b"]), meta("d")),
    r"dataset 'd': target 'x': 1 value is infinite, the first in row 2; drop these rows": (
        table().assign(x=[0.5, 1, np.inf, 3, 4, 5]), meta("d", class_name="x")),
    r"dataset 'd': target 'y': one class only, 'a'; a classification needs rows of at least two": (
        table().assign(y="a"), meta("d")),
    r"dataset 'd': target 'y': 24 numbers in 24 rows are no classes; take regressors": (
        table(24).assign(y=np.linspace(0, 1, 24)), meta("d", task="Classification")),
    r"dataset 'd': the text '.udcff' has a lone surrogate, which UTF-8 cannot hold; decode": (
        table().assign(y=pd.Series(["\udcff", "b"] * 3, dtype=object)), meta("d")),
    r"dataset 'd.udcff': the text 'd.udcff' has a lone surrogate": (table(), meta("d\udcff")),
    r"dataset 'd': the text 'a.udcff' has a lone surrogate": (
        table().set_axis(pd.Index([*list(table())[:-1], "a\udcff"], dtype=object), axis=1),
        meta("d", class_name="a\udcff")),
}  # fmt: skip


@pytest.mark.parametrize("message", BAD)
def test_an_incomplete_dataset_is_refused(io, message):
    with pytest.raises(DataError, match=message) as caught:
        io.save_pandas_dataset(BAD[message][0], "/g", BAD[message][1])
    one_line(caught)
    assert io.list_datasets() == ([], [])


def test_unknown_paths_are_answered_with_the_nearest(io):
    io.save_datasets(datasets("iris", "wine"), "/openml")
    with pytest.raises(DataError, match=r"no dataset 'openml/irsi'; did you mean '/openml/iris'"):
        io.load_dataset("openml/irsi")
    with pytest.raises(DataError, match=r"no dataset '/qqq'; it has 2, see list_datasets"):
        io.dataset_info("/qqq")
    with pytest.raises(DataError, match=r"no dataset 'openml'"):
        io.load_dataset("openml")
    with pytest.raises(DataError, match=r"no group 'opneml/'; did you mean '/openml'"):
        io.list_datasets("opneml/")
    with pytest.raises(DataError, match=r"no group '/qqq'; its groups are /openml"):
        io.list_datasets("/qqq")


def test_mode_r_refuses_to_write_and_says_how_to(io):
    io.save_datasets(datasets("a"))
    reader = FilesIO(io.path)
    for change in (
        lambda: reader.save_pandas_dataset(table(), "/", meta()),
        lambda: reader.save_datasets(datasets("b")),
        lambda: reader.delete_dataset("a"),
    ):
        with pytest.raises(StoreError, match=r"input.h5: opened with mode='r'.*mode='a'") as caught:
            change()
        one_line(caught)
    assert reader.list_datasets()[0] == ["a"]


def test_mode_w_never_empties_by_accident(io):
    io.save_datasets(datasets("a"))
    with pytest.raises(StoreError, match=r"input.h5: exists, and mode 'w' would empty it"):
        FilesIO(io.path, mode="w")
    assert io.list_datasets()[0] == ["a"]
    anew = FilesIO(io.path, mode="w", overwrite=True)
    assert anew.list_datasets()[0] == []
    anew.save_datasets(datasets("b"))
    assert io.list_datasets()[0] == ["b"]


def test_mode_a_creates_the_file_and_its_folder(tmp_path):
    path = tmp_path / "new" / "folder" / "study.h5"
    io = FilesIO(path, mode="a")
    assert h5py.is_hdf5(path)
    assert not StudyStore(path).exists
    assert io.list_datasets() == ([], [])


def test_a_file_that_another_process_made_meanwhile_is_not_made_anew(tmp_path, monkeypatch):
    real = files_io.locked

    def late(path):
        with rewrite_h5(path) as file:
            file["theirs"] = [1]
        return real(path)

    monkeypatch.setattr(files_io, "locked", late)
    io = FilesIO(tmp_path / "input.h5", mode="a")
    with read_h5(io.path) as file:
        assert file["theirs"][0] == 1


def test_without_a_mode_a_missing_file_is_made_by_the_first_write(tmp_path, monkeypatch):
    io = Data().open_hdf5(tmp_path / "new" / "study.h5")
    assert "study.h5, mode a: 0 datasets" in io._repr_html_()
    with pytest.raises(StoreError, match=r"study.h5: its folder is not there .*; check the path"):
        io.list_datasets()  # a mistyped input
    assert not io.path.parent.exists()
    io.save_datasets(datasets("a"))
    again = Data().open_hdf5(io.path)
    assert (again.mode, again.list_datasets()[0]) == ("a", ["a"])
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert Data().open_hdf5(io.path).mode == "r"


def test_an_input_that_cannot_be_used_is_told_when_it_is_opened(tmp_path):
    missing = tmp_path / "missing.h5"
    with pytest.raises(StoreError, match=r"missing.h5: no such file; .*mode='a'") as caught:
        FilesIO(missing)
    one_line(caught)
    assert not missing.exists()
    text = tmp_path / "data.csv"
    text.write_text("a,b\n1,2\n")
    for mode in ("r", "a"):
        with pytest.raises(StoreError, match=r"data.csv: not an HDF5 file") as caught:
            FilesIO(text, mode=mode)
        one_line(caught)
    with pytest.raises(StoreError, match=r"data.csv"):
        FilesIO(text, mode="w", overwrite=True)
    assert text.read_text() == "a,b\n1,2\n"
    with pytest.raises(StoreError, match="is a folder, and must be a file"):
        FilesIO(tmp_path)
    with pytest.raises(StoreError, match="no mode 'x'; 'r' reads"):
        FilesIO(text, mode="x")
    with pytest.raises(StoreError, match=r"data.csv/new.h5: .*making its folder"):
        FilesIO(text / "new.h5", mode="a")


def test_a_truncated_file_is_told_and_left(io):
    io.save_datasets(datasets("a", n=2000))
    whole = io.path.read_bytes()
    io.path.write_bytes(whole[: len(whole) // 2])
    for use in (lambda: FilesIO(io.path), lambda: FilesIO(io.path, "a"), io.list_datasets):
        with pytest.raises(StoreError, match=r"input.h5: a truncated HDF5 file") as caught:
            use()
        one_line(caught)
    assert io.path.stat().st_size == len(whole) // 2


def test_a_read_only_output_is_told_when_it_is_opened(io, monkeypatch):
    io.save_datasets(datasets("a"))
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    with pytest.raises(StoreError, match=r"input.h5: read-only; make it writable") as caught:
        FilesIO(io.path, mode="a")
    one_line(caught)
    with pytest.raises(StoreError, match=r"input.h5: no permission"):
        io.save_datasets(datasets("b"))
    assert FilesIO(io.path).list_datasets()[0] == ["a"]


def test_a_read_only_folder_is_told_when_the_file_is_opened(io, monkeypatch):
    folder = io.path.parent
    monkeypatch.setattr(os, "access", lambda place, _: place != folder)
    with pytest.raises(StoreError, match=r"input.h5: its folder is read-only"):
        FilesIO(io.path, mode="a")


def test_a_full_disk_loses_nothing(io, monkeypatch):
    io.save_datasets(datasets("a"))
    whole = io.path.read_bytes()

    def full(*_args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files_io, "put_dataset", full)
    with pytest.raises(StoreError, match=r"input.h5: the disk .*is full") as caught:
        io.save_datasets(datasets("b"))
    one_line(caught)
    assert io.path.read_bytes() == whole
    assert [p.name for p in io.path.parent.iterdir()] == ["input.h5"]


# ---------------------------------------------------------------------- damage


def test_changed_content_is_noticed(io):
    io.save_datasets(datasets("a"), "g")
    with rewrite_h5(io.path) as file:
        file["g/a/table/body/0/values"][0, 0] = 9.0
    with pytest.raises(StoreError, match=r"input.h5: dataset 'a' is not what was stored"):
        io.load_dataset("g/a")


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        ("table", "dataset 'a' has lost its table"),
        ("table/body/1", "dataset 'a', column 'colour': cannot be read"),
        ("about", "dataset 'a' is damaged"),
    ],
)
def test_damage_names_file_dataset_and_column(io, lost, message):
    io.save_datasets(datasets("a"), "g")
    with rewrite_h5(io.path) as file:
        del file["g/a"][lost]
    with pytest.raises(StoreError, match=message) as caught:
        io.load_dataset("g/a")
    assert str(io.path) in one_line(caught)


@pytest.mark.parametrize("wrong", [{"name": 3}, {"metadata": None}])
def test_a_description_with_values_of_other_types_is_damage(io, wrong):
    io.save_datasets(datasets("a"))
    with rewrite_h5(io.path) as file:
        put_json(file["a"], "about", {**get_json(file["a"], "about", {}), **wrong})
    with pytest.raises(StoreError, match=r"dataset 'a' is damaged \(its name is no text, or its"):
        io.dataset_info("a")


def test_newer_versions_are_told(io):
    io.save_datasets(datasets("a"), "g")
    with rewrite_h5(io.path) as file:
        file["g/a"].attrs["encoding-version"] = VERSION + 1
    with pytest.raises(StoreError, match=rf"dataset 'a' has version {VERSION + 1}.*update MLaut"):
        io.dataset_info("g/a")


# --------------------------------------------------------------------- showing


def test_it_shows_itself_shortly(io):
    io.save_datasets(datasets(*(f"<{k:02}>" for k in range(23))), "g")
    assert repr(io) == f"FilesIO({str(io.path)!r}, mode='a')"
    shown = io._repr_html_()
    assert "23 datasets" in shown
    assert "/g/&lt;00&gt;" in shown
    assert "and 3 more" in shown
    assert shown.count("<tr>") == 21


def test_it_travels_to_other_processes(io):
    io.save_datasets(datasets("a"))
    assert pickle.loads(pickle.dumps(io)).list_datasets()[0] == ["a"]
