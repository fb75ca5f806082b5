"""Kills at random instants; ``kills.py`` itself does as many as one likes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from amounts import MORE

SCRIPT = Path(__file__).with_name("kills.py")


@pytest.mark.slow
@pytest.mark.parametrize("kills", [60 * MORE])
def test_kills_lose_nothing(tmp_path, kills):
    told = subprocess.run(
        [sys.executable, SCRIPT, "--kills", str(kills), "--seed", "1", "--folder", tmp_path],
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr[-5000:]
    figures = json.loads(told.stdout)
    assert figures["kills"] == kills
    assert figures["cells reported"] > 1.5 * kills
    assert {"allocate", "cells", "settle"} <= set(figures["while"])
