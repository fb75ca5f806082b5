"""Commands that are killed, or whose calls fail, and are given again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import shim
from amounts import MORE

SCRIPT = Path(__file__).with_name("storm.py")
COMMANDS = ("publish", "import", "merge", "add", "compact", "race")
COMMANDS += ("remove", "rename")
WAYS = ("kill", *shim.KINDS)


@pytest.mark.skipif(
    shim.compiler() is None or not sys.platform.startswith("linux"),
    reason="a C compiler and Linux are needed",
)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("commands", "places", "ways"),
    [((name,), 6 * MORE, WAYS) for name in COMMANDS],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else str(value),
)
def test_a_command_that_was_disturbed_succeeds_when_it_is_given_again(commands, places, ways):
    told = subprocess.run(
        [sys.executable, SCRIPT, f"--places={places}", "--commands", *commands, "--ways", *ways],
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr[-5000:]
    figures = [json.loads(line) for line in told.stdout.splitlines()]
    assert [of["command"] for of in figures] == list(commands)
    for of in figures:
        all_killed = min(places, of["calls (kill)"])
        # Some calls come by the clock, so the last place may lie behind the last call.
        assert all_killed - 1 <= of["kill: killed"] <= all_killed
        for error in {*ways} - {"kill"}:
            assert sum(of.get(f"{error}: {how}", 0) for how in ("refused", "done")) == min(
                places, of[f"calls ({error})"]
            )
