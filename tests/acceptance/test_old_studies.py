"""Files of MLaut 0.1 become a study; nothing in them is unpickled."""

import os
import pickle
import sys
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from mlaut import AnalyseResults
from mlaut.analysis import Results
from mlaut.errors import MlautError, StoreError
from mlaut.experiments import verify_study
from mlaut.files_io import FilesIO, StudyStore

sys.path.append(str(Path(__file__).parents[2] / "examples" / "old_files"))
pytest.importorskip("mlaut_exchange")
import convert as script

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
    write_old_files(tmp_path)
    return tmp_path


def write_old_files(folder):
    with h5py.File(folder / "input.hdf5", "w") as file:
        file.attrs["PYTABLES_FORMAT_VERSION"] = np.bytes_(b"2.1")
        numbers = np.arange(2.0 * N).reshape(N, 2)
        blocks = [(["f1", "f2"], numbers), (["label"], LABELS[:, None].astype("i4"))]
        about = {"class_name": "label", "source": "test", "dataset_name": "toy"}
        put_table(file.create_group("mine/toy"), blocks, about)
    with h5py.File(folder / "output.hdf5", "w") as file:
        file["split_dts_idx/toy/train_idx"], file["split_dts_idx/toy/test_idx"] = TRAIN, TEST
        predicted = LABELS[TEST].astype("i4")
        file["experiments/predictions/toy/Right"] = predicted
        file["experiments/predictions/toy/Wrong"] = 1 - predicted
        file["experiments/predictions/toy/Ridge"] = predicted + 0.5
        times = np.array([[name, "2018-01-31", "2018-01-31"] for name in ("Right", "Ridge")])
        columns = ["strategy_name", "begin_time", "end_time"]
        blocks = [(columns, times.astype(object)), (["total_seconds"], np.array([[0.25], [3.0]]))]
        put_table(file.create_group("run_times/toy"), blocks)


def convert(folder, source="input.hdf5", results="output.hdf5"):
    new = folder / "study.datasets.h5", folder / "study.h5"
    return script.convert_old_study(folder / source, folder / results, *new)


def test_datasets_splits_predictions_and_times_are_converted(old):
    assert convert(old) == {"toy": 2, "toy_regression": 1}
    io = FilesIO(old / "study.datasets.h5")
    assert io.list_datasets()[0] == ["toy", "toy_regression"]
    toy = io.load_dataset("/toy")
    assert toy.frame.columns.tolist() == ["f1", "f2", "label"]
    assert (toy.frame["f2"] == 2 * np.arange(N) + 1).all()
    study = StudyStore(old / "study.h5")
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
    script.main(["input.hdf5", "output.hdf5", "-o", "."])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["toy: 2 strategies", "toy_regression: 1 strategy"]
    script.main(["input.hdf5", "output.hdf5", "-o", "."])
    assert capsys.readouterr().out.splitlines() == lines  # nothing was left to do
    io = FilesIO("study.datasets.h5", "a")
    io.save_datasets([replace(io.load_dataset("/toy"), name="of another")])
    with pytest.raises(SystemExit, match=r"exists, and converting makes new files"):
        script.main(["input.hdf5", "output.hdf5", "-o", "."])


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


def _pickles(*contents):
    """Return what puts pickles in the place of the table's numbers."""

    def spoil(file):
        del file["mine/toy/block0_values"]
        kind = h5py.vlen_dtype(np.dtype("u1"))
        item = file.create_dataset("mine/toy/block0_values", (len(contents),), dtype=kind)
        for k, content in enumerate(contents):
            item[k] = np.frombuffer(content, "u1")

    return spoil


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_pickles(b"N.", b"N."), r"holds \(2,\) pickles, and MLaut 0.1 wrote one"),
        (_pickles(pickle.dumps([1.5])), "holds other values than texts, which need their pickle"),
        (_pickles(bytes(2**24 + 1)), r"is no pickle that MLaut 0.1 wrote \(16777217 bytes\)"),
        (
            lambda file: file["mine/toy"].attrs.__setitem__("metadata", 3),
            "holds .*3.* in place of texts",
        ),
        (
            lambda file: file["mine/toy"].attrs.__delitem__("metadata"),
            "/mine/toy: its metadata have no 'class_name', the target",
        ),
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


