"""Tables of one dataset: their columns or rows are metrics, and their rows name strategies."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from mlaut.analysis.importers.asked import Asked
from mlaut.analysis.importers.grids.cells import WORDS
from mlaut.analysis.importers.grids.columns import average_columns, measure_in
from mlaut.analysis.importers.grids.forms.grid import Grid
from mlaut.analysis.importers.grids.keys import Keys, scores_of
from mlaut.analysis.importers.grids.names import (
    DURING,
    PARTS,
    bare_word,
    is_summary,
    part_by_name,
    role_of,
    same_metric,
    without_unit,
    word_of,
)
from mlaut.analysis.importers.grids.sheet import Sheet, likes, quoted
from mlaut.analysis.results.tables import usual_metric
from mlaut.analysis.scores.metric_names import direction
from mlaut.analysis.scores.usual_names import usual_name

P_VALUE = re.compile(r"p[_ -]?val|p[_ ]?>[_ ]?\|", re.I)
OF_MODELS = re.compile(r"param|flop|\bg?macs\b", re.I)  # sizes that no dataset has
_CLASSES = {"precision", "recall", "support"}  # columns of a report of classes
_TRUE, _PREDICTED = set(WORDS["true"]), set(WORDS["predicted"])
_NOTHING = "so there is nothing to compare: give a table for each"


def may_score(g: Sheet, name: str) -> bool:
    """Return whether a column is no other metric, time, flag or setting by its name or units."""
    if not g.columns[name].is_number:
        return False
    numbers, rate = g.columns[name].numbers, "_per_" in name
    if np.isin(numbers[~np.isnan(numbers)], (0, 1)).all() or rate or P_VALUE.search(name):
        return False
    plain = g.roles[name] == "" and not g.columns[name].unit and not g.columns[name].kind
    return plain and not is_metric(without_unit(name))


def is_metric(name: str) -> bool:
    """Return whether a name is that of a metric, such as R@5."""
    at = re.fullmatch(r"[a-zA-Z]+@(?:\d+|k)", name)
    known = direction(name) is not None and re.fullmatch(r"[\w ]+", name, re.ASCII)
    return usual_name(name) is not None or bool(known) or at is not None


def check_corner(g: Sheet, rows: Sequence[str], kind: str) -> None:
    """Raise an error where rows are called models, and have the names of datasets, or vice versa.

    In a corner the name may be that of the columns.
    """
    labels = [str(x) for x in g.label(rows) if not is_summary(str(x))]
    liked = likes([re.sub(r"-v\d+$", "", x) for x in labels])  # models have versions too
    across = likes([x for x in g.columns if g.columns[x].is_number and "_per_" not in x])
    corner = len(rows) == 1 and rows[0] == next(iter(g.columns))
    if corner and liked not in ("", kind) and across != liked:
        noun = "datasets" if liked == "dataset" else "strategies"
        text = f"`{rows[0]}` stands above the rows, and they look like {noun} by their names"
        raise g.refuse(text, {liked: rows[0]}, {kind: rows[0]})
    if across == kind == "strategy":  # models by several programs, perhaps
        text = f"`{rows[0]}` names rows, and columns look like strategies too"
        raise g.refuse(text, {"dataset": rows}, {"strategy": rows})


def of_one_dataset(g: Sheet, keys: Keys) -> Keys:
    """Return the keys of a table whose numbers are metrics of one dataset; others as they are."""
    named = {*keys.strategy, *keys.repeat, *keys.fold}
    numbers = [x for x in g.columns if g.columns[x].is_number and x not in (*named, "unnamed")]
    if {word_of(x) for x in numbers} >= _CLASSES and not keys.strategy:
        text = f"its rows are classes, as {quoted(sorted(_CLASSES), ', ')} show, of one model"
        raise g.refuse(f"{text}, {_NOTHING} model")
    if any(x[:4] == "coef" for x in map(word_of, numbers)) and any(map(P_VALUE.search, numbers)):
        raise g.refuse("its rows are coefficients of one model, so there is nothing to compare")
    if keys.scores or g.asked.columns.get("score"):
        return keys
    true, predicted = (_stems(g.columns, words) for words in (_TRUE, _PREDICTED))
    if both := [x for x in true if x in predicted]:
        text = f"`{true[both[0]]}` and `{predicted[both[0]]}` are true and predicted values of rows"
        raise g.refuse(f"{text}, and no scores: store them in a study with `mlaut import`")
    if keys.dataset:
        return keys
    if not g.asked.chosen and _is_of_pairs(g, numbers):
        text = "its rows and columns have the same names, and its diagonal one value"
        raise g.refuse(f"{text}: it compares them in pairs, and no strategies on datasets")
    if numbers and not role_of(g.metric) and all(g.roles[x] == "size" for x in numbers):
        text = f"its only numbers ({quoted(numbers, ', ')}) are sizes or times"
        raise g.refuse(f"{text}, and no {g.metric or 'scores'}")
    scores = scores_of(g, numbers)
    if keys.strategy and scores and g.roles[scores[0]] == "score" and word_of(scores[0]) != "score":
        return replace(keys, scores=tuple(scores), single=True)  # of AutoGluon, its `score_test`
    measured = [x for x in numbers if same_metric(measure_in(x) or without_unit(x), g.metric)]
    total = any(is_summary(part) for x in scores for part in re.split(r"[\W_]+", x))
    if total and len(measured) > max(2, 2 * len(scores)):
        return keys  # of many datasets, and over them
    parts = {x: {bare_word(x), without_unit(x), *x.split(" / ")} for x in scores}
    own = [x for x in scores if any(same_metric(part, g.metric) for part in parts[x])]
    others = [x for x in numbers if x not in own and may_score(g, x) and g.n_of(x) > 1]
    if any((g.columns[x].numbers % 1 != 0).any() for x in own):  # beside settings
        others = [x for x in others if (np.nan_to_num(g.columns[x].numbers) % 1 != 0).any()]
    sized = [x for x in others if {*re.split(r"[\W_]+", x.lower())} & {*WORDS["sizes"]}]
    others = [x for x in others if not (keys.strategy and x in sized)]  # as train_time_min
    if len(measured) == 1 and _beside_others(g, measured[0], others):
        scores, others = measured, []
    said = [x for x in own if usual_name(x) is None and same_metric(x, g.metric)]
    if keys.strategy and said == [*scores]:  # no dataset has the name of the metric
        others = []
    _check_prefixes(g, scores, numbers)
    kinds = {usual.metric for x in numbers if (usual := usual_name(bare_word(x)))}
    if len(kinds) > (1 if own else max(1, len(others))):  # what stands beside metrics is another
        others = []
    means = average_columns([g.columns[x] for x in measured], named=True, strict=True)
    if not scores or {*own} & {*means} or (others and len(scores) <= max(1, len(others))):
        return keys
    texts = [x for x in g.columns if not g.columns[x].is_number and g.roles[x] != "source"]
    levels = [*keys.repeat, *keys.fold]
    if levels and not (texts or keys.strategy):
        text = f"its rows are repeats ({quoted(levels)}) of one strategy"
        raise g.refuse(f"{text}, so there is nothing to compare: give a table with others too")
    if not (texts or keys.strategy) or "dataset" in g.asked.columns:
        return keys
    first = next((x for x in texts if g.is_key([x, *levels])), "".join(texts[:1]))
    rows = keys.strategy or (first,)
    if not strategies_in(g, rows, said=bool(keys.strategy)):
        return replace(keys, dataset=tuple(rows))
    return replace(keys, strategy=tuple(rows), scores=tuple(scores), single=True)


def _check_prefixes(g: Sheet, scores: Sequence[str], numbers: Sequence[str]) -> None:
    """Raise an error where the score of a test has a twin, as ``test_iou`` and ``bolivia_iou``."""
    start, _, end = "".join(scores[:1]).partition("_")
    others = [x for x in numbers if x.partition("_")[2] == end and x not in scores]
    if start.lower() not in PARTS or not end or g.asked.columns:
        return
    if twins := [x for x in others if x.partition("_")[0].lower() not in PARTS]:
        text = f"`{twins[0]}` may be of another dataset than `{scores[0]}`"
        raise g.refuse(text, {"score": [*scores[:1], *twins]}, {"score": scores[:1]})


def _stems(names: Iterable[str], words: set[str]) -> dict[str, str]:
    """Return the names that end or begin with one of some words, by what is left of them."""
    parts = {name: word_of(name).split("_") for name in names}
    ends = {name: {0, -1} if len(x) == 2 else {-1} for name, x in parts.items()}
    found = {name: [x for i in ends[name] if (x := parts[name][i]) in words] for name in parts}
    both = _TRUE | _PREDICTED
    return {"_".join(x for x in parts[n] if x not in both): n for n in parts if found[n]}


def _is_of_pairs(g: Sheet, numbers: Sequence[str]) -> bool:
    """Return whether rows and columns have the same names, and the diagonal has one value."""
    first = g.columns[next(iter(g.columns))].labels().tolist()
    if len(numbers) < 3 or sorted(map(str, first)) != sorted(numbers):
        return False
    both = [g.columns[x].numbers[first.index(x)] for x in numbers if not is_summary(x)]
    return len({*np.nan_to_num(both)}) == 1


def _beside_others(g: Sheet, name: str, others: Sequence[str]) -> bool:
    """Return whether a column is of a share, and another has scores below 0, as no share has."""
    others = [x for x in others if x != name]
    usual = usual_metric(g.metric, greater_is_better=True)
    share = usual is not None and usual.bounds == (0, 1) and g.roles[name] == ""
    below = any(np.nanmin(g.columns[x].numbers) < 0 for x in others)
    return share and below and likes(others) != "dataset"


def strategies_in(g: Sheet, rows: Sequence[str], said: bool = False) -> bool:
    """Return whether rows are strategies, not datasets, of a table of metrics; ask if unclear."""
    if "strategy" in g.asked.columns:
        return True
    if re.fullmatch("statistics?|quantity|quantities|parameters?", word_of(rows[0])):
        raise g.refuse(f"`{rows[0]}` names no strategies, so there is nothing to compare")
    if said:
        check_corner(g, rows, "strategy")
        return True
    sized = [x for x in g.columns if g.columns[x].is_number and OF_MODELS.search(x)]
    liked = likes([str(x) for x in g.label(rows)]) or ("strategy" if sized else "")
    liked = liked or part_by_name(rows[0])
    if liked:
        return liked == "strategy"
    text = f"it is unclear whether {quoted(rows)} names strategies, on one dataset, or datasets of "
    if settings := _settings(g, rows):
        ways = {"strategy": [*rows, *settings]}, {"dataset": rows, "strategy": settings}
        raise g.refuse(f"{text}strategies that differ by {quoted(settings, ', ')}", *ways)
    raise g.refuse(f"{text}one strategy, where there is nothing to compare", {"strategy": rows})


def _settings(g: Sheet, rows: Sequence[str]) -> list[str]:
    """Return the columns of numbers that tell the rows of one name apart, as settings do."""
    levels = g.named("repeat", "fold")
    free = [x for x in g.named("", "size") if x not in (*rows, *levels) and g.columns[x].is_number]
    free = [x for x in free if 1 < g.n_of(x) <= g.n / 2 and not is_metric(x)]
    free = [x for x in free if not g.fixes(rows, x) and not DURING.search(word_of(x))]
    return free if free and g.is_key([*rows, *free, *levels]) else []


def turned(g: Sheet, grid: Grid) -> tuple[Grid, Asked] | None:
    """Return a table whose rows are metrics with a row for each strategy; None for any other."""
    first, said = next(iter(g.columns)), g.asked.columns
    if g.columns[first].is_number or g.levels is not None or g.n < len(grid.table):
        return None
    labels = [x for x in g.columns[first].labels().tolist() if x]
    marked = grid.table.iloc[:, 0].astype(str).str.contains("[↑↓]").sum()
    known = max(sum(usual_name(x) is not None for x in labels), marked)
    texts = [x for x in g.columns if not g.columns[x].is_number and role_of(x)]
    if not g.is_key([first]) or {*texts} - {first}:
        return None
    told = {k: v for k, v in said.items() if k != "unused"}
    columns = [x for x in g.columns if x != first]
    own = [x for x in labels if same_metric(without_unit(x), g.metric)]
    plain = [x for x in columns if g.columns[x].is_number and not g.columns[x].strange]
    mixed = len(own) == 1 and not plain  # with settings in other rows
    around = {"strategy": ("columns",)}, {"dataset": ("rows",)}
    if (known <= max(1, len(labels) / 2) and not mixed) or (told and told not in around):
        return None
    start = f"its rows ({', '.join(labels[:6])}) are metrics"
    if not g.metric:
        raise g.refuse(f"{start}, so say which one", *({"metric": word_of(x)} for x in labels[:3]))
    if not own:
        usual = [x for x in labels if usual_name(x) is not None][:3]
        raise g.refuse(f"{start}, and none is {g.metric}", *({"metric": word_of(x)} for x in usual))
    corner = role_of(first)  # above names of metrics, so of the columns
    liked = "strategy" if told or mixed else likes(columns) or corner
    if liked == "dataset":
        raise g.refuse(f"{start}, and its columns look like datasets, {_NOTHING} strategy")
    if liked != "strategy":
        text = "and it is unclear whether its columns are strategies, on one dataset, or datasets"
        raise g.refuse(f"{start}, {text} of one strategy", {"strategy": "columns"})
    names = [str(x) or first for x in grid.table]
    table = grid.table.set_axis(names, axis=1)[list(g.columns)].set_index(first).T
    table = table.set_axis(list(map(str, table.columns)), axis=1).infer_objects()
    chosen = {"score": tuple(own), "strategy": ("strategy",)} if mixed else {}
    chosen |= {k: x for k, x in said.items() if k == "unused"}
    asked = replace(g.asked, columns=chosen)
    left = tuple(g.unused)
    return Grid(grid.name, table.rename_axis("strategy").reset_index(), left=left), asked
