"""Type checkers know the public names, which Python imports at their first use."""

import runpy
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_stubs_are_those_of_the_tool_and_have_every_public_name():
    made = runpy.run_path(str(ROOT / "tools" / "stubs.py"))["stubs"]()
    stored = {path: path.read_text() for path in (ROOT / "mlaut").rglob("*.pyi")}
    assert stored == made, "run: python tools/stubs.py"
    assert ROOT / "mlaut" / "__init__.pyi" in made
    for path, text in made.items():
        package = import_module(".".join(path.parent.relative_to(ROOT).parts))
        for name in package.__all__:
            assert f" as {name}\n" in text or f"\n{name}: " in text, (path, name)
