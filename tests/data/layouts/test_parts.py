"""Datasets of several files, in the layouts that other programs write."""

import json

import h5py
import numpy as np
import pandas as pd
import pytest

from mlaut import Study
from mlaut.data import load_folder
from mlaut.errors import DataError, UnusableWarning
from mlaut.files_io import FilesIO

TRAINING = "x,colour,class\n1,red,a\n2,blue,b\n3,red,a\n"
TEST = "x,colour,class\n4,red,b\n5,green,a\n"
# Two series of two channels and three points, in the form that aeon writes.
SERIES = """# made up
@problemName Two
@timeStamps false
@missing true
@univariate false
@dimension 2
@equalLength true
@seriesLength 3
@classLabel true up down
@data
1,2,?:4,5,6:up
3,2,1:7,8,9:down
"""


def error_of(folder, **options):
    with pytest.raises(DataError) as caught:
        load_folder(folder, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text


def tables(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        folder.joinpath(name.replace("__", ".")).write_text(text)
    return folder


def codes(dataset):
    return dataset.split.folds.tolist()


def test_a_training_and_a_test_part_are_one_dataset_with_its_split(tmp_path):
    tables(tmp_path, wine_train__csv=TRAINING, wine_test__csv=TEST, iris__csv=TRAINING)
    iris, wine = load_folder(tmp_path)
    assert (iris.name, iris.split, len(iris.frame)) == ("iris", None, 3)
    assert wine.name == "wine"
    assert wine.frame["x"].tolist() == [1, 2, 3, 4, 5]
    assert codes(wine) == [[-1, -1, -1, 0, 0]]
    assert wine.split.scheme == "the test part of its files"


def test_a_file_beside_parts_of_its_name_is_told(tmp_path):
    tables(tmp_path, iris_train__csv=TRAINING, iris_test__csv=TEST, iris__csv=TRAINING)
    with pytest.warns(UnusableWarning, match=r"left out: iris.csv, since there are training and"):
        (iris,) = load_folder(tmp_path)
    assert codes(iris) == [[-1, -1, -1, 0, 0]]


def test_files_without_a_training_part_are_datasets_of_their_own(tmp_path):
    tables(tmp_path, **{"blood-test__csv": TRAINING, "breath-test__csv": TEST})
    assert [dataset.name for dataset in load_folder(tmp_path)] == ["blood-test", "breath-test"]


def test_roles_and_target_are_those_that_are_given(tmp_path):
    tables(tmp_path, wine_train__csv=TRAINING, wine_test__csv=TEST)
    (wine,) = load_folder(tmp_path, roles={"target": "colour", "ignore": "class"})
    assert (wine.target, list(wine.features), codes(wine)) == (
        "colour",
        ["x"],
        [[-1, -1, -1, 0, 0]],
    )


def test_parts_with_other_columns_are_refused(tmp_path):
    tables(tmp_path, wine_train__csv=TRAINING, wine_test__csv="x,hue,class\n1,2,a\n")
    assert "parts of 'wine' have different columns ('colour', 'hue')" in error_of(tmp_path)


def test_an_archive_of_time_series(tmp_path):
    folder = tables(tmp_path / "Two", Two_TRAIN__ts=SERIES, Two_TEST__ts=SERIES)
    tables(folder, Two_TRAIN__arff="@relation other\n", Two_TRAIN__csv="1,2\n")
    for where in (tmp_path, folder):
        (two,) = load_folder(where)
        assert (two.name, two.target, two.task) == ("Two", "target", "Classification")
        assert two.features.shape[1:] == (2, 3)
        assert two.labels.tolist() == ["up", "down"] * 2
        np.testing.assert_array_equal(two.features[2], [[1, 2, np.nan], [4, 5, 6]])
        assert codes(two) == [[-1, -1, 0, 0]]


def test_parts_with_rows_of_other_shapes_are_refused(tmp_path):
    few = SERIES.replace("4,5,6:", "").replace("7,8,9:", "")
    tables(tmp_path, Two_TRAIN__ts=SERIES, Two_TEST__ts=few)
    assert "parts of 'Two' have rows of shapes (1, 3) and (2, 3)" in error_of(tmp_path)


def test_series_of_different_lengths(tmp_path):
    longer = SERIES.replace("1,2,?:4,5,6:", "1,2,3,4:5,6,7,8:")
    folder = tables(tmp_path / "Two", Two_TRAIN__ts=SERIES, Two_TEST__ts=longer)
    (two,) = load_folder(folder)
    assert two.array.lengths.tolist() == [3, 3, 4, 3]
    assert two.array[[2]][0].tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    few = SERIES.replace("4,5,6:", "").replace("7,8,9:", "")
    tables(tmp_path / "Two", Two_TRAIN__ts=few)
    assert "the same channels" in error_of(folder)


def test_npy_files_of_a_folder(tmp_path):
    X, y = np.arange(24).reshape(4, 2, 3), np.array(["a", "b"] * 2)
    for name in ("X", "d_X", "e_X_train", "e_X_test"):
        np.save(tmp_path / f"{name}.npy", X)
        np.save(tmp_path / f"{name.replace('X', 'y')}.npy", y)
    np.save(tmp_path / "alone.npy", X)
    found = {one.name: one for one in load_folder(tmp_path)}
    assert sorted(found) == sorted(["d", "e", tmp_path.name])
    assert found["e"].features.shape == (8, 2, 3)
    assert codes(found["e"]) == [[-1] * 4 + [0] * 4]
    (tmp_path / "manifest.csv").write_text("file,y,name\nalone.npy,y.npy,named\n")
    assert [one.name for one in load_folder(tmp_path)] == ["named"]


def test_a_file_is_a_dataset(tmp_path):
    with h5py.File(tmp_path / "scans.h5", "w") as file:
        file["images"], file["labels"] = np.arange(24).reshape(4, 2, 3), ["a", "b"] * 2
    tables(tmp_path, wine__csv=TRAINING)
    study = Study(tmp_path / "study.h5")
    assert study.add_datasets(tmp_path / "wine.csv", target="x", roles={"id": "class"}) == ["wine"]
    assert FilesIO(study.datasets_path).dataset_info("wine").roles == {"id": ("class",)}
    scans = f"{tmp_path}/scans.h5?X=images&y=labels"
    assert study.add_datasets([scans, f"{scans}&name=b"]) == ["scans", "b"]
    with pytest.raises(DataError, match="unknown option 'z'; there are name, file"):
        study.add_datasets(f"{scans}&z=1")
    with pytest.raises(DataError, match="no array 'X'; it has images"):
        study.add_datasets(tmp_path / "scans.h5")


def test_time_series_with_a_number_as_their_target(tmp_path):
    text = SERIES.replace("@classLabel true up down", "@targetLabel true")
    text = text.replace(":up", ":1.25").replace(":down", ":-2")
    (two,) = load_folder(tables(tmp_path, Two__ts=text))
    assert (two.task, two.labels.tolist()) == ("Regression", [1.25, -2.0])


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("@timeStamps false", "@timeStamps true", "its series have time stamps"),
        ("@classLabel true up down", "@classLabel false", "its series have no label"),
        (
            "3,2,1:",
            "3,2:",
            "the channels of a series differ in length; pad or cut them to one length",
        ),
    ],
)
def test_time_series_that_are_no_table_are_refused(tmp_path, old, new, reason):
    tables(tmp_path, Two__ts=SERIES.replace(old, new))
    assert f"cannot be read as TS ({reason}" in error_of(tmp_path)


