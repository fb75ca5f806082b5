"""Write the coverage of each package into CONTRIBUTING.md: coverage_table.py REPORT.json."""

import json
import re
import sys
from collections import Counter
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "CONTRIBUTING.md"
MARKS = re.compile(r"(<!-- coverage -->\n).*?(<!-- end -->)", re.DOTALL)


def table(report: dict) -> str:
    """Return the code lines of each package and the covered share as a Markdown table."""
    lines: Counter[str] = Counter()
    covered: Counter[str] = Counter()
    for file, about in report["files"].items():
        for package in (Path(file).parts[1], "all"):
            lines[package] += about["summary"]["num_statements"]
            covered[package] += about["summary"]["covered_lines"]
    names = [*sorted(name for name in lines if name != "all"), "all"]
    rows = [f"| {name} | {lines[name]:,} | {covered[name] / lines[name]:.1%} |" for name in names]
    head = ["| package | statements | covered |", "|---|---:|---:|"]
    return "\n".join([*head, *rows])


def page(text: str, report: dict) -> str:
    """Return the page with the table at its marks."""
    return MARKS.sub(lambda marks: f"{marks[1]}{table(report)}\n{marks[2]}", text)


if __name__ == "__main__":
    found = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
