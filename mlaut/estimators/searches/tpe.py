"""Search with Optuna's TPE sampler; candidates that fall behind are pruned after a fold."""

import math
from collections.abc import Callable
from typing import Any

from mlaut.estimators.searches.scored_candidates import ScoredCandidates
from mlaut.estimators.searches.spaces import suggest
from mlaut.optional import need


def version_of_optuna(kind: str) -> str:
    """Return the version of Optuna, on which its suggestions depend; empty for other searches."""
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

    What Optuna suggests depends only on its seed and the scores so far. A search that was killed
    is therefore resumed by asking it again from the start, with the scores that were kept.

    Parameters
    ----------
    run : ScoredCandidates
    space : mapping, or list of mappings
    n : int or None
        Number of candidates; None for as many as the budget allows.
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