# -------------------------------------------------------------------- parquet


@pytest.fixture
def parquet():
    """Return a function that writes a table as `datasets.Dataset.to_parquet` does."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    def write(path, first, rows):
        path.parent.mkdir(parents=True, exist_ok=True)
        numbers = range(first, first + rows)
        table = pa.table({"label": [k % 2 for k in numbers], "x": [float(k) for k in numbers]})
        features = {
            "label": {"names": ["no", "yes"], "_type": "ClassLabel"},
            "x": {"dtype": "float64", "_type": "Value"},
        }
        about = json.dumps({"info": {"features": features}})
        pq.write_table(table.replace_schema_metadata({"huggingface": about}), path)

    return write


def test_a_copy_of_a_repository_of_hugging_face(tmp_path, parquet):
    data = tmp_path / "adult" / "data"
    parquet(data / "train-00000-of-00002.parquet", 0, 3)
    parquet(data / "train-00001-of-00002.parquet", 3, 2)
    parquet(data / "validation-00000-of-00001-8b6e212f3e1ece96.parquet", 5, 1)
    parquet(data / "test-00000-of-00001.parquet", 6, 2)
    for where in (tmp_path, data.parent, data):
        (adult,) = load_folder(where)
        assert (adult.name, adult.target) == ("adult", "label")
        assert adult.labels.tolist() == ["no", "yes"] * 4
        assert adult.frame["x"].tolist() == list(range(8))
        assert codes(adult) == [[-1] * 6 + [0, 0]]


@pytest.mark.parametrize("about", ['{"info": []}', "no JSON", '{"info": {"features": FEATURES}}'])
def test_a_description_that_does_not_fit_is_refused(tmp_path, about):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    features = '{"y": {"names": ["a"], "_type": "ClassLabel"}}'  # there are numbers up to 1
    table = pa.table({"x": [1.0, 2.0], "y": [0, 1]})
    table = table.replace_schema_metadata({"huggingface": about.replace("FEATURES", features)})
    for part in ("train", "test"):
        pq.write_table(table, tmp_path / f"{part}.parquet")
    assert "its description of classes does not fit its columns" in error_of(tmp_path)


def test_a_copy_below_a_cache_is_read(tmp_path, parquet):
    parquet(tmp_path / ".cache" / "sets" / "adult" / "data" / "train.parquet", 0, 3)
    parquet(tmp_path / ".cache" / "sets" / "adult" / "data" / "test.parquet", 3, 2)
    parquet(tmp_path / ".cache" / "sets" / "adult" / ".cache" / "old.parquet", 0, 9)
    (adult,) = load_folder(tmp_path / ".cache" / "sets")
    assert (adult.name, len(adult.frame)) == ("adult", 5)


def test_the_parquet_branch_of_a_repository_with_two_configurations(tmp_path, parquet):
    for configuration in ("short", "long"):
        for part in ("train", "validation"):
            parquet(tmp_path / "adult" / configuration / part / "0000.parquet", 0, 4)
    assert [one.name for one in load_folder(tmp_path / "adult")] == ["long", "short"]
    assert "adult: it has parts of several tables (long, short); name" in error_of(tmp_path)


def test_a_partitioned_table(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"year": [2020, 2020, 2021], "at": list("nsn"), "x": [1.0, 2, 3]})
    frame["class"] = ["a", "b", "a"]
    frame.to_parquet(tmp_path / "visits", partition_cols=["year", "at"])
    for where in (tmp_path, tmp_path / "visits"):
        (visits,) = load_folder(where)
        assert (visits.name, visits.target, visits.split) == ("visits", "class", None)
        assert visits.frame["year"].tolist() == [2020, 2020, 2021]
        assert visits.frame["at"].tolist() == ["n", "s", "n"]
        assert visits.frame["at"].dtype == "category"


def test_the_files_of_a_table_that_was_written_in_parts(tmp_path, parquet):
    parquet(tmp_path / "visits" / "part-00000-c000.snappy.parquet", 0, 2)
    parquet(tmp_path / "visits" / "part-00001-c000.snappy.parquet", 2, 2)
    for where in (tmp_path, tmp_path / "visits"):
        (visits,) = load_folder(where)
        assert (visits.name, visits.frame["x"].tolist()) == ("visits", [0, 1, 2, 3])
