"""No two files of MLaut import each other, not even for types alone."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]


def imported(file):
    """Return the modules that a file imports from, anywhere in it."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return {node.module for node in nodes if isinstance(node, ast.ImportFrom)}


def test_no_two_files_import_each_other():
    files = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts): imported(file)
        for file in ROOT.glob("mlaut/**/*.py")
    }
    assert [(a, b) for a in files for b in files[a] if a < b and a in files.get(b, ())] == []
