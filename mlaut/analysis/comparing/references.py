"""The sources of the methods of a comparison, as BibTeX."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["REFERENCES", "Reference"]


@dataclass(frozen=True)
class Reference:
    """Source of a method.

    Attributes
    ----------
    authors : str
        As BibTeX has them, joined by ``and``.
    year : int
    title : str
    where : str
        Journal, volume and pages; for a thesis the university.
    address : str
        DOI, or the page of a text without one; empty if it has none.
    """

    authors: str
    year: int
    title: str
    where: str
    address: str = ""

    def cited(self) -> str:
        """Return names and year, as a sentence cites them.

        Examples
        --------
        >>> REFERENCES["bian2011"].cited(), REFERENCES["holm1979"].cited()
        ('Bian et al. 2011', 'Holm 1979')
        """
        names = [one.partition(",")[0] for one in self.authors.split(" and ")]
        short = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
        return f"{short} {self.year}"

    def bibtex(self, key: str) -> str:
        """Return the BibTeX entry."""
        thesis = self.where.startswith("PhD thesis, ")
        kind, field = ("phdthesis", "school") if thesis else ("article", "journal")
        where = self.where.removeprefix("PhD thesis, ")
        fields = {"author": self.authors, "year": str(self.year), "title": f"{{{self.title}}}"}
        fields[field] = where
        if self.address:
            fields["url" if self.address.startswith("http") else "doi"] = self.address
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
        return f"@{kind}{{{key},\n{lines}}}"


_JASA = "Journal of the American Statistical Association"

REFERENCES = {
    "benavoli2017": Reference(
        "Benavoli, Alessio and Corani, Giorgio and Demsar, Janez and Zaffalon, Marco",
        2017,
        "Time for a change: a tutorial for comparing multiple classifiers through Bayesian "
        "analysis",
        "Journal of Machine Learning Research 18(77):1-36",
        "https://jmlr.org/papers/v18/16-305.html",
    ),
    "benjamini1995": Reference(
        "Benjamini, Yoav and Hochberg, Yosef",
        1995,
        "Controlling the false discovery rate: a practical and powerful approach to multiple "
        "testing",
        "Journal of the Royal Statistical Society B 57(1):289-300",
        "10.1111/j.2517-6161.1995.tb02031.x",
    ),
    "benjamini2001": Reference(
        "Benjamini, Yoav and Yekutieli, Daniel",
        2001,
        "The control of the false discovery rate in multiple testing under dependency",
        "The Annals of Statistics 29(4):1165-1188",
        "10.1214/aos/1013699998",
    ),
    "bergmann1988": Reference(
        "Bergmann, Beate and Hommel, Gerhard",
        1988,
        "Improvements of general multiple test procedures for redundant systems of hypotheses",
        "Multiple Hypotheses Testing, Springer, pages 100-115",
    ),
    "bian2011": Reference(
        "Bian, Guorui and McAleer, Michael and Wong, Wing-Keung",
        2011,
        "A trinomial test for paired data when there are many ties",
        "Mathematics and Computers in Simulation 81(6):1153-1160",
    ),
    "demsar2006": Reference(
        "Demsar, Janez",
        2006,
        "Statistical comparisons of classifiers over multiple data sets",
        "Journal of Machine Learning Research 7:1-30",
        "https://jmlr.org/papers/v7/demsar06a.html",
    ),
    "dixon1946": Reference(
        "Dixon, W. J. and Mood, A. M.",
        1946,
        "The statistical sign test",
        f"{_JASA} 41(236):557-566",
        "10.1080/01621459.1946.10501898",
    ),
    "dunn1961": Reference(
        "Dunn, Olive Jean",
        1961,
        "Multiple comparisons among means",
        f"{_JASA} 56(293):52-64",
        "10.1080/01621459.1961.10482090",
    ),
    "friedman1937": Reference(
        "Friedman, Milton",
        1937,
        "The use of ranks to avoid the assumption of normality implicit in the analysis of "
        "variance",
        f"{_JASA} 32(200):675-701",
        "10.1080/01621459.1937.10503522",
    ),
    "hochberg1988": Reference(
        "Hochberg, Yosef",
        1988,
        "A sharper Bonferroni procedure for multiple tests of significance",
        "Biometrika 75(4):800-802",
        "10.1093/biomet/75.4.800",
    ),
    "holm1979": Reference(
        "Holm, Sture",
        1979,
        "A simple sequentially rejective multiple test procedure",
        "Scandinavian Journal of Statistics 6(2):65-70",
        "https://www.jstor.org/stable/4615733",
    ),
    "hommel1988": Reference(
        "Hommel, Gerhard",
        1988,
        "A stagewise rejective multiple test procedure based on a modified Bonferroni test",
        "Biometrika 75(2):383-386",
        "10.1093/biomet/75.2.383",
    ),
    "iman1980": Reference(
        "Iman, Ronald L. and Davenport, James M.",
        1980,
        "Approximations of the critical region of the Friedman statistic",
        "Communications in Statistics 9(6):571-595",
        "10.1080/03610928008827904",
    ),
    "kazakov2019": Reference(
        "Kazakov, Viktor and Király, Franz J.",
        2019,
        "Machine Learning Automation Toolbox (MLaut)",
        "arXiv 1901.03678",
        "10.48550/arXiv.1901.03678",
    ),
    "mueller2006": Reference(
        "Müller, Peter and Parmigiani, Giovanni and Rice, Kenneth",
        2006,
        "FDR and Bayesian multiple comparisons rules",
        "Bayesian Statistics 8, Oxford University Press",
    ),
    "nemenyi1963": Reference(
        "Nemenyi, Peter Björn",
        1963,
        "Distribution-free multiple comparisons",
        "PhD thesis, Princeton University",
    ),
    "rubin1981": Reference(
        "Rubin, Donald B.",
        1981,
        "The Bayesian bootstrap",
        "The Annals of Statistics 9(1):130-134",
        "10.1214/aos/1176345338",
    ),
    "shaffer1986": Reference(
        "Shaffer, Juliet Popper",
        1986,
        "Modified sequentially rejective multiple test procedures",
        f"{_JASA} 81(395):826-831",
        "10.1080/01621459.1986.10478341",
    ),
    "sidak1967": Reference(
        "Šidák, Zbyněk",
        1967,
        "Rectangular confidence regions for the means of multivariate normal distributions",
        f"{_JASA} 62(318):626-633",
        "10.1080/01621459.1967.10482935",
    ),
    "student1908": Reference(
        "Student",
        1908,
        "The probable error of a mean",
        "Biometrika 6(1):1-25",
        "10.1093/biomet/6.1.1",
    ),
    "wilcoxon1945": Reference(
        "Wilcoxon, Frank",
        1945,
        "Individual comparisons by ranking methods",
        "Biometrics Bulletin 1(6):80-83",
        "10.2307/3001968",
    ),
}
"""Sources by their BibTeX keys."""
