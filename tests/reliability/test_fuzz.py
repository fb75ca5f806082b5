"""Damaged files: told or right; ``fuzz.py`` itself does as many as one likes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from amounts import MORE

SCRIPT = Path(__file__).with_name("fuzz.py")


@pytest.mark.parametrize(
    ("kinds", "files"),
    [
        pytest.param("files", 90 * MORE, marks=pytest.mark.slow),
        pytest.param("predictions", 100 * MORE, marks=pytest.mark.slow),
        pytest.param("bundles", 28 * MORE, marks=pytest.mark.slow),
    ],
)
def test_damaged_files_are_told_or_right(tmp_path, kinds, files):
    pytest.importorskip("mlaut_boards")  # it has the readers of other programs' predictions
    given = ["--files", str(files), "--seed", "5", "--folder", tmp_path, "--kinds", kinds]
    told = subprocess.run([sys.executable, SCRIPT, *given], capture_output=True, text=True)
    assert told.stderr == ""
    figures = json.loads(told.stdout)
    assert figures["worse"] == []
    assert figures["told"] + figures["right"] == files
    assert figures["told"] > files / 30  # most damage to a bundle hits what nothing reads
    assert figures["right"] > files / 30
