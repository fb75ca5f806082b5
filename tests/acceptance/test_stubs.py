"""Type checkers know the public names, which Python imports at their first use."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_stubs_are_those_of_the_tool_and_have_every_public_name():
    # In a process of its own: other tests have loaded names, which then say where they are.
    made = {Path(path): text for path, text in json.loads(_in_a_fresh_process()).items()}
    stored = {path: path.read_text() for path in (ROOT / "mlaut").rglob("*.pyi")}
    assert stored == made, "run: python tools/stubs.py"
    assert ROOT / "mlaut" / "__init__.pyi" in made
    for path, text in made.items():
        package = import_module(".".join(path.parent.relative_to(ROOT).parts))
        for name in package.__all__:
            assert f" as {name}\n" in text or f"\n{name}: " in text, (path, name)


def _in_a_fresh_process() -> str:
    code = (
        "import json, runpy; made = runpy.run_path('tools/stubs.py')['stubs'](); "
        "print(json.dumps({str(path): text for path, text in made.items()}))"
    )
    return subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True)
