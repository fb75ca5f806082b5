"""Tables with a column for each fold, run or seed, as scikit-learn and pandas write them."""

import re
from collections.abc import Sequence
from dataclasses import replace

from mlaut.analysis.importers.asked import Asked
from mlaut.analysis.importers.grids.forms.grid import Grid
from mlaut.analysis.importers.grids.names import (
    are_numbered,
    is_summary,
    role_of,
    same_metric,
    without_unit,
)
from mlaut.analysis.importers.grids.sheet import Sheet
from mlaut.analysis.scores.usual_names import part_of, usual_name

_WORDS = "fold|split|run|seed|rep|repeat|repetition|trial"
_NAME = re.compile(rf"(?:(.+?)[\s_./-]+)?({_WORDS})s?[\s_#-]*(\d+)(?:[\s_./-]+(.+))?", re.I)
_FOLDS = ("fold", "split", "")
_KEYS = ("dataset", "strategy", "repeat", "fold", "source")  # roles of columns that stay
_SETTING = "param_"  # of scikit-learn's searches, which name all settings in `params` too


def by_run(g: Sheet, grid: Grid) -> tuple[Grid, Asked, dict[str, str]] | None:
    """Return a table with a row for each run in place of a column; None for any other table.

    The last part names the columns of the runs, by their role.
    """
    numbers = [x for x in g.columns if g.columns[x].is_number]
    given = {x: [*y] for x, y in g.asked.columns.items() if x in ("repeat", "fold")}
    own = {x: y for x, y in given.items() if are_numbered(y) and {*y} <= {*numbers}}
    if g.levels is not None or (({"score"} & {*g.asked.columns} or given) and not own):
        return None
    word, metric, runs = next(((x, "", y) for x, y in own.items()), None) or _runs(g, numbers)
    rest = [x for x in numbers if x not in runs]
    if not runs or any(g.metric and same_metric(without_unit(x), g.metric) for x in rest):
        return None
    over = [x for x in numbers if _NAME.fullmatch(x) and x not in runs]
    over += [x for x in rest if is_summary(x)]
    settings = [x for x in g.columns if x.startswith(_SETTING)] if "params" in g.columns else []
    asked = replace(g.asked, columns={x: y for x, y in g.asked.columns.items() if x not in own})
    if settings and not asked.chosen:
        asked = asked.with_columns(strategy="params")
    level, value = ("fold" if word in _FOLDS else "repeat"), metric or g.metric or "score"
    others = [x for x in rest if x not in over and g.roles[x] not in _KEYS]
    plain = [*settings, *(x for x in others if g.roles[x] or usual_name(x))]
    kept = [x for x in g.columns if x not in {*over, *plain, *runs}]
    table = g.table[[*kept, *runs]].melt(kept, runs, var_name=level, value_name=value)
    left = [f"`{x}` (a summary)" for x in over] + [f"`{x}` (a spread)" for x in g.paired.values()]
    left = [*g.unused, *left, *(f"`{x}`" for x in plain)]
    said = {level: f"columns `{runs[0]}` to `{runs[-1]}`", "score": ""}
    return Grid(grid.name, table, left=tuple(left)), asked, said


def _runs(g: Sheet, numbers: Sequence[str]) -> tuple[str, str, list[str]]:
    """Return what the columns of runs are called, the metric in their names, and the columns."""
    found: dict[tuple[str, str], list[str]] = {}
    for name in numbers:
        if parts := _NAME.fullmatch(name):
            metric = " ".join(x for x in (parts[1], parts[4]) if x)
            found.setdefault((parts[2].lower(), metric), []).append(name)
    found = {key: names for key, names in found.items() if len(names) > 1}
    tested = {key: x for key, x in found.items() if part_of(key[1]) not in ("val", "train")}
    wanted = {key: x for key, x in found.items() if g.metric and same_metric(key[1], g.metric)}
    found = wanted or tested or found
    if len(found) > 1:
        kinds = [metric for _, metric in found]
        text = f"its runs are of several metrics ({', '.join(kinds)}), so say which one"
        raise g.refuse(text, *({"metric": x} for x in kinds[:3]))
    if found:
        (word, metric), runs = next(iter(found.items()))
        return word, metric if usual_name(metric) else "", runs
    return "", "", _counted(g, numbers)


def _counted(g: Sheet, numbers: Sequence[str]) -> list[str]:
    """Return the columns 0, 1, 2 and so on, where two others name datasets and strategies."""
    texts = [x for x in g.columns if x not in numbers and role_of(x) != "metric"]
    runs = [x for x in numbers if x.isdigit()]
    counts = [[*map(str, range(first, first + len(runs)))] for first in (0, 1)]
    both = len(texts) > 1 and g.is_key(texts) and not any(g.is_key([x]) for x in texts)
    return runs if len(runs) > 1 and runs in counts and both else []
