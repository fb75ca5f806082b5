"""Removal of what says on which machine, and by whom, a study was made."""

import json
import re
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mlaut.errors import StudyError
from mlaut.files_io import StudyStore

# An absolute path of three parts or more. Paths in a database, such as /starter/iris, have two.
_PATH = re.compile(r"""(?<![\w.:/-])(?:/[^\s/'"<>:,;]+){2,}/([^\s/'"<>:,;]+)""")
_SHORT = 4  # characters; shorter names of machines are found in ordinary words
_ORDINARY = ("localhost", "debian", "ubuntu", "fedora")  # names of machines that name nobody


def without_paths(value: Any) -> Any:
    """Return plain JSON values with each absolute path in a text cut to its last part.

    Examples
    --------
    >>> without_paths({"traceback": ['File "/home/ada/lib/python3.11/tree.py", line 3']})
    {'traceback': ['File ".../tree.py", line 3']}
    >>> without_paths("/starter/iris, https://archive.ics.uci.edu/dataset/53/iris")
    '/starter/iris, https://archive.ics.uci.edu/dataset/53/iris'
    """
    if isinstance(value, str):
        return _PATH.sub(r".../\1", value)
    if isinstance(value, Mapping):
        return {key: without_paths(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_paths(inner) for inner in value]
    return value


def check_private(study: StudyStore, files: Mapping[str, Path]) -> None:
    """Check that no text names the home folder, the folder of the study, or this machine.

    Parameters
    ----------
    study : Study
        The study that will be published.
    files : mapping of str to Path
        Its text files, by name. Python code and study files are not changed, only checked.

    Raises
    ------
    StudyError
        A text names one of them; the message says where.
    """
    private = tuple(_private(study.path))
    for where, text in _texts(study, files):
        for pattern, what in private:
            if found := re.search(pattern, text):
                raise StudyError(
                    f"{where} names {what} ({found.group()!r}), which would be published; take it "
                    "out (a parameter that is a path: make it relative, and run under a new name)"
                )


def _private(path: Path) -> Iterator[tuple[str, str]]:
    """Yield a pattern of each private text, and what it is."""
    if Path.home().parts[1:]:
        yield rf"(?<![\w.]){re.escape(str(Path.home()))}(?=/|\b)", "your home folder"
    for folder in {path.parent.absolute(), path.parent.resolve()}:
        if folder.parts[2:]:
            yield rf"(?<![\w.]){re.escape(str(folder))}(?=/|\b)", "the folder of the study"
    machine = socket.gethostname()
    if len(machine) >= _SHORT and machine.lower() not in _ORDINARY:
        yield rf"\b{re.escape(machine)}\b", "this machine"


def _texts(study: StudyStore, files: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    for entry in study.strategies:
        about = {"identity": entry.identity, "metadata": entry.metadata}
        yield f"strategy {entry.name!r}", json.dumps(about, ensure_ascii=False)
    for run in (*study.runs, *study.analyses):
        yield "the record of a run", json.dumps(run, ensure_ascii=False)
    for dataset, records in study.all_details():
        yield f"a cell of dataset {dataset!r}", json.dumps(records, ensure_ascii=False)
    for name, path in files.items():
        yield name, path.read_text(encoding="utf-8", errors="replace")
