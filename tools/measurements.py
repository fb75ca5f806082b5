"""Make the appendix of measurements, a page with every table of benchmarks/results.

`index.toml` in that folder has the order, the titles and the notes. `docs/conf.py` writes the page
when the documentation is built.
"""

from __future__ import annotations

import csv
import re
import tomllib
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
HEAD = """\
# Measurements

These are all tables of what was measured. The page that each part names says what follows from
them. Each table is a file of `benchmarks/results/`, and the script that computes it stands above
it. Entries "1 % / 5 % / 10 %" are rates of rejection at these levels, and "90 % / 95 % / 99 %"
coverages of intervals with these confidences, in percent.
"""


def sections() -> list[dict[str, Any]]:
    """Return the parts of the appendix, each with its title, its page and its tables."""
    found: list[dict[str, Any]] = tomllib.loads(
        (RESULTS / "index.toml").read_text(encoding="utf-8")
    )["section"]
    return found


def rows(file: str) -> list[list[str]]:
    """Return the rows of a table, of which the first one has the names of the columns."""
    with (RESULTS / file).open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def markdown(table: list[list[str]]) -> str:
    """Return rows as a table in Markdown."""
    lines = [table[0], ["---"] * len(table[0]), *table[1:]]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines
    )


def label(file: str) -> str:
    """Return the name by which pages link to a table."""
    return re.sub(r"\W|_", "-", Path(file).stem)


def chapter() -> str:
    """Return the appendix in Markdown."""
    parts = [HEAD]
    for section in sections():
        parts.append(f"## {section['title']}\n\nSee [the page](../{section['page']}.md).\n")
        for table in section["table"]:
            note = f"{table['note']}\n\n" if "note" in table else ""
            head = f"({label(table['file'])})=\n\n### {table['title']}\n\n{note}"
            parts.append(f"{head}{markdown(rows(table['file']))}\n")
    return "\n".join(parts)
