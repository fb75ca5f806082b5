"""Tables from memory, from folders and from scikit-learn; what cannot be used is an error."""

import gzip

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from mlaut.data import from_frame, load_folder, load_sklearn, read_table
from mlaut.errors import DataError, OptionalPackageError
from mlaut.helpers import optional

CSV = "x,colour,class\n1,red,a\n,blue,b\n3,?,a\n"


def write(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", ".")
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text, encoding="utf-8")
    return folder


def error_of(call, *arguments, **named):
    with pytest.raises(DataError) as caught:
        call(*arguments, **named)
    text = str(caught.value)
    assert "\n" not in text
    return text


# -------------------------------------------------------------------- memory


def test_a_table_in_memory():
    frame = pd.DataFrame({"x": [1.5, 2.0, 3.0], "y": [1, 2, 1]})
    dataset = from_frame(frame, "y", name="tiny", source="by hand", dataset_id=7)
    assert (dataset.name, dataset.target, dataset.task) == ("tiny", "y", "Classification")
    assert dataset.metadata == {"source": "by hand", "dataset_id": 7}
    assert len(dataset.fingerprint) == 64
    assert from_frame(frame, "y", name="tiny", task="regression").task == "Regression"


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "a", "a"], "dataset 'd': target 'y': one class only, 'a'"),
        (["a", None, "b"], "dataset 'd': target 'y': 1 value is missing, the first in row 1"),
    ],
    ids=str,
)
def test_a_target_that_cannot_be_used_is_reported(labels, message):
    frame = pd.DataFrame({"x": [1, 2, 3], "y": labels})
    assert message in error_of(from_frame, frame, "y", name="d")


# -------------------------------------------------------------------- folders


def test_a_folder_without_manifest(tmp_path):
    write(tmp_path, one__csv=CSV, two__tsv=CSV.replace(",", "\t"), notes__txt="no table")
    (tmp_path / "three.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    one, three, two = load_folder(tmp_path)
    assert [one.name, three.name, two.name] == ["one", "three", "two"]
    assert one.target == "class"
    assert one.frame["x"].isna().tolist() == [False, True, False]
    assert one.frame["colour"].isna().tolist() == [False, False, True]
    assert one.fingerprint == two.fingerprint == three.fingerprint


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ("a,Target,z", "Target"),
        ("class,a,z", "class"),
        ("a,b,z", "z"),
        ("class,target,z", "target"),
    ],
)
def test_the_default_target(tmp_path, header, target):
    write(tmp_path, t__csv=f"{header}\n1,2,3\n2,3,4\n")
    assert load_folder(tmp_path)[0].target == target


def test_a_setting_with_a_word_beside_it_is_no_misspelt_setting(tmp_path):
    manifest = "name,file,has_categorical,n_target\na,t.csv,True,1\n"
    write(tmp_path, t__csv="x,target\n1,a\n2,b\n", manifest__csv=manifest)
    (dataset,) = load_folder(tmp_path)
    assert dataset.metadata["has_categorical"] in (True, "True")


def test_a_manifest_says_what_a_table_is(tmp_path):
    write(
        tmp_path,
        t__csv="code,grade,size,note\n1,lo,-9,None\n2,hi,3,x\n1,lo,4,y\n",
        manifest__csv="name,file,target,task,categorical,missing,source,rows\n"
        "first,t.csv,grade,,code,-9;x,UCI,3\nsecond,t.csv,size,Regression,ALL,,,\n",
    )
    first, second = load_folder(tmp_path)
    assert (first.name, first.task, first.metadata) == (
        "first",
        "Classification",
        {"source": "UCI"},
    )
    assert first.frame["code"].cat.categories.tolist() == [1, 2]
    assert first.frame["size"].isna().tolist() == [True, False, False]
    assert first.frame["note"].tolist()[::2] == ["None", "y"]
    assert isinstance(second.frame["note"].dtype, pd.CategoricalDtype)
    assert second.frame["size"].tolist() == [-9, 3, 4]
    assert [one.name for one in load_folder(tmp_path, task="regression")] == ["second"]
    assert [one.name for one in load_folder(tmp_path, names=["second", "first"])] == [
        "second",
        "first",
    ]


def test_only_the_tables_asked_for_are_read(tmp_path):
    write(tmp_path, good__csv=CSV, bad__csv="", manifest__csv="file\ngood.csv\nbad.csv\n")
    assert load_folder(tmp_path, names="good")[0].name == "good"
    assert "bad.csv: cannot be read as CSV" in error_of(load_folder, tmp_path)


def test_a_fingerprint_in_the_manifest_must_hold(tmp_path):
    write(tmp_path, t__csv=CSV)
    fingerprint = load_folder(tmp_path)[0].fingerprint
    write(tmp_path, manifest__csv=f"file,fingerprint\nt.csv,{fingerprint}\n")
    assert load_folder(tmp_path)[0].fingerprint == fingerprint
    write(tmp_path, t__csv=CSV.replace("red", "pink"))
    assert "t.csv: dataset 't' is not the table that its manifest describes" in error_of(
        load_folder, tmp_path
    )


