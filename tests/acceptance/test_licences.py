"""The page of licences names those of all packages that MLaut needs, and of all data in it."""

import runpy
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
TOOL = runpy.run_path(str(ROOT / "tools" / "licences.py"))


def test_every_package_that_is_needed_has_a_licence_that_a_package_under_bsd_can_pass_on():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = {name for name, _, _ in TOOL["packages"]()}
    assert {Requirement(one).name for one in project["dependencies"]} <= listed
    assert "patsy" in listed  # statsmodels needs it, and MLaut does not name it
    assert "pytest" not in listed
    assert TOOL["problems"]() == []


def test_a_licence_with_other_conditions_is_found():
    free = TOOL["FREE"]
    assert all(free.search(text) for text in ("BSD-3-Clause", "MIT License", "Apache 2.0"))
    assert not any(free.search(text) for text in ("GPL-3.0", "AGPL", "Proprietary", ""))


def test_every_dataset_and_published_table_in_the_package_has_a_licence():
    files = (ROOT / "mlaut/data/starter/tables").iterdir()
    tables = {path.name.partition(".")[0] for path in files}
    assert {name for name, licence, _ in TOOL["datasets"]() if licence == "CC BY 4.0"} == tables
    published = (ROOT / "mlaut/analysis/importers/tables").glob("*.csv.xz")
    bases = {
        path.name.removesuffix("_families.csv.xz").removesuffix(".csv.xz") for path in published
    }
    assert {name for name, licence, source in TOOL["tables"]() if licence and source} == bases
    assert (ROOT / "mlaut/report/templates/vendor/uPlot.LICENSE").exists()
