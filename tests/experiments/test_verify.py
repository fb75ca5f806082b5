"""Verification: what is wrong is found, what is right is not blamed, and drift is told."""

import json
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
import sklearn
from learners import Random
from sklearn.naive_bayes import GaussianNB

from mlaut import Data, Orchestrator, Results
from mlaut.cli import main
from mlaut.errors import StoreError, StudyError
from mlaut.experiments import verify_study
from mlaut.experiments.runs import refit
from mlaut.files_io import StudyStore
from mlaut.files_io.safe_files.hdf5 import rewrite_h5
from mlaut.records import Status

STRATEGIES = {"bayes": GaussianNB(), "random": Random()}


@pytest.fixture(scope="module")
def made(made_databases, tmp_path_factory):
    """A finished study beside its input, which each test gets a copy of."""
    folder = shutil.copytree(made_databases, tmp_path_factory.mktemp("made") / "study")
    input_io, out_io = (Data().open_hdf5(folder / name, "a") for name in ("input.h5", "study.h5"))
    paths = input_io.list_datasets("tables")[1][:2]
    Data().split_datasets(input_io, out_io, paths, scheme="kfold(3)")
    Orchestrator(input_io, out_io).run(STRATEGIES, engine="inline", verbose=0)
    return out_io.path


@pytest.fixture
def study(made, databases):
    return StudyStore(shutil.copy(made, databases[1].path))


def whats(found):
    return [what for _, what in found.problems]


def test_a_sound_study_is_sound(study):
    found = verify_study(study.path)
    assert (found.ok, found.datasets, found.counts) == (True, 2, {Status.DONE: 12})
    assert str(found).splitlines()[1:] == ["  no problem found in structure and content"]
    assert json.loads(json.dumps(found.to_dict()))["cells"] == {"done": 12}


def test_fitting_again_gives_the_same_bits(study):
    found = verify_study(study.path, refit="100%", strategies=STRATEGIES, engine="inline")
    assert (found.refitted, found.drifts, found.ok) == (12, (), True)
    some = verify_study(study.path, refit=0.3, strategies=STRATEGIES, engine="inline", seed=5)
    assert some.refitted == 4
    one = verify_study(study.path, refit="1%", strategies=STRATEGIES, engine="inline")
    assert one.refitted == 1
    assert "1 cell fitted again, all as stored" in str(one)


class Unstable(Random):
    """Gives other predictions each time it is asked."""

    def predict(self, X):
        return np.random.default_rng().choice(self.classes_, len(X))


def test_drift_is_told_with_the_versions_that_differ(databases, monkeypatch):
    input_io, out_io = databases
    paths = input_io.list_datasets("tables")[1][:1]
    Data().split_datasets(input_io, out_io, paths, scheme="kfold(2)")
    strategies = {"unstable": Unstable(), "bayes": GaussianNB()}
    Orchestrator(input_io, out_io).run(strategies, engine="inline", verbose=0)
    now = refit.describe_environment()
    now["versions"] = {**now["versions"], "scikit-learn": "99.0", "numpy": None}
    monkeypatch.setattr(refit, "describe_environment", lambda: now)
    found = verify_study(out_io.path, refit=1, strategies=strategies, engine="inline")
    assert not found.ok
    assert {drift.cell.strategy for drift in found.drifts} == {"unstable"}
    drift = found.drifts[0]
    assert drift.versions["scikit-learn"][1] == "99.0"
    assert set(drift.versions) == {"scikit-learn", "numpy"}
    assert "predictions differ" in drift.what
    assert "scikit-learn" in str(found)


def test_a_cell_that_fails_now_is_drift(study):
    strategies = {"bayes": GaussianNB(), "random": Random()}
    original = GaussianNB.fit
    try:
        GaussianNB.fit = lambda *_: 1 / 0
        found = verify_study(study.path, refit=1, strategies=strategies, engine="inline")
    finally:
        GaussianNB.fit = original
    assert len(found.drifts) == 6
    assert "error: ZeroDivisionError" in found.drifts[0].what


