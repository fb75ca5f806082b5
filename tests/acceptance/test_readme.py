"""What the README says is what happens."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mlaut.analysis import read_results

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_table_of_scores_is_decided_as_the_first_lines_say(tmp_path):
    (table,) = blocks("csv")
    (tmp_path / "results.csv").write_text(table, encoding="utf-8")
    command = next(line for line in blocks("sh")[0].splitlines() if line.startswith("mlaut report"))
    told = subprocess.run(
        [sys.executable, "-m", *command.partition("#")[0].split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    (sentence,) = re.findall(r"^> (.*)", README, re.MULTILINE)
    assert sentence in told.stdout


def test_it_is_short_and_begins_with_a_table_of_scores():
    assert len(README.splitlines()) <= 90
    order = ("```csv", "mlaut report results.csv", "make demo", "```python", "mlaut init")
    places = [README.index(word) for word in order]
    assert places == sorted(places)


def test_the_four_modules_and_the_two_files_are_shown():
    section = README.partition("## Four modules, two files")[2].partition("**Few dep")[0]
    for word in ("**Data**", "**Estimators**", "**Experiments**", "**Analysis**", "**Files_IO**"):
        assert word in section
    for path in ("<group>/<dataset>", "splits/<dataset>", "experiments/predictions/<dataset>"):
        assert path in section


def test_dependent_rows_are_cautioned():
    limits = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    assert all("time series" in text for text in (README, limits))


def test_python_example_runs(tmp_path):
    program = "\n".join(blocks("python"))  # of one table, and of a study
    program, replaced = re.subn(r"(Forest|Trees)Classifier\(\)", r"\1Classifier(5)", program)
    assert replaced == 2  # small forests say the same sooner
    told = subprocess.run(
        # Old packages deprecate what they use of each other: that is no error of the example.
        [sys.executable, "-W", "error", "-W", "default::DeprecationWarning", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert told.returncode == 0, told.stderr
    assert "of the learner trained on about 569 such rows" in told.stdout
    assert "the difference in the expected error of the learner" in told.stdout
    assert "60 of 60 cells done" in told.stdout
    assert "Do not choose by these results: there are 4 datasets, and at least 7" in told.stdout


def test_commands_exist():
    from mlaut.cli import cli

    named = set(re.findall(r"^mlaut (\w+)", "".join(blocks("sh")), re.MULTILINE))
    assert named <= set(cli.commands)
    assert {"run", "status", "report", "list"} <= named


def test_dependencies_are_those_of_the_package():
    listed = re.search(r"\*\*Few dependencies\*\*: (.*?)\. Keras", README, re.DOTALL)[1]
    names = {name.strip() for name in listed.replace("\n", " ").split(",")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert names == {requirement.partition(">=")[0] for requirement in project["dependencies"]}


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([\w./-]+)\)", README))))
def test_links_lead_somewhere(path):
    assert (ROOT / path).exists()


def test_a_table_that_is_not_clean_is_read_as_it_says(tmp_path):
    (table,) = blocks("md")
    (told,) = blocks("text")
    (tmp_path / "scores.md").write_text(table, encoding="utf-8")
    read = read_results(tmp_path / "scores.md", "accuracy").how_read
    assert read.startswith(told.removesuffix("...\n"))
