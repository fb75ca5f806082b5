"""Make the page of all requirements on the product, each with the test that checks it.

The rows are in ``seeds.csv`` in this folder. A row that no test can check has a reason instead,
which begins with an exclamation mark.
"""

import csv
from pathlib import Path

ROWS = Path(__file__).with_name("seeds.csv")

HEAD = """# What is asked for, and what holds it

The product, the MLaut paper (Kazakov and Király 2019), Lacoste, Laviolette and Marchand (2012),
Bouckaert (2003) and a page on k-fold tests (*Comparing learning algorithms*) ask for these {n}
things. Each of {held} is held by a test, named by its file in `tests/` and its function; for each
of the others stands the reason.

| row | from | place | what | held by |
|---:|---|---|---|---|
"""


def rows() -> list[dict[str, str]]:
    """Return the rows of the table."""
    with ROWS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def held(row: dict[str, str]) -> bool:
    """Return whether a test checks a row."""
    return not row["held by"].startswith("!")


def page() -> str:
    """Return the page in Markdown."""
    lines = []
    for row in rows():
        file, _, function = row["held by"].partition("::")
        by = f"`{file}.py`: {function.replace('_', ' ')}" if held(row) else row["held by"][2:]
        what = row["what"].replace("|", "\\|")
        lines.append(f"| {row['row']} | {row['source']} | {row['place']} | {what} | {by} |")
    head = HEAD.format(n=len(lines), held=sum(map(held, rows())))
    return head + "\n".join(lines) + "\n"
