"""All private names of scikit-learn that sharing uses, and what each is for.

Any release of scikit-learn may drop or move one. Each belongs to a group, and what is lacking costs
the sharing of those that need its group, and nothing else: their candidates are fitted as
scikit-learn fits them, with the same scores and a warning. A private attribute that vanishes shows
itself when a sharer runs, and costs the same.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import sklearn

__all__ = ["NAMES", "SharingWarning", "lacking", "told_lacking"]

NAMES: list[tuple[str, str, str]] = []
"""Group, module and name of everything private."""

_LACKING: dict[str, list[str]] = {}

SEARCH, KERNELS, NEIGHBOURS, TREES, LOSSES = "search", "kernels", "neighbours", "trees", "losses"


class SharingWarning(UserWarning):
    """Candidates took longer, since they could not share their work; the scores are the same."""


def _take(group: str, module: str, name: str) -> Any:
    """Return a private name of a module; None where it is lacking, which is remembered."""
    NAMES.append((group, module, name))
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError):
        _LACKING.setdefault(group, []).append(f"{module}.{name}")
        return None


def _need_method(name: str) -> None:
    module = "sklearn.model_selection"
    NAMES.append((SEARCH, module, f"GridSearchCV.{name}"))
    if not hasattr(import_module(module).GridSearchCV, name):
        _LACKING.setdefault(SEARCH, []).append(f"GridSearchCV.{name}")


def lacking(*groups: str) -> list[str]:
    """Return the names of some groups that this scikit-learn lacks."""
    return [name for group in groups for name in _LACKING.get(group, ())]


def told_lacking(who: str, *groups: str) -> bool:
    """Return whether names are lacking; if so, tell it by a `SharingWarning`."""
    names = lacking(*groups)
    if names:
        warnings.warn(
            f"{who}: candidates share less and take longer, with the same scores: scikit-learn "
            f"{sklearn.__version__} lacks {', '.join(names)}; update MLaut",
            SharingWarning,
            stacklevel=2,
        )
    return bool(names)


# ------------------------------------------------------------------ every search

_SCORERS = "sklearn.metrics._scorer"
_BaseScorer = _take(SEARCH, _SCORERS, "_BaseScorer")  # scorers that only ask for predictions
_Scorer = _take(SEARCH, _SCORERS, "_Scorer")  # which metric a scorer is, to compute it quicker
_PassthroughScorer = _take(SEARCH, _SCORERS, "_PassthroughScorer")  # the score of the estimator
_MultimetricScorer = _take(SEARCH, _SCORERS, "_MultimetricScorer")  # several metrics at once

_VALIDATION = "sklearn.model_selection._validation"
_fit_and_score = _take(SEARCH, _VALIDATION, "_fit_and_score")  # one candidate on one fold, plainly
_insert_error_scores = _take(SEARCH, _VALIDATION, "_insert_error_scores")  # where a fit failed
_warn_or_raise_about_fit_failures = _take(
    SEARCH, _VALIDATION, "_warn_or_raise_about_fit_failures"
)  # in scikit-learn's words
_safe_indexing = _take(SEARCH, "sklearn.utils", "_safe_indexing")  # rows of any kind of table

for _method in (
    "_run_search",  # which candidates a search has
    "_get_scorers",  # the scorers of ``scoring``
    "_validate_params",  # refuse wrong arguments as scikit-learn does
    "_format_results",  # make ``cv_results_``
    "_check_refit_for_multimetric",  # refuse a ``refit`` that names no metric
    "_select_best_index",  # choose, with ``refit`` as a function too
):
    _need_method(_method)

# ---------------------------------------------------------- support vector machines

_libsvm = _take(KERNELS, "sklearn.svm", "_libsvm")  # the solver, on a kernel that is kept
LIBSVM_IMPL = _take(KERNELS, "sklearn.svm._base", "LIBSVM_IMPL")  # the solver's number of a kind

# ------------------------------------------------------------------------ neighbours

ArgKmin = _take(
    NEIGHBOURS, "sklearn.metrics._pairwise_distances_reduction", "ArgKmin"
)  # compare all rows as predict does
_openmp_effective_n_threads = _take(
    NEIGHBOURS, "sklearn.utils._openmp_helpers", "_openmp_effective_n_threads"
)  # with several threads, ties are broken otherwise

# ------------------------------------------- trees, and ensembles that are made of them

CRITERIA_CLF = _take(TREES, "sklearn.tree._classes", "CRITERIA_CLF")  # criteria by name
CRITERIA_REG = _take(TREES, "sklearn.tree._classes", "CRITERIA_REG")
DENSE_SPLITTERS = _take(TREES, "sklearn.tree._classes", "DENSE_SPLITTERS")  # splitters by name
DepthFirstTreeBuilder = _take(TREES, "sklearn.tree._tree", "DepthFirstTreeBuilder")  # grows
Tree = _take(TREES, "sklearn.tree._tree", "Tree")  # is grown

HalfBinomialLoss = _take(LOSSES, "sklearn._loss.loss", "HalfBinomialLoss")  # losses whose leaves
HalfMultinomialLoss = _take(LOSSES, "sklearn._loss.loss", "HalfMultinomialLoss")  # are computed
HalfSquaredError = _take(LOSSES, "sklearn._loss.loss", "HalfSquaredError")  # here too
