"""Build the wheel and the sdist of the last commit in dist/, with the same bytes each time.

    python tools/release.py [FOLDER]

It needs git and the package `build`. Files come from the commit and not from the working tree,
their times are that of the commit, and setuptools has the version of docker/constraints.txt. The
digests are printed, and written to dist/SHA256SUMS.
"""

import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def git(*arguments: str) -> bytes:
    """Return the output of a git command in the repository."""
    return subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True).stdout


def settled(sdist: bytes, when: int) -> bytes:
    """Return a tar.gz with sorted members that have no owner and all the same time.

    setuptools takes owners and times of its folders from the machine.
    """
    packed = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(sdist)) as old,
        gzip.GzipFile("", "wb", 9, packed, mtime=when) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            member.mtime, member.pax_headers = when, {}
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return packed.getvalue()


def main() -> None:
    """Build both distributions, and print their digests."""
    dist = Path(sys.argv[1] if sys.argv[1:] else ROOT / "dist").resolve()
    dist.mkdir(parents=True, exist_ok=True)
    os.umask(0o022)  # the wheel takes the rights of its files from the folder it is built in
    when = int(git("log", "-1", "--format=%ct"))
    settings = {
        **os.environ,
        "SOURCE_DATE_EPOCH": str(when),
        "PIP_CONSTRAINT": str(ROOT / "docker" / "constraints.txt"),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(git("archive", "HEAD"))) as tree:
            tree.extractall(folder, filter="data")
        command = [sys.executable, "-m", "build", "--outdir", str(dist), folder]
        subprocess.run(command, check=True, env=settings, stdout=subprocess.DEVNULL)
    for sdist in dist.glob("*.tar.gz"):
        sdist.write_bytes(settled(sdist.read_bytes(), when))
    built = sorted([*dist.glob("*.whl"), *dist.glob("*.tar.gz")])
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in built]
    (dist / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    sys.stdout.write("".join(sums))


if __name__ == "__main__":
    main()
