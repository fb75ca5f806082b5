"""Plant faults in a copy of the package, and see which seed of ``simulate.py`` finds each.

    python tests/reliability/planted.py [--seeds 400] [--only 3 7]

Each fault is a line of the store or of the runner that an author could have got wrong. A fault that
no history finds is one that the simulation is blind to: the command then fails.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "mlaut"
STORE = "files_io/studies/"
FAULTS = (
    # What is wrong, and of each line: the file, the text that goes, and the text that comes.
    ("a record of a journal is taken without its checksum", "files_io/outcomes/journal.py",
     "return payload if zlib.crc32(payload) == checksum else None", "return payload"),
    ("what an interrupted run left in its journal is not put into the arrays", STORE + "study.py",
     "logs = put_again(file, index)", "logs = {}"),
    ("the journal goes before what it has is in the study", STORE + "study.py",
     "                    yield writer\n                    writer.fold_in()",
     "                    yield writer\n                    self.journal_path.unlink()\n"
     "                    self.journal_path.touch()\n                    writer.fold_in()"),
    # A change in place syncs the same file three times, so that one line alone has no effect.
    ("arrays are not synced before the journal goes", STORE + "study_writer.py",
     "        self._file.sync()\n        if not self._written:", "        if not self._written:",
     "files_io/safe_files/hdf5.py",
     "os.fsync(handle)  # the list may", "pass  # the list may",
     "files_io/safe_files/changes.py",
     "        os.fsync(handle)\n        write_all(handle, change.new, 0)\n        os.fsync(handle)",
     "        write_all(handle, change.new, 0)"),
    ("a saved model is not synced", STORE + "models.py",
     "            os.fsync(handle)\n            temporary.replace(path)",
     "            temporary.replace(path)"),
    ("a file that is made anew is not synced before it has its name", "files_io/safe_files/hdf5.py",
     "    os.fsync(handle)\n    temporary.replace(real)", "    temporary.replace(real)"),
    ("a merge prefers the first study to one that is done", STORE + "study_merge.py",
     "np.where(done, more,", "np.where(False, more,"),
    ("a reader does not see the journal", STORE + "study.py",
     "            live = index_journal(self.journal_path, str(file.attrs[\"study_id\"]))\n        "
     "for", "            pass\n        for"),
    ("a reader sees the arrays alone of what an interrupted run left", STORE + "study.py",
     "if self.journal_path.exists() and holder_of(self.path) is None:", "if False:"),
    ("a reader counts torn cells as done", STORE + "study.py",
     "                writer.forget(arrays.names, arrays.torn())\n", ""),
    ("cells of a journal have their details without the first", STORE + "study_writer.py",
     "for (dataset, name), records in logs.items():\n",
     "for (dataset, name), records in [*logs.items()][1:]:\n"),
    ("torn cells stay as they are", STORE + "study.py",
     "cleared = forget_torn(file)\n            if", "cleared = file.sync()\n            if"),
    ("a change in place is not synced before it is decided", "files_io/safe_files/hdf5.py",
     "os.fsync(handle)  # the list may", "pass  # the list may"),
    ("the record of a run may come to the disk behind its outcomes", STORE + "study_writer.py",
     "        journal.sync()  # a power", "        # a power"),
    ("a crashed cell counts as done", "experiments/plans/plan.py",
     "[*retry.get(name, ()), *(() if name in large else _NOT_TRIED)]",
     "[*(() if name in large else _NOT_TRIED)]"),
)  # fmt: skip


def plant(folder: Path, number: int) -> str:
    """Copy package and harness below a folder with one fault; return what is wrong."""
    what, *lines = FAULTS[number]
    shutil.rmtree(folder, ignore_errors=True)
    for part in (PACKAGE, HERE, HERE.parent / "data", HERE.parent / "files_io"):
        shutil.copytree(part, folder / part.relative_to(PACKAGE.parent))
    for file, old, new in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        source = (folder / "mlaut" / file).read_text(encoding="utf-8")
        if source.count(old) != 1:
            raise SystemExit(f"{file} has changed: the fault {what!r} cannot be planted")
        (folder / "mlaut" / file).write_text(source.replace(old, new), encoding="utf-8")
    return what


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Read the command line, plant each fault, and print what found it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=400)
    parser.add_argument("--only", type=int, nargs="+", default=range(len(FAULTS)))
    given = parser.parse_args()
    missed = []
    with tempfile.TemporaryDirectory(prefix="mlaut-planted-") as place:
        for number in given.only:
            what, begun = plant(Path(place), number), _cpu_seconds()
            script = Path(place) / "tests" / "reliability" / "simulate.py"
            lived = subprocess.run(
                [sys.executable, script, "--seeds", "0", str(given.seeds), "--as-it-is"],
                capture_output=True,
                text=True,
                cwd=place,
                env={"PATH": "/usr/bin:/bin", "PYTHONPATH": place, "OMP_NUM_THREADS": "1"},
            )
            found = re.match(r"seed (\d+): ", lived.stderr)
            seed = int(found[1]) if found else None
            if seed is None:
                missed.append(what)
            seconds = round(_cpu_seconds() - begun, 1)
            line = {"fault": what, "seed": seed, "cpu_seconds": seconds}
            line["said"] = (lived.stderr.strip().splitlines() or [""])[-1][:200]
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
    if missed:
        raise SystemExit(f"not found: {missed}")


if __name__ == "__main__":
    main()
