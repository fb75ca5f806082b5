"""Histories that seeds draw, with faults at any call; ``simulate.py`` itself lives many more."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import shim
from amounts import MORE

SCRIPT = Path(__file__).with_name("simulate.py")

pytestmark = pytest.mark.skipif(
    shim.compiler() is None or not sys.platform.startswith("linux"),
    reason="a C compiler and Linux are needed",
)


@pytest.mark.slow
def test_no_history_loses_anything():
    first, n = 100, 8 * MORE
    lived = subprocess.run(
        [sys.executable, SCRIPT, "--seeds", str(first), str(first + n)],
        capture_output=True,
        text=True,
    )
    assert lived.returncode == 0, lived.stderr[-5000:]
    figures = json.loads(lived.stdout)
    assert (figures["histories"], figures["lost"]) == (n, 0)
    assert figures["calls"] >= 15_000 * n
    assert figures["kill: killed"] >= n / 2
    assert figures["power: done"] >= 3 * n
    assert figures["fail: refused"] > 0


def test_a_seed_draws_the_same_history_each_time():
    import simulate

    assert simulate.draw(7) == simulate.draw(7) != simulate.draw(8)
