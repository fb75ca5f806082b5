"""What the README says is what happens."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mlaut.analysis import read_results
from mlaut.files_io import StudyStore

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_table_of_scores_is_decided_as_the_first_lines_say(tmp_path):
    (table,) = blocks("csv")
    (tmp_path / "results.csv").write_text(table, encoding="utf-8")
    command = next(line for line in blocks("sh")[1].splitlines() if line.startswith("mlaut report"))
    told = subprocess.run(
        [sys.executable, "-m", *command.partition("#")[0].split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    (sentence,) = re.findall(r"^> (.*)", README, re.MULTILINE)
    assert sentence in " ".join(told.stdout.split())


def test_it_is_short_and_in_the_order_of_a_reader_who_has_a_study_to_run():
    assert len(README.splitlines()) <= 90
    order = ("runs machine learning strategies", "Orchestrator(", "mlaut init", "make demo")
    places = [
        README.index(word) for word in (*order, "```csv", "mlaut report results", "error_interval(")
    ]
    assert places == sorted(places)


def test_words_are_said_before_they_are_used_and_those_of_the_card_are_there():
    for word in ("strategy", "source", "scenario"):
        assert README.index(f"*{word}*") < README.index("```python")
    named = (
        "HDF5",
        "Jupyter",
        "Docker",
        "keras",
        "scikit-posthocs",
        "Bayesian",
        "frequentist",
        "OpenML",
    )
    assert [word for word in named if word not in README] == []


def test_the_four_modules_and_the_two_files_are_shown():
    for word in ("**Data**", "**Estimators**", "**Experiments**", "**Analysis**", "**Files_IO**"):
        assert word in README
    for path in ("<group>/<dataset>", "splits/<dataset>", "experiments/predictions/<dataset>"):
        assert path in README


def test_dependent_rows_are_cautioned():
    limits = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    assert all("time series" in text for text in (README, limits))


def run(program, folder):
    return subprocess.run(
        # Old packages deprecate what they use of each other: that is no error of the example.
        [sys.executable, "-W", "error", "-W", "default::DeprecationWarning", "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_study_runs_and_goes_on(tmp_path):
    study, _ = blocks("python")
    first = run(study, tmp_path)
    assert first.returncode == 0, first.stderr
    for word in ("average_rank", "std_error", "chi2", "p_val", "p_better"):
        assert word in first.stdout
    assert (tmp_path / "ranks.png").stat().st_size > 10_000
    cells = [c for _, cells in StudyStore(tmp_path / "results.h5").all_details() for c in cells]
    assert [cell["status"] for cell in cells] == ["done"] * 5 * 4 * 5
    again = run(study, tmp_path)
    assert again.stdout == first.stdout


def test_one_dataset_runs(tmp_path):
    _, program = blocks("python")
    program, replaced = re.subn(r"(Forest|Trees)Classifier\(\)", r"\1Classifier(5)", program)
    assert replaced == 2  # small forests say the same sooner
    told = run(program, tmp_path)
    assert told.returncode == 0, told.stderr
    assert "of the learner trained on about 569 such rows" in told.stdout
    assert "the difference in the expected error of the learner" in told.stdout


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
    (told,) = re.findall(r"^`(Read: .*); \.\.\.`$", README, re.MULTILINE)
    (tmp_path / "scores.md").write_text(table, encoding="utf-8")
    read = read_results(tmp_path / "scores.md", "accuracy").how_read
    assert read.replace("`", '"').startswith(told)
