"""Measure bytes and seconds: publish a study, and let another Python verify and extend it.

    python benchmarks/bench_bundle.py [PYTHON OF ANOTHER ENVIRONMENT]

It prints the CPU seconds of each call and its children. The other environment needs MLaut on its
path. The benchmark takes about two minutes.
"""

import os
import subprocess
import sys
import tempfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

MINE = """
from sklearn.ensemble import ExtraTreesClassifier
strategies = [("ExtraTrees", ExtraTreesClassifier(n_estimators=50, random_state=0))]
"""
STUDY = """
[study]
title = "Four strategies on the starter collection"
[data]
collection = "starter"
task = "Classification"
[split]
scheme = "kfold(3)"
[strategies]
names = ["BaselineClassifier", "GaussianNaiveBayes", "BernoulliNaiveBayes"]
file = "forest.py"
"""
FOREST = """
from sklearn.ensemble import RandomForestClassifier
strategies = [("forest", RandomForestClassifier(n_estimators=50, random_state=0))]
"""


class Handler(SimpleHTTPRequestHandler):
    """Serve files, and count their bytes."""

    sent = 0

    def copyfile(self, source: object, outputfile: object) -> None:
        """Send a file."""
        Handler.sent += Path(self.translate_path(self.path)).stat().st_size
        super().copyfile(source, outputfile)  # type: ignore[type-var,arg-type]

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def call(python: str, folder: Path, *arguments: str) -> None:
    """Run a command of MLaut; print its last lines, CPU seconds and downloaded bytes."""
    before, Handler.sent = os.times(), 0
    told = subprocess.run(
        [python, "-m", "mlaut", *arguments],
        cwd=folder,
        env={**os.environ, "MLAUT_CACHE": str(folder / "cache"), "NO_PROXY": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
    )
    after = os.times()
    spent = after.children_user + after.children_system
    spent -= before.children_user + before.children_system
    shown = " ".join(arguments)
    print(
        f"mlaut {shown}: exit {told.returncode}, {spent:.1f} CPU s, {Handler.sent:,} bytes fetched"
    )
    print("    " + "\n    ".join((told.stdout + told.stderr).strip().splitlines()[-4:]))


def main(other: str) -> None:
    """Make, serve, verify, extend and merge a bundle."""
    with tempfile.TemporaryDirectory() as name:
        here, there = Path(name, "here"), Path(name, "there")
        here.mkdir()
        there.mkdir()
        (here / "study.toml").write_text(STUDY)
        (here / "forest.py").write_text(FOREST)
        (there / "mine.py").write_text(MINE)
        own = partial(call, sys.executable, here)
        own("run", "study.toml", "-q", "-j", "1")
        own("publish", "study.toml", "-o", "bundle", "--author", "Ada Lovelace")
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(here)))
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/bundle/"
        version = subprocess.run([other, "--version"], capture_output=True, text=True, check=True)
        print(f"the other environment: {version.stdout.strip()}")
        far = partial(call, other, there)
        far("verify", address)
        far("verify", address, "--refit", "10%", "-j", "1")
        far("verify", address, "--refit", "10%", "-j", "1", "--trust")
        far("run", address, "--add", "mine.py", "-o", "mine.h5", "-q", "-j", "1")
        far("merge", address, "mine.h5", "-o", "all.h5")
        far("verify", "all.h5")
        far("publish", "mine.h5", "-o", "bundles/mine", "--author", "Charles Babbage")
        far("leaderboard", "page", address, "bundles", "-o", "site")
        for path in (here / "bundle", there / "mine.h5", there / "all.h5", there / "site"):
            files = [path] if path.is_file() else list(path.iterdir())
            print(
                f"{path.name}: {len(files)} files, {sum(f.stat().st_size for f in files):,} bytes"
            )
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else sys.executable)
