"""List the licences of packages that MLaut needs and of data that comes with it.

    python tools/licences.py

The licences of packages are read from the environment that runs this command, for the installed
versions. The command fails if a licence is unknown, or has conditions that a package under BSD
cannot pass on. `docs/conf.py` makes a page of the licences.
"""

import csv
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
STARTER = ROOT / "mlaut" / "data" / "starter" / "manifest.csv"
PUBLISHED = ROOT / "mlaut" / "analysis" / "importers" / "tables" / "published.toml"
# Licences that ask for no more than to keep their texts, and for changes of their own files (MPL).
FREE = re.compile(r"BSD|MIT|Apache|PSF|Python Software Foundation|ISC|HPND|MPL|Zlib|CC0|Unlicense")
TITLE = """\
# Licences

MLaut is under the BSD 3-Clause licence. This page is made when the site is built."""


def needed(names: list[str]) -> dict[str, Distribution]:
    """Return the named packages and all their requirements, direct or indirect, without extras."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement(name) for name in names]
    while waiting:
        one = waiting.pop()
        name = re.sub(r"[-_.]+", "-", one.name).lower()
        if name in found or (one.marker is not None and not one.marker.evaluate({"extra": ""})):
            continue
        found[name] = distribution(name)
        waiting += map(Requirement, found[name].requires or ())
    return dict(sorted(found.items()))


def licence_of(package: Distribution) -> str:
    """Return the licence that a package names: SPDX, a short text, or its classifiers."""
    about = package.metadata
    spdx, text = about.get("License-Expression") or "", (about.get("License") or "").strip()
    given = about.get_all("Classifier") or []
    kinds = [one.rpartition(" :: ")[2] for one in given if one.startswith("License :: OSI")]
    short = text if text and "\n" not in text and len(text) < 60 else ""
    return spdx or short or ", ".join(kinds)


def packages() -> list[tuple[str, str, str]]:
    """Return name, version and licence of each package that MLaut needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [
        (name, package.version, licence_of(package))
        for name, package in needed(project["dependencies"]).items()
    ]


def extras() -> list[tuple[str, str, str]]:
    """Return extra, package and licence of the packages of the extras, if they are installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = []
    for extra, asked in project["optional-dependencies"].items():
        for one in map(Requirement, asked):
            if extra not in ("test", "docs", "lint", "dev", "coverage") and one.name != "mlaut":
                try:
                    rows.append((extra, one.name, licence_of(distribution(one.name))))
                except PackageNotFoundError:
                    rows.append((extra, one.name, "not installed here"))
    return rows


def datasets() -> list[tuple[str, str, str]]:
    """Return name, licence and source of each dataset that comes with MLaut."""
    with STARTER.open(encoding="utf-8", newline="") as lines:
        return [(row["name"], row["licence"], row["source"]) for row in csv.DictReader(lines)]


def tables() -> list[tuple[str, str, str]]:
    """Return name, licence and source of each published table of results that comes with MLaut."""
    known = tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))
    inside = {re.split(r"[.]", file.name)[0] for file in PUBLISHED.parent.glob("*.csv.xz")}
    return [
        (name, about["licence"], about["source"]) for name, about in known.items() if name in inside
    ]


def page() -> str:
    """Return the page in Markdown."""
    return "\n".join(
        [
            TITLE,
            *_table("What MLaut needs", ("package", "version", "licence"), packages()),
            *_table("What its extras add", ("extra", "package", "licence"), extras()),
            *_table("Datasets that come with it", ("dataset", "licence", "source"), datasets()),
            *_table("Published results that come with it", ("name", "licence", "source"), tables()),
            "",
            "The page of a report contains [uPlot](https://github.com/leeoniya/uPlot) (MIT).",
            "",
        ]
    )


def _table(title: str, head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield from ("", f"## {title}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|")
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def problems() -> list[str]:
    """Return a line for each package whose licence is unknown or has other conditions."""
    return [
        f"{name} {version}: {licence or 'no licence is named'}"
        for name, version, licence in packages()
        if not FREE.search(licence)
    ]


if __name__ == "__main__":
    sys.stdout.write(page())
    if problems():
        sys.exit("\n".join(problems()))
