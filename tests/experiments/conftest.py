import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def databases(tmp_path):
    """An input database with three classification sets and a regression set, and an empty study."""
    from mlaut import Data
    from mlaut.data import load_sklearn

    data = Data()
    input_io = data.open_hdf5(tmp_path / "input.h5", mode="a")
    input_io.save_datasets(load_sklearn(["iris", "wine", "breast_cancer"]), "tables")
    input_io.save_datasets(load_sklearn(["diabetes"]), "numbers")
    return input_io, data.open_hdf5(tmp_path / "study.h5", mode="a")
