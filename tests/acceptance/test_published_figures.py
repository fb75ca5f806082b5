"""Figures that papers printed come out of the published tables, as the measurements list them."""

import csv
from decimal import Decimal
from pathlib import Path

import pytest
from everything import analysis

from mlaut.analysis import PUBLISHED

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "benchmarks/results/published_figures.csv"
PAGE = ROOT / "docs/other-results.md"


def rows():
    """Return what is printed, the line, and what comes out."""
    with FIGURES.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            given = (row["printed"], row["line"].strip("`"), row["here"])
            yield pytest.param(*given, id=row["benchmark"].replace("`", ""))


@pytest.mark.parametrize(("printed", "code", "here"), list(rows()))
def test_a_printed_figure_comes_out_of_its_line(printed, code, here):
    names = vars(analysis)
    found = eval(code, names)
    digits = -Decimal(here).as_tuple().exponent
    assert f"{found:.{digits}f}" == here
    # the last printed digit may differ by one: ranks were printed from other roundings
    assert abs(found - float(printed)) <= 1.0 * 10.0 ** Decimal(printed).as_tuple().exponent


def test_each_benchmark_that_comes_with_mlaut_has_a_line_or_a_reason():
    page = PAGE.read_text(encoding="utf-8")
    text = FIGURES.read_text(encoding="utf-8") + page.split("Printed figures")[1].split("Two")[0]
    for name, one in PUBLISHED.items():
        if not one.url and not name.endswith("_ranks"):
            assert f"`{name}`" in text, name
