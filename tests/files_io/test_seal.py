"""The seal: no byte of a database that must not change can change without a word."""

import h5py
import numpy as np
import pandas as pd
import pytest
from studies import entry, outcome, strategy

from mlaut.errors import StoreError
from mlaut.files_io import FilesIO, StudyStore
from mlaut.files_io.safe_files.hdf5 import read_h5, rewrite_h5, write_in_place
from mlaut.files_io.safe_files.hdf5_output import Bytes
from mlaut.files_io.safe_files.seal import BLOCK, _stretches, joined, make_seal


@pytest.fixture
def study(tmp_path):
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([entry("iris")])
    study.allocate([strategy("tree")])
    return study


def flip(path, position, bit=0):
    with path.open("r+b") as file:
        file.seek(position)
        byte = file.read(1)[0]
        file.seek(position)
        file.write(bytes([byte ^ 1 << bit]))


def stretches(path):
    with h5py.File(path, "r", locking=False) as file:
        return file["mlaut-seal"][...]


def test_a_sealed_file_is_hdf5_and_says_what_it_is(study):
    assert study.path.read_bytes().startswith(b"MLaut 1 size=")
    with h5py.File(study.path, "r") as file:
        assert file.userblock_size == BLOCK
        assert "experiments/predictions/iris/status" in file


def test_runs_and_analyses_leave_open_what_was_open(study, tmp_path):
    before, iris = stretches(study.path), study.load_split("iris")
    study.store_analysis({"analysis": {}})
    for fold in range(2):  # the second joins what it stores to the piece of the first
        with study.writing() as writer:
            writer.write(outcome(iris, "tree", fold=fold))
    assert len(study.details("iris")) == 2
    assert stretches(study.path).tolist() == before.tolist() != []
    empty = StudyStore(tmp_path / "empty.h5")
    empty.save_splits([])
    empty.store_analysis({"analysis": {}})
    assert stretches(empty.path).tolist() == [[0, 0]]
    study.allocate([strategy("svc")])
    with h5py.File(study.path, "r", locking=False) as file:
        found = joined(_stretches(file.id))
    assert stretches(study.path).tolist() == found.tolist() != before.tolist()


def test_every_byte_is_sealed_or_open(study):
    """A flipped bit anywhere but in what is open is an error; in what is open HDF5 reads it."""
    whole = study.path.read_bytes()
    end = int(whole.split(b"size=")[1].split()[0])
    assert end == len(whole)
    is_open = np.zeros(end, dtype=bool)
    for begin, stop in stretches(study.path):
        is_open[begin:stop] = True
    generator = np.random.default_rng(0)
    line = len(whole[: whole.index(b"\n") + 1])
    closed = np.flatnonzero(~is_open[BLOCK:]) + BLOCK
    for position in [*range(line), *generator.choice(closed, 200, replace=False).tolist()]:
        flip(study.path, position)
        with pytest.raises(StoreError, match=r"damaged|truncated") as raised, read_h5(study.path):
            pass
        assert "\n" not in str(raised.value)
        flip(study.path, position)
    for position in generator.choice(np.flatnonzero(is_open), 20).tolist():
        flip(study.path, position)
        with read_h5(study.path) as file:
            assert "splits" in file
        flip(study.path, position)


def test_what_is_open_are_the_values_of_outcomes_and_tables(study, tmp_path):
    with h5py.File(study.path, "r") as file:
        group = file["experiments/predictions/iris"]
        values = sum(item.id.get_storage_size() for item in group.values() if item.chunks)
    assert (np.diff(stretches(study.path).astype(int)) > 0).all()
    assert int(np.diff(stretches(study.path).astype(int)).sum()) == values
    io = FilesIO(tmp_path / "input.h5", mode="a")
    noise = np.random.default_rng(0).normal(size=(20_000, 3))
    table = pd.DataFrame(noise).assign(y=np.arange(20_000) % 2, word="text").rename(columns=str)
    io.save_pandas_dataset(table, "/", {"class_name": "y", "dataset_name": "d"})
    places = stretches(io.path).astype(int)
    assert 3 * 8 * 18_000 < int(np.diff(places).sum()) < io.path.stat().st_size - BLOCK
    flip(io.path, int(places[0, 0]) + 5000)
    with pytest.raises(StoreError, match=r"dataset 'd'.*(cannot be read|not what was stored)"):
        io.load_dataset("d")


def test_writing_values_leaves_the_seal_whole(study):
    iris = study.load_split("iris")
    before = study.path.read_bytes()
    with study.writing() as writer:
        writer.write(outcome(iris, "tree"))
        after = study.path.read_bytes()
        assert study.status("iris").tolist() == [[[1, 0]]]
    changed = np.flatnonzero(np.frombuffer(before, "u1") != np.frombuffer(after, "u1"))
    is_open = np.zeros(len(before), dtype=bool)
    for begin, stop in stretches(study.path):
        is_open[begin:stop] = True
    assert changed.size
    assert is_open[changed].all()


