"""Runs that are killed in a search that draws its candidates, and resumed."""

from importlib.util import find_spec

import pytest
from test_killed_searches import check_killed


@pytest.mark.slow
@pytest.mark.parametrize("search", ["random(16)", "halving(9)", "optuna(10)"])
def test_a_run_that_is_killed_in_a_search_leaves_the_same_trace(search, tmp_path):
    if search.startswith("optuna") and find_spec("optuna") is None:
        pytest.skip("optuna is not installed: pip install 'mlaut[optuna]'")
    check_killed(search, tmp_path)
