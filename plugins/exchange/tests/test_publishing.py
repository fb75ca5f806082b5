import csv
import errno
import json
import os
import re
import shutil
import tomllib
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib import rc_context
from mlaut_exchange import open_bundle, publish_study
from mlaut_exchange.manifest import KINDS
from mlaut_exchange.publishing import _plain, check_private
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier

from mlaut import Data, Study
from mlaut.analysis import Results
from mlaut.errors import StoreError, StudyError
from mlaut.estimators import Generic_Estimator
from mlaut.files_io import FilesIO, StrategyEntry
from mlaut.files_io import StudyStore as Store
from mlaut.files_io.safe_files.hdf5 import change_h5, write_in_place


@pytest.mark.slow
def test_the_same_study_makes_the_same_bytes(study, published, tmp_path):
    with rc_context({"text.usetex": True, "axes.facecolor": "black", "font.size": 20}):
        again = publish_study(
            study, tmp_path / "again", title="Small study", authors=["Ada", "Charles"]
        )
    assert again.digest == published.digest
    assert open_bundle(tmp_path / "again") == again


def test_the_files_of_a_bundle(published):
    names = {path.name for path in published.folder.iterdir()}
    assert names == {"bundle.json", *KINDS} - {"study.toml", "strategies.py"}
    assert {"bundle.json", *published.files} == names
    assert published.complete
    assert [one.reference for one in published.datasets] == ["starter/iris", "starter/zoo"]


def test_the_published_study_has_the_same_outcomes(study, published):
    old, new = Store(study), Store(published.study)
    assert new.id == old.id
    for before, after in zip(old.blocks(), new.blocks(), strict=True):
        for name in ("status", "predictions", "probabilities", "seconds", "truth"):
            np.testing.assert_array_equal(getattr(before, name), getattr(after, name))
    assert new.runs == tuple({**run, "input": "datasets.h5"} for run in old.runs)
    assert new.analyses == old.analyses
    assert published.files["study.h5"].size < study.stat().st_size


def test_the_scores_are_those_of_the_study(study, published):
    table = pd.read_csv(published.folder / "scores.csv")
    results = Results.from_study(study, "accuracy")
    assert len(table) == 8
    means = table.pivot_table(index="dataset", columns="strategy", values="score")
    pd.testing.assert_frame_equal(means, results.scores, check_names=False)
    assert set(table["metric"]) == {"accuracy"}


def test_the_lock_names_what_ran(published):
    lines = (published.folder / "requirements.txt").read_text().splitlines()
    assert re.fullmatch(r"# Python 3\.\d+\.\d+", lines[0])
    assert f"scikit-learn=={version('scikit-learn')}" in lines


def test_no_path_and_no_model_is_published(tmp_path):
    made = Study(tmp_path / "study.h5")
    made.add_datasets("starter/iris")
    mine = Generic_Estimator(Failing(), name="fails")
    made.run(["GaussianNaiveBayes", mine], engine="inline", verbose=0, save_models=True)
    copy = Store(made.path).copy_to(tmp_path / "copy.h5", lambda record: _plain(record, ""))
    details = {record["strategy"]: record for record in copy.details("iris")}
    assert "model" in Store(made.path).details("iris")[0]
    assert "model" not in details["GaussianNaiveBayes"]
    assert 'File ".../test_publishing.py"' in details["fails"]["traceback"]
    assert [run["input"] for run in copy.runs] == [""]
    check_private(copy, {})


class Failing(ClassifierMixin, BaseEstimator):
    """Learner that fails, with its file in the traceback."""

    def fit(self, X, y):
        raise ValueError("no")

    def predict(self, X):
        raise NotImplementedError


def test_a_path_in_a_parameter_is_refused(study, tmp_path):
    copy = Store(shutil.copy(study, tmp_path / "study.h5"))
    copy.allocate([StrategyEntry("mine", "f", {"cache": str(tmp_path / "cache")})])
    with pytest.raises(StudyError) as found:
        check_private(copy, {})
    assert str(found.value) == (
        f"strategy 'mine' names the folder of the study ('{tmp_path}'), which would be published; "
        "take it out (a parameter that is a path: make it relative, and run under a new name)"
    )


def test_tables_in_the_file_of_the_study_stay_there(study, tmp_path):
    both = tmp_path / "both.h5"
    shutil.copy(study, both)
    FilesIO(both, "a").save_pandas_dataset(
        pd.DataFrame({"secret": [1, 2], "target": [0, 1]}),
        metadata={"class_name": "target", "dataset_name": "private"},
    )
    Store(both).copy_to(tmp_path / "copy.h5", dict)
    assert FilesIO(tmp_path / "copy.h5").list_datasets() == ([], [])
    assert b"secret" not in (tmp_path / "copy.h5").read_bytes()


LICENCES = [("CC BY 4.0", True), ("Public", False), ("", False), ("CC BY-NC 4.0", False)]


