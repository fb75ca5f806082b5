"""Count the code lines of each package of MLaut.

    python tools/lines.py

Docstrings, comments and blank lines do not count; each line of any other text does. The sum is a
number to look at before and after a change: what comes in should pay with lines that go.
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "mlaut"
OWN = "modules of mlaut itself"
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_NO_CODE = (
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
)


def code_lines(source: str) -> int:
    """Return the number of lines of a module without docstrings, comments and blank lines."""
    documentation: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None:
            documentation |= {*range(node.body[0].lineno, node.body[0].end_lineno + 1)}
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            code |= {*range(token.start[0], token.end[0] + 1)}
    return len(code - documentation)


def count(package: Path) -> Counter[str]:
    """Return the code lines of each package below a package."""
    lines: Counter[str] = Counter()
    for file in package.rglob("*.py"):
        inside = file.relative_to(package).parts
        lines[inside[0] if len(inside) > 1 else OWN] += code_lines(file.read_text(encoding="utf-8"))
    return lines


def main() -> None:
    """Print the code lines of each package."""
    lines = count(PACKAGE)
    for name, n in sorted(lines.items()):
        sys.stdout.write(f"{n:7,}  {name}\n")
    sys.stdout.write(f"{lines.total():7,}  all\n")


if __name__ == "__main__":
    main()
