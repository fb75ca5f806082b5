"""Strategies that do their worst cost their own cells only."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.append(str(HERE))


@pytest.mark.slow
def test_hostile_strategies_cost_their_own_cells_only():
    from hostile import EXPECTED

    told = subprocess.run(
        [sys.executable, HERE / "hostile.py", "--timeout", "3", "--n-jobs", "2"],
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr[-5000:]
    found = json.loads(told.stdout)
    assert found["statuses"] == {deed: {status: 5} for deed, status in EXPECTED.items()}, found
    assert found["processes left"] == 0


@pytest.mark.slow
def test_hostile_neighbours_change_no_bit():
    given = [HERE / "neighbours.py", "--folds", "2", "--datasets", "iris"]
    told = subprocess.run([sys.executable, *given], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr[-5000:]
    found = json.loads(told.stdout)
    assert found["hostile strategies"] >= 20
    for which in ("one", "two", "killed"):
        assert found[which]["cells of good strategies"] == 10
        assert found[which]["of them different"] == 0
        assert found[which]["of those different"] == []
    assert found["processes left"] == 0
