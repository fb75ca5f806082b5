"""The reading of a grid: which columns name datasets and strategies, and which has the scores."""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pandas as pd

from mlaut.analysis.importers.grids.cells import Column, columns_of
from mlaut.analysis.importers.grids.columns import (
    average_columns,
    average_rows,
    best_marked,
    measures_of,
    odd_columns,
)
from mlaut.analysis.importers.grids.forms import Grid
from mlaut.analysis.importers.grids.names import (
    is_size,
    is_summary,
    looks_like,
    role_of,
    same_metric,
    word_of,
)
from mlaut.analysis.scores.catalogue import metric as find_metric
from mlaut.analysis.scores.usual_names import part_of, usual_name
from mlaut.errors import AnalysisError, nearest
from mlaut.markup import counted

ROLES = ("dataset", "strategy", "score", "repeat", "fold", "source", "unused")
_PART = {"test": 0, "testing": 0, "holdout": 0, "held-out": 0, "eval": 0, "test_set": 0}
_PART |= {
    "valid": 1,
    "val": 1,
    "validation": 1,
    "dev": 1,
    "cv": 1,
    "train": 2,
    "training": 2,
    "all": 3,
}
_KNOWN = 0.34  # share of names that are known, from which they tell what they name
_MOST_OPTIONS = 6  # columns in a message


@dataclass(frozen=True)
class Asked:
    """What a user said: the metric, and the columns of each role.

    Attributes
    ----------
    where : str
        File, as in messages.
    metric : str
    columns : mapping of str to tuple of str
        Columns by role, of those in `ROLES`.
    clusters : str
    """

    where: str
    metric: str = ""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    clusters: str = ""

    def command(self, metric: str = "", **columns: str) -> str:
        """Return the command that reads the table so, ready to be pasted."""
        given = {role: "+".join(names) for role, names in self.columns.items()} | columns
        words = ["mlaut report", shlex.quote(self.where)]
        if metric or self.metric:
            words.append(f"--metric {shlex.quote(metric or self.metric)}")
        if given:
            text = ",".join(f"{role}={names}" for role, names in given.items())
            words.append(f"--columns {shlex.quote(text)}")
        return " ".join(words)