BAD_TABLES = {
    "t.csv: dataset 't': target 'class': one class only, 'a'": "x,class\n1,a\n2,a\n",
    "t.csv: dataset 't': target 'class': 1 value is missing, the first in row 0": (
        "x,class\n1,\n2,a\n3,b\n"),
    "t.csv: dataset 't': no column beside the target 'class'": "class\na\nb\n",
    "t.csv: cannot be read as CSV (its rows have more values than its header has names; name every "
    "column, or in R leave out the row names: write.table(..., row.names = FALSE)); check": (
        '"x","class"\n"1",0.5,"a"\n"2",1.5,"b"\n'
    ),
    "t.csv: dataset 't': the table has no rows": "x,class\n",
    "t.csv: cannot be read as CSV (No columns to parse": "",
    "t.csv: cannot be read as CSV (Error tokenizing data": "a,b\n1,2\n1,2,3,4\n",
}  # fmt: skip


@pytest.mark.parametrize("message", BAD_TABLES)
def test_a_table_that_cannot_be_used_names_file_and_dataset(tmp_path, message):
    write(tmp_path, t__csv=BAD_TABLES[message])
    assert f"{tmp_path}/{message}" in error_of(load_folder, tmp_path)


BAD_MANIFESTS = {
    "t.csv: dataset 't': no column 'clas' to be the target; did you mean 'class'?": (
        "file,target\nt.csv,clas\n"),
    "t.csv: dataset 't': no column 'color' to be categorical; did you mean 'colour'?": (
        "file,categorical\nt.csv,color\n"),
    "t.csv: dataset 't': no task 'clasification'; did you mean 'Classification'?": (
        "file,task\nt.csv,clasification\n"),
    "no.csv: no such file": "file\nno.csv\n",
    "t.doc: not a table that can be read (.csv, .tsv, .arff, .parquet, .pq, .ts, .npz, .svm, .sv": (
        "file\nt.doc\n"),
    "manifest.csv, line 3: no file is named": "name,file\na,t.csv\nb,\n",
    "manifest.csv, line 2: the file '../t.csv' is outside of the folder of the manifest": (
        "file\n../t.csv\n"),
    "manifest.csv, line 3: the file '/t.csv' is outside of the folder of the manifest": (
        "file\nt.csv\n/t.csv\n"),
    "manifest.csv, line 3: a second dataset 't'": "file\nt.csv\nt.csv\n",
    "manifest.csv: unknown column 'traget'; did you mean 'target'?": "file,traget\nt.csv,x\n",
}  # fmt: skip


@pytest.mark.parametrize("message", BAD_MANIFESTS)
def test_a_manifest_that_is_wrong_is_reported(tmp_path, message):
    write(tmp_path, t__csv=CSV, manifest__csv=BAD_MANIFESTS[message])
    assert message in error_of(load_folder, tmp_path)


def test_folders_and_names_that_are_not_there(tmp_path):
    assert "nowhere: no such folder" in error_of(load_folder, tmp_path / "nowhere")
    assert "no table in it (.csv" in error_of(load_folder, tmp_path)
    write(tmp_path, iris__csv=CSV)
    assert "no dataset 'iriz'; did you mean 'iris'?" in error_of(
        load_folder, tmp_path, names=["iriz"]
    )


def test_a_file_that_is_not_text_is_reported(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n\xff\xfe,1\n")
    assert "t.csv: cannot be read as CSV ('utf-8' codec" in error_of(load_folder, tmp_path)
    (tmp_path / "t.csv").rename(tmp_path / "t.csv.gz")
    assert "t.csv.gz: cannot be read as CSV (Not a gzipped file" in error_of(load_folder, tmp_path)


# ----------------------------------------------------------------------- ARFF

ARFF = """% a comment
@RELATION 'my data'
@ATTRIBUTE 'a b' NUMERIC
@attribute "c/d" {red,'dark blue'}
@attribute n integer
@attribute text STRING
@attribute class {yes,no}
@DATA
1.5,'dark blue',3,'hello, world',yes
?,?,?,?,no
"""


def test_arff_with_quoted_names_texts_and_gaps(tmp_path):
    write(tmp_path, t__arff=ARFF)
    frame = read_table(tmp_path / "t.arff")
    expected = pd.DataFrame(
        {
            "a b": [1.5, np.nan],
            "c/d": pd.Categorical(["dark blue", None], ["red", "dark blue"]),
            "n": [3.0, np.nan],
            "text": ["hello, world", None],
            "class": pd.Categorical(["yes", "no"], ["yes", "no"]),
        }
    )
    assert_frame_equal(frame, expected)
    assert load_folder(tmp_path)[0].task == "Classification"


def test_sparse_arff(tmp_path):
    rows = "{0 3.5, 1 'dark blue', 4 no}\n{}\n{0 ?, 3 'some'}\n"
    write(tmp_path, t__arff=ARFF.partition("1.5,")[0] + rows)
    frame = read_table(tmp_path / "t.arff")
    assert frame["a b"].tolist()[:2] == [3.5, 0.0]
    assert frame["a b"].isna().tolist() == [False, False, True]
    assert frame["c/d"].tolist() == ["dark blue", "red", "red"]
    assert frame["class"].tolist() == ["no", "yes", "yes"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("integer", 'date "yyyy"'), "An attribute of dates or relations; save it as CSV"),
        (("'dark blue',3", "green,3"), "green"),
        (("@DATA", "@DAT"), "cannot be read as ARFF"),
        (("1.5,", ""), "cannot be read as ARFF"),
    ],
    ids=str,
)
def test_arff_that_cannot_be_read_is_reported(tmp_path, change, message):
    write(tmp_path, t__arff=ARFF.replace(*change))
    text = error_of(read_table, tmp_path / "t.arff")
    assert text.startswith(f"{tmp_path}/t.arff: cannot be read as ARFF (")
    assert message in text


