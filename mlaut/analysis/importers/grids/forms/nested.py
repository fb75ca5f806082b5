"""Tables of nested dictionaries and lists, as JSON and Python have them."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.importers.grids.cells import WORDS
from mlaut.analysis.importers.grids.columns import measure_in
from mlaut.analysis.importers.grids.forms.grid import Grid, grid_of_frame, tidy
from mlaut.analysis.importers.grids.names import MEANS, role_of
from mlaut.analysis.scores.usual_names import usual_name
from mlaut.errors import AnalysisError

_AVERAGES = {"macro avg": "f1_macro", "weighted avg": "f1_weighted", "micro avg": "f1_micro"}
OF_CLASSES = ("numbers of each class",)
_STATISTICS = {"values", "scores", "runs", "all", "n", *MEANS, *WORDS["spreads"], "median"}
RUNS = ("repeat", "fold")
_WHOLE = re.compile("overall|total|aggregated?|all", re.I)
_PARTS = re.compile("(?:per|by)_", re.I)  # of questions, for example
_HISTORY = re.compile("(?:^|_)(?:history|curves?|trajectory)$", re.I)


def grid_of_object(content: Any) -> Grid:
    """Return nested dictionaries and lists as a table: a row for each way to a number.

    The place in the innermost lists, if two names lead to each beside a metric, is a repeat.
    """
    if isinstance(content, dict) and isinstance(content.get("data"), list):  # "split", "table"
        table = pd.DataFrame(content["data"], content.get("index"), content.get("columns"))
        return grid_of_frame(table)
    content = _over_parts(content, parts := dict[str, None]())
    content = _over_statistics(content, runs := list[Any]())
    content, note = over_classes(content, found := list[Any]()), OF_CLASSES[: len(found)]
    content = _over_folds(content, tested := dict[str, None]())
    place = "fold" if tested else "repeat"
    note = (*note, *(f"`{x}`" for x in (*parts, *tested)))
    while type(content) is dict and (only := _only_rows(content)):
        note = (*note, *(f"`{x}`" for x in content if x != only))
        content = content[only]
    named = (
        [x for x, inner in content.items() if named_rows(inner)] if type(content) is dict else []
    )
    if named:  # beside a summary and settings, for example
        note = (*note, *(f"`{x}`" for x in content if x not in named))
        each = [{"level 1": x, **row} for x in named for row in content[x]]
        content = each if len(named) > 1 else content[named[0]]
    content = _in_rows(content)
    if isinstance(content, list) and all(isinstance(row, dict) for row in content):
        lists = {x for row in content for x in row if named_rows(row[x])}
        if len(lists) == 1:  # of each dataset, beside what describes it
            (name,) = lists
            content = [{**row, **each} for row in content for each in row.get(name, ())]
            content = [{x: cell for x, cell in row.items() if x != name} for row in content]
        table = pd.json_normalize(content)
        inner = [x for x in table if any(isinstance(y, list | dict) for y in table[x])]
        return Grid("", tidy(table.drop(columns=inner)), left=(*note, *(f"`{x}`" for x in inner)))
    leaves = list(_leaves(content, (), listed := set[tuple[str, ...]]()))
    if leaves and all(len(way) == 1 for way, _ in leaves):  # a file of a folder
        return Grid("", pd.DataFrame([{way[0]: value for way, value in leaves}]), left=note)
    depth = Counter(len(way) for way, _ in leaves).most_common(1)
    if not depth or depth[0][0] < 2:
        raise AnalysisError("no scores of strategies on datasets in it: save them as CSV")
    n = depth[0][0]
    left = sorted({"/".join(way) for way, _ in leaves if len(way) != n})
    rows = [(*way, value) for way, value in leaves if len(way) == n]
    levels = [f"level {i}" for i in range(1, n + 1)]
    names = [all(usual_name(x) for x in level) for level in [*zip(*rows, strict=True)][: n - 1]]
    if (tested or runs or names.count(False) > 1) and all(row[: n - 1] in listed for row in rows):
        levels[-1] = place  # of two keys; beside one, places in lists may be datasets
    table = pd.DataFrame(rows, columns=[*levels, "value"])
    inner = list(dict.fromkeys(table[levels[1]]))
    values = content.values() if type(content) is dict else ()
    even = len({len(x) for x in values if isinstance(x, list)}) < 2
    if n == 2 and even and inner == [str(i) for i in range(len(inner))]:  # rows, of pandas
        frame = pd.DataFrame(content)
        frame = frame.rename_axis(place).reset_index() if tested else frame
        return Grid("", tidy(frame), left=note)
    return Grid("", table, tuple(levels), (*left, *note))


def named_rows(content: Any) -> bool:
    """Return whether content is a list of rows, each of which has a name beside its numbers.

    Both may stand deeper, as in ``{"scores": {"iris": 0.9}, "entry": {"name": "svm"}}``.
    """
    rows = content if isinstance(content, list) else []
    inner = [[*_inner(row)] if isinstance(row, dict) else [] for row in rows]
    named = len(rows) > 1 and all(any(isinstance(x, str) for x in cells) for cells in inner)
    return named and any(type(x) in (int, float) for cells in inner for x in cells)


def _inner(row: dict[Any, Any]) -> Iterator[Any]:
    for cell in row.values():
        yield from _inner(cell) if isinstance(cell, dict) else [cell]


def _only_rows(content: dict[Any, Any]) -> str:
    """Return the name of the only part with lists of rows by name, if the others have none."""
    each = {
        x: y for x, y in content.items() if type(y) is dict and any(map(named_rows, y.values()))
    }
    return next(iter(each)) if len(each) == 1 and not any(map(named_rows, content.values())) else ""


def _in_rows(content: Any) -> Any:
    """Return a dictionary of rows, each of which has numbers and texts, as a list with the names.

    A text beside numbers is what was chosen, or a word for a score that failed.
    """
    if not isinstance(content, dict) or not all(type(row) is dict for row in content.values()):
        return content
    cells = [(x, cell) for row in content.values() for x, cell in row.items()]
    texts = {x for x, cell in cells if isinstance(cell, str)}
    scored = {x for x, _ in cells} - texts
    metrics = [x for x in scored if measure_in(x) or usual_name(x)]  # beside other measures
    if not named_rows([*content.values()]) and not 1 < len(metrics) < len(scored):
        return content
    rows = [{"level 1": name, **row} for name, row in content.items()]
    same = {*map(frozenset, content.values())}
    return rows if scored and (len(same) == 1 or frozenset.intersection(*same) & texts) else content


def over_classes(content: Any, found: list[Any]) -> Any:
    """Return content with each report of classes, as scikit-learn makes it, as its averages."""
    if isinstance(content, list):
        return [over_classes(inner, found) for inner in content]
    if not isinstance(content, dict):
        return content
    if not isinstance(content.get("macro avg"), dict):
        return {name: over_classes(inner, found) for name, inner in content.items()}
    found.append(content)
    each = {name: content.get(key) for key, name in _AVERAGES.items()}
    f1 = {x: y["f1-score"] for x, y in each.items() if isinstance(y, dict) and "f1-score" in y}
    return {name: x for name, x in content.items() if not isinstance(x, dict)} | f1


def _over_statistics(content: Any, found: list[Any]) -> Any:
    """Return content with the numbers of runs, beside their mean or spread, as the runs alone."""
    if not isinstance(content, dict):
        return content
    runs = [x for x in content.values() if isinstance(x, list) and len(x) > 1]
    if len(runs) == 1 and len(content) > 1 and {*map(str.lower, map(str, content))} <= _STATISTICS:
        found.append(runs[0])
        return runs[0]
    return {name: _over_statistics(inner, found) for name, inner in content.items()}


def _over_parts(content: Any, left: dict[str, None]) -> Any:
    """Return content without what happened during a training, and only the result over all parts.

    That is the result called ``overall`` beside one ``per_type``. What goes is added to ``left``.
    """
    if not isinstance(content, dict):
        return content
    whole = [x for x, y in content.items() if _WHOLE.fullmatch(str(x)) and isinstance(y, dict)]
    parts = [x for x, y in content.items() if _PARTS.match(str(x)) and isinstance(y, dict)]
    if len(whole) == 1 and parts:
        left |= dict.fromkeys(str(x) for x in content if x != whole[0])
        return content[whole[0]]
    gone = [x for x, y in content.items() if _HISTORY.search(str(x)) and isinstance(y, dict | list)]
    if 0 < len(gone) < len(content):
        left |= dict.fromkeys(map(str, gone))
        content = {x: y for x, y in content.items() if x not in gone}
    return {name: _over_parts(inner, left) for name, inner in content.items()}


def _over_folds(content: Any, left: dict[str, None]) -> Any:
    """Return content with each result of scikit-learn's ``cross_validate`` as its test scores.

    What else these have, times of fits at least, is added to ``left``.
    """
    if not isinstance(content, dict):
        return content
    if not {"fit_time", "score_time"} <= {*content}:
        return {name: _over_folds(inner, left) for name, inner in content.items()}
    left |= dict.fromkeys(x for x in content if not x.startswith("test_"))
    tests = {x.removeprefix("test_"): y for x, y in content.items() if x.startswith("test_")}
    return tests.get("score", tests)


def _leaves(
    content: Any, way: tuple[str, ...], listed: set[tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each number with the way to it; ``listed`` gets the ways to lists."""
    if isinstance(content, dict):
        sizes = [len(x) for x in content.values() if isinstance(x, list)]
        for name, inner in content.items():
            alike = isinstance(inner, list) and sizes.count(len(inner)) > 1
            if alike and role_of(str(name)) in RUNS:
                continue  # the numbers of the runs whose scores another list has
            names = name if isinstance(name, tuple) else (name,)
            yield from _leaves(inner, (*way, *map(str, names)), listed)
    elif isinstance(content, list | tuple | np.ndarray | pd.Series):
        listed.add(way)
        for i, inner in enumerate(content):
            yield from _leaves(inner, (*way, str(i)), listed)
    else:
        yield way, content
