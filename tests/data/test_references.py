"""Datasets by reference: the packages of the field against local servers, then without them."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from servers import (
    ARFF,
    FLOWERS,
    FOLDS,
    openml_dataset,
    openml_error,
    openml_suite,
    openml_task,
    pmlb_dataset,
    uci_dataset,
)

from mlaut.data import (
    Data,
    DatasetReference,
    cache_folder,
    fetch,
    is_reference,
    parse_reference,
    read_table,
)
from mlaut.data.sources.loading import find_stored
from mlaut.data.sources.sources import SOURCES
from mlaut.errors import DataError, OptionalPackageError, StoreError
from mlaut.files_io import StudyStore
from mlaut.helpers import optional


def error_of(call, *arguments, error=DataError, **named):
    with pytest.raises(error) as caught:
        call(*arguments, **named)
    text = str(caught.value)
    assert "\n" not in text
    return text


def same(one, other):
    assert_frame_equal(one.frame, other.frame)
    assert (one.name, one.target, one.task, dict(one.metadata), one.fingerprint) == (
        other.name,
        other.target,
        other.task,
        dict(other.metadata),
        other.fingerprint,
    )


# ----------------------------------------------------------------- references


def test_a_reference_and_its_options():
    reference = parse_reference("uci/Wine Quality?target=pH&name=wine pH")
    assert reference == DatasetReference("uci", "Wine Quality", "wine pH", "pH")
    assert parse_reference(str(reference)) == reference
    assert str(parse_reference("starter")) == "starter"
    assert is_reference("openml/d/61?name=x")
    assert not is_reference("my openml/d/61")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pmbl/adult", "'pmbl/adult': no source 'pmbl'; did you mean 'pmlb'?"),
        ("kaggle/titanic", f"no source 'kaggle'; there are {', '.join(SOURCES)}"),
        ("openml/", "'openml/': it names no dataset; write for example 'openml/d/61'"),
        ("uci/53?traget=y", "unknown option 'traget'; did you mean 'target'?"),
        ("openml/61", "openml/61: neither a dataset, a task nor a suite; write for example"),
        ("openml/t/59?target=x", "a task has its target; load its dataset to choose another"),
        (
            "openml/s/9?name=x",
            "'openml/s/9?name=x': it has many datasets; name one",
        ),
        ("starter/iris?target=x", "a collection has its targets; leave target out"),
        ("starter/irs", "no dataset 'irs'; did you mean 'iris'?"),
        ("starter/yeast", "no dataset 'yeast'; it has 31 others, the nearest: '"),
    ],
)
def test_a_reference_that_is_wrong_is_reported(text, message):
    assert message in error_of(fetch, text)


@pytest.mark.parametrize(
    ("reference", "package", "extra"),
    [
        ("openml/d/61", "openml", "openml"),
        ("uci/53", "ucimlrepo", "uci"),
        ("pmlb/x", "pmlb", "pmlb"),
    ],
)
def test_a_package_that_is_not_installed_is_named(monkeypatch, tmp_path, reference, package, extra):
    monkeypatch.setenv("MLAUT_CACHE", str(tmp_path))
    monkeypatch.setattr(optional, "find_spec", lambda _: None)
    message = error_of(fetch, reference, error=OptionalPackageError)
    assert message.endswith(f"needs {package}, not installed here: pip install 'mlaut[{extra}]'")


# --------------------------------------------------------------------- OpenML


def test_a_dataset_of_openml_then_from_the_cache_then_offline(openml_server):
    openml_dataset(openml_server)
    (flowers,) = fetch("openml/d/61")
    assert (flowers.name, flowers.target, flowers.task) == ("flowers", "class", "Classification")
    assert list(flowers.frame) == ["length", "petals", "colour", "class"]  # id is a row number
    assert flowers.frame["length"].tolist()[:2] == [5.1, 4.9]
    assert flowers.frame["length"].isna().sum() == 1
    assert flowers.frame["colour"].astype(object).fillna("-").tolist() == (
        FLOWERS["colour"].astype(object).fillna("-").tolist()
    )
    assert flowers.labels.tolist() == FLOWERS["class"].tolist()
    assert flowers.metadata == {
        "source": "OpenML",
        "dataset_id": 61,
        "version": 1,
        "url": "https://www.openml.org/d/61",
        "licence": "CC BY 4.0",
        "creators": "A. Nobody",
        "reference": "openml/d/61",
    }
    openml_server.stop()
    same(fetch("openml/d/61")[0], flowers)
    message = error_of(fetch, "openml/d/62")
    assert message.startswith(f"openml/d/62: {openml_server.url} cannot be reached (Connection ref")
    assert "and it is not in the cache /" in message
    assert message.endswith("or copy that folder from a machine that has it")


def test_a_table_is_the_same_from_arff_and_from_parquet(openml_server):
    openml_dataset(openml_server, 61)
    openml_dataset(openml_server, 62, parquet=True)
    arff, parquet = fetch(["openml/d/61", "openml/d/62"])
    assert "/data/v1/download/62/f.arff" not in openml_server.asked
    assert_frame_equal(arff.frame, parquet.frame)
    assert arff.fingerprint == parquet.fingerprint
    openml_server.stop()
    same(fetch("openml/d/62")[0], parquet)


def test_a_task_of_openml_brings_its_split(openml_server, tmp_path):
    openml_dataset(openml_server)
    openml_task(openml_server)
    (task,) = fetch("openml/t/59")
    assert (task.target, task.task, task.metadata["openml_task"]) == ("class", "Classification", 59)
    assert task.split.folds.tolist() == FOLDS
    assert task.split.scheme == "openml/t/59 (crossvalidation)"
    openml_server.stop()
    again = fetch("openml/t/59")[0]
    same(again, task)
    assert np.array_equal(again.split.folds, task.split.folds)

    data = Data()
    io = data.open_hdf5(tmp_path / "input.h5", mode="a")
    assert data.load("openml/t/59", hdf5_io=io) == ["/openml/flowers"]
    data.split_datasets(io, data.open_hdf5(tmp_path / "study.h5", mode="a"))
    stored = StudyStore(tmp_path / "study.h5").load_split("flowers").split
    assert (stored.folds.tolist(), stored.scheme) == (FOLDS, task.split.scheme)


def test_a_holdout_task_trains_on_what_it_says(openml_server):
    openml_dataset(openml_server)
    openml_task(openml_server, 60, folds=[[0, 0, 0] + [-1] * 9])
    openml_server.pages["/api_splits/get/60/Task_60_splits.arff"] = (
        200,
        b"@relation r\n@attribute type {TRAIN,TEST}\n@attribute rowid numeric\n"
        b"@attribute repeat numeric\n@attribute fold numeric\n@data\n"
        b"TRAIN,3,0,0\nTEST,0,0,0\nTRAIN,4,0,0\n",
    )
    (task,) = fetch("openml/t/60")
    assert task.split.folds.tolist() == [[0, -2, -2, -1, -1] + [-2] * 7]


def test_a_suite_of_openml_is_its_tasks(openml_server, tmp_path):
    openml_dataset(openml_server, 61)
    openml_dataset(openml_server, 62, name="more flowers")
    openml_task(openml_server, 59)
    openml_task(openml_server, 60, data=62)
    openml_suite(openml_server, 99, [60, 59])
    data = Data()
    io = data.open_hdf5(tmp_path / "input.h5", mode="a")
    paths = ["/openml/flowers", "/openml/more flowers"]
    assert data.load("openml/s/99", hdf5_io=io) == paths
    asked = len(openml_server.asked)
    assert data.load("openml/s/99", hdf5_io=io) == paths  # nothing is asked for, nor read, again
    assert len(openml_server.asked) == asked
    openml_server.stop()
    other = data.open_hdf5(tmp_path / "other.h5", mode="a")
    assert data.load("openml/s/99", hdf5_io=other) == paths
    assert "openml/s/100: http://127.0.0.1" in error_of(fetch, "openml/s/100")


def test_a_regression_dataset_of_openml(openml_server):
    openml_dataset(
        openml_server, default_target_attribute="petals", ignore_attribute="class,colour"
    )
    (flowers,) = fetch("openml/d/61")
    assert (flowers.target, flowers.task) == ("petals", "Regression")
    assert list(flowers.frame) == ["length", "petals"]
    (other,) = fetch("openml/d/61?target=class&name=flowers-2")
    assert (other.name, other.target, other.task) == ("flowers-2", "class", "Classification")
    assert other.metadata["reference"] == "openml/d/61?name=flowers-2&target=class"


def test_a_sparse_dataset_of_openml(openml_server):
    sparse = "@relation s\n@attribute a real\n@attribute b real\n@attribute class {no,yes}\n@data\n"
    sparse += "{0 1.5}\n{1 2, 2 yes}\n{2 yes}\n{}\n"
    openml_dataset(openml_server, arff=sparse, format="Sparse_ARFF", row_id_attribute=None)
    (dataset,) = fetch("openml/d/61")
    assert dataset.frame["a"].tolist() == [1.5, 0, 0, 0]
    assert dataset.labels.tolist() == ["no", "yes", "yes", "no"]


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        (
            {"default_target_attribute": None},
            "openml/d/61: OpenML names no target; name one, as in",
        ),
        ({"default_target_attribute": "class,colour"}, "names several targets (class,colour)"),
        ({"md5_checksum": "0" * 32}, "openml/d/61: Checksum of downloaded file is unequal"),
    ],
    ids=["no target", "two targets", "checksum"],
)
def test_a_dataset_of_openml_that_cannot_be_used_is_reported(openml_server, facts, message):
    openml_dataset(openml_server, **facts)
    assert message in error_of(fetch, "openml/d/61")


def test_what_openml_answers_is_reported(openml_server):
    openml_error(openml_server, "data/7", 111, "Unknown dataset")
    message = error_of(fetch, "openml/d/7")
    assert message.endswith("says 'Unknown dataset' (code 111); check the number")
    openml_dataset(openml_server)
    openml_task(openml_server, kind=5)
    assert "openml/t/59: a task of kind 'Clustering'; MLaut takes" in error_of(fetch, "openml/t/59")


def test_a_damaged_cache_of_openml_is_reported(openml_server, tmp_path):
    openml_dataset(openml_server)
    fetch("openml/d/61")
    (file,) = (tmp_path / "openml").rglob("dataset.arff")
    file.write_text(ARFF[:-20])
    message = error_of(fetch, "openml/d/61")
    assert message == (
        f"{file}: a damaged copy of openml/d/61; delete its folder, and load it again"
    )


# ------------------------------------------------------------------------ UCI


def test_a_dataset_of_uci_then_from_the_cache_then_offline(uci_server):
    uci_dataset(uci_server)
    (houses,) = fetch("uci/53")
    assert (houses.name, houses.target, houses.task) == ("Houses", "price", "Regression")
    assert list(houses.frame) == ["rooms", "roof", "heat", "price"]
    assert houses.frame["roof"].cat.categories.tolist() == [1, 2]
    assert houses.frame["heat"].isna().tolist() == [True, False, False]
    assert houses.labels.tolist() == [100.5, 210, 305]
    assert houses.metadata == {
        "source": "UCI Machine Learning Repository",
        "dataset_id": 53,
        "url": "https://archive.ics.uci.edu/dataset/53/houses",
        "doi": "10.24432/C5XXXX",
        "creators": "A. Nobody; B. Nobody",
        "year": 1987,
        "reference": "uci/53",
    }
    (by_name,) = fetch("uci/Houses")
    assert by_name.fingerprint == houses.fingerprint
    uci_server.stop()
    same(fetch("uci/53")[0], houses)
    same(fetch("uci/Houses")[0], by_name)
    message = error_of(fetch, "uci/54")
    assert message == (
        "uci/54: https://archive.ics.uci.edu cannot be reached (Connection refused), and it is not "
        f"in the cache {cache_folder() / 'uci'}; load it once where there is a network, or copy "
        "that folder from a machine that has it"
    )


def test_number_and_name_of_uci_are_one_dataset(uci_server, tmp_path):
    uci_dataset(uci_server)
    databases = [Data().open_hdf5(tmp_path / f"{name}.h5", mode="a") for name in "abc"]
    for first, second, io in zip(("53", "Houses"), ("Houses", "53"), databases, strict=False):
        for reference in (f"uci/{first}", f"uci/{second}"):
            assert Data().load(reference, hdf5_io=io) == ["/uci/Houses"]
            assert find_stored(io, reference) == ["/uci/Houses"]
    assert Data().load(["uci/53", "uci/Houses"], hdf5_io=databases[2]) == ["/uci/Houses"]
    uci_dataset(uci_server, roles={"price": "Target", "rent": "Target"})
    with pytest.raises(DataError, match=r"'uci/53' and 'uci/Houses\?target=rent' are both called"):
        Data().load(["uci/53", "uci/Houses?target=rent"], hdf5_io=databases[2], overwrite=True)


def test_what_uci_answers_is_reported(uci_server):
    message = error_of(fetch, "uci/9999")
    assert message == (
        "uci/9999: https://archive.ics.uci.edu answered 404; check that it exists there, and try "
        "again later"
    )
    uci_dataset(uci_server, data_url=None)
    assert "exists in the repository, but is not available for import" in error_of(fetch, "uci/53")
    uci_dataset(uci_server, 54, name="Houses of Boston")
    uci_server.pages["/uci?name=Hous"] = uci_server.pages["/uci?id=54"]
    assert "the nearest is 'uci/Houses of Boston', which is 'uci/54'" in error_of(fetch, "uci/Hous")


def test_a_target_of_uci_may_have_to_be_named(uci_server):
    uci_dataset(uci_server, roles={"price": "Target", "rent": "Target"})
    message = error_of(fetch, "uci/53")
    assert message == (
        "uci/53: it has 2 targets (price, rent); name one, as in 'uci/53?target=price'"
    )
    (houses,) = fetch("uci/53?target=rent&name=rents")
    assert (houses.name, list(houses.frame)[-2:]) == ("rents", ["heat", "rent"])
    assert "uci/53: no column 'rnet'; did you mean 'rent'?" in error_of(fetch, "uci/53?target=rnet")


def test_a_damaged_copy_in_the_cache_is_reported(uci_server):
    uci_dataset(uci_server)
    fetch("uci/53")
    (file,) = (cache_folder() / "uci").iterdir()
    file.write_bytes(file.read_bytes()[:-100])
    message = error_of(fetch, "uci/53")
    assert message.startswith(f"{file}: a damaged copy (")
    assert message.endswith("; delete it, and load it again")


def test_a_cache_that_cannot_be_written_is_reported(uci_server, tmp_path, monkeypatch):
    uci_dataset(uci_server)
    (tmp_path / "file").touch()
    monkeypatch.setenv("MLAUT_CACHE", str(tmp_path / "file"))
    message = error_of(fetch, "uci/53")
    assert "the cache cannot be written (Not a directory)" in message
    assert message.endswith("name another folder in the environment variable MLAUT_CACHE")


# ----------------------------------------------------------------------- PMLB


def test_a_dataset_of_pmlb_then_from_the_cache_then_offline(pmlb_server):
    pmlb_dataset(pmlb_server, "iris", "a\tb\ttarget\n1\t2.5\t0\n2\t\t1\n3\t1\t0\n")
    pmlb_dataset(pmlb_server, "1027_ESL", "a\ttarget\n1\t2\n2\t3\n3\t4\n")
    (iris,) = fetch("pmlb/iris")
    assert (iris.name, iris.task, iris.labels.tolist()) == ("iris", "Classification", [0, 1, 0])
    assert iris.frame["b"].isna().tolist() == [False, True, False]  # no row is dropped
    assert iris.metadata["source"] == "Penn Machine Learning Benchmarks (PMLB)"
    assert fetch("pmlb/1027_ESL")[0].task == "Regression"
    pmlb_server.stop()
    same(fetch("pmlb/iris")[0], iris)
    message = error_of(fetch, "pmlb/adult")
    assert message.startswith("pmlb/adult: https://github.com cannot be reached (Connection ref")
    assert f"is not in the cache {cache_folder() / 'pmlb'}; load it once" in message


def test_a_dataset_that_pmlb_does_not_have_is_reported(pmlb_server):
    message = error_of(fetch, "pmlb/iriss")
    assert message == ("pmlb/iriss: the package pmlb knows no such dataset; did you mean 'iris'?")
    assert "pmlb/adult: Dataset not found in PMLB." in error_of(fetch, "pmlb/adult")


# -------------------------------------------------------------- into a database


def test_loading_into_a_database_goes_on_where_it_stopped(uci_server, pmlb_server, tmp_path):
    uci_dataset(uci_server)
    data = Data()
    io = data.open_hdf5(tmp_path / "input.h5", mode="a")
    references = ["uci/53", "starter/zoo", "pmlb/iris"]
    assert "pmlb/iris: Dataset not found" in error_of(data.load, references, hdf5_io=io)
    assert data.list_datasets(io)[1] == ["/starter/zoo", "/uci/Houses"]
    pmlb_dataset(pmlb_server, "iris", "a\ttarget\n1\t0\n2\t1\n3\t0\n")
    paths = ["/uci/Houses", "/starter/zoo", "/pmlb/iris"]
    assert data.load(references, hdf5_io=io) == paths
    assert data.load(references, hdf5_io=io, task="classification") == paths[1:]
    other = data.open_hdf5(tmp_path / "other.h5", mode="a")
    assert data.load(references[:2], hdf5_io=other, hdf5_group="all") == ["/all/Houses", "/all/zoo"]


def test_names_that_clash_are_reported(openml_server, tmp_path):
    openml_dataset(openml_server)
    openml_task(openml_server)
    data = Data()
    io = data.open_hdf5(tmp_path / "input.h5", mode="a")
    message = error_of(data.load, ["openml/d/61", "openml/t/59"], hdf5_io=io)
    assert message == (
        "'openml/d/61' and 'openml/t/59' are both called 'flowers'; give one a name of its own, as "
        "in 'openml/t/59?name=flowers-2'"
    )
    message = error_of(data.load, "openml/t/59", hdf5_io=io, error=StoreError)
    assert "/openml/flowers exists and differs: with a split of its own, other metadata" in message
    assert data.load("openml/t/59?name=task", hdf5_io=io) == ["/openml/task"]


def test_parquet_has_a_short_ending_too(tmp_path):
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "t.pq")
    assert read_table(tmp_path / "t.pq")["a"].tolist() == [1]


def test_the_command_line_loads_too(pmlb_server, tmp_path, capsys):
    from mlaut.cli import main

    pmlb_dataset(pmlb_server, "iris", "a\ttarget\n1\t0\n2\t1\n3\t0\n")
    main(["load", str(tmp_path / "input.h5"), "pmlb/iris", "starter/zoo"])
    assert capsys.readouterr().out == "/pmlb/iris\n/starter/zoo\n"
    with pytest.raises(SystemExit) as caught:
        main(["load", str(tmp_path / "input.h5"), "pmlb/adult"])
    assert caught.value.code == DataError.exit_code
    error = capsys.readouterr().err
    assert error.startswith("mlaut: error: pmlb/adult: Dataset not found in PMLB.")
    assert error.count("\n") == 1


def test_a_study_of_a_task_runs_and_goes_on_without_a_network(openml_server, tmp_path):
    from mlaut import run_study
    from mlaut.files_io import FilesIO

    openml_dataset(openml_server)
    openml_task(openml_server)
    study = tmp_path / "study.toml"
    study.write_text(
        '[data]\ndatasets = ["openml/t/59", "starter/zoo"]\n'
        '[strategies]\nnames = ["BaselineClassifier"]\n[run]\nengine = "inline"\n'
    )
    run_study(study, verbose=0)
    stored = StudyStore(tmp_path / "study.h5")
    split = stored.load_split("flowers").split
    assert (split.folds.tolist(), split.scheme) == (FOLDS, "openml/t/59 (crossvalidation)")
    assert stored.load_split("zoo").split.scheme == "holdout(test_size=1/3)"
    assert stored.block("flowers").done.all()
    about = FilesIO(tmp_path / "input.h5").dataset_info("openml/flowers").metadata
    assert (about["source"], about["licence"], about["creators"]) == (
        "OpenML",
        "CC BY 4.0",
        "A. Nobody",
    )
    openml_server.stop()
    assert "nothing to do" in str(run_study(study, verbose=0))


def test_large_tables_are_stored_as_they_come_and_replaced_on_request(
    pmlb_server, tmp_path, monkeypatch
):
    monkeypatch.setattr("mlaut.data.sources.loading.BATCH", 1)
    pmlb_dataset(pmlb_server, "iris", "a\ttarget\n1\t0\n2\t1\n3\t0\n")
    data = Data()
    io = data.open_hdf5(tmp_path / "input.h5", mode="a")
    references = ["pmlb/iris", "starter/zoo"]
    paths = data.load(references, hdf5_io=io)
    assert paths == ["/pmlb/iris", "/starter/zoo"]
    pmlb_dataset(pmlb_server, "iris", "a\ttarget\n1\t0\n2\t1\n3\t0\n4\t1\n")
    (cache_folder() / "pmlb" / "iris.h5").unlink()
    assert data.load(references, hdf5_io=io) == paths
    assert io.dataset_info("pmlb/iris").n_rows == 3
    assert data.load(references, hdf5_io=io, overwrite=True) == paths
    assert io.dataset_info("pmlb/iris").n_rows == 4
