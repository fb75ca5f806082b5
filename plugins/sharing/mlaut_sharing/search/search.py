"""Exhaustive grid search with the same results as scikit-learn's, but less work.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from sklearn.svm import SVC
>>> from mlaut.sharing import GridSearchCV
>>> grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}
>>> search = GridSearchCV(SVC(random_state=0), grid).fit(*load_iris(return_X_y=True))
>>> search.best_params_, sum(search.sharing_.values())
({'C': 1.0, 'gamma': 0.1}, 30)
>>> round(float(search.best_score_), 3), round(search.honest_score_, 3)
(0.98, 0.974)
"""

import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
import sklearn
from sklearn import get_config, model_selection
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import indexable

from mlaut.errors import StrategyError
from mlaut.plugins import digest
from mlaut_sharing.incumbents import fitted_incumbents
from mlaut_sharing.limits import IncompleteSearchWarning, Limits, current_limits, search_limits
from mlaut_sharing.search.candidate_groups import draws_anew, groups_of
from mlaut_sharing.search.evaluation import CPU_TIME, CandidateGroup, Evaluation
from mlaut_sharing.search.honest import ROWS, OutOfFold, out_of_fold
from mlaut_sharing.search.parallel import SearchProgress, score_groups
from mlaut_sharing.search.private import (
    SEARCH,
    _insert_error_scores,
    _MultimetricScorer,
    _warn_or_raise_about_fit_failures,
    warn_if_lacking,
)
from mlaut_sharing.search.score_log import Checkpoint, Place
from mlaut_sharing.search.scores import Scoring, is_r2, only_asks_for_predictions


