"""Databases of real tables, which are made once: fixtures of these tests and of plug-ins."""

import shutil

import pytest


@pytest.fixture(scope="session")
def made_databases(tmp_path_factory):
    """A folder with the databases that each test gets a copy of."""
    from mlaut import Data
    from mlaut.data import load_sklearn

    folder, data = tmp_path_factory.mktemp("databases"), Data()
    input_io = data.open_hdf5(folder / "input.h5", mode="a")
    input_io.save_datasets(load_sklearn(["iris", "wine", "breast_cancer"]), "tables")
    input_io.save_datasets(load_sklearn(["diabetes"]), "numbers")
    data.open_hdf5(folder / "study.h5", mode="a")
    return folder


@pytest.fixture
def databases(made_databases, tmp_path):
    """An input database with three classification sets and a regression set, and an empty study."""
    from mlaut import Data

    paths = [shutil.copy(made_databases / name, tmp_path) for name in ("input.h5", "study.h5")]
    return tuple(Data().open_hdf5(path, mode="a") for path in paths)
