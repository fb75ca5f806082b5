"""The page of the plug-in and its notebooks: what they show runs."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import click
import pytest

from mlaut.cli import cli

PLUGIN = Path(__file__).parents[1]
OF_MLAUT = PLUGIN.parents[1] / "tests" / "acceptance"
DOCS = runpy.run_path(str(OF_MLAUT / "test_docs.py"))
NOTEBOOKS = runpy.run_path(str(OF_MLAUT / "test_notebooks.py"))
README = PLUGIN / "README.md"


def test_the_example_of_the_page_runs(tmp_path):
    command = [sys.executable, "-W", "error", "-c", DOCS["program_of"](README)]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=1800)
    assert told.returncode == 0, told.stderr


def test_commands_and_options_of_the_page_and_of_the_repository_exist():
    texts = [README, *PLUGIN.glob("mlaut_boards/repository/*.*"), *PLUGIN.glob("mlaut_boards/*.py")]
    lines = [
        line
        for path in texts
        for line in re.findall(r"\bmlaut ((?:leaderboard|study) [^\n`'#|]+)", path.read_text())
    ]
    assert len(lines) > 20
    for line in lines:
        command, words = cli, line.split()
        while isinstance(command, click.Group) and words and words[0].isalpha():
            command = command.get_command(click.Context(command), words.pop(0))
            assert command is not None, line
        known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
        assert set(re.findall(r"(?<!\S)--?[a-z][\w-]*", line)) <= known | {"--help"}, line


@pytest.mark.parametrize("path", sorted(PLUGIN.glob("examples/**/*.ipynb")), ids=lambda x: x.stem)
def test_a_notebook_is_kept_clean(path):
    NOTEBOOKS["test_a_notebook_is_kept_clean"](path)


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(PLUGIN.glob("examples/**/*.ipynb")), ids=lambda x: x.stem)
def test_a_notebook_runs(path, tmp_path):
    NOTEBOOKS["test_a_notebook_runs"](path, tmp_path)
