"""Commands of bundles, their results as JSON, and studies of every kind that are published."""

import json
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from mlaut_exchange import extend_bundle
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from mlaut import Study
from mlaut.cli import cli
from mlaut.errors import StudyError
from mlaut.estimators import Flatten
from mlaut.experiments import verify_study
from mlaut.files_io import StudyStore, merge_studies

PLUGIN = Path(__file__).parents[1]
SCHEMAS = runpy.run_path(str(PLUGIN / "schemas.py"))
OF_MLAUT = runpy.run_path(str(PLUGIN.parents[1] / "tests" / "acceptance" / "test_json.py"))
OPTIONS = {"engine": "inline", "verbose": 0}


def test_the_schemas_are_those_of_the_tool():
    stored = {path.name: path.read_text() for path in SCHEMAS["FOLDER"].glob("*.json")}
    assert stored == SCHEMAS["OF_MLAUT"].schemas(SCHEMAS["RESULTS"]), "run: python schemas.py"
    for name in ("import", "publish"):
        printed = CliRunner().invoke(cli, [name, "--json-schema"]).stdout
        assert printed == stored[f"{name}.json"]


def write_predictions():
    """Write predictions of another program for every test row: always the first class."""
    rows = []
    for name, entry in StudyStore("all.h5").load_splits().items():
        for fold in range(2):
            test = entry.split.rows(0, fold)[1]
            rows += [f"{name},0,{fold},{row},{entry.classes[0]}" for row in test]
    Path("others.csv").write_text("dataset,repeat,fold,row,prediction\n" + "\n".join(rows))


@pytest.mark.slow
def test_results_are_as_their_schemas_say(study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls = {
        "publish": f"{study} -o bundle --licence CC-BY-4.0 --include none",
        "run": "bundle --add BernoulliNaiveBayes -o mine.h5 -j 1 --quiet",
        "merge": "bundle mine.h5 -o all.h5",
        "verify": "bundle",
        "import": "all.h5 others.csv --strategy others --source R",
    }
    told = {}
    for name, words in calls.items():
        if name == "import":
            write_predictions()
        told[name], code = OF_MLAUT["asked"](name, *words.split())
        schema = json.loads(CliRunner().invoke(cli, [name, "--json-schema"]).stdout)
        Draft202012Validator(OF_MLAUT["strict"](schema)).validate(told[name])
        assert code == 0
    assert told["run"]["this_run"] == {"done": 4}
    assert told["merge"]["cells"] == {"done": 12}
    assert told["import"] == {"study": "all.h5", "strategy": "others", "cells": 4}


def test_an_option_that_is_misspelt_is_answered_with_the_right_one(tmp_path):
    told = "unknown option .*'license' of publish_study; did you mean 'licence'"
    with pytest.raises(StudyError, match=told):
        Study(tmp_path / "s.h5").publish("bundle", license="x")


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.arange(240.0).reshape(40, 2, 3), np.arange(40) % 2),
        (sp.random(40, 9, 0.5, random_state=0, format="csr"), np.arange(80).reshape(40, 2) % 3 > 1),
    ],
    ids=["arrays", "sparse, two targets"],
)
def test_arrays_and_several_targets_are_published(X, y, tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets((X, y.astype(int)), name="made up")
    learner = make_pipeline(Flatten(), KNeighborsClassifier(3))
    study.run({"knn": learner if X.ndim > 2 else learner[1]}, split="kfold(2)", **OPTIONS)
    bundle = study.publish(tmp_path / "bundle", title="Arrays", include="all")
    assert verify_study(bundle.study).ok
    if y.ndim > 1:
        rows = pd.DataFrame({"repeat": 0, "fold": 0, "row": [0], "prediction": 1})
        with pytest.raises(StudyError, match="several targets, of which no predictions of other"):
            study.import_predictions(rows, strategy="other", source="R")


def test_a_study_with_new_names_is_published_and_extended(study, tmp_path):
    renamed = StudyStore(tmp_path / "study.h5")
    renamed.path.write_bytes(study.read_bytes())
    datasets = study.with_suffix(".datasets.h5")
    (tmp_path / datasets.name).write_bytes(datasets.read_bytes())
    renamed.restructure(strategies={"GaussianNaiveBayes": "bayes"})
    Study(renamed.path).publish(tmp_path / "bundle", include="all")
    mine = tmp_path / "mine.h5"
    extend_bundle(tmp_path / "bundle", "BernoulliNaiveBayes", mine, **OPTIONS)
    joined = merge_studies([renamed.path, mine], tmp_path / "joined.h5")
    assert verify_study(joined.path).ok
    names = ["BaselineClassifier", "BernoulliNaiveBayes", "bayes"]
    assert sorted(one.name for one in joined.strategies) == names
