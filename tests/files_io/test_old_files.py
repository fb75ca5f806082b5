"""Files of MLaut 0.1 and 0.2: every command says what they are, and unpickles nothing."""

import os
import pickle

import h5py
import numpy as np
import pandas as pd
import pytest

from mlaut.cli import main
from mlaut.errors import StoreError
from mlaut.files_io import FilesIO, StudyStore


class Trap:
    """What runs code when it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch unpickled",)


@pytest.fixture
def old(tmp_path, monkeypatch):
    """Files as MLaut 0.1 and pandas of its time wrote them, with pickles that would run code."""
    monkeypatch.chdir(tmp_path)
    trap = np.bytes_(pickle.dumps(Trap(), protocol=0))
    with h5py.File("input.hdf5", "w") as file:
        file.attrs["PYTABLES_FORMAT_VERSION"] = np.bytes_(b"2.1")
        table = file.create_group("openml/iris")
        table.attrs.update({"pandas_type": np.bytes_(b"frame"), "metadata": trap})
        table["block0_values"] = np.arange(8.0).reshape(4, 2)
    with h5py.File("output.hdf5", "w") as file:
        file["experiments/predictions/iris/SVC"] = np.arange(3, dtype="i4")
        file["split_dts_idx/iris/train_idx"] = np.arange(3)
        file.create_group("run_times/iris").attrs["metadata"] = trap
    return tmp_path


COMMANDS = ("status", "report", "verify", "list datasets")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("input.hdf5", "tables that pandas' HDFStore wrote, as MLaut 0.1 and 0.2 did"),
        ("output.hdf5", "results of MLaut 0.1 or 0.2 (splits and predictions without a study)"),
    ],
)
def test_every_command_says_what_they_are(old, capsys, command, name, what):
    with pytest.raises(SystemExit) as left:
        main([*command.split(), name])
    told = capsys.readouterr().err
    assert left.value.code == StoreError.exit_code
    assert told.startswith(f"mlaut: error: {name}: {what}; ")
    assert told.count("\n") == 1
    assert not (old / "unpickled").exists()


def test_nothing_is_added_to_them_either(old):
    with pytest.raises(StoreError, match=r"examples/old_files/convert\.py INPUT OUTPUT"):
        FilesIO("input.hdf5", mode="a")
    with pytest.raises(StoreError, match=r"examples/old_files/convert\.py INPUT OUTPUT"):
        StudyStore("output.hdf5").status("iris")


def test_a_file_to_which_this_version_has_added_is_read(old):
    with h5py.File("input.hdf5", "r+") as file:
        del file.attrs["PYTABLES_FORMAT_VERSION"]
    io = FilesIO("input.hdf5", mode="a")
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]})
    io.save_pandas_dataset(frame, metadata={"class_name": "y", "dataset_name": "new"})
    with h5py.File("input.hdf5", "r+") as file:
        file.attrs["PYTABLES_FORMAT_VERSION"] = np.bytes_(b"2.1")
    assert FilesIO("input.hdf5").list_datasets() == (["new"], ["/new"])
