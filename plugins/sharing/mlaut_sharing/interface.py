"""Interface of the families of estimators whose candidates share work.

A `Sharer` recognises candidates that it can fit together (`Sharer.key`) and yields a fitted model
for each of them on one fold (`Sharer.models`). The model may be a stand-in: it
predicts as the fitted estimator would, from numbers that were computed for all candidates at once.
Candidates for which a sharer yields no model, because it cannot or because something failed, are
fitted by scikit-learn. So a sharer must be correct, but need not be complete.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator

from mlaut_sharing.fold import Candidate, CannotShareError, Fold, Shared
from mlaut_sharing.groups import SharingGroup
from mlaut_sharing.search.evaluation import Candidate as Point
from mlaut_sharing.search.evaluation import CandidateGroup
from mlaut_sharing.search.private import warn_if_lacking

__all__ = ["Candidate", "CannotShareError", "Fold", "Shared", "Sharer"]


class Sharer(ABC):
    """Base class of the ways in which candidates share work; instances have no state.

    Attributes
    ----------
    private : tuple of str
        Groups of private names of scikit-learn that the sharer needs.
    """

    private: tuple[str, ...] = ()

    def usable_key(self, candidate: Point) -> Hashable | None:
        """Return the key; None, with a warning, if scikit-learn lacks a required private name."""
        key = self.key(Candidate.of(candidate))
        if key is None or (self.private and warn_if_lacking(type(self).__name__, *self.private)):
            return None
        return key

    def group(self, candidates: tuple[Point, ...]) -> CandidateGroup:
        """Return candidates that have one key as the group in which the search scores them."""
        return SharingGroup((*map(Candidate.of, candidates),), self)

    def parts(self, candidates: list[Candidate]) -> list[list[Candidate]]:
        """Return the candidates in parts that take turns with other groups when time is limited.

        A part is scored on all folds before the next one. Without parts, one candidate that takes
        long would keep all others from a complete score.
        """
        return [candidates]

    def keeps(self, candidate: Candidate) -> bool:  # noqa: ARG002
        """Return whether groups use results that earlier groups kept of a fold."""
        return False

    @abstractmethod
    def key(self, candidate: Candidate) -> Hashable | None:
        """Return a key that is equal for candidates that share work; None if it cannot share."""

    @abstractmethod
    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Yield a model for each candidate that can be shared; all candidates have one key."""
