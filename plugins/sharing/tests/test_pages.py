"""The page of the plug-in: what it shows runs."""

import runpy
import subprocess
import sys
from pathlib import Path

PLUGIN = Path(__file__).parents[1]
DOCS = runpy.run_path(str(PLUGIN.parents[1] / "tests" / "acceptance" / "test_docs.py"))


def test_the_examples_of_the_page_run(tmp_path):
    command = [sys.executable, "-W", "error", "-c", DOCS["program_of"](PLUGIN / "README.md")]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
