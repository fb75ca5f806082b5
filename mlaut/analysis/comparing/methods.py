"""Paragraph on the methods of a comparison for a paper, with its references."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

from mlaut.analysis.common.latex import escape
from mlaut.analysis.common.tests import TESTS
from mlaut.analysis.deciding.decision import Decision
from mlaut.analysis.deciding.numbers import Numbers
from mlaut.analysis.deciding.words import unit
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError
from mlaut.helpers.markup import counted


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
        match = re.search(rf"^  {field} = \{{(.*)\}},$", self.bibtex, re.MULTILINE)
        return match[1] if match else ""

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


_CORRECTIONS = {
    "bonferroni": "Bonferroni's correction {dunn1961}",
    "sidak": "Sidak's correction {sidak1967}",
    "holm": "Holm's correction {holm1979}",
    "hochberg": "Hochberg's correction {hochberg1988}",
    "hommel": "Hommel's correction {hommel1988}",
    "shaffer": "Shaffer's correction {shaffer1986}",
    "benjamini-hochberg": "the false discovery rate of Benjamini and Hochberg {benjamini1995}",
    "benjamini-yekutieli": "the false discovery rate of Benjamini and Yekutieli {benjamini2001}",
}
_KEY = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Methods:
    """Paragraph on methods, with its sources.

    Attributes
    ----------
    template : str
        The sentences, with the key of each source in braces.
    """

    template: str

    def __str__(self) -> str:
        return _KEY.sub(lambda key: f"({REFERENCES[key[1]].cited()})", self.template)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the sources, each once, in the order in which they are cited."""
        return tuple(dict.fromkeys(_KEY.findall(self.template)))

    def to_latex(self) -> str:
        r"""Return the paragraph in LaTeX, with ``\cite`` of the keys of `to_bibtex`."""
        parts = _KEY.split(self.template)
        texts = (f"\\cite{{{x}}}" if at % 2 else escape(x) for at, x in enumerate(parts))
        return re.sub(r"\} ([.,:;])", r"}\1", " ".join(texts))

    def to_bibtex(self) -> str:
        """Return the sources as BibTeX."""
        return "\n\n".join(REFERENCES[key].bibtex for key in self.keys) + "\n"


def methods_of(stats: Numbers, decision: Decision) -> Methods:
    """Return the paragraph on what a comparison computed and a decision used."""
    found = (_missing(stats), _pairs(stats, decision), _all(stats), _best(decision))
    texts = [text for part in (*found, _chosen(decision)) for text in part]
    return methods_in([_data(stats), *texts])


def methods_in(sentences: Sequence[str]) -> Methods:
    """Return the paragraph of these sentences, and of one on what computed the numbers."""
    from mlaut import __version__

    by = f"All numbers were computed by MLaut {__version__} {{kazakov2019}}."
    return Methods(" ".join([*sentences, by]))


def compared_by(results: Results, on: str) -> str:
    """Return the start of the paragraph: how many strategies, on what, by which metric."""
    better = "higher" if results.metric.greater_is_better else "lower"
    return (
        f"We compared {len(results.strategies)} strategies on {plain(on)} by "
        f"{plain(results.metric.name)} ({better} is better)"
    )


def plain(text: object) -> str:
    """Return text of a study without braces, which mark sources here."""
    return str(text).replace("{", "(").replace("}", ")")


def _data(stats: Numbers) -> str:
    results = stats.results
    tests = results.cells.shape[2] * results.cells.shape[3]
    mean = f", the mean over {tests} test sets of each dataset" if tests > 1 else ""
    start = compared_by(results, counted(len(results.datasets), "dataset"))
    return (
        f"{start}{mean}; datasets are the sample, so the claims are about new datasets of this "
        "kind."
    )


def _missing(stats: Numbers) -> Iterator[str]:
    if stats.results.gaps:
        yield f"Not every cell has a result: {plain('; '.join(stats.results.gaps))}."


def _pairs(stats: Numbers, decision: Decision) -> Iterator[str]:
    terms = decision.chosen.analysis
    test = TESTS[terms.test]
    control = terms.question.partition(":")[2].strip()
    against = f" with {plain(control)}" if control else " in pairs"
    sure = (
        f"the most probable ones, of which at most {terms.alpha:g} in all are expected to be false"
    )
    if test.bayesian:
        rope = f", with a region of practical equivalence of {terms.rope:g}" * bool(terms.rope)
        how = f"claims are {sure} {{mueller2006}}{rope}"
    elif terms.test == "Nemenyi":
        how = f"it corrects for all pairs itself; level {terms.alpha:g}"
    else:
        holm = control or stats.correction == "joint"
        by, n = _CORRECTIONS.get("holm" if holm else stats.correction), decision.n_pairs
        corrected = f"with {by} for {counted(n, 'pair')}" if by else "uncorrected"
        how = f"two-sided, {corrected}, at level {terms.alpha:g}"
    flipped = ""
    sources = bool(decision.n_sources) and terms.test != "t"
    if sources or (not control and stats.correction == "joint" and test.joint):
        flipped = f" with flips of whole {unit(decision)}"
        jointly = "jointly for all pairs (step-down {westfall1993}), two-sided"
        how = f"{jointly}, level {terms.alpha:g}"
    yield f"Strategies were compared{against} by {test.cited}{flipped}: {how}."
    if flipped and not control and decision.decided:
        yield (
            "Each strategy is ruled out as the best by its largest statistic against any other "
            f"under the same flips, one-sided, at level {terms.alpha:g} for itself."
        )
    if terms.rope:
        yield (
            f"Strategies are called practically equal to the leading one if their scores differ by "
            f"less than {terms.rope:g} by the Bayesian signed rank test {{benavoli2017}}, and on "
            f"average; claims are {sure} {{mueller2006}}."
        )


def _all(stats: Numbers) -> Iterator[str]:
    if len(stats.results.strategies) > 2 and stats.portmanteau:
        yield (
            "Average ranks of all strategies were compared by Friedman's test {friedman1937} in "
            "the form of Iman and Davenport {iman1980}, as Demsar recommends {demsar2006}."
        )


def _best(decision: Decision) -> Iterator[str]:
    if decision.decided and decision.chances is not None:
        yield (
            f"The probability that a strategy has the best {plain(decision.chances.name)} is the "
            "posterior one under a Dirichlet process, by which strategies may be equal {neal2000}."
        )
    if any(decision.bounds.get(name, 0) for name in decision.best[1:]):
        yield (
            "What choosing a strategy costs at most is a quantile of a Bayesian bootstrap over "
            f"{unit(decision)} {{rubin1981}}."
        )


def _chosen(decision: Decision) -> Iterator[str]:
    chosen = decision.chosen
    yield f"The question, metric, test and level were {plain(chosen.when)}."
    for change in chosen.changes:
        yield f"The analysis was {plain(change)}."
    if not decision.decided:
        yield (
            f"With {decision.n} datasets, fewer than the {decision.least} that are needed, nothing "
            "is decided."
        )
