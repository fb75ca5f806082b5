"""The checks of OpenSSF's scorecard that need no network, each as a test of what it looks at."""

import re
import subprocess
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
TEXTS = {path: path.read_text("utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")}
WORKFLOWS = {path.stem: yaml.safe_load(text) for path, text in TEXTS.items()}
STEPS = [
    (f"{name}, {job}", step)
    for name, workflow in WORKFLOWS.items()
    for job, about in workflow["jobs"].items()
    for step in about["steps"]
]


def test_pinned_dependencies_of_workflows():
    for where, step in STEPS:
        if "uses" in step:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"]), where
        for installed in re.findall(r"pip install --quiet (.+)", step.get("run", "")):
            named = installed.split()
            own = (
                "dist/*.whl",
                "packaging",
                "git+https://github.com/scikit-learn/scikit-learn.git",
            )
            assert all("==" in one or one in own for one in named), where


def test_pinned_dependencies_of_the_image():
    text = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^ARG BASE=debian:\w+-\d{8}-slim$", text, re.M)  # a dated tag: no "latest"
    installs = re.findall(r"pip install (?:.|\\\n)*?(?=\\\n &&|$)", text, re.M)
    assert len(installs) == 2
    assert all('-c "${CONSTRAINTS}"' in one for one in installs)
    pinned = (ROOT / "docker/constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"#.*|[\w.-]+==[\w.+]+", line) for line in pinned)


def test_token_permissions():
    writing = {
        (name, job, right)
        for name, workflow in WORKFLOWS.items()
        for job, about in workflow["jobs"].items()
        for right, given in about.get("permissions", {}).items()
        if given == "write"
    }
    assert all(workflow["permissions"] == {"contents": "read"} for workflow in WORKFLOWS.values())
    assert writing == {
        ("release", "publish", "id-token"),
        ("release", "publish", "attestations"),
        ("security", "code", "security-events"),
    }
    for where, step in STEPS:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"] == {"persist-credentials": False}, where


def test_dangerous_workflow():
    for path, text in TEXTS.items():
        assert "pull_request_target" not in text, path
        assert "workflow_run" not in text, path
    for where, step in STEPS:
        given = re.findall(r"\$\{\{(.*?)\}\}", step.get("run", ""))
        assert given == [], where  # what others write reaches no shell


def test_dependency_update_tool():
    about = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text())
    assert about["version"] == 2
    assert {one["package-ecosystem"] for one in about["updates"]} == {
        "github-actions",
        "docker",
        "pip",
    }


def test_sast_runs_on_every_change():
    triggers = WORKFLOWS["security"][True]  # YAML reads the key "on" as True
    assert {"push", "pull_request"} <= set(triggers)
    used = [step["uses"] for where, step in STEPS if where == "security, code" and "uses" in step]
    names = [one.partition("@")[0] for one in used]
    assert names[1:] == ["github/codeql-action/init", "github/codeql-action/analyze"]
    assert used[1].partition("@")[2] == used[2].partition("@")[2]


def test_security_policy_and_licence():
    policy = (ROOT / "SECURITY.md").read_text()
    assert "Report a vulnerability" in policy
    assert "within a week" in policy
    assert (ROOT / "LICENSE").read_text().startswith("BSD 3-Clause License")


def test_binary_artifacts():
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=False
    ).stdout.split("\n")
    programs = (".so", ".dll", ".exe", ".pyc", ".pyd", ".jar", ".class", ".whl", ".o", ".a")
    assert [name for name in listed if name.endswith(programs)] == []


def test_signed_releases_and_packaging():
    steps = [step for where, step in STEPS if where == "release, publish"]
    used = [step.get("uses", "").partition("@")[0] for step in steps]
    assert "actions/attest-build-provenance" in used
    assert WORKFLOWS["release"]["jobs"]["publish"]["environment"] == "release"
    assert "secrets." not in TEXTS[ROOT / ".github" / "workflows" / "release.yml"]
