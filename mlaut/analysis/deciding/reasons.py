"""The reason for a verdict, in a few words, where the numbers seem to say otherwise."""

import numpy as np
import pandas as pd

from mlaut.analysis.deciding.verdict_table import OFTEN, VerdictTable
from mlaut.analysis.deciding.verdicts import AVOID, OPEN, UNDECIDED, YARDSTICK

_MOST = 2  # reasons in the headline besides that of the most surprising pair


def losses(found: VerdictTable) -> pd.Series:
    """Return how much worse than the leader each strategy is; of ratios the logarithm."""
    frame = found.frame
    if "ratio" in frame:
        size = np.log(frame["ratio"])
    else:
        size = frame.get("difference", frame["failures"] * np.nan)
    return -size if found.scorer.greater_is_better else size


def reasons(found: VerdictTable, unclear: pd.Series) -> pd.Series:
    """Return the reason for each verdict that its numbers seem to contradict, else an empty text.

    Parameters
    ----------
    found : VerdictTable
        Its table has the verdicts, and the numbers against the leader.
    unclear : Series of str
        For each strategy why the result of the primary test is not clear, or an empty text.
    """
    frame, texts, failing = found.frame, unclear.copy(), _failing(found)
    harsh, mild = _opposed(found)
    for name in map(str, frame.index):
        if failing[name] and frame["verdict"][name] != YARDSTICK:
            texts[name] = f"failed on {frame['failures'][name]} of {found.n}"
            if name != found.leader:
                won, lost = (f"{frame[one][name]:.0f}" for one in ("won", "lost"))
                texts[name] += f"; elsewhere better on {won} and worse on {lost}"
        elif not texts[name] and name in harsh:
            texts[name] = f"loses less than {mild[0]}, but {_how(found, name, mild[0])}"
        elif not texts[name] and name in mild:
            texts[name] = f"loses more than {harsh[0]}, but {_how(found, name, harsh[0])}"
    return texts


def _failing(found: VerdictTable) -> pd.Series:
    """Return which strategies failed often, or failed but are better than the leader elsewhere."""
    frame = found.frame
    hidden = (frame["failures"] > 0) & (frame["won"] > frame["lost"])
    return hidden | (frame["failures"] >= OFTEN * found.n)


def _opposed(found: VerdictTable) -> tuple[list[str], list[str]]:
    """Return what is avoided but loses less than something milder judged, and the latter.

    Each list begins with the strategy about which this is most surprising.
    """
    frame, size = found.frame, losses(found).mask(_failing(found))
    avoided, kept = frame["verdict"] == AVOID, frame["verdict"].isin([OPEN, UNDECIDED])
    if found.control or not (avoided.any() and kept.any()):
        return [], []
    harsh = size[avoided & (size < size[kept].max())].sort_values()
    mild = size[kept & (size > size[avoided].min())].sort_values(ascending=False)
    return list(map(str, harsh.index)), list(map(str, mild.index))


def _how(found: VerdictTable, name: str, other: str) -> str:
    """Return on how many datasets one strategy loses, or how evenly if the other loses as often."""
    frame, size = found.frame, losses(found)
    every = frame[["won", "tied", "lost"]].sum(axis=1)
    share = frame["lost"] / every
    more = size[name] > size[other]
    if share[name] == share[other] or more == (share[name] > share[other]):
        return "unevenly" if more else "evenly"
    return f"on {frame['lost'][name]:.0f} of {every[name]:.0f}"


def told(found: VerdictTable) -> list[str]:
    """Return the reasons that the headline gives; the table has those of all strategies."""
    if "reason" not in found.frame:
        return []
    frame, (harsh, mild) = found.frame, _opposed(found)
    other = frame[(frame["reason"] != "") & ~frame.index.isin([*harsh, *mild])].iloc[:_MOST]
    texts = [f"{name} ({row['verdict']}): {row['reason']}." for name, row in other.iterrows()]
    if harsh:
        one, two = harsh[0], mild[0]
        how = _how(found, one, two)
        texts.append(
            f"{one} ({AVOID}) loses less on average than {two} ({frame['verdict'][two]}), but "
            f"{'more often, ' * how.startswith('on ')}{how}; {two} {_how(found, two, one)}."
        )
    return texts
