"""Primary tests of a comparison of pairs: the key of each, its name in a sentence, its source."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PrimaryTest:
    """Test of pairs that can decide an analysis.

    Attributes
    ----------
    words : str
        Name in a sentence.
    cited : str
        Name in a paragraph on methods, with the keys of its sources in braces.
    bayesian : bool, default False
        Whether its claims rest on probabilities.
    """

    words: str
    cited: str
    bayesian: bool = False


class _Tests(dict[str, PrimaryTest]):
    """Records of tests; a test without a record cannot decide, and its key is its name."""

    def __missing__(self, key: str) -> PrimaryTest:
        return PrimaryTest(f"the {key} test", f"the {key} test")


TESTS = _Tests()
TESTS |= {
    "signed rank": PrimaryTest(
        "the signed rank test", "Wilcoxon's signed rank test {wilcoxon1945}"
    ),
    "sign": PrimaryTest("the sign test", "the sign test {dixon1946}"),
    "trinomial": PrimaryTest(
        "the trinomial test", "the trinomial test, a sign test in which ties count {bian2011}"
    ),
    "t": PrimaryTest("the paired t-test", "the paired t-test {student1908}"),
    "Nemenyi": PrimaryTest("Nemenyi's test", "Nemenyi's test of average ranks {nemenyi1963}"),
    "Bayesian sign": PrimaryTest(
        "the Bayesian sign test", "the Bayesian sign test {benavoli2017}", bayesian=True
    ),
    "Bayesian signed rank": PrimaryTest(
        "the Bayesian signed rank test", "the Bayesian signed rank test {benavoli2017}", True
    ),
}
"""Primary tests by the key that analyses, comparisons and the columns of tables have."""

FLIPPED = {"signed rank": False, "sign": True, "trinomial": True}
"""Tests that have a joint form for all pairs, and whether it flips signs alone."""
