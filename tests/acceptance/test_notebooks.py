"""The notebooks in examples/ run from a fresh kernel, and are kept without outputs."""

import json
import shutil
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted([*EXAMPLES.glob("*.ipynb"), *EXAMPLES.glob("studies/*/*.ipynb")])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_clean(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert cells[0]["cell_type"] == "markdown"
    assert "".join(cells[0]["source"]).startswith("# ")
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    import nbclient
    import nbformat

    shutil.copytree(EXAMPLES / "data", tmp_path / "data")
    for study in ("bouckaert2003", "lacoste2012"):
        shutil.copytree(EXAMPLES / "studies" / study, tmp_path / "studies" / study)
    shutil.copy(EXAMPLES / "quick_start.ipynb", tmp_path)  # its results are analysed in another one
    for table in path.parent.glob("*.csv"):
        shutil.copy(table, tmp_path)
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=6000, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    errors = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output["output_type"] == "stream" and output["name"] == "stderr"
    ]
    assert errors == []  # no warning on the way
