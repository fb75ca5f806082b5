import shutil
import sys
from pathlib import Path

import pytest

from mlaut.files_io import StudyStore
from mlaut.records import REGRESSION

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A study that each test gets a copy of."""
    from studies import entry, strategy

    study = StudyStore(tmp_path_factory.mktemp("made") / "study.h5")
    study.save_splits([entry("iris"), entry("cpu", n_rows=5, task=REGRESSION)])
    study.allocate([strategy("tree"), strategy("svc")])
    return study.path


@pytest.fixture
def study(made, tmp_path):
    return StudyStore(shutil.copy(made, tmp_path))
