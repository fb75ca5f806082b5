"""No made-up table is misread: what is read is right, and the others are asked about."""

import numpy as np
import pytest
from made_up_tables import made_up

from mlaut.analysis import read_results
from mlaut.errors import AnalysisError


def outcome(seed, folder):
    """Return "right", or "asked" with the message; raise an error for a wrong reading."""
    made = made_up(seed)
    for name, text in made.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    source = folder if len(made.files) > 1 else folder / next(iter(made.files))
    try:
        results = read_results(source, made.metric)
    except AnalysisError as error:
        return f"asked: {error}"
    found, truth = results.scores, made.truth
    about = f"seed {seed}, {made.features}: {results.how_read}"
    assert found.shape == truth.shape, about
    rows = [str(name).replace(" ", "-") for name in truth.index]
    found.index = [name.replace(" ", "-") for name in found.index]
    found.columns = [name.replace(" ", "-") for name in found.columns]
    truth = truth.set_axis([str(x).replace(" ", "-") for x in truth.columns], axis=1)
    assert set(rows) == set(found.index), about
    assert set(truth) == set(found), about
    found = found.loc[rows, truth.columns].to_numpy()
    assert np.allclose(found, truth.to_numpy(), rtol=0, atol=1e-3, equal_nan=True), about
    return "right"


@pytest.mark.parametrize("seed", range(60))
def test_no_made_up_table_is_misread(seed, tmp_path):
    outcome(seed, tmp_path)


@pytest.mark.slow
def test_most_made_up_tables_are_right_at_the_first_try(tmp_path):
    right = 0
    for seed in range(1000, 1400):
        folder = tmp_path / str(seed)
        folder.mkdir()
        right += outcome(seed, folder) == "right"
    assert right >= 300
