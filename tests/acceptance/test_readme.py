"""What the README says is what happens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_python_example_runs(tmp_path):
    (program,) = blocks("python")
    told = subprocess.run(
        # Old packages deprecate what they use of each other: that is no error of the example.
        [sys.executable, "-W", "error", "-W", "default::DeprecationWarning", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert told.returncode == 0, told.stderr
    assert "60 of 60 cells done" in told.stdout
    assert "Too few datasets to decide: there are 4, and at least 7 are needed" in told.stdout


def test_commands_exist():
    from mlaut.cli import cli

    told = set(re.findall(r"^mlaut (\w+)", "".join(blocks("sh")), re.MULTILINE))
    assert told <= set(cli.commands)
    assert {"run", "status", "report", "strategies", "datasets"} <= told


def test_dependencies_are_those_of_setup():
    listed = re.search(r"\*\*Few dependencies\*\*: (.*?)\. Keras", README, re.DOTALL)[1]
    names = {name.strip() for name in listed.replace("\n", " ").split(",")}
    setup = (ROOT / "setup.py").read_text(encoding="utf-8")
    required = re.search(r"install_requires=\[(.*?)\]", setup, re.DOTALL)[1]
    assert names == set(re.findall(r'"([\w-]+)>=', required))


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([\w./-]+)\)", README))))
def test_links_lead_somewhere(path):
    assert (ROOT / path).exists()
