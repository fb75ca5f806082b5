"""All public names of the analysis, of its rooms, and of mlaut-extras if it is there, in one."""

import ast
import importlib
import inspect
import types
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import mlaut.analysis

PACKAGES = [
    mlaut.analysis,
    *(importlib.import_module(f"mlaut.analysis.{room}") for room in mlaut.analysis.ROOMS),
]


EXTRAS = [importlib.import_module(x) for x in ("mlaut_extras",) if find_spec(x)]


def names_of(package):
    own = (n for n, v in vars(package).items() if getattr(v, "__module__", "") == package.__name__)
    return getattr(package, "__all__", [name for name in own if not name.startswith("_")])


analysis = types.SimpleNamespace(
    **{
        name: getattr(package, name)
        for package in [*PACKAGES, *EXTRAS]
        for name in names_of(package)
    }
)
analysis.__all__ = sorted(vars(analysis))

SWEEPS = ("test_bad_input.py", "test_invariances.py", "test_arguments.py")  # of all functions


def installed(cases):
    """Return the cases of functions that are installed, by name."""
    return {name: case for name, case in cases.items() if hasattr(analysis, name)}


def functions():
    """Return the names of the public functions, without those that only read files or watch."""
    of_files = ("read_", "load_", "save_", "image_folders", "follow_study")
    names = (n for n in analysis.__all__ if inspect.isfunction(getattr(analysis, n)))
    return {name for name in names if not name.startswith(of_files)}


@cache
def called_in_own_tests():
    """Return the names that a test calls which is no sweep over all functions."""
    called = set()
    plugin = Path(__file__).parents[2] / "plugins" / "extras" / "tests"
    for file in (*Path(__file__).parent.rglob("test_*.py"), *plugin.glob("test_*.py")):
        if file.name not in SWEEPS:
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                called |= {node.id} if isinstance(node, ast.Name) else set()
                called |= {node.attr} if isinstance(node, ast.Attribute) else set()
    return called
