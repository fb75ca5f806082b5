"""A few kills of a race; ``race_kills.py`` itself does as many as one likes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from amounts import MORE

SCRIPT = Path(__file__).with_name("race_kills.py")


@pytest.mark.slow
def test_a_killed_race_decides_the_same():
    done = subprocess.run(
        [sys.executable, SCRIPT, "--kills", str(6 * MORE), "--seed", "1", "--datasets", "12"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["kills"] >= 6 * MORE
    assert figures["decisions"] >= 1
