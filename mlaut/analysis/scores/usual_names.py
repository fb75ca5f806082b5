"""Names and abbreviations by which other people's tables call metrics, and what they mean."""

import re
from dataclasses import dataclass
from functools import lru_cache

from mlaut.helpers.markup import beside

_WORDS = beside(__file__)
_PARTS: dict[str, str] = {x: part for part, text in _WORDS["parts"].items() for x in text.split()}
_FILLERS, _UNITS = (_WORDS["fillers"][x].split() for x in ("of_names", "units"))
_GREATER: dict[str, str] = _WORDS["greater"]  # of which more is better
_FRACTIONS = frozenset(_WORDS["within"]["fractions"].split())
_COUNTS = ("hit", "hits")  # perhaps, without the places in which they are
_OF_ONE_UNIT = ("seconds", "loss")  # time_ms counts in its unit, and loss_g is of a generator
_NAMES: dict[str, str] = _GREATER | _WORDS["smaller"]
_KNOWN = {name: name for name in _NAMES}
_KNOWN |= {alias: name for name, text in _NAMES.items() for alias in text.split()}


@dataclass(frozen=True)
class UsualName:
    """Metric that a name stands for.

    Attributes
    ----------
    metric : str
        Its usual name, with the number behind ``@``, as ``"recall@20"``.
    greater : bool
        Whether more is better.
    part : str
        ``"test"``, ``"val"``, ``"train"``, or empty.
    """

    metric: str
    greater: bool
    part: str = ""


def part_of(name: str) -> str:
    """Return the part of the data, as "test", in the name of a metric; empty without one."""
    usual = usual_name(name)
    return "" if usual is None else usual.part


def is_fraction(name: str) -> bool:
    """Return whether a metric is within 0 and 1 by definition.

    Examples
    --------
    >>> is_fraction("ndcg@10"), is_fraction("mIoU"), is_fraction("hits"), is_fraction("hits@5")
    (True, True, False, True)
    """
    usual = usual_name(name)
    return (
        usual is not None
        and usual.metric.partition("@")[0] in _FRACTIONS
        and (name.strip().lower() not in _COUNTS)
    )


@lru_cache(maxsize=4096)
def usual_name(name: str) -> UsualName | None:
    """Return the metric that a name stands for; None if no usual metric is called so.

    Examples
    --------
    >>> usual_name("Test AUROC (%)"), usual_name("recall@20").metric, usual_name("forest")
    (UsualName(metric='roc_auc', greater=True, part='test'), 'recall@20', None)
    >>> usual_name("rmse_ms").metric, usual_name("ndcg10").metric, usual_name("AP_m")
    ('rmse', 'ndcg@10', None)
    >>> usual_name("Regrets").metric, usual_name("maps")
    ('regret', None)
    >>> usual_name("val_loss").part, usual_name("neg_rmse").greater, usual_name("1 - accuracy")
    ('val', True, None)
    """
    text = re.sub(r"[\s(\[]*[%↑↓][\s)\]]*$|\([^()]*\)\s*$", "", name.strip().lower())
    text = re.sub(r"[↑↓%$\\^{}*]", "", text).strip()
    text = re.sub(r"^(?:r|rec)(?=@)", "recall", re.sub(r"^p(?:rec)?(?=@)", "precision", text))
    text = re.sub(
        r"[\s_]at[\s_]?(?=\d)|(?<=^ndcg)(?=\d)|(?<=^recall)(?=\d)|(?<=^hits)(?=\d)", "@", text
    )
    at = re.search(r"@\s*(\d+(?:\.\d+)?)\s*", text)
    if at:
        text = text[: at.start()] + " " + text[at.end() :]
    words = [word for word in re.split(r"[\s_./:\-]+", text) if word]
    if "per" in words[:-1] and "_".join(words) not in _KNOWN:  # a rate, as samples_per_sec
        return None
    negative = words[:1] in (["neg"], ["negative"])
    words = words[negative:]
    parts = [_PARTS[word] for word in words if word in _PARTS]
    if parts and "_".join(words) not in _KNOWN:
        words = [word for word in words if word not in _PARTS]
    whole = "_".join(words)
    bare = [word for word in words if word not in _FILLERS]
    measured = bare[:-1] if bare[-1:] and bare[-1] in _UNITS else []  # as of rmse_ms
    one = [re.sub(r"(?<=[a-z]{3}[a-rt-z])s$", "", word) for word in bare]  # of regrets
    for candidate in (words, bare, measured, one):
        for joined in ("_".join(candidate), "".join(candidate)):
            if joined in _KNOWN:
                metric = _KNOWN[joined]
                if candidate is measured and (metric in _GREATER or metric in _OF_ONE_UNIT):
                    continue  # AP_m is of objects of medium size
                part = parts[0] if parts else "test" * whole.startswith("test_")
                shown = ("neg_" if negative else "") + metric + (f"@{at[1]}" if at else "")
                shown = "acc1" if shown == "accuracy@1" else shown
                return UsualName(shown, (metric in _GREATER) != negative, part)
    return None
