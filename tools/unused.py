"""Name the functions, methods and classes that nothing uses but tests.

    python tools/unused.py

A name is used if code of MLaut or of a plug-in has it, as a name or as a whole text (the lists of
public names, `getattr`), or if a page, an example, a benchmark or a project file has the word.
What a decorator registers (commands, scores) and what Python calls by its name is left out.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CODE = [*(ROOT / "mlaut").rglob("*.py"), *ROOT.glob("plugins/*/mlaut_*/**/*.py")]
USERS = (
    "*.md",
    "*.toml",
    "setup.py",
    "docs/*.*",
    "examples/**/*.*",
    "benchmarks/*.py",
    "tools/*.py",
)
USERS += (
    "plugins/*/*.*",
    "plugins/*/examples/**/*.*",
    "recipe/*",
    "mlaut/**/*.html",
    "mlaut/**/*.pyi",
    "mlaut/**/*.toml",
    ".ci/*",
)
REGISTERED = re.compile(r"command|group|named|register|test_of|pair_test")
# Names of MLaut 0.1, which stay; and the losses of folds as a table, which is for users alone.
OF_USERS = {"load_dataset_pd", "plot_cumulative_gain", "fold_losses"}
BY_PYTHON = re.compile(
    r"__\w+__|visit_\w+|generic_visit|_repr_\w+_|find_spec|handle_\w+|\w+_commands?"
)


def defined(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the name and the line of each definition that nothing registers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            registered = any(REGISTERED.search(ast.unparse(one)) for one in node.decorator_list)
            if not registered and not BY_PYTHON.fullmatch(node.name):
                yield node.name, node.lineno


def used(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module reads, and its texts that are a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"^(?:[\w.]+:)?(\w+)$", node.value)


def unused() -> list[str]:
    """Return the place and the name of each definition that nothing uses."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in CODE}
    counts = Counter(name for tree in trees.values() for name in used(tree))
    for pattern in USERS:
        for path in ROOT.glob(pattern):
            if path.is_file() and path.suffix not in (".png", ".svg", ".csv", ".h5"):
                counts.update(re.findall(r"\w+", path.read_text("utf-8", errors="ignore")))
    return [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, tree in trees.items()
        for name, line in defined(tree)
        if not counts[name] and name not in OF_USERS
    ]


if __name__ == "__main__":
    found = unused()
    sys.stdout.write("".join(f"{line}\n" for line in found))
    sys.exit(bool(found))