class GridSearchCV(model_selection.GridSearchCV):
    """`sklearn.model_selection.GridSearchCV` that runs computations common to candidates once.

    Constructor, attributes and results are those of scikit-learn's class: the same scores, ranks
    and choice for the same folds and seeds. If nothing can be shared, scikit-learn's class itself
    searches: for estimators and grids that no sharer supports, estimators without a seed that draw
    random numbers, parameters of ``fit`` other than ``groups``, metadata routing, callbacks,
    targets of several columns, and functions as ``scoring`` that may inspect a model.

    Each time in ``cv_results_`` is the time that a candidate added; among candidates that share,
    the first one has most of it. With several jobs, candidates share only within the part of a fold
    that one job gets.

    Attributes
    ----------
    sharing_ : dict of str to int
        Number of scores (of one candidate on one fold) from ``"shared"`` work, from ``"plain"``
        fits, ``"resumed"`` from a checkpoint, and ``"missing"``; see `search_limits` for the last
        two.
    cpu_seconds_ : ndarray, shape (n_candidates,)
        CPU seconds that each candidate added, on all folds; missing if scikit-learn searched.
    honest_score_ : float
        Score of the best candidate without the bias of being the best: bootstrap bias corrected
        cross-validation, from out-of-fold predictions, without another fit. If the score is not
        valid, reading it raises an error with the reason: see docs/tuning.md.
    honest_interval_ : (float, float)
        Interval of 95 % of the honest score.
    incumbents_ : dict of int to estimator
        Fitted choices of smaller budgets, of a strategy's search with ``order`` of `search_limits`.
    """

    # By this name studies know it, and saved models find it.
    __module__ = "mlaut.sharing"

    share_work = True
    sharing_: Mapping[str, int] = dict.fromkeys(("shared", "plain", "resumed", "missing"), 0)
    _out_of_fold = OutOfFold(reason="nothing was searched")

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Search the grid and fit the best candidate on all rows.

        Parameters
        ----------
        X : array-like or DataFrame, shape (n_rows, n_features)
        y : array-like, shape (n_rows,)
        **params
            Further arguments of scikit-learn's ``fit``.

        Raises
        ------
        StrategyError
            No candidate was scored on all folds before the deadline.
        """
        limits = current_limits()
        groups = None
        if warn_if_lacking("GridSearchCV", SEARCH):
            _warn_unlimited(limits, "a scikit-learn that lacks what is needed for them")
        else:
            points = list(ParameterGrid(self.param_grid))
            groups = self._groups(points, y, params, limits)
        if groups is None:
            super().fit(X, y, **params)
            plain = len(self.cv_results_["params"]) * self.n_splits_
            self.sharing_ = {"shared": 0, "plain": plain, "resumed": 0, "missing": 0}
            self._out_of_fold = OutOfFold(reason="scikit-learn itself did this search")
            return self
        self._validate_params()
        X, y = indexable(X, y)
        self._search_groups(X, y, params.get("groups"), points, groups)
        if self.refit:
            self._refit(X, y)
        return self

    @staticmethod
    def limits(*, seconds: float | None, **more: Any) -> AbstractContextManager[None]:
        """Return `search_limits` of so many CPU seconds, for the search of a cell."""
        from mlaut_sharing.in_studies import TuningBudget

        return search_limits(deadline=seconds and TuningBudget(seconds).over, **more)

    @staticmethod
    def told_limits(strategies: Sequence[Any], timeout: Any) -> str:
        """Return a sentence on the searches of a plan that have a time limit."""
        from mlaut_sharing.in_studies import told_limits

        return told_limits(strategies, timeout)

    def fit_incumbents(self, X: Any, y: Any, params: Mapping[str, Any]) -> None:
        """Fit the choices of smaller budgets, if `search_limits` has an ``order``."""
        order = current_limits().order
        if order is not None:
            given = {name: value for name, value in params.items() if name != "groups"}
            self.incumbents_ = fitted_incumbents(self, order, X, y, given)

    # ---- what is to be done

    def _groups(
        self, points: Sequence[Mapping[str, Any]], y: Any, params: Mapping[str, Any], limits: Limits
    ) -> list[CandidateGroup] | None:
        """Return the groups of candidates, or None if scikit-learn is to search."""
        if not self._is_plain_case(y, params):
            _warn_unlimited(limits, "parameters of fit, routing, callbacks or several targets")
            return None
        groups = groups_of(clone(self.estimator), points, share=self._may_share)
        alone = [group for group in groups if not group.shares]
        if limits.limiting or not alone:
            return groups
        random = any(draws_anew(self.estimator, g.candidates[0].params) for g in alone)
        return None if random else groups

    @property
    def _may_share(self) -> bool:
        return self.share_work and only_asks_for_predictions(self._get_scorers()[0])

    def _is_plain_case(self, y: Any, params: Mapping[str, Any]) -> bool:
        config = get_config()
        special = (
            config.get("enable_metadata_routing"),
            config.get("array_api_dispatch"),
            getattr(self, "_skl_callbacks", None),
            getattr(self.estimator, "_skl_callbacks", None),
            set(params) - {"groups"},
        )
        return y is not None and np.asarray(y).ndim == 1 and not any(special)

    # ---- doing it

    def _search_groups(
        self,
        X: Any,
        y: Any,
        row_groups: Any,
        points: Sequence[Mapping[str, Any]],
        groups: Sequence[CandidateGroup],
    ) -> None:
        splits = self._splits(X, y, row_groups)
        if self.verbose > 0:
            print(  # noqa: T201 - as scikit-learn does
                f"Fitting {len(splits)} folds for each of {len(points)} candidates, "
                f"totalling {len(points) * len(splits)} fits"
            )
        evaluation = self._evaluation(X, y, splits, len(points), points=points)
        known = evaluation.known()
        progress = SearchProgress(known, Counter(resumed=len(known)))
        jobs = self.n_jobs, self.pre_dispatch
        score_groups(evaluation, progress, groups, range(len(splits)), *jobs)
        self._conclude(evaluation, points, progress)

    def _evaluation(
        self,
        X: Any,
        y: Any,
        splits: list[tuple[np.ndarray, np.ndarray]],
        n_candidates: int,
        fit_params: Mapping[str, Any] | None = None,
        **about: Any,
    ) -> Evaluation:
        """Return the `Evaluation` of a search; ``about`` has the values that identify it."""
        limits = current_limits()
        return Evaluation(
            base=clone(self.estimator),
            X=X,
            y=y,
            splits=splits,
            scoring=Scoring(self._get_scorers()[0], self.return_train_score),
            error_score=self.error_score,
            verbose=self.verbose,
            n_candidates=n_candidates,
            deadline=limits.deadline,
            checkpoint=self._checkpoint(limits.checkpoint, X, y, splits, about),
            fit_params=fit_params or {},
        )

    def _conclude(
        self,
        evaluation: Evaluation,
        points: Sequence[Mapping[str, Any]],
        progress: SearchProgress,
        reason: str = "",
    ) -> None:
        """Choose a candidate, and set the attributes of a search that was fitted.

        ``reason`` says why a search of this kind has no honest score.
        """
        scorers, refit_metric = self._get_scorers()
        self._out_of_fold = self._rows(evaluation, len(points), progress.scores, reason)
        kinds = ("shared", "plain", "resumed")
        self.sharing_ = {kind: progress.counts[kind] for kind in kinds}
        self.sharing_["missing"] = len(points) * self.n_splits_ - len(progress.scores)
        self._choose(points, progress.scores, refit_metric, evaluation.deadline is not None)
        self.cpu_seconds_ = np.zeros(len(points))
        for (index, _), scores in progress.scores.items():
            self.cpu_seconds_[index] += scores[CPU_TIME]
        self.scorer_ = scorers._scorers if isinstance(scorers, _MultimetricScorer) else scorers

    def _rows(
        self, evaluation: Evaluation, n: int, scores: Mapping[Place, dict[str, Any]], reason: str
    ) -> OutOfFold:
        """Return the scores of single rows, and remove them from ``scores``."""
        rows = {place: score.pop(ROWS) for place, score in scores.items() if ROWS in score}
        if any(score["fit_error"] is None for place, score in scores.items() if place not in rows):
            reason = reason or "the score is no accuracy, R2 or negative mean squared error"
        if reason or callable(self.refit):
            return OutOfFold(reason=reason or "a function chose the candidate (refit)")
        folds = range(len(evaluation.splits))
        complete = [i for i in range(n) if all((i, fold) in scores for fold in folds)]
        y = np.asarray(evaluation.y) if is_r2(evaluation.scoring.scorer, evaluation.base) else None
        return out_of_fold(rows, evaluation.splits, complete, y)

    @property
    def honest_score_(self) -> float:
        """Score of the best candidate without the bias of its choice; see `OutOfFold`."""
        return self._out_of_fold.honest[0]

    @property
    def honest_interval_(self) -> tuple[float, float]:
        """Interval of 95 % of `honest_score_`."""
        return self._out_of_fold.honest[1]

    def _splits(self, X: Any, y: Any, row_groups: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        self.n_splits_ = cv.get_n_splits(X, y, row_groups)
        splits = list(cv.split(X, y, row_groups))
        if len(splits) != self.n_splits_:
            raise ValueError(
                f"cv.split gives {len(splits)} folds, cv.get_n_splits says {self.n_splits_}"
            )
        return splits

    def _checkpoint(
        self,
        path: Path | None,
        X: Any,
        y: Any,
        splits: Sequence[tuple[np.ndarray, np.ndarray]],
        about: Mapping[str, Any],
    ) -> Checkpoint | None:
        if path is None:
            return None
        parts = {
            **about,
            "form": 3,  # of scores; those of form 2 had no scores of rows
            "rows": X,
            "targets": np.asarray(y),
            "folds": [len(train) for train, _ in splits],
            "rows of folds": np.concatenate([rows for split in splits for rows in split]),
            "estimator": self.estimator,
            "scoring": self.scoring,
            "train": self.return_train_score,
            "error": self.error_score,
            "version": sklearn.__version__,
        }
        return Checkpoint(path, digest(parts))

    # ---- choosing

    def _choose(
        self,
        points: Sequence[Mapping[str, Any]],
        scores: Mapping[Place, dict[str, Any]],
        refit_metric: Any,
        timed: bool,
    ) -> None:
        scored = list(scores.values())
        if scored:
            _warn_or_raise_about_fit_failures(scored, self.error_score)
        if callable(self.scoring):
            _insert_error_scores(scored, self.error_score)
        complete = self._complete(points, scores, timed)
        test_scores = scored[0]["test_scores"]
        self.multimetric_ = isinstance(test_scores, dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(test_scores)
            refit_metric = self.refit
        self.cv_results_ = self._results(points, scores, scored[0], complete)
        if not self.refit and self.multimetric_:
            return
        self.best_index_ = self._select_best_index(self.refit, refit_metric, self.cv_results_)
        if not callable(self.refit):
            self.best_score_ = self.cv_results_[f"mean_test_{refit_metric}"][self.best_index_]
        self.best_params_ = self.cv_results_["params"][self.best_index_]

    def _complete(
        self, points: Sequence[Mapping[str, Any]], scores: Mapping[Place, Any], timed: bool
    ) -> list[bool]:
        folds = range(self.n_splits_)
        complete = [all((i, fold) in scores for fold in folds) for i in range(len(points))]
        done = f"{len(scores)} of {len(points) * self.n_splits_} fits done"
        if not any(complete):
            raise StrategyError(
                f"no candidate was scored on all {self.n_splits_} tuning folds before the deadline "
                f"({done}); give more time or a smaller grid"
            )
        if timed and not all(complete):
            warnings.warn(
                f"time was over: chosen among the {sum(complete)} of {len(points)} candidates "
                f"that were scored on all folds ({done})",
                IncompleteSearchWarning,
                stacklevel=5,
            )
        return complete

    def _results(
        self,
        points: Sequence[Mapping[str, Any]],
        scores: Mapping[Place, dict[str, Any]],
        pattern: Mapping[str, Any],
        complete: Sequence[bool],
    ) -> dict[str, Any]:
        """Return ``cv_results_``; rows that lack a fold have no mean and are marked incomplete."""
        missing = {key: _nothing(value) for key, value in pattern.items()}
        places = [(i, fold) for i in range(len(points)) for fold in range(self.n_splits_)]
        out = [scores.get(place, missing) for place in places]
        with warnings.catch_warnings():
            if not all(complete):
                warnings.filterwarnings("ignore", "One or more of the .* scores are non-finite")
            more = {} if all(complete) else {"complete": complete}
            return self._format_results(list(points), self.n_splits_, out, more)

    def _refit(self, X: Any, y: Any, fit_params: Mapping[str, Any] | None = None) -> None:
        self.best_estimator_ = clone(self.estimator).set_params(
            **clone(self.best_params_, safe=False)
        )
        started = perf_counter()
        self.best_estimator_.fit(X, y, **(fit_params or {}))
        self.refit_time_ = perf_counter() - started
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_


def _warn_unlimited(limits: Limits, with_what: str) -> None:
    if limits.limiting:
        warnings.warn(
            f"no checkpoint or deadline with {with_what}: this search runs through",
            IncompleteSearchWarning,
            stacklevel=4,
        )


def _nothing(value: Any) -> Any:
    return dict.fromkeys(value, np.nan) if isinstance(value, dict) else np.nan


# Models that were saved by a former version find this module by its name of then.
sys.modules["mlaut.sharing.search.search"] = sys.modules[__name__]