def test_what_cannot_be_fitted_again_is_told(study, monkeypatch):
    changed = {"bayes": GaussianNB(var_smoothing=0.5), "random": Random()}
    found = verify_study(study.path, refit=1, strategies=changed, engine="inline")
    assert found.refitted == 6
    reason = "bayes: its parameters are not those that are stored (var_smoothing: 1e-09 -> 0.5)"
    assert found.left_out == (reason,)
    monkeypatch.setattr(refit, "installed_version", lambda name: f"99 of {name}")
    found = verify_study(study.path, refit=1, strategies=changed, engine="inline")
    assert found.left_out[0].endswith(
        f"; scikit-learn {sklearn.__version__} -> 99 of scikit-learn)"
    )
    with pytest.raises(
        StudyError,
        match=r"nothing can be fitted again: bayes, random: MLaut has none so called; [^;]*$",
    ):
        verify_study(study.path, refit=1)
    with pytest.raises(StudyError, match="refit '2': not a share of the cells"):
        verify_study(study.path, refit="2")
    study.path.with_name("input.h5").unlink()
    with pytest.raises(StudyError, match="needs the datasets; name their database"):
        verify_study(study.path, refit=1)


PREDICTIONS = "experiments/predictions/iris/"


def change(path, name, value):
    """Change a value as a broken program would, the seal included."""
    with rewrite_h5(path) as file:
        file[name][...] = value(file[name][...])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (PREDICTIONS + "predictions", lambda a: a + 1, "bayes on iris (repeat 0, fold 0): its che"),
        (PREDICTIONS + "checksum", lambda a: a ^ 8, "its checksum does not hold"),
        (PREDICTIONS + "seconds", lambda a: a + 1, "its checksum does not hold"),
        (
            "splits/iris/folds",
            lambda a: np.where(a == 1, 0, a),
            "no row is tested in repeat 0, fold 1",
        ),
        ("splits/iris/folds", lambda a: a - 9, "its split has fold -9"),
        ("splits/iris/truth", lambda a: np.minimum(a, 1), "1 of its classes have no row"),
        ("splits/iris/truth", lambda a: a[::-1], "its truth is not the target of its dataset"),
        ("splits/iris/truth", lambda a: a + 7, "the split of dataset 'iris' contradicts itself"),
    ],
)
def test_what_is_wrong_is_found(study, name, value, message):
    change(study.path, name, value)
    found = verify_study(study.path)
    assert not found.ok
    assert any(message in what for what in whats(found)), whats(found)
    assert all(where == "dataset 'iris'" for where, _ in found.problems)


def test_swapped_types_and_lost_arrays_are_found(study):
    with rewrite_h5(study.path) as file:
        group = file[PREDICTIONS]
        values = group["predictions"][...]
        del group["predictions"]
        group["predictions"] = values.astype("f4")
        del file["experiments/predictions/breast_cancer"]["seed"]
    told = whats(verify_study(study.path))
    assert any("is float32 (2, 1, 150), and must be int32" in what for what in told)
    assert any("cannot be read" in what and "seed" in what for what in told)


def test_a_broken_seal_is_found_and_can_be_accepted(study, capsys):
    with h5py.File(study.path, "r+") as file:
        file.attrs["note"] = "by hand"
    found = verify_study(study.path)
    assert "changed by another program (its seal does not hold)" in whats(found)[0]
    assert not found.ok
    with pytest.raises(SystemExit, match="1"):
        main(["verify", str(study.path)])
    main(["verify", "--seal", str(study.path)])
    assert "no problem found" in capsys.readouterr().out


def test_damaged_cells_are_mended_and_run_again(study, databases, capsys):
    before = study.block("iris")
    change(study.path, PREDICTIONS + "seed", lambda seeds: seeds + np.array([1, 0, 1]))
    main(["verify", "--mend", str(study.path)])
    assert "4 damaged cells cleared" in capsys.readouterr().out
    assert (study.status("iris") == Status.DONE).sum() == 2
    Orchestrator(*databases).run(STRATEGIES, engine="inline", verbose=0)
    np.testing.assert_array_equal(study.block("iris").predictions, before.predictions)
    assert verify_study(study.path).ok


def test_seeds_that_are_not_of_their_key_are_found(study):
    with rewrite_h5(study.path) as file:
        del file["experiments/runs"]
    assert verify_study(study.path).ok  # nothing to judge them by
    with study.writing({"seed": 3, "started": "2026-01-01T00:00:00+00:00"}) as writer:
        block = study.block("iris")
        from mlaut.records import Cell, Outcome

        test = block.split.rows(0, 0)[1]
        cell = Cell("iris", "bayes", 0, 0)
        writer.write(
            Outcome(cell, Status.DONE, block.predictions[0, 0, test], seconds=(0, 0, 0), seed=1)
        )
    told = whats(verify_study(study.path))
    assert "bayes on iris (repeat 0, fold 0): its seed does not follow from its key" in told


