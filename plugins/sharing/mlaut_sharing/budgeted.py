"""Searches with a budget: random, successive halving, and Optuna's.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from sklearn.neighbors import KNeighborsClassifier
>>> from mlaut.estimators import BudgetedSearch, Integers
>>> space = {"n_neighbors": Integers(1, 50, log=True), "p": [1, 2]}
>>> search = BudgetedSearch(KNeighborsClassifier(), space, search="random(8)", random_state=0)
>>> search = search.fit(*load_iris(return_X_y=True))
>>> len(search.cv_results_["params"]), search.spent_["evaluations"]
(8, 8.0)
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.base import is_classifier
from sklearn.utils import indexable

from mlaut.errors import StrategyError
from mlaut.estimators import GridSearch
from mlaut.plugins import Wanted, is_finite, need, parse_budget, parse_search
from mlaut_sharing.draws import draw, suggest
from mlaut_sharing.scored_candidates import Pair, ScoredCandidates
from mlaut_sharing.search.private import SEARCH, warn_if_lacking

_MOST_DRAWN = 1000  # candidates of a random search that only a time limits
_FEWEST_ROWS = 20  # training rows of a fold in the first rung of halving
# Why a search has no honest score: the bootstrap would have to repeat what depends on the rows.
_ADAPTIVE = {
    "halving": "halving dropped candidates by scores of the same rows",
    "optuna": "Optuna proposed candidates by scores of the same rows",
}


@dataclass(kw_only=True, eq=False, repr=False)
class BudgetedSearch(GridSearch):
    """Search in a part of a space, within a budget.

    Parameters
    ----------
    estimator, scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, \
