"""The page of the plug-in and its notebook: what they show runs."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parents[1]
OF_MLAUT = PLUGIN.parents[1] / "tests" / "acceptance"
DOCS = runpy.run_path(str(OF_MLAUT / "test_docs.py"))
NOTEBOOKS = runpy.run_path(str(OF_MLAUT / "test_notebooks.py"))
EXAMPLES = pytest.mark.parametrize(
    "notebook", sorted(PLUGIN.glob("examples/*.ipynb")), ids=lambda path: path.stem
)


def test_the_example_of_the_page_runs(tmp_path):
    program = DOCS["program_of"](PLUGIN / "README.md")
    command = [sys.executable, "-W", "error", "-c", program]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert told.returncode == 0, told.stderr


@EXAMPLES
def test_a_notebook_is_kept_clean(notebook):
    NOTEBOOKS["test_a_notebook_is_kept_clean"](notebook)


@pytest.mark.slow
@EXAMPLES
def test_a_notebook_runs(notebook, tmp_path):
    NOTEBOOKS["test_a_notebook_runs"](notebook, tmp_path)
