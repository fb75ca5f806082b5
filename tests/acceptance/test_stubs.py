"""The stub of a package says where its public names are: to type checkers, and to Python."""

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "stub", sorted((ROOT / "mlaut").rglob("*.pyi")), ids=lambda x: x.parent.name
)
def test_every_line_of_a_stub_is_a_name_of_the_package(stub):
    package = import_module(".".join(stub.parent.relative_to(ROOT).parts))
    lines = [line for line in stub.read_text().splitlines() if line.startswith("from ")]
    names = [line.rpartition(" ")[2] for line in lines]
    assert sorted(names) == dir(package)
    for line, name in zip(lines, names, strict=True):
        assert getattr(import_module(line.split()[1]), name) is getattr(package, name)