return_train_score, share_work
        As for `mlaut.estimators.GridSearch`.
    param_grid : mapping, or list of mappings
        For each parameter a list of values, a range (`mlaut.sharing.Floats`, ``Integers``), or a
        distribution of SciPy.
    search : str, default "grid"
        ``"grid"``: all candidates, in random order, until the budget is used up.
        ``"random(50)"``: 50 candidates, drawn at random.
        ``"halving(81)"``: 81 candidates, drawn at random and scored on a small part of the training
        rows; the best third of them is scored on three times as many rows, and so on until all
        rows are used. ``"halving(64, factor=2)"`` keeps the best half.
        ``"optuna(50)"``: 50 candidates of Optuna's TPE sampler; a candidate whose mean after some
        folds is below the median of the others is scored on no further fold.
        Without a number, the budget determines the number of candidates.
    budget : str, float or None
        ``"50 evaluations"`` (or 50): an evaluation is that of a candidate on all folds and all
        training rows; an evaluation on a part of them counts as that part. ``"10m cpu"``: CPU time
        of the fits, with all threads of the process. ``"10m"``: wall time of the fits. No fit
        begins after the budget is used up; at least one candidate is scored. None: only the number
        of candidates is limited.
    random_state : int, RandomState or None
        Seed of the candidates.

    Attributes
    ----------
    shares_ : ndarray, shape (n_candidates,)
        Share of the training rows that each candidate was fitted on. A candidate of halving has a
        row for each rung.
    spent_ : dict of str to float
        Used budget in ``"evaluations"``, and in ``"cpu"`` and ``"wall"`` seconds.
    """

    # By this name studies know it, and saved models find it.
    __module__ = "mlaut.estimators"

    search: str = "grid"
    budget: Any = None
    random_state: Any = None

    def _search(self, X: Any, y: Any, params: Mapping[str, Any]) -> None:
        if warn_if_lacking("BudgetedSearch", SEARCH):
            raise StrategyError(
                f"search {self.search!r}: scikit-learn {sklearn.__version__} lacks what it needs; "
                "install a version that MLaut was tested with, or search the grid"
            )
        wanted = parse_search(self.search)
        X, y = indexable(X, y)
        fit_params = {name: value for name, value in params.items() if name != "groups"}
        splits = self._splits(X, y, params.get("groups"))
        evaluation = self._evaluation(
            X,
            y,
            splits,
            0,
            fit_params,
            space=self.searched_grid_,
            search=self.search,
            seed=self.random_state,
            versions=[np.__version__, scipy.__version__, version_of_optuna(wanted.kind)],
            weights=fit_params,
        )
        share = self._may_share and self._is_plain_case(y, params)
        run = ScoredCandidates(self, evaluation, parse_budget(self.budget), share)
        with self._failures_in_one_line():
            _SEARCHES[wanted.kind](self, run, wanted)
            self.shares_ = np.array(run.shares)
            self._conclude(evaluation, run.points, run.progress, _ADAPTIVE.get(wanted.kind, ""))
        self.spent_ = run.spent()
        if self.refit:
            self._refit(X, y, fit_params)

    def _select_best_index(self, refit: Any, refit_metric: Any, results: Any) -> int:
        """Return the best of the candidates that were fitted on most rows."""
        if callable(refit):
            return int(super()._select_best_index(refit, refit_metric, results))
        means = np.asarray(results[f"mean_test_{refit_metric}"])
        if not np.isfinite(means).any():
            return 0
        most = self.shares_[np.isfinite(means)].max()
        return int(np.nanargmax(np.where(self.shares_ == most, means, np.nan)))

    # ---- the searches

    def _search_random(self, run: ScoredCandidates, wanted: Wanted) -> None:
        n = run.most_candidates(wanted.n)
        if n is None and wanted.kind == "random":
            if run.budget is None:
                raise self._needs_number("random(50)")
            n = None if is_finite(self.searched_grid_) else _MOST_DRAWN
        run.in_parts(self._drawn(n), 1.0, run.splits)

    def _search_halving(self, run: ScoredCandidates, wanted: Wanted) -> None:
        first = self._fewest_rows(run) / min(len(train) for train, _ in run.splits)
        n = wanted.n
        if run.budget is not None and run.budget.unit == "evaluations":
            affordable = _affordable(run.budget.amount, wanted.factor, first)
            n = min(affordable, n or affordable)
        if n is None:
            raise self._needs_number("halving(81)")
        points = self._drawn(n)
        rungs = _rungs(len(points), wanted.factor, first)
        for rung, (size, share) in enumerate(rungs):
            if rung:
                points = run.best(points, size)
            run.in_parts(points, share, self._part_of(run, share))
            if run.over():
                break

    def _search_optuna(self, run: ScoredCandidates, wanted: Wanted) -> None:
        if wanted.n is None and run.budget is None:
            raise self._needs_number("optuna(50)")
        search_with_optuna(run, self.searched_grid_, wanted.n, self.random_state, self._within)

    # ---- their parts

    def _needs_number(self, example: str) -> StrategyError:
        return StrategyError(
            f"search {self.search!r}: nothing says how many candidates; write for example "
            f"{example!r}, or give a budget such as '50 evaluations'"
        )

    def _drawn(self, n: int | None) -> list[dict[str, Any]]:
        return [self._within(p) for p in draw(self.searched_grid_, n, self.random_state)]

    def _within(self, point: dict[str, Any]) -> dict[str, Any]:
        """Return a candidate with no more neighbours than a tuning fold has rows."""
        return {
            name: min(value, self.fewest_rows_) if name.endswith("n_neighbors") else value
            for name, value in point.items()
        }

    def _fewest_rows(self, run: ScoredCandidates) -> int:
        """Return the smallest number of training rows of a fold in the first rung."""
        classes = len(np.unique(run.labels)) if is_classifier(self.estimator) else 0
        neighbours = [
            np.max([value.ppf(1.0) if hasattr(value, "ppf") else np.max(value)])
            for part in _parts(self.searched_grid_)
            for name, value in part.items()
            if name.endswith("n_neighbors")
        ]
        return int(max(_FEWEST_ROWS, 2 * classes, *neighbours, 0))

    def _part_of(self, run: ScoredCandidates, share: float) -> list[Pair]:
        """Return the folds with a share of the training rows of each class, and all test rows.

        The rows of a smaller share are among those of a larger one.
        """
        if share == 1:
            return run.splits
        labels = run.labels if is_classifier(self.estimator) else np.zeros(len(run.labels))
        folds = []
        for fold, (train, test) in enumerate(run.splits):
            order = np.random.default_rng(fold).permutation(len(train))
            kept = [
                rows[: max(1, round(share * len(rows)))]
                for rows in (order[labels[train[order]] == k] for k in np.unique(labels[train]))
            ]
            folds.append((np.sort(train[np.concatenate(kept)]), test))
        return folds


def _parts(space: Any) -> Sequence[Mapping[str, Any]]:
    return [space] if isinstance(space, Mapping) else space


def _rungs(n: int, factor: int, first: float) -> list[tuple[int, float]]:
    """Return the number of candidates and the share of rows of each rung.

    The last rung has all rows and at most ``factor`` candidates, unless the first would then have
    less than the share ``first``.

    Examples
    --------
    >>> [(size, round(share, 3)) for size, share in _rungs(81, 3, 0.01)]
    [(81, 0.037), (27, 0.111), (9, 0.333), (3, 1.0)]
    """
    last = 0
    while math.ceil(n / factor**last) > factor and factor ** -(last + 1) >= first:
        last += 1
    return [
        (math.ceil(n / factor**rung), float(factor) ** (rung - last)) for rung in range(last + 1)
    ]


def _affordable(evaluations: float, factor: int, first: float) -> int:
    """Return the largest number of candidates whose rungs cost at most so many evaluations."""
    n = 1
    while sum(size * share for size, share in _rungs(n + 1, factor, first)) <= evaluations:
        n += 1
    return n


_SEARCHES = {
    "grid": BudgetedSearch._search_random,
    "random": BudgetedSearch._search_random,
    "halving": BudgetedSearch._search_halving,
    "optuna": BudgetedSearch._search_optuna,
}


def version_of_optuna(kind: str) -> str:
    """Return the version of Optuna, which decides its suggestions; empty for other searches."""
    return str(_optuna().__version__) if kind == "optuna" else ""


def _optuna() -> Any:
    return need("optuna", extra="optuna", purpose="search = 'optuna'")


def search_with_optuna(
    run: ScoredCandidates,
    space: Any,
    n: int | None,
    seed: Any,
    within: Callable[[dict[str, Any]], Any],
) -> None:
    """Score candidates that Optuna suggests, one after the other, fold by fold.

    The suggestions of Optuna depend only on its seed and the scores so far. So a search that was
    killed is resumed from the start, with the scores that were stored.

    Parameters
    ----------
    run : ScoredCandidates
    space : mapping, or list of mappings
    n : int or None
        Number of candidates; with None the budget limits it.
    seed : int or None
    within : callable
        Function that returns a candidate with no more neighbours than there are rows.
    """
    optuna = _optuna()
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        study = optuna.create_study(
            direction="maximize",
            sampler=optuna.samplers.TPESampler(seed=seed),
            pruner=optuna.pruners.MedianPruner(),
        )
    finally:
        optuna.logging.set_verbosity(level)
    folds, states = range(len(run.splits)), optuna.trial.TrialState
    while (n is None or len(run.points) < n) and not (run.points and run.over()):
        trial = study.ask()
        (number,) = run.add([within(suggest(space, trial))], 1.0)
        total, state = 0.0, states.COMPLETE
        for fold in folds:
            run.score([number], run.splits, [fold], alone=True)
            score = run.value(number, fold)
            if score is None or not math.isfinite(score):
                state = states.FAIL
                break
            total += score
            trial.report(total / (fold + 1), fold)
            if fold < folds[-1] and trial.should_prune():
                state = states.PRUNED
                break
        value = total / len(folds) if state == states.COMPLETE else None
        study.tell(trial, value, state=state)
