"""The reason for a verdict, in a sentence, where the numbers seem to say otherwise."""

import numpy as np
import pandas as pd

from mlaut.analysis.deciding.verdict_table import OFTEN, VerdictTable
from mlaut.analysis.deciding.verdicts import AVOID, BASELINE, FAILS, OPEN, UNDECIDED
from mlaut.analysis.deciding.words import unit

_MOST = 2  # reasons in the headline besides those of the most surprising pair
_SEEN = 15  # strategies, the best first: a reason of another would be about a row that is not seen
_MANY = 0.75  # share of the datasets without a tie: of two in three one expects chance
_FEW = 1 / 3  # share of the lost datasets; most of an even loss is on half of them


def reasons(table: VerdictTable, unclear: pd.Series, gap: pd.DataFrame) -> pd.Series:
    """Return the reason for each verdict that its numbers seem to contradict, else an empty text.

    Parameters
    ----------
    table : VerdictTable
        Its table has the verdicts, and the numbers against the leader.
    unclear : Series of str
        For each strategy why the result of the primary test is not clear, or an empty text.
    gap : DataFrame
        How far each strategy is from the leader on each dataset or source (`margins.gaps`); of
        ratios the logarithms.
    """
    frame, texts, failing = table.frame, unclear.copy(), _failing(table)
    gap = gap * (1 if table.size in frame else np.nan)
    worse = (-gap if table.scorer.greater_is_better else gap).clip(lower=0)
    often, (harsh, mild) = _often(frame), _opposed(table)
    for name in map(str, frame.index):
        if failing[name] and frame["verdict"][name] != BASELINE:
            lacking = frame["failures"][name]
            texts[name] = f"{name} has no result on {lacking} of {table.n} datasets."
        elif not texts[name] and name in harsh:
            little = f"often by little (by less than {mild[0]} on average)"
            texts[name] = f"{_worse(table, name)}, {little}."
        elif not texts[name] and (name in mild or often[name]):
            texts[name] = f"{_worse(table, name)}, {_why_open(table, name, worse[name])}."
    return texts


def _why_open(table: VerdictTable, name: str, worse: pd.Series) -> str:
    """Return why a strategy may be the best although it is worse than the leader on many."""
    failed = table.frame["failures"][table.leader]
    if failed >= OFTEN * table.n:
        return f"but {table.leader} has no result on {failed}"
    if table.losses[name] < 0:
        return "but not on average"
    few = _few(worse)
    most = f"and {few} of them make{'s' * (few == 1)} up most of its gap"
    seldom = ": seldom by much" if table.frame["won"][name] else ""
    return f"{most}{seldom}" if few else "which may be chance"


def _failing(table: VerdictTable) -> pd.Series:
    """Return which strategies failed often, or failed but are better than the leader elsewhere."""
    frame = table.frame
    hidden = (frame["failures"] > 0) & (frame["won"] > frame["lost"])
    return hidden | (frame["failures"] >= OFTEN * table.n) | (frame["verdict"] == FAILS)


def _opposed(table: VerdictTable) -> tuple[list[str], list[str]]:
    """Return two lists of strategies whose verdicts and losses seem to contradict each other.

    Strategies of the first list are to be avoided, although they lose less than some strategies of
    the second list, which have a milder verdict. Each list begins with the most surprising one.
    """
    frame, size = table.frame, table.losses.mask(_failing(table))
    avoided, kept = frame["verdict"] == AVOID, frame["verdict"].isin([OPEN, UNDECIDED])
    if table.control or not (avoided.any() and kept.any()):
        return [], []
    harsh = size[avoided & (size < size[kept].max())].sort_values()
    mild = size[kept & (size > size[avoided].min())].sort_values(ascending=False)
    return list(map(str, harsh.index)), list(map(str, mild.index))


def _worse(table: VerdictTable, name: str) -> str:
    """Return a phrase on the number of datasets or sources on which a strategy is worse."""
    won, tied, lost = (int(table.frame[column][name]) for column in ("won", "tied", "lost"))
    where = f"{lost} of {won + tied + lost}" if won + tied else f"all {lost}"
    return f"{name} is worse than {table.leader} on {where} {unit(table)}"


def _few(worse: pd.Series) -> int:
    """Return the number of datasets that make up most of a loss, or 0 if they are not few."""
    sizes = np.sort(worse[worse > 0])[::-1]
    few = 1 + np.count_nonzero(2 * sizes.cumsum() <= sizes.sum())
    return int(few) if few <= _FEW * len(sizes) else 0


def headline_reasons(table: VerdictTable) -> list[str]:
    """Return the reasons that the headline states; the table has the reasons of all strategies."""
    if "reason" not in table.frame:
        return []
    frame, (harsh, mild) = table.frame.iloc[:_SEEN], _opposed(table)
    pair = [*harsh[:1], *mild[:1]]
    own = frame.index[_often(frame) & (frame["reason"] != "") & ~frame.index.isin([*harsh, *mild])]
    names = [*pair, *own[:_MOST]] if {*pair} <= {*frame.index} else own[:_MOST]
    return frame["reason"][names].tolist()


def _often(frame: pd.DataFrame) -> pd.Series:
    """Return which strategies may be the best, and are worse than the leader on many datasets."""
    many = frame["lost"] >= _MANY * (frame["won"] + frame["lost"]).clip(lower=1)
    return (frame["verdict"] == OPEN) & many
