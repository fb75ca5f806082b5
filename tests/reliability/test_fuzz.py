"""Damaged files: told or right; ``fuzz.py`` itself does as many as one likes."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("fuzz.py")


def test_damaged_files_are_told_or_right(tmp_path):
    told = subprocess.run(
        [sys.executable, SCRIPT, "--files", "90", "--seed", "5", "--folder", tmp_path],
        capture_output=True,
        text=True,
    )
    assert told.stderr == ""
    figures = json.loads(told.stdout)
    assert figures["worse"] == []
    assert figures["told"] + figures["right"] == 90
    assert figures["told"] > 30
    assert figures["right"] > 10
