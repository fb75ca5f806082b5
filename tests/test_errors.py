"""Errors as a session shows them."""

import subprocess
import sys

import pytest

CALL = "from mlaut.errors import StudyError, RunInterrupted\nraise {}('it is so; do that')\n"


def shown(tmp_path, first, error):
    pytest.importorskip("IPython")
    script = tmp_path / "script.ipy"
    script.write_text(first + CALL.format(error))
    command = [sys.executable, "-m", "IPython", "--no-banner", "--colors=nocolor", str(script)]
    env = {"IPYTHONDIR": str(tmp_path), "PATH": "", "PYTHONPATH": ":".join(filter(None, sys.path))}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    return (run.stdout + run.stderr).strip()


@pytest.mark.parametrize("error", ["StudyError", "RunInterrupted"])
def test_a_notebook_shows_the_sentence_of_an_error(tmp_path, error):
    text = shown(tmp_path, "", error)
    assert text.splitlines() == [
        f"{error}: it is so; do that",
        "(the whole traceback: %xmode Verbose, then %tb; to look around in it: %debug)",
    ]


def test_a_notebook_shows_the_whole_traceback_if_it_is_asked_to(tmp_path):
    text = shown(tmp_path, "%xmode Verbose\n", "StudyError")
    assert "Traceback (most recent call last)" in text
    assert text.splitlines()[-1] == "StudyError: it is so; do that"
