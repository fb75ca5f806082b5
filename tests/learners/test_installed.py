"""The learners of other libraries are those that pyproject.toml promises, or newer ones."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
LEARNERS = re.search(r"\[(.*)\]", EXTRAS["learners"][0])[1].split(",")


@pytest.mark.parametrize("extra", LEARNERS)
def test_the_version_is_one_that_is_supported(extra):
    (requirement,) = EXTRAS[extra]
    name, bound = requirement.split(">=")
    try:
        found = version(name)
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed: pip install 'mlaut[{extra}]'")
    assert [int(n) for n in found.split(".")[:2]] >= [int(n) for n in bound.split(".")[:2]]
