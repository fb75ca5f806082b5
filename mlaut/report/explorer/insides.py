"""Details behind the scores of a study: predictions by class, chosen parameters, failures."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mlaut.records import Block, Status
from mlaut.report.explorer.packing import Packer
from mlaut.report.state import ReadOnce

_MOST_CLASSES = 20  # a larger confusion matrix fits no screen
_MOST_COUNTS = 2_000_000  # numbers in all confusion matrices and curves: about 1 MB of the page
_MOST_TEXT = 1_000_000  # characters of parameters and tracebacks: about 100 kB of the page
_LONGEST = 6_000  # characters of one of them
_BINS = 10  # of equal width, as reliability diagrams usually have


def insides(study: ReadOnce, packer: Packer) -> dict[str, Any]:
    """Return the records behind the scores of a study; their arrays go to the packer."""
    inside: dict[str, Any] = {"bins": _BINS, "notes": [], "texts": [], "datasets": {}}
    for name, entry in study.load_splits().items():
        facts = {"split": entry.split.scheme, "rows": entry.split.n_rows}
        inside["datasets"][name] = {"facts": facts, "classes": list(map(str, entry.classes))}
    if study.small:
        _add_predictions(study, inside, packer)
    else:
        inside["notes"].append("too many predictions for confusion matrices in a page")
    if study.few:
        _add_records(study.all_details(), inside)
    else:
        inside["notes"].append("too many cells for their parameters and tracebacks in a page")
    return inside


def _add_predictions(study: ReadOnce, inside: dict[str, Any], packer: Packer) -> None:
    """Add properties, confusion matrices and calibration curves of datasets."""
    room = _MOST_COUNTS
    for block in study.parts():
        record = inside["datasets"][block.dataset]
        if block.targets:
            continue
        record["facts"] |= _of_classes(block) if block.classes else {}
        size = len(block.classes) ** 2 + 3 * _BINS
        room -= size * len(block.strategies)
        if 0 < len(block.classes) <= _MOST_CLASSES and room >= 0:
            curves = [_curve(block, s) for s in range(len(block.strategies))]
            shown = {"strategies": block.strategies, "confusion": packer.add(_confusion(block))}
            record["predicted"] = [shown | {"curves": packer.add(np.stack(curves))}]
    if room < 0:
        inside["notes"].append("too many confusion matrices for a page: some are left out")


def _confusion(block: Block) -> np.ndarray:
    """Return how often each class was predicted as each: shape (S, C, C), true classes in rows."""
    c = len(block.classes)
    valid = (block.predictions >= 0) & (block.predictions < c)
    pairs = block.truth * c + block.predictions
    counts = [
        np.bincount(own[here], minlength=c * c) for own, here in zip(pairs, valid, strict=True)
    ]
    return np.stack(counts).astype(np.uint32)


def _curve(block: Block, s: int) -> np.ndarray:
    """Return rows, mean probability and share right by the probability of the predicted class.

    Returns
    -------
    ndarray of float, shape (3, bins)
        Zeros where the strategy predicts no probabilities.
    """
    if block.probabilities is None:
        return np.zeros((3, _BINS))
    likely = block.probabilities[s].reshape(-1, len(block.classes)).astype(float)
    complete = ~np.isnan(likely).any(axis=1)
    likely, truth = likely[complete], np.tile(block.truth, len(block.probabilities[s]))[complete]
    top = likely.max(axis=1, initial=0.0).clip(0, 1)  # a study from elsewhere may hold any number
    right = likely.argmax(axis=1) == truth if len(likely) else np.zeros(0, dtype=bool)
    at = np.minimum((top * _BINS).astype(int), _BINS - 1)
    counts, sums, hits = (np.bincount(at, weights=w, minlength=_BINS) for w in (None, top, right))
    share = np.divide([sums, hits], counts, out=np.zeros((2, _BINS)), where=counts > 0)
    return np.vstack([counts, share.round(4)])  # four digits are enough to draw, and compress well


def _add_records(
    details: Iterable[tuple[str, Sequence[Mapping[str, Any]]]], inside: dict[str, Any]
) -> None:
    """Add the chosen parameters and the failures of each strategy and dataset."""
    texts: dict[str, int] = {}
    room = _MOST_TEXT
    for dataset, records in details:
        counts: Counter[tuple[str, ...]] = Counter()
        for record in records:
            if record.get("best_params"):
                chosen = ", ".join(f"{k} = {v}" for k, v in sorted(record["best_params"].items()))
                counts["chosen", record["strategy"], chosen] += 1
            if record["status"] != Status.DONE.word and record["reason"]:
                why = (record["status"], record["reason"], record.get("traceback", ""))
                counts["failed", record["strategy"], *why] += 1
        for (kind, strategy, *words), count in counts.items():
            short = [text[-_LONGEST:] for text in words]  # the end of a traceback says most
            room -= sum(len(text) for text in short if text not in texts)
            if room > 0:
                places = [texts.setdefault(text, len(texts)) for text in short]
                inside["datasets"][dataset].setdefault(kind, []).append([strategy, count, *places])
    inside["texts"] = list(texts)
    if room <= 0:
        inside["notes"].append("too many parameters and tracebacks for a page: some are left out")


def _of_classes(block: Block) -> dict[str, float]:
    """Return the number of classes in the truth of a dataset, and how uneven their shares are."""
    shares = np.unique(block.truth, return_counts=True)[1] / len(block.truth)
    even = -float(shares @ np.log(shares)) / np.log(max(len(shares), 2))
    # rounded, since noise of the last bits would break ties
    return {"classes": len(shares), "imbalance": round(1 - even, 12)}
