"""Sixty kills at random instants; ``kills.py`` itself does as many as one likes."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("kills.py")


def test_sixty_kills_lose_nothing(tmp_path):
    told = subprocess.run(
        [sys.executable, SCRIPT, "--kills", "60", "--seed", "1", "--folder", tmp_path],
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr[-5000:]
    figures = json.loads(told.stdout)
    assert figures["kills"] == 60
    assert figures["cells reported"] > 100
    assert {"allocate", "cells", "settle"} <= set(figures["while"])
