"""Kills and power cuts at every call of a small study."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import shim

SCRIPT = Path(__file__).with_name("every_call.py")


@pytest.mark.slow
@pytest.mark.skipif(
    shim.compiler() is None or not sys.platform.startswith("linux"),
    reason="a C compiler and Linux are needed",
)
def test_no_call_is_the_wrong_moment():
    told = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr[-5000:]
    figures = json.loads(told.stdout)
    assert figures["killed between two calls"] > 100
    assert figures["cut, a part is left"] > 100
