"""The works that a paragraph on methods cites; their entries stand in ``references.bib``."""

import re
from dataclasses import dataclass
from importlib.resources import files

from mlaut.errors import AnalysisError


@dataclass(frozen=True)
class CitedWork:
    """Work that a text cites.

    Attributes
    ----------
    bibtex : str
        Its BibTeX entry.
    """

    bibtex: str

    def value_of(self, field: str) -> str:
        """Return the value of a field of the entry; empty if it has no such field."""
        found = re.search(rf"^  {field} = \{{(.*)\}},$", self.bibtex, re.MULTILINE)
        return found[1] if found else ""

    def cited(self) -> str:
        """Return names and year, as a sentence cites them.

        Examples
        --------
        >>> REFERENCES["bian2011"].cited(), REFERENCES["holm1979"].cited()
        ('Bian et al. 2011', 'Holm 1979')
        """
        names = [author.partition(",")[0] for author in self.value_of("author").split(" and ")]
        short = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
        return f"{short} {self.value_of('year')}"


class _Works(dict[str, CitedWork]):
    """Works by their keys."""

    def __missing__(self, key: str) -> CitedWork:
        raise AnalysisError(f"{key!r} is cited, and {_FILE} has no entry of that key: add one")


_FILE = files("mlaut.analysis.comparing") / "references.bib"
_ENTRY = re.compile(r"^@\w+\{(\w+),\n.*?^\}", re.DOTALL | re.MULTILINE)
REFERENCES = _Works(
    (entry[1], CitedWork(entry[0])) for entry in _ENTRY.finditer(_FILE.read_text(encoding="utf-8"))
)
"""Works by their BibTeX keys."""
