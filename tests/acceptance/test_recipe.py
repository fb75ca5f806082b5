"""The recipe for conda packages asks for what pyproject.toml asks for."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from mlaut import __version__

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
RECIPE = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OTHER_NAMES = {"matplotlib": "matplotlib-base"}  # without the windows of Qt


def test_the_same_packages_with_the_same_bounds():
    asked = [Requirement(one) for one in PROJECT["project"]["dependencies"]]
    expected = {f"{OTHER_NAMES.get(one.name, one.name)} {one.specifier}" for one in asked}
    python, *others = RECIPE["requirements"]["run"]
    assert set(others) == expected
    assert python == "python >=${{ python_min }}"
    assert PROJECT["project"]["requires-python"] == f">={RECIPE['context']['python_min']}"
    assert "setuptools >=77" in RECIPE["requirements"]["host"]
    assert PROJECT["build-system"]["requires"] == ["setuptools>=77"]


def test_the_same_version_command_licences_and_summary():
    about, project = RECIPE["about"], PROJECT["project"]
    assert RECIPE["context"]["version"] == __version__
    assert RECIPE["build"]["python"]["entry_points"] == [f"mlaut = {project['scripts']['mlaut']}"]
    assert about["license"] == project["license"]
    assert about["license_file"] == project["license-files"]
    assert about["summary"] == project["description"]
    assert all((ROOT / name).exists() for name in about["license_file"])


def test_the_commands_that_test_the_package_are_those_of_mlaut(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from mlaut.cli import cli

    monkeypatch.chdir(tmp_path)
    (script,) = [one["script"] for one in RECIPE["tests"] if "script" in one]
    _, init, *_ = script
    assert all(line.startswith("mlaut ") for line in script)
    done = CliRunner().invoke(cli, init.split()[1:])
    assert done.exit_code == 0, done.output
