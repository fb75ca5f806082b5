"""Predictions of other programs, from files of their forms, in a study.

The forms are those of OpenML's ``predictions.arff``, of ``predictions.csv`` of the AutoML
benchmark, of the folder ``model_predictions`` of TabArena, and of sktime's ``HDDResults``. All hold
the same predictions here, so that the studies must be equal.
"""

import json

import numpy as np
import pandas as pd
import pytest
from mlaut_exchange import read_predictions

import mlaut
from mlaut.cli import main
from mlaut.errors import AnalysisError, StudyError
from mlaut.files_io import SplitEntry, StudyStore
from mlaut.records import Split

N = 12
LABELS = {"pets": ("cat", "dog"), "sizes": ("l", "m", "s"), "prices": ()}
RNG = np.random.default_rng(0)
FOLDS = np.stack([RNG.permutation(N) % 3 for _ in range(2)]).astype(np.int16)
CODES = {name: RNG.integers(0, max(len(labels), 1), N) for name, labels in LABELS.items()}
NUMBERS = RNG.normal(size=(2, N)).round(3)  # targets of prices, and their predictions
SHARES = {
    name: RNG.dirichlet(np.ones(len(labels)), (2, N)).astype(np.float32)
    for name, labels in LABELS.items()
    if labels
}


@pytest.fixture
def study(tmp_path):
    """Return a study of two classifications and a regression, 2 repeats of 3 folds each."""
    study = StudyStore(tmp_path / "study.h5")
    save_datasets(study)
    return study


def save_datasets(study):
    for name, labels in LABELS.items():
        task = "Classification" if labels else "Regression"
        truth = CODES[name].astype(np.int32) if labels else NUMBERS[0]
        split = Split(FOLDS, "repeated_kfold(3, 2)")
        study.save_splits([SplitEntry(name, f"/{name}", task, "f", labels, truth, split)])


def cells(name):
    """Yield repeat, fold, rows, truth, predictions and probabilities of each fold."""
    labels = np.array(LABELS[name], dtype=object)
    for repeat in range(2):
        for fold in range(3):
            rows = np.flatnonzero(FOLDS[repeat] == fold)
            if len(labels):
                shares = SHARES[name][repeat, rows]
                yield (
                    repeat,
                    fold,
                    rows,
                    labels[CODES[name][rows]],
                    labels[shares.argmax(1)],
                    shares,
                )
            else:
                yield repeat, fold, rows, NUMBERS[0, rows], NUMBERS[1, rows], None


def check(study, name, repeats=(0, 1), with_shares=True):
    """Assert that the study holds the predictions of a dataset."""
    block = study.block(name)
    assert block.strategies == ("theirs",)
    for repeat, fold, rows, _, predictions, shares in cells(name):
        if repeat not in repeats:
            assert not block.done[0, repeat, fold]
            continue
        assert block.done[0, repeat, fold]
        stored = block.predictions[0, repeat, rows]
        known = np.array(LABELS[name], dtype=object)[stored] if LABELS[name] else stored
        assert known.tolist() == predictions.tolist()
        if shares is not None and with_shares:
            np.testing.assert_allclose(block.probabilities[0, repeat, rows], shares, atol=1e-6)
    (entry,) = study.strategies
    assert entry.metadata["foreign"] == "elsewhere"


def bring(study, *sources, **options):
    words = [word for key, value in options.items() for word in (f"--{key}", str(value))]
    how = ["--strategy", "theirs", "--source", "elsewhere", *words]
    main(["import", str(study.path), *map(str, sources), *how])


