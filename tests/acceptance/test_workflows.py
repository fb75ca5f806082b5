"""The workflows of .github run on supported Pythons, and call what exists."""

import re
import subprocess
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))
}
COMMANDS = [
    pytest.param(step["run"], id=f"{name}-{job}-{number}")
    for name, workflow in WORKFLOWS.items()
    for job, about in workflow["jobs"].items()
    for number, step in enumerate(about["steps"])
    if "run" in step
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_step_is_shell_and_names_files_and_targets_that_exist(command):
    checked = subprocess.run(
        ["bash", "-n", "-c", command], capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")
    for path in re.findall(r"(?:tests|tools|\.ci|benchmarks)/[\w./]+", command):
        assert (ROOT / path).exists(), path
    targets = re.findall(r"^(?:\$\(VENV\)/)?([\w.-]+):", (ROOT / "Makefile").read_text(), re.M)
    for target in re.findall(r"\bmake ([\w./-]+)", command):
        assert target.removeprefix(".venv/") in targets


def test_every_supported_python_is_tested_on_linux_and_macos():
    matrix = WORKFLOWS["tests"]["jobs"]["tests"]["strategy"]["matrix"]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert matrix["python"] == re.findall(r"Python :: (3\.\d+)", project)
    assert matrix["python"][0] == re.search(r'requires-python = ">=(.*?)"', project)[1]
    assert [system.partition("-")[0] for system in matrix["os"]] == ["ubuntu", "macos"]


def test_the_oldest_versions_and_scikit_learn_s_next_one_are_tested():
    (oldest,) = [s["run"] for s in WORKFLOWS["tests"]["jobs"]["oldest"]["steps"] if "name" in s]
    assert "tools/lower_bounds.py > oldest.txt" in oldest
    assert "-c oldest.txt" in oldest
    # YAML reads the key "on" as True
    assert "schedule" in WORKFLOWS["nightly"][True]
    text = (ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8")
    assert "git+https://github.com/scikit-learn/scikit-learn" in text


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_has_no_more_rights_than_it_needs_and_ends(name):
    workflow = WORKFLOWS[name]
    assert workflow["permissions"] == {"contents": "read"}
    assert all(0 < job["timeout-minutes"] <= 120 for job in workflow["jobs"].values())
