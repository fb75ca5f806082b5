"""The metadata of the package: those of pyproject.toml, and those that setup.py computes."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest
import setuptools

import mlaut

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def metadata(monkeypatch, tmp_path):
    """Return what setup.py computes, for an address of the repository."""

    def read(url):
        text = (ROOT / "setup.py").read_text(encoding="utf-8")
        path = tmp_path / "setup.py"
        text = text.replace("Path(__file__).parent", f"Path({str(ROOT)!r})")
        path.write_text(re.sub('^URL = ".*"$', f'URL = "{url}"', text, flags=re.MULTILINE))
        given = {}
        monkeypatch.setattr(setuptools, "setup", lambda **arguments: given.update(arguments))
        runpy.run_path(str(path))
        return given

    return read


def test_the_version_is_in_one_place_and_above_what_pypi_has():
    assert PYPROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "mlaut.__version__"}
    assert mlaut.__version__ not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert tuple(map(int, mlaut.__version__.split(".")[:2])) >= (1, 0)
    assert "\nversion:" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_links_of_the_readme_lead_somewhere_on_pypi(metadata):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert metadata("")["long_description"] == readme
    text = metadata("https://example.org/mlaut")["long_description"]
    at = f"v{mlaut.__version__}/"
    images = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text)
    links = re.findall(r"(?<!!)\[[^\]]*\]\(([^)]*)\)", text)
    assert images == [f"https://example.org/mlaut/raw/{at}docs/report.png"]
    assert f"https://example.org/mlaut/blob/{at}docs/data.md" in links
    assert len(links) > 8
    assert all(link.startswith("https://") for link in links)
    for link in links:
        assert (ROOT / link.partition(at)[2]).exists(), link


def test_nothing_is_said_twice(metadata):
    """A field that setup.py computes is one that pyproject.toml leaves to it."""
    project = PYPROJECT["project"]
    assert {*project["dynamic"]} == {"version", "readme", "urls"}
    assert not {*project["dynamic"]} & {*project}
    given = {"long_description", "long_description_content_type", "project_urls"}
    assert {*metadata("https://example.org/mlaut")} == given


def test_the_licence_is_a_field_and_a_file():
    given = PYPROJECT["project"]
    assert (given["license"], given["license-files"][0]) == ("BSD-3-Clause", "LICENSE")
    assert all((ROOT / name).is_file() for name in given["license-files"])  # also of what ships
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("BSD 3-Clause License")
    assert not [line for line in given["classifiers"] if line.startswith("License")]
    assert "license: BSD-3-Clause" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_citation_names_the_software_and_the_four_texts_it_builds_on():
    yaml = pytest.importorskip("yaml")
    about = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (about["cff-version"], about["type"]) == ("1.2.0", "software")
    assert all(one["authors"] and one["title"] and one["type"] for one in about["references"])
    authors = [next(iter(one["authors"][0].values())) for one in about["references"]]
    assert authors == ["Kazakov", "Lacoste", "Bouckaert", "ML Wiki"]
