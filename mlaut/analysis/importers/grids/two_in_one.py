"""Names and cells that hold two things, or half of one: metrics behind names, ``+ mixup``."""

import re
from collections import Counter
from collections.abc import Collection

import numpy as np
import pandas as pd

from mlaut.analysis.importers.grids.cells import Column, columns_of, plain
from mlaut.analysis.importers.grids.columns import measure_in
from mlaut.analysis.importers.grids.names import is_summary, role_of, same_metric
from mlaut.analysis.importers.grids.sheet import Sheet
from mlaut.analysis.scores.usual_names import usual_name

_MORE = re.compile(r"[+↳⤷→]|w/|with ")  # begins what is added to the row above
_BETWEEN = ("+", "__", "@", "|", " / ", "/", ":")  # two names in one
_CROSSED = 0.6  # share of pairs of names with a row
_MOST = 0.8  # of the names or cells of a column


def split_crossed(table: pd.DataFrame, metric: str, said: Collection[str]) -> pd.DataFrame:
    """Return a table of metrics whose only names, as ``iris+svm``, are two columns, if they cross.

    Columns that a user names stay as they are.
    """
    name = table.columns[0] if table.columns.nlevels == 1 and table.shape[1] > 1 else ""
    others = [str(x) for x in table.columns[1:]]
    scored = any(same_metric(measure_in(x, metric) or x, metric) for x in others)
    if not (isinstance(name, str) and name and scored) or name in said:
        return table
    if role_of(name) or any(role_of(x) in ("dataset", "strategy") for x in others):
        return table
    labels = [str(x) for x in table.iloc[:, 0]]
    for sign in _BETWEEN:
        parts = [x.split(sign) for x in labels]
        if any(len(x) != 2 or not all(x) for x in parts):
            continue
        first, second = ([x[i].strip() for x in parts] for i in (0, 1))
        n, sizes = len({*labels}), [len({*x}) for x in (first, second)]
        if any(re.fullmatch(r"[\d.,]+", x) for x in (*first, *second)):
            continue
        if n == len(labels) and min(sizes) > 1 and max(sizes) < n and n > _CROSSED * np.prod(sizes):
            at = list(table.columns).index(name)
            both = {f"{name} before {sign}": first, f"{name} behind {sign}": second}
            rest = table.drop(columns=name)
            for i, (new, column) in enumerate(both.items()):
                rest.insert(at + i, new, np.array(column, dtype=object))
            return rest
    return table


def split_names(g: Sheet) -> None:
    """Put the metric behind the names of rows, as in ``Higgs AUC``, into a column of its own.

    Names that have other metrics than others are those of datasets.
    """
    roles = ("", "dataset", "strategy")
    texts = [x for x in g.columns if not g.columns[x].is_number and g.roles[x] in roles]
    if not g.metric or g.named("metric") or not texts or g.asked.columns.get("score"):
        return
    labels = [str(x) for x in g.columns[texts[0]].labels()]
    both = [(x[0].strip(" -,:"), x[2]) for x in (label.rpartition(" ") for label in labels)]
    both = [(x, y) if x and usual_name(y) else (x, "") for x, y in both]
    metrics = {y for _, y in both}
    wanted = any(same_metric(x, g.metric) for x in metrics)
    if np.mean([bool(y) for _, y in both]) < _MOST or len(metrics) < 2 or not wanted:
        return
    names = [x if y else label for (x, y), label in zip(both, labels, strict=True)]
    of = {x: frozenset(y for z, y in both if z == x) for x in names}
    if g.roles[texts[0]] == "" and len({*of.values()}) > 1:
        g.roles[texts[0]] = "dataset"
    g.columns[texts[0]] = Column(texts[0], texts=np.array(names, dtype=object))
    g.columns["metric"] = Column("metric", texts=np.array([y for _, y in both], dtype=object))
    g.roles["metric"] = "metric"


def complete_names(g: Sheet) -> None:
    """Put the name above before names like ``+ mixup``, where those repeat."""
    texts = [x for x in g.columns if not g.columns[x].is_number and g.roles[x] != "dataset"]
    labels = [str(x) for x in g.columns[texts[0]].labels()] if texts else []
    again = {x for x, n in Counter(labels).items() if n > 1}
    if not again or not all(map(_MORE.match, again)) or _MORE.match(labels[0]):
        return
    whole, above = list[str](), ""
    for label in labels:
        more = _MORE.match(label)
        above = above if more else label
        whole.append(f"{above} {label}" if more else label)
    g.columns[texts[0]] = Column(texts[0], texts=np.array(whole, dtype=object))


def split_cells(g: Sheet) -> None:
    """Keep the number of the wanted metric in cells like ``68.1 / 78.9`` of ``Accuracy / F1``.

    A cell with one number is of the first metric.
    """
    found = {x: metrics for x in map(str, g.table) if len(metrics := _metrics_of(x)) > 1}
    said = {x for names in g.asked.columns.values() for x in names}
    datasets: dict[str, str] = {}
    cells_of = {x: [re.split("[/|]", plain(y)) for y in g.table[x]] for x in found}
    cells_of = {
        x: y for x, y in cells_of.items() if x in g.columns and g.columns[x].texts is not None
    }
    several = {x for x, cells in cells_of.items() if max(map(len, cells)) > 1}
    for name, cells in cells_of.items() if several else ():
        own = [i for i, x in enumerate(found[name]) if same_metric(x, g.metric)]
        if len(own) != 1 or not {*map(len, cells)} <= {1, len(found[name])}:
            continue
        at, base = own[0], name.rpartition(found[name][0])[0].rstrip(" (/|")
        kept = [x[at] if at < len(x) else "" for x in cells]
        new = name if name in said else base or found[name][at]
        [column] = columns_of(pd.DataFrame({new: kept}))
        datasets |= {new: name} if base else {}
        g.columns = {new if x == name else x: y for x, y in (g.columns | {name: column}).items()}
        g.roles[new] = g.roles[name]
        others = [x for i, x in enumerate(found[name]) if i != at]
        g.unused += [f"{', '.join(others)} in `{name}`"] * (name in several)
    if not datasets or g.asked.chosen or {*datasets} & said:
        return
    rest = [
        x for x, y in g.columns.items() if y.is_number and g.roles[x] == "" and x not in datasets
    ]
    if rest := [x for x in rest if not is_summary(x)]:
        text = f"`{rest[0]}` may be of another metric than {g.metric}: others name two metrics each"
        raise g.refuse(text, {"unused": rest}, {"score": [*rest, *datasets.values()]})


def _metrics_of(name: str) -> list[str]:
    """Return the metrics that the end of a name lists, as of ``MRPC (F1/Acc)``."""
    metrics = [x.strip() for x in re.split("[/|]", name.rpartition("(")[2].rstrip(" )"))]
    while metrics and "(" not in name and not usual_name(metrics[0]):
        metrics = metrics[1:]  # of a level above
    return metrics if all(usual_name(x) for x in metrics) else []