@dataclass(frozen=True, eq=False)
class Reading:
    """Scores in long form, and what was read from which columns.

    Attributes
    ----------
    dataset, strategy : ndarray of str, length n
    score : ndarray of float, length n
    repeat, fold : ndarray or None
    spread : ndarray or None
    words : mapping of int to str
        Why a row has no score.
    sources : mapping of str to str
        Source of each dataset; empty without one.
    metric : str
    said : tuple of str
        Parts of the sentence on how the table was read, without its numbers.
    names : mapping of str to str
        How the datasets, strategies, scores, repeats, folds and sources are named in the table.
    unused : tuple of str
        What is not used, each with the reason if it is not plain.
    """

    dataset: np.ndarray
    strategy: np.ndarray
    score: np.ndarray
    metric: str
    names: Mapping[str, str]
    repeat: np.ndarray | None = None
    fold: np.ndarray | None = None
    spread: np.ndarray | None = None
    words: Mapping[int, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()


class _Grid:
    """Columns of a grid while it is being read: their roles, and what is left out."""

    def __init__(self, grid: Grid, asked: Asked) -> None:
        self.asked, self.where, self.metric = asked, asked.where, asked.metric
        self.unused: list[str] = list(grid.left)
        self.unnamed = grid.unnamed
        table = grid.table
        self.levels = table.columns if table.columns.nlevels > 1 else None
        if self.levels is not None:
            joined = [" / ".join(dict.fromkeys(filter(None, map(str, x)))) for x in table.columns]
            table = table.set_axis(joined, axis=1)
        names = [str(name) or "unnamed" for name in table.columns]
        if twins := [name for name, n in Counter(names).items() if n > 1]:
            raise AnalysisError(f"{self.where}: two columns are called {twins[0]!r}")
        if table.empty:
            raise AnalysisError(f"{self.where}: a table without rows; check the file")
        self.columns = {x.name: x for x in columns_of(table.set_axis(names, axis=1))}
        self.n = len(table)
        self.roles = {name: self._role(column) for name, column in self.columns.items()}
        for role, chosen in asked.columns.items():
            if unknown := [
                name
                for name in chosen
                if name not in self.columns and name != "rows" and name != "columns"
            ]:
                hint = nearest(unknown[0], self.columns) or f"; it has {', '.join(self.columns)}"
                raise AnalysisError(f"{self.where}: no column {unknown[0]!r}{hint}")
            for name in self.columns:
                if self.roles[name] == role and role not in ("size", ""):
                    self.roles[name] = ""
            self.roles |= {name: role for name in chosen if name in self.columns}
        for name in grid.unnamed:  # a level of nested names may have those of metrics
            labels = list(dict.fromkeys(self.columns[name].labels().tolist()))
            usual = [x for x in labels if usual_name(x) is not None]
            if usual and all(x in usual or role_of(x) in ("size", "spread") for x in labels):
                self.roles[name] = "metric"
        if asked.clusters:
            if asked.clusters not in self.columns:
                hint = (
                    nearest(asked.clusters, self.columns) or f"; it has {', '.join(self.columns)}"
                )
                raise AnalysisError(f"column {asked.clusters!r} is not known{hint}")
            self.roles[asked.clusters] = "source"

    def _role(self, column: Column) -> str:
        """Return what a column is by its name, if its cells do not contradict it."""
        role = role_of(column.name)
        if role in ("strategy", "source", "part", "metric") and column.is_number:
            return ""
        if role == "dataset" and column.is_number:
            return role if (np.nan_to_num(column.numbers % 1) == 0).all() else ""
        if role in ("repeat", "fold") and column.is_number:
            return role if (np.nan_to_num(column.numbers % 1) == 0).all() else ""
        if role == "part" and not {x.lower() for x in column.labels()} <= {*_PART, ""}:
            role = (
                "dataset"
                if word_of(column.name) == "subset"
                else "fold"
                if word_of(column.name) == "split"
                else ""
            )
        texts = role == "fold" and not column.is_number
        if texts and {x.lower() for x in column.labels()} <= {*_PART, ""}:
            return "part"
        return role

    def of(self, *roles: str) -> list[str]:
        """Return the names of the columns of some roles."""
        return [name for name, role in self.roles.items() if role in roles and name in self.columns]

    def drop(self, names: Iterable[str], why: str = "") -> None:
        """Leave columns out, which is said with the reason."""
        names = [name for name in names if name in self.columns]
        for name in names:
            del self.columns[name]
            self.unused.append(f"`{name}`" + (f" ({why})" if why else ""))

    def keep(self, rows: np.ndarray, what: str) -> None:
        """Keep some rows; what is left out is said."""
        if rows.all():
            return
        self.unused.append(what)
        self.n = int(rows.sum())
        number = np.flatnonzero(rows)
        place = {int(old): new for new, old in enumerate(number)}
        for name, column in self.columns.items():
            parts = {
                part: values[rows]
                for part in ("texts", "values", "spreads", "brackets", "bold")
                if (values := getattr(column, part)) is not None
            }
            for part in ("words", "strange"):
                texts = getattr(column, part)
                parts[part] = {place[row]: word for row, word in texts.items() if row in place}
            self.columns[name] = Column(**{**vars(column), **parts})

    def label(self, names: Sequence[str]) -> np.ndarray:
        """Return the names that one or several columns give to the rows."""
        parts = [self.columns[name].labels() for name in names]
        if len(parts) == 1:
            return parts[0]
        codes = [pd.factorize(part)[0] for part in parts]
        _, first, back = np.unique(
            np.column_stack(codes), axis=0, return_index=True, return_inverse=True
        )
        joined = [" ".join(x for x in (str(part[i]) for part in parts) if x) for i in first]
        return np.array(joined, dtype=object)[np.ravel(back)]

    def is_key(self, names: Sequence[str]) -> bool:
        """Return whether some columns together tell all rows apart."""
        codes = [pd.factorize(self.columns[name].labels())[0] for name in names]
        return not pd.MultiIndex.from_arrays(codes).duplicated().any() if codes else self.n == 1

    def n_of(self, *names: str) -> int:
        """Return how many different labels some columns have together."""
        codes = [pd.factorize(self.columns[name].labels())[0] for name in names]
        return len(pd.MultiIndex.from_arrays(codes).unique())

    def fixes(self, finer: Sequence[str], coarser: str) -> bool:
        """Return whether a column is constant within each label of others."""
        return self.n_of(*finer, coarser) == self.n_of(*finer)

    def refuse(self, text: str, *commands: str) -> AnalysisError:
        """Return the error that asks, with the commands that answer."""
        ways = "; or ".join(commands)
        return AnalysisError(f"{self.where}: {text}" + (f": {ways}" if ways else ""))


def read_grid(grid: Grid, asked: Asked) -> Reading:
    """Return the reading of a grid.

    Raises
    ------
    AnalysisError
        The grid can be read in several ways, or in none; the message has the commands that choose.
    """
    g = _Grid(grid, asked)
    _drop_index(g)
    g.drop(g.of("unused"))
    _choose_part(g)
    _choose_metric_rows(g)
    keys = _keys(g)
    if keys.scores:
        return _long(g, keys)
    return _wide(g, keys)


def _drop_index(g: _Grid) -> None:
    """Leave out an index that only counts the rows, and texts that are the same in all rows."""
    for name in list(g.columns):
        column = g.columns[name]
        if (
            word_of(name) in ("unnamed", "index", "level_0", "#", "no.", "unnamed:_0")
            and column.texts is None
        ):
            if column.numbers.tolist() in (list(range(g.n)), list(range(1, g.n + 1))):
                del g.columns[name]
    if g.n < 2:
        return
    for name in list(g.columns):
        column = g.columns[name]
        if not column.is_number and column.strange:
            cell = next(iter(column.strange.values()))
            raise g.refuse(
                f"{cell!r} in column {name!r} may have a decimal comma, or be above a thousand: write a point"
            )
        chosen = any(name in names for names in g.asked.columns.values())
        if g.roles[name] == "metric" or chosen:
            continue
        if not column.is_number and len(set(column.labels())) == 1:
            label = column.labels()[0]
            if g.roles[name] in ("dataset", "strategy") and label:
                continue
            g.drop([name], f"{label} throughout" if label else "empty")


def _choose_part(g: _Grid) -> None:
    """Keep the rows of the test part where rows are of parts of the data."""
    for name in g.of("part"):
        labels = np.array([x.lower() for x in g.columns[name].labels()])
        kinds = sorted({x for x in labels if x}, key=lambda x: _PART[x])
        if len(kinds) > 1 and _PART[kinds[0]] == _PART[kinds[1]]:
            continue
        rows = labels == kinds[0]
        others = ", ".join(kinds[1:])
        g.drop([name], f"{kinds[0]} throughout" if len(kinds) == 1 else f"its {kinds[0]} rows are")
        g.keep(rows, f"rows of {others}")


def _choose_metric_rows(g: _Grid) -> None:
    """Keep the rows of the wanted metric where a column names the metric of each row."""
    for name in [x for x in g.of("metric") if not g.columns[x].is_number][:1]:
        labels = g.columns[name].labels()
        kinds = list(dict.fromkeys(x for x in labels.tolist() if x))
        wanted = [x for x in kinds if g.metric and x == g.metric]
        wanted = wanted or [x for x in kinds if g.metric and same_metric(x, g.metric)]
        if not wanted and not g.metric and len(kinds) > 1:
            text = f"the table has several: {', '.join(kinds[:8])}; choose by metric="
            raise g.refuse(text, *(g.asked.command(metric=x) for x in kinds[:2]))
        if g.metric and not wanted:
            raise g.refuse(
                f"the table has no metric {g.metric!r}; there are {', '.join(kinds[:8])}"
            )
        kept = wanted[0] if wanted else kinds[0]
        g.metric = g.metric or kept
        del g.columns[name]
        g.keep(labels == kept, f"rows of {', '.join(x for x in kinds if x != kept)}")


@dataclass
class _Keys:
    """Columns that name datasets, strategies, repeats, and those that may have the scores."""

    dataset: tuple[str, ...]
    strategy: tuple[str, ...]
    repeat: tuple[str, ...]
    fold: tuple[str, ...]
    scores: tuple[str, ...]


def _keys(g: _Grid) -> _Keys:
    """Return the keys of a grid by the names of its columns; the others follow from its rows."""
    dataset, strategy = _named(g, "dataset"), _named(g, "strategy")
    repeat, fold = g.of("repeat"), g.of("fold")
    texts = [x for x in g.columns if not g.columns[x].is_number and g.roles[x] == ""]
    texts += [x for x in g.columns if g.roles[x] == "source" and not g.columns[x].is_number]
    numbers = [x for x in g.columns if g.columns[x].is_number and x not in (*dataset, *strategy)]
    scores = (
        tuple(_scores(g, numbers)) if not g.asked.columns.get("score") else g.asked.columns["score"]
    )
    if dataset and strategy and not scores and not g.asked.columns:  # one of them is a property
        alone = [x for x in (dataset, strategy) if g.is_key([*x, *repeat, *fold])]
        if len(alone) == 1:
            other = strategy if alone[0] == dataset else dataset
            g.roles |= dict.fromkeys(other, "property")
            dataset, strategy = ([], strategy) if other == dataset else (dataset, [])
    rows = [*dataset, *strategy]
    if len(rows) == 1 and not scores and not g.asked.columns and not g.is_key([*rows, *repeat, *fold]):
        if any(g.is_key([x, *repeat, *fold]) for x in texts):  # it only describes the rows
            g.roles[rows[0]] = "property"
            dataset, strategy = [], []
    said = g.asked.columns
    columns_are = [k for k in ("dataset", "strategy") if said.get(k) == ("columns",)]
    long = bool(dataset and strategy) or (bool(said.get("score")) and not columns_are)
    rows = [*dataset, *strategy]
    if not long and rows and scores and not columns_are:
        long = bool(texts or g.unnamed) and not g.is_key([*rows, *repeat, *fold])
    if not long and not rows and scores and len(texts) > 1:
        long = True
    if not long:
        scores = ()
    elif not scores:
        left = [x for x in numbers if g.roles[x] == ""]
        if len(left) != 1:
            names = ", ".join(left[:8]) or "no column"
            text = f"it is unclear which of {names} has the scores: call it 'score', or name it"
            raise g.refuse(text, *(g.asked.command(score=x) for x in left[:2]))
        scores = (left[0],)
    return _Keys(tuple(dataset), tuple(strategy), tuple(repeat), tuple(fold), scores)


def _named(g: _Grid, role: str) -> list[str]:
    """Return the column, or columns, that name datasets or strategies; others are properties."""
    chosen = [name for name in g.asked.columns.get(role, ()) if name not in ("columns", "rows")]
    if chosen:
        return chosen
    other = "strategy" if role == "dataset" else "dataset"
    if g.asked.columns.get(role) or (
        role in ("dataset", "strategy") and g.asked.columns.get(other) == ("rows",)
    ):
        return []
    names = g.of(role)
    if len(names) < 2:
        return names
    names = sorted(names, key=lambda x: (-g.n_of(x), list(g.columns).index(x)))
    finest = names[0]
    for name in names[1:]:
        if g.n_of(name) == g.n_of(finest) and g.fixes([finest], name):
            g.roles[name] = "alias"
        elif g.fixes([finest], name):
            group = role == "dataset" and word_of(name) in (
                "dataset",
                "benchmark",
                "dataset_name",
                "corpus",
                "suite",
            )
            g.roles[name] = "source" if group and 2 < g.n_of(name) < g.n_of(finest) else "property"
        else:
            g.roles[name] = ""
    same = [x for x in names if g.roles[x] == "alias"]
    best = min([finest, *same], key=lambda x: list(g.columns).index(x))
    if best != finest:
        g.roles[finest], g.roles[best] = "alias", role
    return [best]


def _scores(g: _Grid, numbers: Sequence[str]) -> list[str]:
    """Return the columns that may have the scores in a table with one score in a row."""
    usual = {x: usual_name(x) for x in numbers if g.roles[x] not in ("spread", "average", "size")}
    wanted = g.metric
    if wanted:
        if exact := [x for x in numbers if word_of(x) == word_of(wanted)]:
            return exact[:1]
        same = [x for x in usual if same_metric(x, wanted)]
        parts = {x: part_of(x) for x in same}
        for part in ("test", "", "val", "train"):
            if found := [x for x in same if parts[x] == part]:
                return _one_of(g, found, wanted)
    general = [x for x in numbers if g.roles[x] == "score"]
    if wanted:
        greater = usual_name(wanted)
        left = [x for x in usual if usual[x] is None and g.roles[x] == ""]
        if general:
            return general[:1]
        losses = [x for x in usual if word_of(x) == "loss" and greater and not greater.greater]
        others = [x for x in usual if usual[x] is not None and x not in losses]
        if others and not left and not losses:
            return []
        return (
            losses[:1] if losses and not others else (left if len(left) == 1 and not others else [])
        )
    known = [x for x in usual if usual[x] is not None and part_of(x) not in ("val", "train")]
    tested = [x for x in known if part_of(x) == "test"]
    known = tested or known or [x for x in usual if usual[x] is not None]
    if len(known) == 1:
        g.metric = word_of(known[0])
        return known
    if len(known) > 1 and not general:
        return known
    return general[:1]


def _one_of(g: _Grid, found: list[str], wanted: str) -> list[str]:
    if len(found) == 1:
        return found
    plain_ones = [
        x for x in found if re.sub(r"\W|_", "", x.lower()) == re.sub(r"\W|_", "", wanted.lower())
    ]
    if plain_ones:
        return plain_ones[:1]
    raise g.refuse(
        f"several columns are of {wanted}", *(g.asked.command(score=x) for x in found[:3])
    )


# ---------------------------------------------------------------------- long


def _long(g: _Grid, keys: _Keys) -> Reading:
    """Return the reading of a table with one score in a row."""
    score = _score(g, keys)
    values = g.columns[score].numbers
    if values is None or g.columns[score].strange:
        column = g.columns[score]
        odd = next(iter(column.strange.values()), next((x for x in column.labels() if x), ""))
        raise g.refuse(f"column {score!r} has {odd!r}, neither a number nor a word for none")
    has = ~np.isnan(values) | np.isin(np.arange(g.n), list(g.columns[score].words))
    has = _of_this_metric(g, keys, has)
    g.keep(has, f"{counted(int((~has).sum()), 'row')} without `{score}`")
    dataset, strategy = list(keys.dataset), list(keys.strategy)
    for key, what in ((dataset, "dataset"), (strategy, "strategy")):
        if key:
            label = g.label(key)
            summary = np.array([is_summary(str(x)) and bool(x) for x in label])
            empty = np.array([not str(x) for x in label])
            out = sorted({str(x) for x in label[summary]})
            if out and (~summary).any():
                g.keep(~summary, f"rows {', '.join(f'`{x}`' for x in out)} (by name no {what})")
                empty = empty[~summary]
            if empty.any():
                raise g.refuse(
                    f"{counted(int(empty.sum()), 'row')} without a {what} in {key[0]!r}: name it, or drop it"
                )
    repeat, fold = list(keys.repeat), list(keys.fold)
    dataset, strategy = _other_key(g, dataset, strategy, [*repeat, *fold])
    strategy, dataset, repeat = _tell_apart(g, dataset, strategy, repeat, fold, score)
    column = g.columns[score]
    numbered = {x: g.n_of(x) for x in (*repeat, *fold)}
    repeat = [x for x in repeat if numbered.get(x, 2) > 1]
    fold = [x for x in fold if numbered[x] > 1]
    sources = _sources(g, dataset)
    used = {*dataset, *strategy, *repeat, *fold, score, *g.of("source")[:1] * bool(sources)}
    spread = _spread_of(g, score)
    names = {
        "dataset": _quoted(dataset),
        "strategy": _quoted(strategy),
        "score": f"`{score}`",
        "repeat": _quoted(repeat),
        "fold": _quoted(fold),
        "source": _quoted(g.of("source")[:1]) if sources else "",
    }
    g.unused += [
        f"`{x}`" + (" (a spread)" if g.roles.get(x) == "spread" else "")
        for x in g.columns
        if x not in used
    ]
    return Reading(
        g.label(dataset),
        g.label(strategy),
        column.numbers,
        g.metric,
        names,
        g.label(repeat) if repeat else None,
        g.label(fold) if fold else None,
        spread,
        column.words,
        sources,
        tuple(g.unused),
    )


def _score(g: _Grid, keys: _Keys) -> str:
    if len(keys.scores) > 1:
        few = keys.scores[:_MOST_OPTIONS]
        text = f"it has several metrics ({', '.join(keys.scores)}), so say which one"
        raise g.refuse(text, *(g.asked.command(metric=x) for x in few[:3]))
    score = keys.scores[0]
    if score not in g.columns:
        raise g.refuse(f"no column {score!r}")
    other = usual_name(score)
    if g.metric and other and not g.asked.columns.get("score") and not same_metric(score, g.metric):
        wanted = usual_name(g.metric)
        if word_of(score) != "loss" or wanted is None or wanted.greater:
            raise g.refuse(
                f"no column is of {g.metric}, and `{score}` is of {other.metric}",
                g.asked.command(metric=score),
            )
    return score


def _of_this_metric(g: _Grid, keys: _Keys, has: np.ndarray) -> np.ndarray:
    """Return which rows count: all of the datasets that have any score."""
    if has.all() or not keys.dataset:
        return has
    label = g.label(keys.dataset)
    scored = set(label[has])
    return (
        np.array([x in scored for x in label])
        if len(scored) < len(set(label))
        else np.ones(g.n, bool)
    )


def _quoted(names: Sequence[str]) -> str:
    return " + ".join(f"`{name}`" for name in names)


def _other_key(
    g: _Grid, dataset: list[str], strategy: list[str], more: list[str]
) -> tuple[list[str], list[str]]:
    """Return both keys: where one is known, the other is the column of texts that is left."""
    if dataset and strategy:
        return dataset, strategy
    known = dataset or strategy
    texts = [
        x
        for x in g.columns
        if not g.columns[x].is_number and x not in known and g.roles[x] in ("", "source")
    ]
    texts = [x for x in texts if not known or not g.fixes(known, x)]
    like: dict[str, list[str]] = {}  # columns with the same things by other names
    for x in texts:
        twin = next((y for y in like if g.fixes([x], y) and g.fixes([y], x)), x)
        like.setdefault(twin, []).append(x)
    texts = list(like)
    if known:
        free = [x for x in texts if g.roles[x] == ""] or texts
        keyed = [x for x in free if g.is_key([*known, x, *more])]
        found = (keyed or free)[:1] if len(keyed) == 1 or len(free) == 1 else []
        if not found:
            need = "strategies" if dataset else "datasets"
            role = "strategy" if dataset else "dataset"
            if not free:
                raise g.refuse(f"no column names the {need}; it has {', '.join(g.columns)}")
            ways = [g.asked.command(**{role: x}) for x in (keyed or free)[:3]]
            raise g.refuse(
                f"several columns may name the {need} ({', '.join(keyed or free)})", *ways
            )
        return (dataset, found) if dataset else (found, strategy)
    pairs = (
        [p for p in combinations(texts, 2) if g.is_key([*p, *more])]
        if len(texts) > 2
        else [tuple(texts)]
    )
    if len(pairs) != 1 or len(pairs[0]) != 2:
        few = texts[:2]
        raise g.refuse(
            f"{', '.join(map(repr, texts)) or 'no'} columns of texts, so it is unclear which has the names of the "
            "datasets and of the strategies",
            *[g.asked.command(dataset=a, strategy=b) for a, b in (few, few[::-1])]
            if len(few) == 2
            else [],
        )
    one, two = pairs[0]
    each = {
        x: [_likes(list(dict.fromkeys(g.columns[y].labels()))) for y in like[x]] for x in (one, two)
    }
    liked = {x: next(filter(None, likes), "") for x, likes in each.items()}
    if liked[one] == "strategy" or liked[two] == "dataset":
        one, two = two, one
    if liked[one] == "strategy" or liked[two] == "dataset" or not any(liked.values()):
        ways = [g.asked.command(dataset=a, strategy=b) for a, b in ((one, two), (two, one))]
        raise g.refuse(f"it is unclear which of `{one}` and `{two}` names the datasets", *ways)
    return [one], [two]


def _likes(names: list[str]) -> str:
    """Return what names are, if they are known and nothing speaks for the contrary."""
    names = [str(name) for name in names if name]
    strategies, datasets = looks_like(names, "strategy"), looks_like(names, "dataset")
    least = max(_KNOWN, 2 / max(len(names), 1)) if len(names) < 6 else _KNOWN
    if strategies >= min(least, 1) and datasets <= strategies / 3:
        return "strategy"
    if datasets >= min(least, 1) and strategies <= datasets / 3:
        return "dataset"
    return ""


def _tell_apart(
    g: _Grid,
    dataset: list[str],
    strategy: list[str],
    repeat: list[str],
    fold: list[str],
    score: str,
) -> tuple[list[str], list[str], list[str]]:
    """Return the keys with the columns that tell rows of one cell apart."""
    if g.asked.columns.get("repeat") == ("rows",):
        label = pd.MultiIndex.from_arrays([g.label(dataset), g.label(strategy)])
        counts = pd.Series(0, index=range(g.n)).groupby(label.factorize()[0]).cumcount()
        g.columns["row"] = Column("row", values=counts.to_numpy(dtype=float))
        g.roles["row"] = "repeat"
        return strategy, dataset, ["row"]
    keys = [*dataset, *strategy, *repeat, *fold]
    if g.is_key(keys):
        return strategy, dataset, repeat
    aliases = [x for x in g.columns if g.roles[x] in ("alias", "strategy") and x not in strategy]
    others = [x for x in g.columns if x not in keys and x != score and _may_tell(g, x)]
    others = sorted(others, key=lambda x: (x not in aliases, g.columns[x].is_number))
    for size in (1, 2, 3):
        found = [c for c in combinations(others[:12], size) if g.is_key([*keys, *c])]
        if found:
            return _as_part(g, dataset, strategy, repeat, found)
    doubled = _doubled(g, keys)
    same = _doubled(g, [*keys, score])
    if (doubled == same).all():
        g.keep(
            ~doubled,
            f"{counted(int(doubled.sum()), 'row')} that repeat another with the same score",
        )
        return strategy, dataset, repeat
    at = np.flatnonzero(doubled)[0]
    first = ", ".join(str(g.label([x])[at]) for x in keys)
    text = (
        f"{counted(int(doubled.sum()), 'repeated row')}, the first: {first}; no column tells them apart "
        "(a repeat, a seed, a setting); if they are repeats"
    )
    raise g.refuse(text, g.asked.command(repeat="rows"))


def _doubled(g: _Grid, names: Sequence[str]) -> np.ndarray:
    codes = [pd.factorize(g.columns[name].labels())[0] for name in names]
    return np.asarray(pd.MultiIndex.from_arrays(codes).duplicated())


def _may_tell(g: _Grid, name: str) -> bool:
    """Return whether a column may tell rows apart: texts and whole numbers, and no scores."""
    column = g.columns[name]
    if g.roles[name] in ("spread", "average", "score") or usual_name(name) is not None:
        return False
    if not column.is_number:
        return True
    values = column.numbers[~np.isnan(column.numbers)]
    return len(np.unique(values)) <= max(2, g.n // 4) and g.roles[name] != "score"


def _as_part(
    g: _Grid,
    dataset: list[str],
    strategy: list[str],
    repeat: list[str],
    found: list[tuple[str, ...]],
) -> tuple[list[str], list[str], list[str]]:
    """Return the keys with columns that tell rows apart as parts of strategies or of datasets."""
    of_strategy = [c for c in found if all(g.roles[x] in ("alias", "strategy") for x in c)]
    chosen = (of_strategy or found)[0]
    if all(g.fixes(chosen, name) for name in strategy) and len(chosen) == 1:
        return list(chosen), dataset, repeat  # its names contain those of the strategies
    if (
        all(g.fixes(chosen, name) for name in dataset)
        and len(chosen) == 1
        and g.roles[chosen[0]] in ("", "dataset", "alias")
    ):
        return strategy, list(chosen), repeat
    label = [*dataset, *strategy]
    rows = g.n_of(*label, *chosen)
    with_strategy = rows / (g.n_of(*dataset) * g.n_of(*strategy, *chosen))
    with_dataset = rows / (g.n_of(*strategy) * g.n_of(*dataset, *chosen))
    if with_strategy >= 0.95 and with_dataset < 0.8:
        return [*strategy, *chosen], dataset, repeat
    if with_dataset >= 0.95 and with_strategy < 0.8:
        return strategy, [*dataset, *chosen], repeat
    names = [*strategy, *chosen]
    pairs = list(dict.fromkeys(g.label(names).tolist()))[:2]
    text = (
        f"rows repeat `{dataset[0]}` and `{strategy[0]}`, and differ in {_quoted(chosen)}: are the strategies "
        f"{' and '.join(map(repr, pairs))}, or does it belong to the datasets, or are they repeats"
    )
    ways = [
        g.asked.command(dataset="+".join(dataset), strategy="+".join(names)),
        g.asked.command(dataset="+".join([*dataset, *chosen]), strategy="+".join(strategy)),
        g.asked.command(
            dataset="+".join(dataset), strategy="+".join(strategy), repeat="+".join(chosen)
        ),
    ]
    raise g.refuse(text, *ways)


def _sources(g: _Grid, dataset: list[str]) -> dict[str, str]:
    """Return the source of each dataset, if a column of texts names sources."""
    names = [x for x in g.of("source") if not g.columns[x].is_number or x == g.asked.clusters]
    names = [x for x in names if x not in dataset][:1]
    if not names:
        return {}
    label, source = g.label(dataset), g.columns[names[0]].labels()
    chosen = bool(g.asked.clusters or g.asked.columns.get("source"))
    of: dict[str, str] = {}
    for name, where in zip(label.tolist(), source.tolist(), strict=True):
        if not where or of.setdefault(name, where) != where:
            if not chosen:
                g.roles[names[0]] = ""
                return {}
            raise AnalysisError(
                f"dataset {name!r} has {'two' if where else 'no'} sources in the column "
                f"{names[0]!r}: each needs one"
            )
    return of


def _spread_of(g: _Grid, score: str) -> np.ndarray | None:
    """Return the spreads that are printed with the scores, or stand in a column of their own."""
    if g.columns[score].spreads is not None:
        return g.columns[score].spreads
    base = re.sub(r"mean|avg|average|_|\W", "", score.lower())
    for name in g.of("spread"):
        word = re.sub(r"std_?err|std_?dev|stddev|std|sd|sem|se|ci95|ci|_|\W", "", name.lower())
        if word == base and g.columns[name].is_number:
            return g.columns[name].numbers
    return None


# ---------------------------------------------------------------------- wide


def _wide(g: _Grid, keys: _Keys) -> Reading:
    """Return the reading of a table with a column for each strategy, or for each dataset."""
    rows, kind, why = _rows(g, keys)
    _, repeat, fold = rows, list(keys.repeat), list(keys.fold)
    others = {*rows, *repeat, *fold}
    sources = _sources(g, rows) if kind == "dataset" else {}
    source = g.of("source")[:1] if sources else []
    g.drop(
        [x for x in g.columns if x not in others and not g.columns[x].is_number and x not in source]
    )
    columns = [x for x in g.columns if x not in others and x not in source]
    columns, renamed = _measured(g, columns)
    other = "strategy" if kind == "dataset" else "dataset"
    if kind == "strategy" and columns and all(usual_name(x) for x in columns):
        raise g.refuse(
            f"its columns ({', '.join(columns[:8])}) are metrics of one dataset, so strategies cannot be "
            "compared over datasets: give a folder with such a table for each dataset"
        )
    if kind == "dataset" and len(columns) > 1 and all(usual_name(x) for x in columns):
        raise g.refuse(
            f"its columns ({', '.join(columns[:8])}) are metrics of one strategy, and two or more are compared"
        )
    if not columns:
        raise g.refuse(f"no column of scores is left; not used are {', '.join(g.unused)}")
    _drop_average_rows(g, rows, columns)
    if strange := [
        (x, next(iter(g.columns[x].strange.values()))) for x in columns if g.columns[x].strange
    ]:
        cells = ", ".join(f"{name!r} has {cell!r}" for name, cell in strange[:4])
        raise g.refuse(
            f"cells that are neither numbers nor known words: column {cells}: mend them, or leave columns out",
            g.asked.command(unused="+".join(name for name, _ in strange)),
        )
    label = g.label(rows)
    _check_rows(g, label, [*rows, *repeat, *fold], kind)
    k = len(columns)
    values = np.column_stack([g.columns[x].numbers for x in columns])
    spreads = [g.columns[x].spreads for x in columns]
    spread = None
    if any(x is not None for x in spreads):
        spread = np.column_stack(
            [np.full(g.n, np.nan) if x is None else x for x in spreads]
        ).ravel()
    words = {
        row * k + at: word
        for at, x in enumerate(columns)
        for row, word in g.columns[x].words.items()
    }
    across = np.tile(np.array([renamed.get(x, x) for x in columns], dtype=object), g.n)
    down = np.repeat(label, k)
    each = {"repeat": repeat, "fold": fold}
    levels = {
        part: np.repeat(g.label(names), k)
        for part, names in each.items()
        if names and g.n_of(*names) > 1
    }
    names = {
        kind: f"rows, named by {_quoted(rows)}{why}",
        other: "columns",
        "score": "",
        "repeat": _quoted(repeat) if "repeat" in levels else "",
        "fold": _quoted(fold) if "fold" in levels else "",
        "source": _quoted(source),
    }
    return Reading(
        down if kind == "dataset" else across,
        across if kind == "dataset" else down,
        values.ravel(),
        g.metric,
        names,
        levels.get("repeat"),
        levels.get("fold"),
        spread,
        words,
        sources,
        tuple(g.unused),
    )


def _rows(g: _Grid, keys: _Keys) -> tuple[list[str], str, str]:
    """Return the columns that name the rows, what rows are, and the evidence if no name says so."""
    said = g.asked.columns
    texts = [
        x
        for x in g.columns
        if not g.columns[x].is_number and g.roles[x] in ("", "property", "alias")
    ]
    more = [*keys.repeat, *keys.fold]
    if keys.dataset or keys.strategy:
        rows = list(keys.dataset or keys.strategy)
        kind = "dataset" if keys.dataset else "strategy"
        if kind == "strategy" and not g.is_key([*rows, *more]):
            rows = next(([*rows, x] for x in texts if g.is_key([*rows, x, *more])), rows)
        _columns_by_value(g, rows, kind)
        return rows, kind, ""
    first = next(iter(g.columns))
    texts = texts or (
        [first]
        if g.columns[first].is_number and word_of(first) in ("unnamed", "name", "id")
        else []
    )
    if not texts:
        raise g.refuse(
            "no columns of texts, so it is unclear which has the names of the datasets: call that "
            f"column 'dataset'; it has {', '.join(list(g.columns)[:8])}"
        )
    rows = next(
        (list(c) for n in (1, 2, 3) for c in combinations(texts[:5], n) if g.is_key([*c, *more])),
        texts[:1],
    )
    if said.get("dataset") == ("rows",) or said.get("strategy") == ("columns",):
        _columns_by_value(g, rows, "dataset")
        return rows, "dataset", ""
    if said.get("strategy") == ("rows",) or said.get("dataset") == ("columns",):
        _columns_by_value(g, rows, "strategy")
        return rows, "strategy", ""
    kind, why = _way_round(g, rows)
    _columns_by_value(g, rows, kind)
    return rows, kind, f" ({why})"


def _way_round(g: _Grid, rows: list[str]) -> tuple[str, str]:
    """Return whether rows are datasets or strategies, with the evidence; ask if there is none."""
    label = [str(x) for x in g.label(rows)]
    candidates = [
        x
        for x in g.columns
        if g.columns[x].is_number and g.roles[x] not in ("size", "spread", "repeat", "fold")
    ]
    evidence: dict[str, list[str]] = {"dataset": [], "strategy": []}
    averages = average_columns([g.columns[x] for x in candidates])
    named = [x for x in candidates if is_summary(x)]
    if averages or named:
        name = (named or averages)[0]
        evidence["strategy"].append(f"column `{name}` is a mean over the others")
    plain_rows = [i for i, x in enumerate(label) if not is_summary(x)]
    by_value = average_rows(
        [g.columns[x] for x in candidates if x not in averages and x not in named]
    )
    summaries = [x for x in label if is_summary(x)] or [label[i] for i in by_value]
    if summaries:
        evidence["dataset"].append(f"row `{summaries[0]}` is one over the others")
    members = [x for x in candidates if x not in averages and x not in named]
    if summaries and (averages or named):  # a mean over both says nothing
        evidence = {"dataset": [], "strategy": []}
    for names, yes, no, what in (
        (members, "dataset", "strategy", "columns"),
        ([label[i] for i in plain_rows], "strategy", "dataset", "rows"),
    ):
        likes = _likes(names)
        if likes == "strategy":
            evidence[yes].append(f"{what} are strategies by their names")
        elif likes == "dataset":
            evidence[no].append(f"{what} are datasets by their names")
    marked = best_marked([g.columns[x] for x in members])
    if marked:
        evidence["dataset" if marked == "rows" else "strategy"].append(
            f"the best of each {marked[:-1]} is marked"
        )
    found = [kind for kind, reasons in evidence.items() if reasons]
    if len(found) == 1:
        return found[0], evidence[found[0]][0]
    both = f" ({evidence['dataset'][0]}, but {evidence['strategy'][0]})" if found else ""
    n, k = len(plain_rows), len(members)
    text = (
        f"it is unclear whether rows are datasets ({n} datasets, {k} strategies) or strategies "
        f"({k} datasets, {n} strategies){both}"
    )
    name = "+".join(rows)
    raise g.refuse(text, g.asked.command(dataset=name), g.asked.command(strategy=name))


def _columns_by_value(g: _Grid, rows: list[str], kind: str) -> None:
    """Leave out the columns that are no strategies, or datasets, by their names or values."""
    _drop_average_rows(g, rows, [])
    keys = {*rows, *g.of("repeat", "fold", "source")}
    numbers = [x for x in g.columns if g.columns[x].is_number and x not in keys]
    chosen = g.asked.columns.get("score", ())
    if chosen:
        g.drop([x for x in numbers if x not in chosen])
        return
    sizes = [x for x in numbers if g.roles[x] == "size" or g.columns[x].unit]
    if len(sizes) < len(numbers):
        doubtful = [x for x in sizes if not is_size(x) and _is_among(g, x, numbers)]
        if doubtful:
            raise g.refuse(
                f"{_quoted(doubtful)} may be no scores by the name, and look like the others",
                g.asked.command(unused="+".join(doubtful)),
                g.asked.command(
                    score="+".join(x for x in numbers if x not in sizes or x in doubtful)
                ),
            )
    if kind == "strategy" or len(sizes) < len(numbers):
        g.drop(sizes)
    g.drop([x for x in numbers if g.roles[x] == "spread"], "a spread")
    numbers = [x for x in numbers if x in g.columns]
    averages = average_columns(
        [g.columns[x] for x in numbers], named=True, strict=kind == "dataset"
    )
    composed = [
        x
        for x in numbers
        if is_summary(x) and (kind == "strategy" or len(re.findall("[A-Za-z]+", x)) > 1)
    ]
    for name in dict.fromkeys([*averages, *composed]):
        g.drop([name], "an average of the others" if name in averages else "by its name a summary")
    numbers = [x for x in numbers if x in g.columns]
    odd, unclear = odd_columns([g.columns[x] for x in numbers], kind)
    if _bounded(g.metric):  # a value outside is an error of its own
        unclear = {}
    for name, why in odd.items():
        g.drop([name], why)
    if unclear:
        noun = "strategies" if kind == "dataset" else "datasets"
        names = "+".join(unclear)
        rest = "+".join(x for x in numbers if x in g.columns)
        raise g.refuse(
            f"{_quoted(list(unclear))} may be no {noun} ({next(iter(unclear.values()))})",
            g.asked.command(unused=names),
            g.asked.command(score=rest),
        )


def _is_among(g: _Grid, name: str, numbers: Sequence[str]) -> bool:
    """Return whether the values of a column are fractions about as large as those of the others."""
    own = g.columns[name].numbers
    own = own[~np.isnan(own)]
    others = [g.columns[x].numbers for x in numbers if g.roles[x] == ""]
    middles = [np.nanmedian(x) for x in others if (np.nan_to_num(x) % 1 != 0).any()]
    if not len(own) or not middles or (own % 1 == 0).all():
        return False
    return bool(min(middles) / 2 <= np.median(own) <= 2 * max(middles))


def _bounded(metric: str) -> bool:
    """Return whether a metric is known to have two ends."""
    usual = usual_name(metric) if metric else None
    try:
        return bool(np.isfinite(find_metric(usual.metric if usual else metric).bounds).all())
    except AnalysisError:
        return False


def _measured(g: _Grid, columns: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the columns of the wanted metric, where columns are of several, and their names."""
    if g.asked.columns.get("score"):
        return columns, {}
    found = measures_of(columns, g.metric)
    if found is None:
        return columns, {}
    if isinstance(found, str):
        raise g.refuse(found)
    kept, others, metric, ask = found
    if ask:
        raise g.refuse(
            f"its columns are of several metrics ({', '.join(ask)}), so say which one",
            *(g.asked.command(metric=x) for x in ask[:3]),
        )
    for what, names in others.items():
        g.drop(names, f"of {what}")
    g.metric = g.metric or metric
    return list(kept), dict(kept)


def _drop_average_rows(g: _Grid, rows: list[str], columns: list[str]) -> None:
    """Leave out the rows that are averages, ranks or wins."""
    label = [str(x) for x in g.label(rows)]
    by_value = set(average_rows([g.columns[x] for x in columns])) if columns else set()
    out = np.array([is_summary(x) or i in by_value for i, x in enumerate(label)])
    if out.any() and not out.all():
        names = ", ".join(f"`{label[i]}`" for i in np.flatnonzero(out))
        g.keep(
            ~out, f"row{'s' * (int(out.sum()) > 1)} {names} (no more than a summary of the others)"
        )


def _check_rows(g: _Grid, label: np.ndarray, names: list[str], kind: str) -> None:
    if empty := [i for i, x in enumerate(label) if not x]:
        raise g.refuse(f"row {empty[0]} of the table has no {kind}: name it, or drop it")
    if not g.is_key(names):
        doubled = label[np.flatnonzero(_doubled(g, names))[0]]
        raise g.refuse(
            f"the table has several rows for {doubled}: {kind} names must differ; number runs and folds in "
            "columns 'repeat' and 'fold'"
        )
