"""Count the code lines of each package of MLaut, and hold them to their budgets.

    python tools/lines.py

Docstrings, comments and blank lines do not count; each line of any other text does. The command
fails if a package has more lines than its budget. A change that needs more lines saves them in the
same package, or raises the number here, with the reason in the message of the commit.
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "mlaut"
OWN = "modules of mlaut itself"
BUDGETS = {
    "analysis": 14_930,
    "bundles": 1_296,
    "cli": 1_240,
    "data": 1_794,
    "estimators": 4_180,
    "experiments": 5_862,
    "files_io": 5_070,
    "identity": 840,
    "leaderboard": 660,
    "placing": 190,
    "report": 2_232,
    "sharing": 2_305,
    OWN: 1_400,
}
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


def over(lines: Counter[str]) -> list[str]:
    """Return a line for each package with more code lines than its budget, or without a budget."""
    return [
        f"{name}: {n:,} code lines, budget {BUDGETS.get(name, 0):,}: win lines in it, or "
        "raise the budget in tools/lines.py and say why"
        for name, n in sorted(lines.items())
        if n > BUDGETS.get(name, 0)
    ]


def main() -> None:
    """Print the code lines of each package; fail if there are too many."""
    lines = count(PACKAGE)
    for name, n in sorted(lines.items()):
        sys.stdout.write(f"{n:7,} of {BUDGETS.get(name, 0):7,}  {name}\n")
    sys.stdout.write(f"{lines.total():7,} of {sum(BUDGETS.values()):7,}  all\n")
    if problems := over(lines):
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
