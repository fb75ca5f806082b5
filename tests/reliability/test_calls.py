"""Kills at calls that change files; ``calls.py`` itself does as many as one likes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import shim
from amounts import MORE

SCRIPT = Path(__file__).with_name("calls.py")

pytestmark = pytest.mark.skipif(
    shim.compiler() is None or not sys.platform.startswith("linux"),
    reason="a C compiler and Linux are needed",
)


def figures_of(*arguments):
    told = subprocess.run(
        [sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr[-5000:]
    return json.loads(told.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kills", "by"),
    [
        (200 * MORE, "functions"),
        (25 * MORE, "command"),
    ],
)
def test_kills_at_calls_lose_nothing(kills, by):
    figures = figures_of("--kills", kills, "--by", by, "--seed", 4)
    assert figures["kills"] == kills
    assert set(figures["how"]) == {"before", "after", "half"}
    if by == "functions":
        assert {"data", "split", "allocate", "cells"} <= set(figures["while"])
    assert figures["cells reported"] > kills / 4
