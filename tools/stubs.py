"""Write the stub of each package whose public names are lazy, into the folder of its __init__.py.

    python tools/stubs.py

A function finds such names when they are first used, so a type checker does not know them. The
stubs state where each name is defined. Tests compare them with the packages.
"""

import inspect
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = '"""Where the public names are defined, for type checkers; written by tools/stubs.py."""\n\n'


def stubs() -> dict[Path, str]:
    """Return the text of each stub, by its path."""
    found = {}
    for file in sorted((ROOT / "mlaut").rglob("__init__.py")):
        if " attach(" in file.read_text(encoding="utf-8"):
            name = ".".join(file.parent.relative_to(ROOT).parts)
            found[file.with_suffix(".pyi")] = HEAD + _stub(name)
    return found


def _stub(name: str) -> str:
    """Return the stub of a package: its lazy names, and the others that it has in __all__."""
    package = import_module(name)
    home = inspect.getclosurevars(package.__getattr__).nonlocals["home"]
    lines = [f"from {module} import {one} as {one}" for one, module in home.items()]
    kinds = {str: "str", tuple: "tuple[str, ...]"}
    others = [one for one in package.__all__ if one not in home]
    others += [
        one for one, value in vars(package).items() if one.isupper() and type(value) in kinds
    ]
    lines.sort()
    lines += [f"\n{one}: {kinds[type(getattr(package, one))]}" for one in others]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