# -------------------------------------------------------------------- parquet


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"x": [1, 2], "c": pd.Categorical(["u", "v"]), "class": ["a", "b"]})
    frame.to_parquet(tmp_path / "t.parquet")
    assert_frame_equal(load_folder(tmp_path)[0].frame, frame)
    (tmp_path / "t.parquet").write_text("no")
    assert "t.parquet: cannot be read as PARQUET" in error_of(load_folder, tmp_path)


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    write(tmp_path, t__parquet="")
    monkeypatch.setattr(optional, "find_spec", lambda _: None)
    with pytest.raises(OptionalPackageError, match=r"needs pyarrow.*mlaut\[parquet\]"):
        read_table(tmp_path / "t.parquet")


# --------------------------------------------------------------- scikit-learn


def test_scikit_learns_own_tables():
    found = {dataset.name: dataset for dataset in load_sklearn()}
    assert {name: (d.task, *d.features.shape) for name, d in found.items()} == {
        "breast_cancer": ("Classification", 569, 30),
        "diabetes": ("Regression", 442, 10),
        "digits": ("Classification", 1797, 64),
        "iris": ("Classification", 150, 4),
        "linnerud": ("Regression", 20, 3),
        "wine": ("Classification", 178, 13),
    }
    assert found["wine"].labels.unique().tolist() == ["class_0", "class_1", "class_2"]
    assert found["digits"].labels.tolist()[:3] == [0, 1, 2]
    assert found["linnerud"].target == "Weight"
    assert "no dataset 'irs'; did you mean 'iris'?" in error_of(load_sklearn, ["irs"])


def test_columns_and_fields_of_others_in_a_manifest_are_no_matter(tmp_path):
    manifest = (
        "\ufefffile,task_type,target_name,title,n_rows\nt.csv,tabular,The target,T,3,more,fields\n"
    )
    write(tmp_path, t__csv=CSV)
    (tmp_path / "manifest.csv").write_text(manifest, encoding="utf-8")
    (dataset,) = load_folder(tmp_path)
    assert dataset.metadata["task_type"] == "tabular"
    assert dataset.metadata["title"] == "T"
    assert set(dataset.metadata) == {"task_type", "target_name", "title", "n_rows"}


def test_a_bad_table_costs_itself_only(tmp_path):
    tmp_path.joinpath("good.csv").write_text("x,y\n1,a\n2,b\n3,a\n4,b\n")
    tmp_path.joinpath("gaps.csv").write_text("x,y\n1,a\n2,\n3,a\n4,b\n")
    unusable = []
    assert [one.name for one in load_folder(tmp_path, unusable=unusable)] == ["good"]
    assert [str(error).count("gaps.csv") for error in unusable] == [1]
    with pytest.raises(DataError, match=r"gaps\.csv"):
        load_folder(tmp_path)
    tmp_path.joinpath("good.csv").unlink()
    with pytest.raises(DataError, match=r"gaps\.csv"):
        load_folder(tmp_path, unusable=[])


def test_files_of_several_targets_name_all_of_them(tmp_path):
    rng = np.random.default_rng(0)
    X, labels, numbers = rng.random((20, 3)), rng.integers(0, 2, (20, 2)), rng.random((20, 2))
    np.savez(tmp_path / "table.npz", X=X, y=labels)
    np.savez(tmp_path / "images.npz", X=X[:, None], y=numbers)
    np.save(tmp_path / "pair_X.npy", X[:, None])
    np.save(tmp_path / "pair_y.npy", labels)
    for part in ("train", "test"):
        np.savez(tmp_path / f"parts_{part}.npz", X=X, y=numbers)
    found = {one.name: (one.features.shape, one.task, one.target) for one in load_folder(tmp_path)}
    both = ["target0", "target1"]
    assert found == {
        "table": ((20, 3), "Classification", both),
        "images": ((20, 1, 3), "Regression", both),
        "pair": ((20, 1, 3), "Classification", both),
        "parts": ((40, 3), "Regression", both),
    }
    text = error_of(load_folder, tmp_path, roles={"table": {"target": ["target0", "no"]}})
    assert "dataset 'table': no column 'no' to be the target" in text