@pytest.mark.parametrize(("licence", "included"), LICENCES)
def test_the_licence_decides_which_tables_are_included(tmp_path, monkeypatch, licence, included):
    from mlaut_exchange import publishing

    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "y": [0, 1, 0, 1]})
    io = FilesIO(tmp_path / "input.h5", "a")
    about = {"class_name": "y", "dataset_name": "tiny", "licence": licence}
    path = io.save_pandas_dataset(frame, metadata=about)
    source = publishing._ToPublish(Store(tmp_path / "s.h5"), io, {})
    info = io.dataset_info(path)
    found = {
        how: publishing._dataset(source, info, info, how).included for how in publishing.INCLUDE
    }
    assert found == {"licensed": included, "all": True, "none": False}


BAD = [
    ({"licence": "my licence"}, "no SPDX identifier"),
    ({"include": "some"}, "there are licensed, all, none"),
    ({"date": "today"}, "no day; write for example 2026-11-22"),
    ({"datasets": "nowhere.h5"}, "was not found at nowhere.h5; name it"),
]


@pytest.mark.parametrize(("arguments", "text"), BAD)
def test_arguments_are_checked_first(study, tmp_path, arguments, text):
    with pytest.raises(StudyError, match=text):
        publish_study(study, tmp_path / "bundle", **arguments)
    assert not list(tmp_path.iterdir())


def test_an_existing_folder_is_left_alone(study, published):
    with pytest.raises(StudyError, match="exists, and a bundle is a new folder"):
        publish_study(study, published.folder)


def test_other_datasets_than_those_of_the_study_are_refused(study, tmp_path):
    io = FilesIO(tmp_path / "other.h5", "a")
    io.save_pandas_dataset(
        pd.DataFrame({"x": [0.0, 1.0], "y": [0, 1]}),
        "starter",
        {"class_name": "y", "dataset_name": "iris"},
    )
    with pytest.raises(StudyError, match="dataset 'iris' has another content in"):
        publish_study(study, tmp_path / "bundle", datasets=io.path)