def write_openml(folder, name, flow="forest(1)"):
    folder.mkdir(parents=True)
    labels = LABELS[name]
    kind = "{" + ",".join(labels) + "}" if labels else "numeric"
    shares = [f"confidence.{label}" for label in labels]
    head = [(one, "numeric") for one in ("repeat", "fold", "row_id", *shares)]
    head += [("prediction", kind), ("correct", kind)]
    lines = ["@relation p", *(f"@attribute {one} {what}" for one, what in head), "@data"]
    for repeat, fold, rows, truth, predictions, given in cells(name):
        for i in reversed(range(len(rows))):
            values = [] if given is None else given[i].tolist()
            row = [repeat, fold, rows[i], *values, predictions[i], truth[i]]
            lines.append(",".join(map(str, row)))
    (folder / "predictions.arff").write_text("\n".join(lines) + "\n")
    (folder / "description.xml").write_text(
        '<oml:run xmlns:oml="http://openml.org/openml"><oml:run_id>7</oml:run_id>'
        f"<oml:task_id>1</oml:task_id><oml:flow_name>{flow}</oml:flow_name><oml:input_data>"
        f"<oml:dataset><oml:name>{name}</oml:name></oml:dataset></oml:input_data></oml:run>"
    )


@pytest.mark.parametrize("name", LABELS)
def test_runs_of_openml(study, tmp_path, name):
    write_openml(tmp_path / "runs" / "7", name)
    bring(study, tmp_path / "runs")
    check(study, name)


def test_one_arff_file_and_several_flows(study, tmp_path):
    write_openml(tmp_path / "runs" / "7", "pets")
    write_openml(tmp_path / "runs" / "8", "pets", flow="svm(1)")
    entries = study.load_splits()
    with pytest.raises(AnalysisError, match=r"predictions of 2 models \(forest\(1\), svm\(1\)\)"):
        read_predictions(tmp_path / "runs", entries)
    with pytest.raises(AnalysisError, match=r"no predictions of 'svn\(1\)'; did you mean 'svm"):
        read_predictions(tmp_path / "runs", entries, model="svn(1)")
    assert len(read_predictions(tmp_path / "runs", entries, model="svm(1)")) == 2 * N
    (tmp_path / "runs" / "8" / "description.xml").unlink()
    alone = tmp_path / "runs" / "8" / "predictions.arff"
    with pytest.raises(AnalysisError, match=r"no description.xml beside it, so its dataset"):
        read_predictions(alone, entries)
    bring(study, alone, dataset="pets")
    check(study, "pets")


def write_amlb(folder, name, ordered):
    """Write one repeat in the order of the dataset, or of the splits that are returned."""
    rng, splits = np.random.default_rng(1), []
    for repeat, fold, rows, truth, predictions, shares in cells(name):
        if repeat:
            continue
        order = np.arange(len(rows)) if ordered else rng.permutation(len(rows))[::-1]
        frame = pd.DataFrame({"predictions": predictions[order], "truth": truth[order]})
        for k, label in enumerate(LABELS[name]):
            frame.insert(k, label, shares[order, k])
        (folder / name / str(fold)).mkdir(parents=True)
        frame.to_csv(folder / name / str(fold) / "predictions.csv", index=False)
        splits += [f"TEST,{row},0,{fold}" for row in rows[order]]
        splits += [f"TRAIN,{row},0,{fold}" for row in set(range(N)) - set(rows)]
    head = "@relation s\n@attribute type {TRAIN,TEST}\n" + "".join(
        f"@attribute {one} numeric\n" for one in ("rowid", "repeat", "fold")
    )
    (folder / "datasplits.arff").write_text(head + "@data\n" + "\n".join(splits) + "\n")


@pytest.mark.parametrize(("name", "ordered"), [("pets", False), ("sizes", True), ("prices", False)])
def test_predictions_of_the_automl_benchmark(study, tmp_path, name, ordered, capsys):
    write_amlb(tmp_path / "predictions", name, ordered)
    options = {} if ordered else {"splits": tmp_path / "predictions" / "datasplits.arff"}
    bring(study, tmp_path / "predictions", **options)
    check(study, name, repeats=(0,))


def test_rows_in_another_order_are_noticed_by_their_truth(study, tmp_path):
    write_amlb(tmp_path / "predictions", "prices", ordered=False)
    opened = mlaut.Study(study.path)
    how = {"strategy": "theirs", "source": "elsewhere"}
    with pytest.raises(StudyError, match="rows have another truth than in the study"):
        opened.import_predictions(tmp_path / "predictions", **how)
    assert not study.strategies
    write_amlb(tmp_path / "other", "sizes", ordered=True)
    splits = tmp_path / "other" / "datasplits.arff"
    splits.write_text(splits.read_text().replace("TEST,", "TRAIN,", 1))
    with pytest.raises(AnalysisError, match="4 rows, and the splits have 3 for this fold"):
        opened.import_predictions(tmp_path / "other", splits=splits, **how)


