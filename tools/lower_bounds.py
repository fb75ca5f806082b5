"""Print pip constraints that pin each dependency to the lower bound in pyproject.toml."""

import re
import sys
import tomllib
from itertools import chain
from pathlib import Path


def requirements(project: dict) -> list[str]:
    """Return every requirement of a project and its extras that is only a lower bound."""
    asked = chain(project["dependencies"], *project["optional-dependencies"].values())
    bound = re.compile(r"[\w-]+>=[\d.]+(?:post\d+)?")
    return [requirement for requirement in asked if bound.fullmatch(requirement)]


def main() -> None:
    """Print one line for each constraint, without those that are named as arguments."""
    source = Path(__file__).resolve().parent.parent / "pyproject.toml"
    project = tomllib.loads(source.read_text(encoding="utf-8"))["project"]
    for requirement in sorted(set(requirements(project))):
        name, version = requirement.split(">=")
        if name not in sys.argv[1:]:
            sys.stdout.write(f"{name}=={version}\n")


if __name__ == "__main__":
    main()
