"""Studies, plans and what a run did show themselves in a notebook."""

from xml.etree import ElementTree

import pytest
from sklearn.tree import DecisionTreeClassifier

from mlaut.data import Data
from mlaut.experiments import Orchestrator, plan_study, study_status, verify_study
from mlaut.files_io import StudyStore

FILE = """
[data]
collection = "starter"
datasets = ["iris"]
[split]
scheme = "kfold(3)"
[strategies]
names = ["BaselineClassifier", "GaussianNaiveBayes"]
"""


def parts(shown):
    """Return the title, the rows and the notes of what is shown; it is well-formed."""
    root = ElementTree.fromstring(f"<div>{shown}</div>")
    title, *notes = ["".join(p.itertext()) for p in root.iter("p")]
    return title, [[cell.text or "" for cell in row] for row in root.iter("tr")], notes


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shown")
    data = Data()
    input_io = data.open_hdf5(folder / "input.h5", mode="a")
    out_io = data.open_hdf5(folder / "study.h5", mode="a")
    data.load_collection("starter", hdf5_io=input_io, names=["iris"])
    data.split_datasets(hdf5_in=input_io, hdf5_out=out_io, scheme="kfold(3)")
    strategies = ["BaselineClassifier", ("<tree>", DecisionTreeClassifier(random_state=0))]
    summary = Orchestrator(input_io, out_io).run(strategies, engine="inline", verbose=0)
    title, rows, notes = parts(summary._repr_html_())
    assert title.startswith(f"{out_io.path}: 6 of 6 cells done; this run: 6 done in ")
    assert (rows, notes) == ([], [])
    return out_io.path


def test_a_study(study):
    title, rows, notes = parts(StudyStore(study)._repr_html_())
    assert title == f"{study}: study of 1 dataset"
    assert rows == [
        ["dataset", "task", "rows", "classes", "repeats", "folds"],
        ["iris", "Classification", "150", "3", "1", "3"],
    ]
    assert notes == ["Strategies: BaselineClassifier, <tree>"]


def test_where_it_stands(study):
    title, rows, notes = parts(study_status(study)._repr_html_())
    assert title == f"{study}: 1 dataset, 2 strategies, 6 cells: 6 done"
    assert rows == [["strategy", "done"], ["BaselineClassifier", "3"], ["<tree>", "3"]]
    assert notes == []


def test_where_it_stands_before_any_strategy(tmp_path):
    data = Data()
    input_io = data.open_hdf5(tmp_path / "input.h5", mode="a")
    out_io = data.open_hdf5(tmp_path / "study.h5", mode="a")
    data.load_collection("starter", hdf5_io=input_io, names=["iris"])
    data.split_datasets(hdf5_in=input_io, hdf5_out=out_io)
    status = study_status(out_io.path)
    assert str(status) == f"{out_io.path}: nothing run yet: 1 dataset"
    assert not status.complete


def test_what_was_checked(study):
    title, rows, notes = parts(verify_study(study)._repr_html_())
    assert title == f"{study}: 1 dataset, 6 cells: 6 done"
    assert rows == []
    assert [note.strip() for note in notes] == ["no problem found in structure and content"]


def test_what_a_run_would_do(tmp_path):
    (tmp_path / "study.toml").write_text(FILE)
    preview = plan_study(tmp_path / "study.toml")
    title, rows, notes = parts(preview._repr_html_())
    assert title == f"{tmp_path / 'study.h5'}: 6 cells, 0 done, 6 to do"
    assert rows[1:] == [
        ["BaselineClassifier", "new strategy", "3", "3", "iris"],
        ["GaussianNaiveBayes", "new strategy", "3", "3", "iris"],
    ]
    assert notes[0].startswith("rows that equal another row")
    assert notes[1] == "time: not known, because no cell has run yet"
    assert parts(preview.plan._repr_html_())[:2] == ("6 cells, 6 to do", rows)
