"""The name of a path, and at most its first bytes, tell here and nowhere else what it is."""

import os
from contextlib import suppress
from enum import Enum
from pathlib import Path

MANIFEST = "bundle.json"
EXCEL, JSON = (".xlsx", ".xls", ".ods"), (".json", ".jsonl")
MARKUP = (".md", ".markdown", ".qmd", ".org", ".html", ".htm", ".rst", ".tex")
NOTEBOOK = ".ipynb"
TEXTS, PICKLES = (".txt", ".dat", ".log"), (".pkl", ".pickle")
_HDF5 = b"\x89HDF\r\n\x1a\n"  # how each file of HDF5 begins


class Kind(Enum):
    """Kind of a path; what has no other kind counts as a study, and opening it says what it is."""

    BUNDLE = "bundle"
    STUDY_FILE = "study file"
    RESULTS = "table of results, or a folder of files of a board"
    STUDY = "study"


def kind_of(place: str | os.PathLike[str]) -> Kind:
    """Return what a path or an address leads to.

    Examples
    --------
    >>> [kind_of(x).name for x in ("https://a.org/b/", "study.toml", "scores.csv.gz", "study.h5")]
    ['BUNDLE', 'STUDY_FILE', 'RESULTS', 'STUDY']
    """
    text = os.path.expanduser(place)
    path, ending = Path(text), Path(text).suffix.lower()
    if is_address(text) or text.endswith(".zip") or Path(text, MANIFEST).exists():
        return Kind.BUNDLE
    if ending == ".toml":
        return Kind.STUDY_FILE
    if ending in (".h5", ".hdf5"):
        return Kind.STUDY
    from mlaut.files_io.tables.tables import ending_of  # which imports pandas

    known = (*EXCEL, *JSON, *MARKUP, *TEXTS, *PICKLES, NOTEBOOK)
    if text == "-" or ending_of(path.name) or ending in known or path.is_dir():
        return Kind.RESULTS
    return Kind.RESULTS if _of_other_form(path) else Kind.STUDY


def _of_other_form(path: Path) -> bool:
    """Return whether a path is a file, and none of HDF5: a plug-in may know its form."""
    if not path.is_file():
        return False
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(_HDF5)) != _HDF5
    return False


def is_address(text: str) -> bool:
    """Return whether a text is an address of the web."""
    return text.lower().startswith(("http://", "https://"))
