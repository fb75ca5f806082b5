"""Predictions as a table: the test rows of done cells, with labels and the user's own index."""

import numpy as np
import pandas as pd
import pytest
from studies import entry, outcome, strategy

from mlaut.errors import StudyError
from mlaut.files_io import StudyStore
from mlaut.files_io.studies.predictions import predictions_of
from mlaut.records import REGRESSION, Status

OF = {
    "svc": lambda of, *at: outcome(of, "svc", *at, seed=2),
    "lasso": lambda of, *at: outcome(of, "lasso", *at, probabilities=False),
}


@pytest.fixture
def store(tmp_path):
    """Return a study in which svc lacks a cell, lasso has no probabilities, and bad has failed."""
    study = StudyStore(tmp_path / "study.h5")
    iris, cpu = entry("iris", n_repeats=2), entry("cpu", n_rows=5, task=REGRESSION)
    study.save_splits([iris, cpu, entry("empty")])
    study.allocate([strategy(name) for name in ("svc", "lasso", "bad")])
    cells = [(repeat, fold) for repeat in range(2) for fold in range(2)]
    with study.writing() as writer:
        writer.write(
            *(OF["lasso"](iris, *at) for at in cells),
            *(OF["svc"](iris, *at) for at in cells if at != (1, 0)),
            *(outcome(iris, "bad", *at, status=Status.ERROR) for at in cells),
            *(outcome(cpu, "svc", fold=fold) for fold in range(2)),
        )
    return study


def test_each_test_row_of_a_done_cell_has_its_label_and_probabilities(store):
    iris = store.load_split("iris")
    table = predictions_of(store, "iris")
    about = ["dataset", "strategy", "repeat", "fold", "row", "truth", "prediction"]
    assert list(table) == [*about, *(f"confidence.{name}" for name in ("no", "yes", "ü"))]
    assert table["strategy"].cat.categories.tolist() == ["svc", "lasso", "bad"]
    assert table.index.tolist() == table["row"].tolist()
    assert len(table) == (12 - 3) + 12
    cells = table.groupby(["strategy", "repeat", "fold"], observed=True)
    assert sorted(cells.groups) == sorted(
        (name, repeat, fold)
        for name in ("svc", "lasso")
        for repeat in range(2)
        for fold in range(2)
        if (name, repeat, fold) != ("svc", 1, 0)
    )
    names = np.array(iris.classes)
    for (name, *at), part in cells:
        made = OF[name](iris, *at)
        rows = iris.split.rows(*at)[1]
        assert part["row"].tolist() == rows.tolist()
        assert part["truth"].tolist() == names[iris.truth[rows]].tolist()
        assert part["prediction"].tolist() == names[made.predictions].tolist()
        given = made.probabilities if name == "svc" else np.full((3, 3), np.nan)
        np.testing.assert_array_equal(part.filter(like="confidence.").to_numpy(), given)


def test_numbers_of_one_strategy_have_the_index_of_the_user(store):
    cpu = store.load_split("cpu")
    table = predictions_of(store, "cpu", "svc", pd.Index([*"abcde"]))
    assert list(table) == [*("dataset", "strategy", "repeat", "fold", "row", "truth", "prediction")]
    assert table.index.tolist() == ["abcde"[row] for row in table["row"]]
    assert table["truth"].tolist() == cpu.truth[table["row"]].tolist()
    for fold, part in table.groupby("fold"):
        assert part["prediction"].tolist() == outcome(cpu, "svc", fold=fold).predictions.tolist()


@pytest.mark.parametrize(
    ("dataset", "strategies", "message"),
    [
        ("iriss", None, r"study\.h5: no dataset 'iriss'; did you mean 'iris'\?"),
        ("iris", ["svc", "xyz"], "no strategy 'xyz'; there are svc, lasso"),
        ("iris", "bad", "no cell of dataset 'iris' is done yet; run it first"),
        ("empty", None, "no cell of dataset 'empty' is done yet; run it first"),
    ],
)
def test_what_is_not_there_is_told(store, dataset, strategies, message):
    with pytest.raises(StudyError, match=message):
        predictions_of(store, dataset, strategies)