def write_tabarena(folder, name, models=("other", "forest")):
    for repeat, fold, rows, _, predictions, shares in cells(name):
        at = folder / "model_predictions" / name / str(3 * repeat + fold)
        at.mkdir(parents=True)
        values = predictions if shares is None else shares[:, 1] if name == "pets" else shares
        both = np.stack([values * 0, values]).astype(np.float32)
        both.tofile(at / "pred-test.dat")
        about = {"models": list(models), "dataset": name, "fold": 3 * repeat + fold}
        about |= {"dtype": "float32", "pred_test_shape": both.shape}
        (at / "metadata.json").write_text(json.dumps(about))
        truth = CODES[name][rows] if LABELS[name] else NUMBERS[0, rows]
        pd.DataFrame({"target": truth}, index=rows).to_csv(at / "label-test.csv.zip")
    return at


@pytest.mark.parametrize("name", ["pets", "sizes"])
def test_predictions_of_tabarena(study, tmp_path, name):
    write_tabarena(tmp_path, name)
    bring(study, tmp_path, model="forest")
    check(study, name)


def test_numbers_of_tabarena_are_those_that_it_stored(study, tmp_path):
    write_tabarena(tmp_path, "prices")
    bring(study, tmp_path, model="forest")
    stored = study.block("prices").predictions[0]
    assert np.array_equal(stored, NUMBERS[1][None].astype(np.float32).repeat(2, axis=0))


def test_damaged_folders_of_tabarena_are_refused(study, tmp_path):
    entries = study.load_splits()
    at = write_tabarena(tmp_path, "pets")
    for model, message in (
        ("", r"predictions of 2 models \(other, forest\); choose one"),
        ("tree", "no predictions of 'tree'"),
    ):
        with pytest.raises(AnalysisError, match=message):
            read_predictions(tmp_path, entries, model=model)
    about = json.loads((at / "metadata.json").read_text())
    for change, message in (
        ({"dtype": "O"}, "its metadata are not those of TabArena"),
        ({"pred_test_shape": [2, 5]}, "32 bytes, and its metadata say 40"),
        ({"dataset": "pots"}, "the study has no dataset 'pots'; did you mean 'pets'"),
        ({"fold": "first"}, "its values cannot be used"),
        ({"models": {"other": 0, "forest": 1}}, "its values cannot be used"),
    ):
        (at / "metadata.json").write_text(json.dumps({**about, **change}))
        with pytest.raises(AnalysisError, match=message):
            read_predictions(tmp_path, entries, model="forest")
    (at / "metadata.json").write_text(json.dumps(about))
    labels = at / "label-test.csv.zip"
    labels.write_bytes(labels.read_bytes()[:-30])
    with pytest.raises(AnalysisError, match=r"label-test\.csv\.zip: cannot be read"):
        read_predictions(tmp_path, entries, model="forest")
    (at / "metadata.json").write_text("{}")
    with pytest.raises(AnalysisError, match="no metadata of TabArena"):
        read_predictions(tmp_path, entries, model="forest")


def test_predictions_of_sktime(study, tmp_path):
    for repeat, fold, rows, truth, predictions, _ in cells("pets"):
        if repeat == 0:
            at = tmp_path / "results" / "tsf" / "pets"
            at.mkdir(parents=True, exist_ok=True)
            frame = pd.DataFrame({"index": rows, "y_true": truth, "y_pred": predictions})
            frame.to_csv(at / f"tsf_test_{fold}.csv", index=False)
    bring(study, tmp_path / "results")
    check(study, "pets", repeats=(0,), with_shares=False)


def test_what_is_no_source_is_refused(study, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(AnalysisError, match="no results of sktime"):
        read_predictions(tmp_path / "empty", study.load_splits())
