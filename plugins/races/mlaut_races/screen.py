"""The first screen of the report on a race for the best."""

from typing import Any

import numpy as np
import pandas as pd

from mlaut.helpers.markup import counted
from mlaut.plugins import (
    BASELINE,
    NOW,
    OPEN,
    USE,
    VERDICTS,
    Screen,
    Step,
    VerdictTable,
    in_words_of,
    is_baseline,
    listed,
    margins,
    number,
    own_scores,
    related_hint,
    screen_table,
    where,
    with_relatives,
)
from mlaut.report import Section
from mlaut_races.race import Race

STOPPED = "stopped"  # the verdict on a strategy that left the race
_MOST_OF_TIME = 1 / 2  # share of those that stay in, above which stopping others saves little


def race_screen(race: Race, section: Section) -> Screen | None:
    """Return the first screen of a race for the best; None if it has no best."""
    scored = section.scored
    if not race.terms.of_best or not race.left:
        return None
    first = str(scored.losses[list(race.left)].mean().idxmin())
    left = [first, *(name for name in race.left if name != first)]
    known, frame = race.to_frame(), margins(scored, first)
    alone = USE if race.answered and len(race.left) == 1 else OPEN
    out = [BASELINE if is_baseline(name) else STOPPED for name in frame.index]
    frame["verdict"] = np.where(frame.index.isin(left), alone, out)
    has = scored.losses.notna().sum()
    lack = (known["datasets"] - has).clip(lower=0).astype(int)
    frame = frame.assign(failures=lack, datasets=has, ran=has + lack, **{"average rank": np.nan})
    frame = frame.sort_values(["verdict", "ran"], key=_order, kind="stable")
    frame = frame.loc[[first, *frame.index.drop(first)], [x for x in _COLUMNS if x in frame]]
    if "difference" in frame:
        means = own_scores(scored).mean().where(has == has.max())
        frame.insert(2, f"mean {scored.metric.name}", means)
    terms: Any = {"chosen": section.chosen, "scorer": scored.metric, "n": len(race.datasets)}
    terms |= {"leader": first, "first": (first,), "cautions": section.cautions}
    table = VerdictTable(frame=frame, least=1, **terms)
    best, risk = listed(left), number(100 * race.terms.alpha)
    n_out = len(table.named(STOPPED))
    more = (
        f"{NOW}, use {first}: it is ahead on average." * (len(left) > 1),
        f"{counted(n_out, 'other')} {'was' if n_out == 1 else 'were'} shown to be worse, and "
        "stopped to save time." * bool(n_out),
    )
    answer = f"No clear winner: {best} {OPEN}."
    if race.answered:
        alike = "are practically equal" if len(left) > 1 else "is the best"
        answer = f"{where(table)}, {best} {alike}."
    words = {
        USE: VERDICTS[USE],
        OPEN: "not shown to be worse",
        STOPPED: "shown to be worse than another, so it is run on no further dataset",
        BASELINE: VERDICTS[BASELINE],
    }
    more_data = [Step("Add datasets.", "They may tell which is the best.")] * (len(left) > 1)
    again = Step("For ranks and tests of all pairs, run what was skipped: mlaut run --complete.")
    cost = race.cost_sentence()
    asked = {
        "How sure is it?": f"The risk that the best was stopped is at most {risk} %, although "
        "they were compared after each dataset.",
        "What did it cost?": f"{cost}.{_slowest(race)}".replace("cells", "trainings") * bool(cost),
    }
    related = with_relatives(related_hint(race.datasets))
    return Screen(
        answer=answer,
        more=tuple(filter(None, more)),
        mind=("Bear in mind", *filter(None, (related,))),
        notes=(),
        steps=(*table.cautions, *more_data, again),
        cards=tuple((question, text) for question, text in asked.items() if text),
        say=in_words_of(scored),
        **screen_table(table, scored, {x: y for x, y in words.items() if table.named(x)}),
    )


_COLUMNS = ("verdict", "ran", "ratio", "difference", "won", "tied", "lost", "failures", "datasets")


def _slowest(race: Race) -> str:
    """Return why a race saved little: those that were never stopped took most of the time."""
    if race.cost is None or not race.cost["seconds left out"].sum():
        return ""
    seconds = race.cost["seconds"]
    share = seconds[list(race.left)].sum() / seconds.sum()
    told = f" {listed(race.left)} took {100 * share:.0f} % of the time spent."
    return told if share > _MOST_OF_TIME else ""


def _order(values: pd.Series) -> pd.Series:
    return values.isin([STOPPED, BASELINE]) if values.name == "verdict" else -values