def test_a_damaged_study_is_refused_as_it_is_copied(study, tmp_path):
    for name in ("study.h5", "study.datasets.h5"):
        shutil.copyfile(study.with_name(name), tmp_path / name)
    with write_in_place(tmp_path / "study.h5") as file:
        group = file.file["experiments/predictions/zoo"]
        file.array(group, "seconds").write(1, 0, 0, np.full((1, 3), 7.0))
    cell = r"dataset 'zoo': GaussianNaiveBayes on zoo \(repeat 0, fold 0\): its checksum"
    with pytest.raises(StudyError, match=f"{cell} .* mend the study before you publish it"):
        publish_study(tmp_path / "study.h5", tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


def test_outcomes_of_no_dataset_are_refused(study, tmp_path):
    for name in ("study.h5", "study.datasets.h5"):
        shutil.copyfile(study.with_name(name), tmp_path / name)
    with change_h5(tmp_path / "study.h5") as file:
        file.create_group("experiments/predictions/stray")
    with pytest.raises(StudyError, match="outcomes of datasets without split: stray; mend"):
        publish_study(tmp_path / "study.h5", tmp_path / "bundle")


def test_a_study_without_results_is_named_as_it_is(tmp_path):
    data, out_io = Data(), FilesIO(tmp_path / "empty.h5", "a")
    io = FilesIO(tmp_path / "data.h5", "a")
    data.split_datasets(io, out_io, data.load("starter/iris", hdf5_io=io), "kfold(3)")
    with pytest.raises(StudyError, match=r"/empty\.h5: none of its cells is done; run the study"):
        publish_study(out_io.path, tmp_path / "bundle", datasets=io.path)
    assert not (tmp_path / "bundle").exists()


def test_nothing_is_left_where_publishing_fails(study, tmp_path):
    io = FilesIO(tmp_path / "some.h5", "a")
    iris = FilesIO(study.with_name("study.datasets.h5")).load_dataset("/starter/iris")
    io.save_datasets([iris], "starter")
    with pytest.raises(StudyError, match="'zoo' is not in"):
        publish_study(study, tmp_path / "out" / "bundle", datasets=io.path)
    assert not list((tmp_path / "out").iterdir())


def test_a_lock_that_cannot_be_removed_is_no_file_of_a_bundle(study, tmp_path, monkeypatch):
    unlink = Path.unlink

    def fail(path, missing_ok=False):
        if path.suffix == ".lock":
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        unlink(path, missing_ok=missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", fail)
        with pytest.raises(StoreError, match=r"lock: cannot be removed; make the call again"):
            publish_study(study, tmp_path / "bundle", include="all")
    publish_study(study, tmp_path / "bundle", include="all")
    assert [path.name for path in tmp_path.iterdir()] == ["bundle"]


def test_a_study_in_a_folder_that_is_read_only_is_published(study, tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    before = sorted(study.parent.iterdir())
    monkeypatch.setattr("mlaut.files_io.studies.study.StudyStore.settle", refuse)
    publish_study(study, tmp_path / "bundle", include="all")
    assert sorted(study.parent.iterdir()) == before


# --------------------------------------------------------------------- metadata


def test_the_crate_describes_every_file(published):
    crate = json.loads((published.folder / "ro-crate-metadata.json").read_text())
    assert crate["@context"] == "https://w3id.org/ro/crate/1.1/context"
    by_id = {entity["@id"]: entity for entity in crate["@graph"]}
    assert len(by_id) == len(crate["@graph"])
    assert by_id["ro-crate-metadata.json"]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    root = by_id["./"]
    assert root["@type"] == "Dataset"
    assert root["name"] == "Small study"
    assert root["datePublished"] == published.date
    described = set(published.files) - {"ro-crate-metadata.json"} | {"bundle.json"}
    assert {part["@id"] for part in root["hasPart"]} == described
    for name in described - {"bundle.json"}:
        assert by_id[name]["contentSize"] == str(published.files[name].size)
    links = [link for entity in crate["@graph"] for link in _links(entity)]
    assert {link for link in links if not link.startswith("https://w3id")} <= set(by_id)


def _links(entity):
    for value in entity.values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                yield one["@id"]


def test_croissant_describes_the_columns(published):
    found = json.loads((published.folder / "croissant.json").read_text())
    assert found["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    (records,) = found["recordSet"]
    with (published.folder / "scores.csv").open() as file:
        header = next(csv.reader(file))
    assert [field["source"]["extract"]["column"] for field in records["field"]] == header
    kinds = {field["name"]: field["dataType"] for field in records["field"]}
    assert (kinds["dataset"], kinds["fold"], kinds["score"]) == (
        "sc:Text",
        "sc:Integer",
        "sc:Float",
    )
    sums = {one["@id"]: one["sha256"] for one in found["distribution"]}
    assert sums["scores.csv"] == published.files["scores.csv"].sha256


def test_the_citation_and_the_licences(published):
    citation = (published.folder / "CITATION.cff").read_text()
    assert 'title: "Small study"\n' in citation
    assert 'authors:\n  - name: "Ada"\n  - name: "Charles"\n' in citation
    licences = (published.folder / "LICENSE.txt").read_text()
    assert licences.startswith("Splits, predictions, scores, metadata and texts: CC-BY-4.0,")
    assert "- iris: CC BY 4.0; UCI Machine Learning Repository" in licences
    readme = (published.folder / "README.md").read_text()
    assert "2 strategies on 2 datasets, 8 cells. 2 of the tables are here" in readme


def test_a_study_file_is_published_with_its_strategies(study, tmp_path):
    from mlaut_exchange.publishing import _ToPublish

    shutil.copy(study, tmp_path / "study.h5")
    shutil.copy(study.with_name("study.datasets.h5"), tmp_path / "input.h5")
    text = '[study]\ntitle = "Mine"\n[strategies]\nfile = "mine.py"\n'
    (tmp_path / "study.toml").write_text(text)
    (tmp_path / "mine.py").write_text("strategies = []\n")
    source = _ToPublish.of(tmp_path / "study.toml", None)
    assert source.title == "Mine"
    assert tomllib.loads(source.texts["study.toml"].read_text())["study"]["title"] == "Mine"
    assert source.texts["strategies.py"] == tmp_path / "mine.py"


@pytest.mark.slow
def test_a_call_that_was_killed_when_it_had_ended_can_be_repeated(study, tmp_path):
    left = tmp_path / ".bundle.0123abcd.tmp"
    left.mkdir()
    (left / "study.h5").write_text("a copy that a killed call left")
    first = publish_study(study, tmp_path / "bundle", title="Small study")
    assert publish_study(study, tmp_path / "bundle", title="Small study") == first
    with pytest.raises(StudyError, match="exists, and a bundle is a new folder"):
        publish_study(study, tmp_path / "bundle", title="Another study")
    assert [path.name for path in tmp_path.iterdir()] == ["bundle"]


def test_scores_of_a_bundle_hold_no_formula(tmp_path):
    formula = '=1+2*cmd("x")'
    study = Study(tmp_path / "study.h5")
    study.add_datasets(["starter/iris"])
    study.run([(formula, DummyClassifier())], split="holdout", engine="inline", verbose=0)
    bundle = publish_study(study.path, tmp_path / "bundle", title="t", authors=["a\x9b"])
    assert set(pd.read_csv(bundle.folder / "scores.csv")["strategy"]) == {"'" + formula}
    texts = [file.read_text() for file in bundle.folder.iterdir() if file.suffix != ".h5"]
    assert not any("\x9b" in text for text in texts)