def _rows_with_halves(file):
    del file["split_dts_idx/toy/test_idx"]
    file["split_dts_idx/toy/test_idx"] = TEST + 0.5


def _times_of_nobody(file):
    for name in ("axis0", "block1_items"):
        del file[f"run_times/toy/{name}"]
    names = ["strategy_name", "begin_time", "end_time", "seconds"]
    file["run_times/toy/axis0"] = np.array(names, dtype="S")
    file["run_times/toy/block1_items"] = np.array(["seconds"], dtype="S")


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
        (_rows_with_halves, "the rows of 'toy' are no whole numbers"),
        (_times_of_nobody, "run_times/toy: no run times as MLaut 0.1 wrote them"),
    ],
)
def test_damaged_results_are_refused_in_one_line(old, spoil, message):
    with h5py.File("output.hdf5", "r+") as file:
        spoil(file)
    with pytest.raises(StoreError, match=message):
        convert(old)


def test_results_without_times_and_tables_without_a_name_are_converted(old):
    with h5py.File("input.hdf5", "r+") as file:
        about = pickle.dumps({"class_name": "label"}, protocol=0)
        file["mine/toy"].attrs["metadata"] = np.bytes_(about)
    with h5py.File("output.hdf5", "r+") as file:
        del file["run_times"]
    assert convert(old) == {"toy": 2, "toy_regression": 1}
    assert np.isnan(StudyStore(old / "study.h5").block("toy").seconds).all()


def test_a_file_of_many_groups_is_recognised_by_its_first(old):
    with h5py.File("input.hdf5", "r+") as file:
        file.move("mine/toy", "a")
        for number in range(2001):
            file.create_group(f"z{number}")
    with pytest.raises(StoreError, match="tables that pandas' HDFStore wrote"):
        FilesIO("input.hdf5")


def _damages():
    """Yield what may stand in place of an item of an HDF5 file."""
    yield "nothing", lambda _file, _name: None
    yield "a group", lambda file, name: file.create_group(name)
    for what, value in {
        "text": "x",
        "a text of 50,000": "x" * 50_000,
        "no rows": np.zeros(0, dtype="i4"),
        "no number": np.full(4, np.nan),
        "a table": np.zeros((4, 4), dtype="i4"),
        "negative": np.full(4, -1),
    }.items():
        yield what, lambda file, name, value=value: file.__setitem__(name, value)


def refusal(*paths):
    """Return the message of the refusal, empty if the files are converted."""
    try:
        script.convert_old_study(*paths)
    except MlautError as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("damage", [put for _, put in _damages()], ids=[n for n, _ in _damages()])
@pytest.mark.parametrize("source", ["input.hdf5", "output.hdf5"])
def test_a_damaged_file_is_refused_in_one_line_or_leaves_the_other_numbers(old, source, damage):
    whole = (old / source).read_bytes()
    names = []
    with h5py.File(source) as file:
        file.visit(names.append)
    for number, name in enumerate(names):
        (old / source).write_bytes(whole)
        with h5py.File(source, "r+") as file:
            attributes = dict(file[name].attrs)
            del file[name]
            damage(file, name)
            if name in file:
                file[name].attrs.update(attributes)
        made = old / str(number)
        if line := refusal("input.hdf5", "output.hdf5", made / "i.h5", made / "s.h5"):
            assert "\n" not in line
            assert len(line) <= 2000
            continue
        block = StudyStore(made / "s.h5").block("toy")
        for s, strategy in enumerate(block.strategies):
            right = LABELS[TEST] if strategy == "Right" else 1 - LABELS[TEST]
            order = np.argsort(TEST)
            assert block.predictions[s, 0, np.sort(TEST)].tolist() == right[order].tolist()


@pytest.mark.parametrize("value", [np.bytes_(b"x"), -1, 10**9, 2.5, np.arange(3)])
@pytest.mark.parametrize("name", ["nblocks", "metadata", "pandas_type"])
def test_a_damaged_attribute_is_refused_in_one_line(old, name, value):
    for source, place in (("input.hdf5", "mine/toy"), ("output.hdf5", "run_times/toy")):
        with h5py.File(source, "r+") as file:
            file[place].attrs[name] = value
    refusal("input.hdf5", "output.hdf5", old / "i.h5", old / "s.h5")
