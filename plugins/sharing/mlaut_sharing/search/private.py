"""Private names of scikit-learn: those that every search uses, and how a sharer takes its own.

Any release of scikit-learn may drop or move a private name. Each name belongs to a group. If one is
missing, only the sharers that need its group stop sharing: scikit-learn fits their candidates, with
the same scores and a warning. A missing private attribute is noticed when a sharer runs, with the
same consequence. If a name moves, change its line here.
"""

import warnings
from importlib import import_module
from typing import Any

import sklearn

NAMES: list[tuple[str, str, str]] = []
"""Group, module and name of every private name."""

_LACKING: dict[str, list[str]] = {}

SEARCH = "search"


class SharingWarning(UserWarning):
    """Warning about candidates that shared no work and took longer; scores are the same."""


def take(group: str, module: str, name: str) -> Any:
    """Return the value of a private name of a module; None if it is missing, which is recorded."""
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
    """Return the private names of these groups that the installed scikit-learn lacks."""
    return [name for group in groups for name in _LACKING.get(group, ())]


def warn_if_lacking(who: str, *groups: str) -> bool:
    """Return whether private names are missing; issue a `SharingWarning` if so."""
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
_BaseScorer = take(SEARCH, _SCORERS, "_BaseScorer")  # scorers that only use predictions
_Scorer = take(SEARCH, _SCORERS, "_Scorer")  # the metric of a scorer, to compute it faster
_PassthroughScorer = take(SEARCH, _SCORERS, "_PassthroughScorer")  # the score of the estimator
_MultimetricScorer = take(SEARCH, _SCORERS, "_MultimetricScorer")  # several metrics at once

_VALIDATION = "sklearn.model_selection._validation"
_fit_and_score = take(SEARCH, _VALIDATION, "_fit_and_score")  # one unshared candidate on a fold
_insert_error_scores = take(SEARCH, _VALIDATION, "_insert_error_scores")  # scores of failed fits
_warn_or_raise_about_fit_failures = take(
    SEARCH, _VALIDATION, "_warn_or_raise_about_fit_failures"
)  # scikit-learn's messages about failed fits
_safe_indexing = take(SEARCH, "sklearn.utils", "_safe_indexing")  # rows of any kind of table

for _method in (
    "_get_scorers",  # the scorers of ``scoring``
    "_validate_params",  # refuses wrong arguments as scikit-learn does
    "_format_results",  # makes ``cv_results_``
    "_check_refit_for_multimetric",  # refuses a ``refit`` that names no metric
    "_select_best_index",  # chooses the best candidate, also by a ``refit`` function
):
    _need_method(_method)
