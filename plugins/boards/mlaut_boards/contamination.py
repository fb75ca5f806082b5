"""Treatments of contaminated cells, whose strategy was trained on the data that it is scored on."""

from dataclasses import replace
from typing import Any

import numpy as np

from mlaut.analysis import Results
from mlaut.errors import AnalysisError
from mlaut.helpers.markup import counted
from mlaut.plugins import checked, position

KEEP = "keep"
_MOST_NAMED = 3  # strategies in a note


def with_contaminated(results: Results, contaminated: np.ndarray) -> Results:
    """Return results with the contaminated cells marked, shape (N, K), and a note on them."""
    who = np.array(results.strategies)[contaminated.any(axis=0)].tolist()
    more = [f"{len(who) - _MOST_NAMED} more"] * (len(who) > _MOST_NAMED)
    note = (
        f"{counted(int(contaminated.sum()), 'cell')} of {', '.join([*who[:_MOST_NAMED], *more])} "
        "contaminated, as declared: the strategy was trained on these data; they count unless "
        "contaminated= says otherwise"
    )
    return replace(results, contaminated=contaminated, notes=(*results.notes, note))


@checked
def treat_contaminated(results: Results, how: str = KEEP) -> Results:
    """Return results in which contaminated cells are treated, as `treat_missing` treats failures.

    Parameters
    ----------
    results : Results
        Results of a reader that knows which strategies were trained on which datasets
        (`Results.contaminated`).
    how : str, default "keep"
        ``"keep"``; ``"drop strategies"`` or ``"drop datasets"`` with such a cell; or the name of a
        strategy without one, whose scores take the place of these cells, as fev's leaderboard does
        it.

    Returns
    -------
    Results
        A note states the treatment, and every test repeats it.

    Raises
    ------
    AnalysisError
        ``how`` is unknown, leaves nothing, or names a strategy that is contaminated itself.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [0.1, 0.2], "B": [0.3, 0.1]}, index=["iris", "wine"])
    >>> results = Results.from_table(table, greater_is_better=False)
    >>> marked = with_contaminated(results, np.array([[False, False], [False, True]]))
    >>> treat_contaminated(marked, "A").losses.loc["wine"].tolist()
    [0.2, 0.2]
    >>> treat_contaminated(marked, "drop datasets").datasets
    ('iris',)
    """
    marked = results.contaminated
    if how == KEEP or marked is None or not marked.any():
        return results
    n = counted(int(marked.sum()), "contaminated cell")
    if how in ("drop datasets", "drop strategies"):
        what = how.removeprefix("drop ")
        names = getattr(results, what)
        clean = ~marked.any(axis=1 if what == "datasets" else 0)
        if not clean.any():
            raise AnalysisError(
                f"each of the {len(names)} {what} has a contaminated cell, so none would be left: "
                "name a strategy whose scores take their place"
            )
        chosen: dict[str, Any] = {what: [names[at] for at in np.flatnonzero(clean)]}
        treated = results.select(**chosen)
        note = f"{(~clean).sum()} of {len(names)} {what} left out for {n}"
    else:
        k = position("strategy", how, results.strategies)
        if marked[:, k].any():
            raise AnalysisError(f"{how} is contaminated too: name a strategy that is not")
        mask, arrays = marked[:, :, None, None], ("cells", "cell_losses", "variances")
        given = {name: array for name in arrays if (array := getattr(results, name)) is not None}
        taken = {name: np.where(mask, array[:, [k]], array) for name, array in given.items()}
        filled = mask & results.expected[:, None]
        filled = filled if results.imputed is None else filled | results.imputed
        treated = replace(results, **taken, contaminated=None, imputed=filled)
        note = f"{n} replaced by the scores of {how}"
    notes = [note for note in results.notes if "contaminated, as declared" not in note]
    return replace(treated, notes=(*notes, note), gaps=(*results.gaps, note))
