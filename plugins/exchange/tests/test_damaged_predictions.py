"""Values that others put where a table of predictions has something else: one line, or the same."""

import math

import numpy as np
import pandas as pd
import pytest
from mlaut_exchange import import_predictions

from mlaut.errors import MlautError
from mlaut.files_io import SplitEntry, StudyStore
from mlaut.records import Split

LONG = "n" * 50_000
TRUTH = np.array([0, 1, 1, 0], dtype=np.int32)
FOLDS = np.array([[0, 1, 0, 1]], dtype=np.int16)
TABLE = pd.DataFrame(
    {
        "dataset": "iris",
        "repeat": 0,
        "fold": [0, 0, 1, 1],
        "row": [0, 2, 1, 3],
        "prediction": list("nyyn"),
        "truth": list("nyyn"),
        "confidence.n": [1.0, 0.0, 0.0, 1.0],
        "confidence.y": [0.0, 1.0, 1.0, 0.0],
        "fitting_seconds": 1.0,
    }
)
ODD = ("x", LONG, "", math.nan, math.inf, -1, 0.5, 10**30, True, [1], {"a": 1}, b"x", "1e999")
ODD += (pd.Timestamp("2020-01-01"), pd.Timedelta(1), None, "\x1b[2J")


def refusal(call, *given, **named):
    """Return the message of the refusal, empty if there is none."""
    try:
        call(*given, **named)
    except MlautError as error:
        return str(error)
    return ""


def checked(line):
    assert "\n" not in line
    assert len(line) <= 2000
    return line


@pytest.fixture
def study(tmp_path):
    made = StudyStore(tmp_path / "s.h5")
    made.save_splits(
        [SplitEntry("iris", "/iris", "Classification", "f", ("n", "y"), TRUTH, Split(FOLDS, "k"))]
    )
    return made


@pytest.mark.slow
@pytest.mark.parametrize("everywhere", [True, False])
@pytest.mark.parametrize("column", TABLE.columns)
def test_imported_predictions_are_refused_or_the_same(study, column, everywhere):
    for odd in ODD:
        table = TABLE.astype({column: object})
        for at in range(len(table) if everywhere else 1):
            table.at[at, column] = odd
        how = {"strategy": "q", "source": "s", "overwrite": True}
        if not checked(refusal(import_predictions, study, table, **how)):
            block = study.block("iris")
            assert block.predictions[0, 0].tolist() == TRUTH.tolist()
            assert not (block.seconds < 0).any()
            assert not np.isinf(block.seconds).any()


def test_a_column_that_is_there_twice_is_refused(study):
    table = pd.concat([TABLE, TABLE[["row"]]], axis=1)
    assert "two columns 'row'" in refusal(
        import_predictions, study, table, strategy="q", source="s"
    )
