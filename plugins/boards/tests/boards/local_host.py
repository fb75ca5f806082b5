"""A code host on this machine: it runs the jobs of workflows over a local Git repository.

It does what the actions of a workflow do (check out, keep and hand over artefacts), and runs the
lines of ``run:`` as they are, in a shell. ``pip install`` and ``gh`` are replaced: packages are
here, and a comment becomes a file.
"""

import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import yaml

_SHIMS = {
    "python": '[ "$1 $2" = "-m pip" ] || exec {python} "$@"',
    "mlaut": 'exec {python} -m mlaut "$@"',
    "gh": """case "$*" in
  *total_count*) cat "$HOST/runs" ;;
  *pulls*) echo 7 ;;
  "pr comment"*) cp "${{@: -1}}" "$HOST/comment.md" ;;
esac""",
}


class Host:
    """A code host in a folder: bare repositories, artefacts, and the number of runs."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.runs = folder, 0
        self._shims = folder / "bin"
        self._shims.mkdir(parents=True)
        for name, text in _SHIMS.items():
            path = self._shims / name
            path.write_text(f"#!/bin/bash\n{text.format(python=sys.executable)}\n")
            path.chmod(0o755)

    def git(self, *arguments: str, folder: Path | None = None) -> str:
        """Run git, and return what it prints."""
        known = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        command = ["git", *known, *arguments]
        where = folder or self.folder
        return subprocess.run(
            command, cwd=where, check=True, capture_output=True, text=True
        ).stdout.strip()

    def publish(self, work: Path) -> None:
        """Make the main repository of a new board."""
        self.git("init", "--quiet", "--initial-branch=main", folder=work)
        self.git("add", ".", folder=work)
        self.git("commit", "--quiet", "-m", "A board", folder=work)
        self.git("clone", "--quiet", "--bare", str(work), "main.git")
        self.git("remote", "add", "origin", str(self.folder / "main.git"), folder=work)

    def propose(self, work: Path, branch: str) -> str:
        """Commit everything on a branch of a fork, leave it, and return the commit."""
        self.git("switch", "--quiet", "--create", branch, folder=work)
        self.git("add", ".", folder=work)
        self.git("commit", "--quiet", "-m", branch, folder=work)
        if not (self.folder / "fork.git").exists():
            self.git("clone", "--quiet", "--bare", "main.git", "fork.git")
        self.git("push", "--quiet", str(self.folder / "fork.git"), branch, folder=work)
        commit = self.git("rev-parse", "HEAD", folder=work)
        self.git("switch", "--quiet", "main", folder=work)
        return commit

    def merge(self, work: Path, branch: str) -> None:
        """Merge a branch into the main repository."""
        self.git("merge", "--quiet", "--no-ff", "-m", f"Merge {branch}", branch, folder=work)
        self.git("push", "--quiet", "origin", "main", folder=work)

    def on_proposal(self, commit: str) -> str:
        """Run 'fit' and 'judge' on a proposal, and return the comment."""
        self.runs += 1
        (self.folder / "runs").write_text(f"{self.runs}\n")
        (self.folder / "comment.md").unlink(missing_ok=True)
        known = {"github.event.workflow_run.id": str(9000 + self.runs)}
        known |= {"github.event.workflow_run.run_number": str(self.runs)}
        known |= {"github.event.workflow_run.head_repository.full_name": "fork.git"}
        known |= {"github.event.workflow_run.head_sha": commit}
        shutil.rmtree(self.folder / "artefacts", ignore_errors=True)
        # 'judge' begins after 'fit' whether that succeeded or not.
        with suppress(subprocess.CalledProcessError):
            self.job("fit", "fit", known, source="fork.git", commit=commit)
        self.job("judge", "judge", known)
        self.job("judge", "comment", known)
        return (self.folder / "comment.md").read_text(encoding="utf-8")

    def on_merge(self) -> None:
        """Run 'record' on the head of the main repository."""
        (self.folder / "runs").write_text(f"{max(self.runs, 1)}\n")
        self.job("record", "fit", {})
        self.job("record", "record", {})

    def job(self, flow, name, known, source="main.git", commit="main") -> None:
        """Run the steps of a job in a fresh folder."""
        place = self.folder / "job"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        main = self.git(
            "show", f"main:.github/workflows/{flow}.yml", folder=self.folder / "main.git"
        )
        environment = {
            "PATH": f"{self._shims}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "HOST": str(self.folder),
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "GITHUB_SERVER_URL": str(self.folder),
            "GITHUB_REPOSITORY": "main.git",
            "GITHUB_RUN_ID": known.get("github.event.workflow_run.id", "0"),
            "GITHUB_SHA": self.git("rev-parse", "main", folder=self.folder / "main.git"),
        }
        for step in yaml.safe_load(main)["jobs"][name]["steps"]:
            given = {key: _filled(str(x), known) for key, x in step.get("with", {}).items()}
            action = step.get("uses", "").partition("@")[0]
            if action == "actions/checkout":
                self.git("clone", "--quiet", str(self.folder / source), str(place))
                self.git("checkout", "--quiet", commit, folder=place)
            elif action == "actions/upload-artifact":
                kept = self.folder / "artefacts" / given["name"]
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(place / given["path"], kept)
            elif action == "actions/download-artifact":
                kept = self.folder / "artefacts" / given["name"]
                if kept.exists() or not step.get("continue-on-error"):
                    shutil.copytree(kept, place / given["path"])
            elif "run" in step:
                own = {key: _filled(x, known) for key, x in step.get("env", {}).items()}
                subprocess.run(
                    ["bash", "-eo", "pipefail", "-c", step["run"]],
                    cwd=place,
                    env={**environment, **own},
                    check=True,
                )


def _filled(text: str, known: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda found: known.get(found[1], ""), text)
