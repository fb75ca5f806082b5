"""Files that earlier versions wrote are read with the same numbers, and their studies go on."""

import json
import tarfile
from pathlib import Path

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from mlaut import Study, run_study
from mlaut.experiments import load_model, verify_study

STORED = Path(__file__).with_name("stored")
# Scikit-learn warns when a model of another of its versions is loaded.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")


SAME_LEARNERS = pytest.mark.skipif(
    "multi_class" in LogisticRegression().get_params(),
    reason="this scikit-learn has other parameters than the one that ran the studies",
)


@pytest.fixture
def folder(tmp_path):
    with tarfile.open(STORED / "november-2026.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


@pytest.mark.parametrize("path", ["study.h5", "killed/study.h5"])
def test_scores_and_counts(folder, path):
    numbers = json.loads((folder / "numbers.json").read_text())[path]
    study = Study(folder / path)
    losses = study.results("accuracy").losses.sort_index()
    pd.testing.assert_frame_equal(
        losses.reset_index(drop=True), pd.DataFrame(numbers["losses"])[[*losses]], check_names=False
    )
    assert str(study.status()).splitlines()[0].split(": ", 1)[1] == numbers["status"]


@SAME_LEARNERS
def test_an_interrupted_study_goes_on_where_it_was(folder):
    for name in ("input.h5", "mine.py"):
        (folder / name).rename(folder / "killed" / name)
    summary = run_study(folder / "killed" / "study.toml", n_jobs=1, verbose=0)
    assert (sum(summary.counts.values()), summary.n_cells) == (36, 40)
    numbers = json.loads((folder / "numbers.json").read_text())["study.h5"]
    again = Study(folder / "killed" / "study.h5").results("accuracy").losses.sort_index()
    assert again["trees"].tolist() == pytest.approx(numbers["losses"]["trees"])


@SAME_LEARNERS
def test_its_strategies_are_recognised_and_its_models_load(folder):
    problems = [text for _, text in verify_study(folder / "study.h5").problems]
    assert all("model" in text for text in problems), problems  # of one strategy they are there
    model = load_model(folder / "study.h5", "iris", "LogisticRegression")
    assert [name for name, _ in model.steps] == ["preprocessing", "estimator"]
    summary = run_study(folder / "study.toml", verbose=0)
    assert sum(summary.counts.values()) == 0
