"""The reason for a verdict, in a few words, where the numbers seem to say otherwise."""

import numpy as np
import pandas as pd

from mlaut.analysis.deciding.verdict_table import OFTEN, VerdictTable
from mlaut.analysis.deciding.verdicts import AVOID, OPEN, UNDECIDED, YARDSTICK

_MOST = 2  # reasons in the headline besides those of the most surprising pair
_SEEN = 15  # strategies, the best first: a reason of another would be about a row that is not seen
_MANY = 0.75  # share of the datasets without a tie: of two in three one expects chance
_FEW = 1 / 3  # share of the lost datasets; most of an even loss is on half of them


def losses(found: VerdictTable) -> pd.Series:
    """Return how much worse than the leader each strategy is; of ratios the logarithm."""
    frame = found.frame
    if "ratio" in frame:
        size = np.log(frame["ratio"])
    else:
        size = frame.get("difference", frame["failures"] * np.nan)
    return -size if found.scorer.greater_is_better else size


def reasons(found: VerdictTable, unclear: pd.Series, gap: pd.DataFrame) -> pd.Series:
    """Return the reason for each verdict that its numbers seem to contradict, else an empty text.

    Parameters
    ----------
    found : VerdictTable
        Its table has the verdicts, and the numbers against the leader.
    unclear : Series of str
        For each strategy why the result of the primary test is not clear, or an empty text.
    gap : DataFrame
        How far each strategy is from the leader on each dataset (`margins.gaps`).
    """
    frame, texts, failing = found.frame, unclear.copy(), _failing(found)
    gap = gap.map(np.log) if "ratio" in frame else gap * (1 if "difference" in frame else np.nan)
    worse = (-gap if found.scorer.greater_is_better else gap).clip(lower=0)
    often = (frame["verdict"] == OPEN) & (frame["lost"] >= _MANY * (frame["won"] + frame["lost"]))
    harsh, mild = _opposed(found)
    for name in map(str, frame.index):
        if failing[name] and frame["verdict"][name] != YARDSTICK:
            texts[name] = f"failed on {frame['failures'][name]} of {found.n}"
            if name != found.leader:
                won, lost = (f"{frame[one][name]:.0f}" for one in ("won", "lost"))
                texts[name] += f"; elsewhere better on {won} and worse on {lost}"
        elif not texts[name] and name in harsh:
            texts[name] = f"loses less than {mild[0]}, but {_how(found, name, worse[name])}"
        elif not texts[name] and (name in mild or often[name]):
            start = f"loses more than {harsh[0]}, but" if name in mild else "worse"
            chance = ", which can still be chance" * (frame["verdict"][name] == OPEN)
            texts[name] = f"{start} {_how(found, name, worse[name])}{chance}"
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


def _how(found: VerdictTable, name: str, worse: pd.Series) -> str:
    """Return on how many datasets a strategy loses, and on how few of them most of its loss is."""
    n = found.frame.loc[name, ["won", "tied", "lost"]].sum()
    sizes = np.sort(worse[worse > 0])[::-1]
    few = 1 + np.count_nonzero(2 * sizes.cumsum() <= sizes.sum())
    most = f", most of it on {few}" if few <= _FEW * len(sizes) else ""
    return f"on {found.frame['lost'][name]:.0f} of {n:.0f} datasets{most}"


def told(found: VerdictTable) -> list[str]:
    """Return the reasons that the headline gives; the table has those of all strategies."""
    if "reason" not in found.frame:
        return []
    frame, (harsh, mild) = found.frame.iloc[:_SEEN], _opposed(found)
    other = frame.index[(frame["reason"] != "") & ~frame.index.isin([*harsh, *mild])][:_MOST]
    pair = [*harsh[:1], *mild[:1]]
    names = [*pair, *other] if {*pair} <= {*frame.index} else other
    return [f"{name} ({frame['verdict'][name]}): {frame['reason'][name]}." for name in names]
