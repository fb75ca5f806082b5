"""Print pip constraints that pin each dependency to the lower bound that setup.py promises."""

import ast
import re
import sys
from pathlib import Path


def requirements(source: str) -> list[str]:
    """Return every requirement with a lower bound that stands in setup.py."""
    texts = [n.value for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Constant)]
    bound = re.compile(r"[\w-]+>=[\d.]+(?:post\d+)?")
    return [text for text in texts if isinstance(text, str) and bound.fullmatch(text)]


def main() -> None:
    """Print one constraint a line, without those that are named as arguments."""
    source = Path(__file__).resolve().parent.parent.joinpath("setup.py").read_text(encoding="utf-8")
    for requirement in sorted(set(requirements(source))):
        name, version = requirement.split(">=")
        if name not in sys.argv[1:]:
            sys.stdout.write(f"{name}=={version}\n")


if __name__ == "__main__":
    main()
