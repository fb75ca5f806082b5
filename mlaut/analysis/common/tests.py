"""Primary tests of a comparison of pairs: what deciding and writing need to know of each.

They are listed in `tests.toml`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mlaut.helpers.markup import beside


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
    joint : str, default ""
        Its joint form for all pairs: by flips of ``"signs"``, or of signed ``"ranks"``; default
        none.
    checks : sequence of str
        Where it is asked whether it agrees with another primary test: ``"scale"`` if the scores of
        datasets share one, ``"no scale"`` if they do not. Default: nowhere.
    """

    words: str
    cited: str
    bayesian: bool = False
    joint: str = ""
    checks: Sequence[str] = ()


class _Tests(dict[str, PrimaryTest]):
    """Records of tests; a test without a record cannot decide, and its key is its name."""

    def __missing__(self, key: str) -> PrimaryTest:
        return PrimaryTest(f"the {key} test", f"the {key} test")


TESTS = _Tests({key: PrimaryTest(**about) for key, about in beside(__file__).items()})
"""Primary tests by the key that analyses, comparisons and the columns of tables have."""