def test_changed_or_lost_data_are_found(study, databases):
    input_io = databases[0]
    iris = input_io.load_dataset("tables/iris")
    frame = iris.frame.copy()
    frame.iloc[0, 0] += 1
    metadata = {"class_name": iris.target, "dataset_name": "iris"}
    input_io.save_pandas_dataset(frame, "tables", metadata, overwrite=True)
    input_io.delete_dataset("tables/breast_cancer")
    told = whats(verify_study(study.path))
    assert len(told) == 2
    assert any("has other content under /tables/iris" in what for what in told)
    assert any("no dataset '/tables/breast_cancer'" in what for what in told)


def test_lost_and_changed_models_are_found(databases):
    input_io, out_io = databases
    Data().split_datasets(input_io, out_io, input_io.list_datasets("tables")[1][:1])
    Orchestrator(input_io, out_io).run(STRATEGIES, engine="inline", verbose=0, save_models=True)
    assert verify_study(out_io.path).ok
    files = sorted(Path(f"{out_io.path}.models").rglob("r0-f0.*"))
    files[0].unlink()
    files[1].write_bytes(b"other")
    assert len(verify_study(out_io.path).problems) == 2


def test_an_input_database_is_checked_too(databases):
    path = databases[0].path
    assert verify_study(path).ok
    change(path, "tables/iris/table/body/0/values", lambda a: a + 1)
    found = verify_study(path)
    assert (found.datasets, len(found.problems)) == (4, 1)
    assert "not what was stored" in whats(found)[0]


def test_a_study_file_brings_strategies_and_data(tmp_path, capsys):
    path = tmp_path / "study.toml"
    path.write_text(
        '[data]\ncollection = "starter"\ndatasets = ["iris"]\n[split]\nscheme = "kfold(2)"\n'
        '[strategies]\nnames = ["GaussianNaiveBayes"]\n[run]\nengine = "inline"\n'
    )
    main(["run", "-q", str(path)])
    capsys.readouterr()
    main(["verify", str(path), "--refit", "100%", "-j", "1", "--json", "--metric", "accuracy"])
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["refitted"], told["problems"]) == (True, 2, [])
    assert 0.9 < told["scores"]["GaussianNaiveBayes"]["iris"] < 1


def test_scores_are_those_of_each_dataset_for_a_mean_may_say_nothing(tmp_path, capsys):
    path = tmp_path / "study.toml"
    path.write_text(
        '[data]\ncollection = "starter"\ndatasets = ["servo", "auto-mpg"]\n'
        '[strategies]\nnames = ["BaselineRegressor"]\n[run]\nengine = "inline"\n'
    )
    main(["run", "-q", str(path)])
    capsys.readouterr()
    main(["verify", str(tmp_path / "study.h5"), "--metric", "rmse"])
    told = capsys.readouterr().out
    scores = Results.from_study(tmp_path / "study.h5", "rmse").scores["BaselineRegressor"]
    assert "rmse on" in told
    for dataset, score in scores.items():
        assert f"{dataset} " in told
        assert f"{score:.6g}" in told
    assert f"{scores.mean():.6g}" not in told


def test_a_file_without_study_and_datasets_says_so(tmp_path):
    Data().open_hdf5(tmp_path / "empty.h5", mode="a")
    found = verify_study(tmp_path / "empty.h5")
    assert found.ok
    assert "nothing was checked: the file holds no study and no dataset" in str(found)


@pytest.mark.parametrize("damaged", ["input.h5", "study.h5", "both"])
def test_a_damaged_file_of_datasets_does_not_keep_the_study_from_its_check(
    study, databases, damaged
):
    input_path = databases[0].path
    for path in (input_path, study.path):
        if damaged in (path.name, "both"):
            with path.open("r+b") as file:
                file.seek(600)
                file.write(b"\1\2\3")
    found = verify_study(study.path)
    places = [where for where, _ in found.problems]
    assert not found.ok
    assert ("datasets" in places) == (damaged == "input.h5")
    assert ("study" in places) == (damaged != "input.h5")
    assert bool(found.counts) == (damaged == "input.h5")  # the cells of a sound study are counted


def test_a_file_that_is_not_there_is_no_problem_of_a_study(tmp_path):
    with pytest.raises(StoreError, match=r"nowhere\.h5: no such file; check the path"):
        verify_study(tmp_path / "nowhere.h5")
