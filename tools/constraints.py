"""Write docker/constraints.txt: the versions that the image is built with.

    python tools/constraints.py

It asks pip for the packages that it would install for all extras of docker/ under the Python of the
image, and installs nothing. Run it with a Python of the same minor version.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "docker" / "constraints.txt"
# Python of the image, to the last digit: there are packages that need 3.11.5.
BOOKWORM = ["--python-version=3.11.2", "--only-binary=:all:", "--target=nowhere"]
BUILD = ["setuptools>=77", "wheel"]  # the image is built without pip's isolated environment


def extras() -> list[str]:
    """Return the extras of all images of docker/ and of the Dockerfile."""
    files = [ROOT / "Dockerfile", *(ROOT / "docker").glob("*.yml")]
    found = [re.findall(r"EXTRAS[:=] ?([\w,]+)", file.read_text("utf-8")) for file in files]
    return sorted({extra for texts in found for text in texts for extra in text.split(",")})


def main() -> None:
    """Ask pip, and write one line with an exact version for each package."""
    wanted = [f"{ROOT}[{','.join(extras())}]", *BUILD]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    command += [*BOOKWORM, "--report", "-", *wanted]
    answer = subprocess.check_output(command, text=True)
    about = [entry["metadata"] for entry in json.loads(answer)["install"]]
    lines = sorted(f"{one['name'].lower()}=={one['version']}" for one in about)
    lines = [line for line in lines if not line.startswith("mlaut==")]
    head = f"# Written by tools/constraints.py for {', '.join(extras())}; do not edit.\n"
    FILE.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
