"""Files of MLaut 0.1 become a study; nothing in them is unpickled."""

import os
import pickle

import h5py
import numpy as np
import pytest

from mlaut import AnalyseResults, FilesIO
from mlaut.analysis import Results
from mlaut.cli import main
from mlaut.data.old_studies import convert_old_study
from mlaut.errors import StoreError
from mlaut.experiments import verify_study
from mlaut.files_io import Study

N = 12
TEST = np.array([7, 2, 11, 0], dtype="i4")
TRAIN = np.setdiff1d(np.arange(N), TEST).astype("i4")
LABELS = np.arange(N) % 2


class Trap:
    """What runs code when it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch unpickled",)


def put_table(group, blocks, about=None):
    """Write a table as pandas' HDFStore does in its fixed format."""
    names = [name for block, _ in blocks for name in block]
    group["axis0"] = np.array(names, dtype="S")
    group["axis1"] = np.arange(len(blocks[0][1]))
    group.attrs.update({"pandas_type": np.bytes_(b"frame"), "nblocks": np.int32(len(blocks))})
    if about is not None:
        group.attrs["metadata"] = np.bytes_(pickle.dumps(about, protocol=0))
    for number, (columns, values) in enumerate(blocks):
        group[f"block{number}_items"] = np.array(columns, dtype="S")
        if values.dtype == object:
            kind = h5py.vlen_dtype(np.dtype("u1"))
            item = group.create_dataset(f"block{number}_values", (1,), dtype=kind)
            item[0] = np.frombuffer(pickle.dumps(values, protocol=4), dtype="u1")
        else:
            group[f"block{number}_values"] = values


@pytest.fixture
def old(tmp_path, monkeypatch):
    """Two files as MLaut 0.1 wrote them: a table, and results of three strategies."""
    monkeypatch.chdir(tmp_path)
    with h5py.File("input.hdf5", "w") as file:
        file.attrs["PYTABLES_FORMAT_VERSION"] = np.bytes_(b"2.1")
        numbers = np.arange(2.0 * N).reshape(N, 2)
        blocks = [(["f1", "f2"], numbers), (["label"], LABELS[:, None].astype("i4"))]
        about = {"class_name": "label", "source": "test", "dataset_name": "toy"}
        put_table(file.create_group("mine/toy"), blocks, about)
    with h5py.File("output.hdf5", "w") as file:
        file["split_dts_idx/toy/train_idx"], file["split_dts_idx/toy/test_idx"] = TRAIN, TEST
        predicted = LABELS[TEST].astype("i4")
        file["experiments/predictions/toy/Right"] = predicted
        file["experiments/predictions/toy/Wrong"] = 1 - predicted
        file["experiments/predictions/toy/Ridge"] = predicted + 0.5
        times = np.array([[name, "2018-01-31", "2018-01-31"] for name in ("Right", "Ridge")])
        columns = ["strategy_name", "begin_time", "end_time"]
        blocks = [(columns, times.astype(object)), (["total_seconds"], np.array([[0.25], [3.0]]))]
        put_table(file.create_group("run_times/toy"), blocks)
    return tmp_path


def convert(folder, source="input.hdf5", results="output.hdf5"):
    new = folder / "study.datasets.h5", folder / "study.h5"
    return convert_old_study(folder / source, folder / results, *new)


def test_datasets_splits_predictions_and_times_are_converted(old):
    assert convert(old) == {"toy": 2, "toy_regression": 1}
    io = FilesIO(old / "study.datasets.h5")
    assert io.list_datasets()[0] == ["toy", "toy_regression"]
    toy = io.load_dataset("/toy")
    assert toy.frame.columns.tolist() == ["f1", "f2", "label"]
    assert (toy.frame["f2"] == 2 * np.arange(N) + 1).all()
    study = Study(old / "study.h5")
    train, test = study.load_split("toy").split.rows(0, 0)
    assert train.tolist() == TRAIN.tolist()
    assert test.tolist() == sorted(TEST.tolist())
    scores = Results.from_study(study, "accuracy").scores.loc["toy"]
    assert scores.to_dict() == {"Right": 1.0, "Wrong": 0.0}
    errors = Results.from_study(study, "mse").scores
    assert errors.to_dict() == {"Ridge": {"toy_regression": 0.25}}
    times = AnalyseResults(study).average_training_time()
    assert times["training"].to_dict() == {"Right": 0.25, "Ridge": 3.0}
    assert verify_study(study.path).ok
    assert "imported from MLaut 0.1, not run here: Right, Wrong" in str(
        Results.from_study(study, "accuracy").notes
    )


def test_the_command_line_converts(old, capsys):
    main(["convert", "input.hdf5", "output.hdf5", "-o", "."])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["toy: 2 strategies", "toy_regression: 1 strategy"]
    with pytest.raises(SystemExit):
        main(["convert", "input.hdf5", "output.hdf5", "-o", "."])
    assert "study.datasets.h5: exists, and converting makes new files" in capsys.readouterr().err


def test_pickles_are_decoded_and_not_loaded(old):
    with h5py.File("input.hdf5", "r+") as file:
        group = file["mine/toy"]
        group.attrs["metadata"] = np.bytes_(pickle.dumps(Trap(), protocol=0))
    with pytest.raises(StoreError, match="its metadata have no 'class_name', the target"):
        convert(old)
    assert not (old / "unpickled").exists()
    assert not (old / "study.h5").exists()


def _no_pickle(file):
    file["mine/toy"].attrs["metadata"] = np.bytes_(b"\x93nothing")


def _short_block(file):
    del file["mine/toy/block0_values"]
    file["mine/toy/block0_values"] = np.zeros((N, 3))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_no_pickle, "is no pickle that MLaut 0.1 wrote"),
        (_short_block, "no table as MLaut 0.1 wrote it"),
        (lambda file: file.pop("mine"), "holds no table that MLaut 0.1 wrote"),
    ],
)
def test_damaged_tables_are_refused_in_one_line(old, spoil, message):
    with h5py.File("input.hdf5", "r+") as file:
        spoil(file)
    with pytest.raises(StoreError, match=message) as told:
        convert(old)
    assert "\n" not in str(told.value)


def _row_outside(file):
    file["split_dts_idx/toy/test_idx"][0] = 99


def _predictions_short(file):
    del file["experiments/predictions/toy/Right"]
    file["experiments/predictions/toy/Right"] = np.zeros(3, dtype="i4")


def _other_name(file):
    file.move("split_dts_idx/toy", "split_dts_idx/other")
    file.move("experiments/predictions/toy", "experiments/predictions/other")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_row_outside, "has rows twice, or rows that its table of 12 rows does not have"),
        (_predictions_short, "'Right' has int32 predictions of shape"),
        (_other_name, "has results on 'other', which .* has not"),
        (lambda file: file.pop("split_dts_idx"), "holds no splits that MLaut 0.1 wrote"),
        (lambda file: file.pop("experiments"), "'toy' has no split with predictions"),
    ],
)
def test_damaged_results_are_refused_in_one_line(old, spoil, message):
    with h5py.File("output.hdf5", "r+") as file:
        spoil(file)
    with pytest.raises(StoreError, match=message):
        convert(old)
