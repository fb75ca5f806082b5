"""Simulated power cuts; ``powercuts.py`` itself does as many as one likes."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import shim
from amounts import MORE
from powercuts import Call, Disk, File

SCRIPT = Path(__file__).with_name("powercuts.py")
ROOT = Path("/root/of/all")
NOWHERE = Path()


@pytest.mark.skipif(
    shim.compiler() is None or not sys.platform.startswith("linux"),
    reason="a C compiler and Linux are needed",
)
@pytest.mark.slow
@pytest.mark.parametrize("cuts", [120 * MORE])
def test_power_cuts_take_back_nothing_that_was_synced(cuts):
    told = subprocess.run(
        [sys.executable, SCRIPT, "--cuts", str(cuts), "--seed", "2"], capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr[-5000:]
    figures = json.loads(told.stdout)
    assert figures["power cuts"] == cuts
    assert figures["cells promised"] > 0


def call(kind, name, other="", offset=0, content=b""):
    return Call(kind, ROOT / name, ROOT / other if other else NOWHERE, offset, content)


def left(calls, n=200):
    """Return every state that many cuts leave."""
    disk = Disk(ROOT)
    for one in calls:
        disk.do(one)
    found = (disk.after_cut(np.random.default_rng(seed)) for seed in range(n))
    return [{str(path): content for path, content in state.items()} for state in found]


def test_what_was_synced_is_there_and_what_was_not_may_be():
    calls = [
        call("c", "a"),
        call("w", "a", content=b"synced"),
        call("s", "a"),
        Call("s", ROOT, NOWHERE, 0, b""),
        call("w", "a", offset=6, content=b" or not"),
    ]
    contents = {state["a"] for state in left(calls)}
    assert contents == {b"synced", b"synced or not"}


def test_a_name_is_not_safe_before_its_folder_is_synced():
    calls = [call("c", "a"), call("w", "a", content=b"x"), call("s", "a")]
    assert {tuple(state) for state in left(calls)} == {(), ("a",)}
    renamed = [*calls, Call("s", ROOT, NOWHERE, 0, b""), call("r", "a", "b")]
    assert {tuple(state) for state in left(renamed)} == {("a",), ("b",)}
    assert all([*state.values()] == [b"x"] for state in left(renamed))


def test_pages_of_what_is_not_synced_are_lost_apart():
    file = File()
    file.waiting = [call("w", "a", content=b"x" * 8192)]
    contents = {file.after_cut(np.random.default_rng(seed)) for seed in range(200)}
    assert {b"", b"x" * 4096, bytes(4096) + b"x" * 4096, b"x" * 8192} == contents


def test_what_is_in_a_folder_is_gone_with_it():
    calls = [call("m", "f"), call("c", "f/a"), call("s", "f/a"), call("s", "f")]
    assert {tuple(sorted(state)) for state in left(calls)} == {(), ("f", "f/a")}
