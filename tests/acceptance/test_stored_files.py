"""Files that earlier versions wrote are read with the same numbers, and their studies go on.

`tools/freeze.py` writes the archive of a version; an archive stays as it is for ever.
"""

import json
import runpy
import tarfile
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from mlaut import Study, __version__, run_study
from mlaut.errors import StoreError
from mlaut.experiments import load_model, verify_study

STORED = Path(__file__).with_name("stored")
# Scikit-learn warns when a model of another of its versions is loaded.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")


SAME_LEARNERS = pytest.mark.skipif(
    "multi_class" in LogisticRegression().get_params(),
    reason="this scikit-learn has other parameters than the one that ran the studies",
)


ARCHIVES = sorted(path.name.removesuffix(".tar.xz") for path in STORED.glob("*.tar.xz"))
RELEASES = [name for name in ARCHIVES if name[0].isdigit()]


@pytest.fixture(params=ARCHIVES)
def folder(request, tmp_path):
    with tarfile.open(STORED / f"{request.param}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


@pytest.mark.parametrize("folder", RELEASES, indirect=True)
def test_all_files_of_a_release_hold_the_same_numbers(folder):
    exchange = pytest.importorskip("mlaut_exchange")
    stored = json.loads((folder / "numbers.json").read_text())
    tool = runpy.run_path(str(STORED.parents[2] / "tools" / "freeze.py"))
    found = json.loads(json.dumps(tool["numbers"](folder)))
    assert {name: found.pop(name) for name in ("bundle", "datasets")} == {
        name: stored.pop(name) for name in ("bundle", "datasets")
    }
    assert found.keys() == stored.keys()  # the next test compares their numbers
    bundle, report = exchange.verify_bundle(folder / "bundle")
    assert (report.problems, len(bundle.datasets)) == ((), 4)


def test_there_are_files_of_this_release():
    """Those of a release candidate serve its release."""
    assert any(
        version.startswith(__version__.split(".dev")[0].split("rc")[0]) for version in RELEASES
    )


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
    stored = json.loads((folder / "numbers.json").read_text())
    numbers, done = stored["study.h5"], int(stored["killed/study.h5"]["status"].split()[-2])
    assert (sum(summary.counts.values()), summary.n_cells) == (40 - done, 40)
    again = Study(folder / "killed" / "study.h5").results("accuracy").losses.sort_index()
    assert again["trees"].tolist() == pytest.approx(numbers["losses"]["trees"])


@SAME_LEARNERS
def test_its_strategies_are_recognised_and_its_models_load(folder, request):
    problems = [text for _, text in verify_study(folder / "study.h5").problems]
    assert all("model" in text for text in problems), problems  # of one strategy they are there
    model = folder / "study.h5", "iris", "LogisticRegression"
    tuned = request.node.callspec.params["folder"] == "1.0.0rc1"  # by the search of mlaut-sharing
    if find_spec("mlaut_sharing") or not tuned:
        assert [name for name, _ in load_model(*model).steps] == ["preprocessing", "estimator"]
    else:
        with pytest.raises(StoreError, match=r"pip install \./plugins/sharing"):
            load_model(*model)
    summary = run_study(folder / "study.toml", verbose=0)
    assert sum(summary.counts.values()) == 0