def test_another_program_breaks_the_seal_and_it_can_be_accepted(study):
    with h5py.File(study.path, "r+") as file:
        file.attrs["note"] = "by hand"
    with pytest.raises(StoreError, match=r"changed by another program.*mlaut verify --seal"):
        study.status("iris")
    with rewrite_h5(study.path, unsealed=True):
        pass
    assert study.status("iris").tolist() == [[[0, 0]]]
    with read_h5(study.path) as file:
        assert file.attrs["note"] == "by hand"


def test_a_file_of_another_program_has_no_seal_and_is_kept_without(tmp_path):
    path = tmp_path / "other.h5"
    with h5py.File(path, "w") as file:
        file["x"] = [1, 2]
    io = FilesIO(path, mode="a")
    io.save_pandas_dataset(
        pd.DataFrame({"a": [1, 2], "y": ["n", "y"]}), "/", {"class_name": "y", "dataset_name": "d"}
    )
    with h5py.File(path, "r") as file:
        assert file["x"][1] == 2
        assert file.userblock_size == 0
    assert io.load_dataset("d").target == "y"


@pytest.mark.parametrize("size", [0, 5, 511, 512, 700, -1])
def test_a_cut_file_is_told(study, size):
    whole = study.path.read_bytes()
    study.path.write_bytes(whole[:size])
    with pytest.raises(StoreError, match=r"truncated|not an HDF5 file|damaged"):
        study.status("iris")


def test_a_flipped_value_of_a_cell_is_told_by_cell(study):
    iris = study.load_split("iris")
    with study.writing() as writer:
        writer.write(*(outcome(iris, "tree", fold=fold) for fold in range(2)))
    with h5py.File(study.path, "r") as file:
        places = {
            name: file[f"experiments/predictions/iris/{name}"].id.get_chunk_info(0).byte_offset
            for name in ("predictions", "probabilities", "seconds", "usage", "seed", "checksum")
        }
    before = study.block("iris").predictions
    for place in places.values():
        flip(study.path, place + 3)
        told = r"1 cells of dataset 'iris' are damaged \(first tree, repeat 0, fold 0.*--mend"
        with pytest.raises(StoreError, match=told):
            study.block("iris")
        flip(study.path, place + 3)
    np.testing.assert_array_equal(study.block("iris").predictions, before)


@pytest.mark.parametrize("bit", range(8))
def test_a_flipped_status_is_told_without_reading_predictions(study, bit):
    iris = study.load_split("iris")
    with study.writing() as writer:
        writer.write(outcome(iris, "tree", fold=0))
    with h5py.File(study.path, "r") as file:
        place = file["experiments/predictions/iris/status"].id.get_chunk_info(0).byte_offset
    for position, was in ((place, 1), (place + 1, 0)):
        flip(study.path, position, bit)
        if was ^ 1 << bit:
            with pytest.raises(StoreError, match="1 cells of dataset 'iris' are damaged"):
                study.status("iris")
        else:  # a cell without status is done again
            assert study.status("iris").tolist() == [[[0, 0]]]
        flip(study.path, position, bit)


def remove_while_writing(study):
    with study.writing() as writer:
        writer.write(outcome(entry("iris"), "tree"))
        study.path.unlink()


def test_a_file_that_vanishes_while_it_is_written_is_told(study):
    with pytest.raises(StoreError, match=r"study\.h5: the file was removed or replaced while"):
        remove_while_writing(study)


def test_values_are_written_at_their_place(study):
    with write_in_place(study.path) as file:
        array = file.array(file.file["experiments/predictions/iris"], "seconds")
        array.write(0, 0, 1, [1.0, 2.0, 3.0])
        assert array.read(0, 0).tolist() == [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]
        for start, values in ((2, [1.0, 2.0, 3.0]), (-1, [1.0, 2.0, 3.0]), (0, [1.0])):
            with pytest.raises(ValueError, match=f"bytes do not fit at {start} of 2"):
                array.write(0, 0, start, values)
    with read_h5(study.path) as file:
        stored = file["experiments/predictions/iris/seconds"][0, 0]
    assert stored.tolist() == [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]


def test_no_seal_is_made_of_places_that_make_no_sense(study):
    with (
        study.path.open("rb") as file,
        pytest.raises(ValueError, match="the list of its open stretches makes no sense"),
    ):
        make_seal(Bytes(file.fileno()), study.path.stat().st_size - 8, 1)
