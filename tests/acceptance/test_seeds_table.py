"""Each thing that the product and its texts ask for is held by a test that exists."""

import ast
import runpy
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLE = runpy.run_path(str(ROOT / "tools" / "seeds_table.py"))
ROWS = TABLE["rows"]()


@cache
def functions_of(file):
    tree = ast.parse((ROOT / "tests" / f"{file}.py").read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["row"])
def test_the_test_of_a_row_exists(row):
    file, _, function = row["held by"].partition("::")
    if TABLE["held"](row):
        assert f"test_{function}" in functions_of(file)
    else:
        assert len(row["held by"]) > 10  # "! " and the reason


def test_the_page_has_every_row_and_nearly_all_are_held():
    assert [int(row["row"]) for row in ROWS] == list(range(1, 175))
    assert sum(map(TABLE["held"], ROWS)) >= 160
    assert TABLE["page"]().count("\n| ") == len(ROWS) + 1


def test_the_files_that_the_product_must_have_are_there():
    for name in ("setup.py", "mlaut", "docker", "examples", "tests", "Dockerfile", "README.md"):
        assert (ROOT / name).exists()
