"""`Sheet`: the columns of a grid while it is read, with their roles and what is left out."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import pandas as pd

from mlaut.analysis.importers.asked import Asked, QuestionError
from mlaut.analysis.importers.grids.cells import TAKEN, Column, columns_of, plain
from mlaut.analysis.importers.grids.columns import spreads_of, spreads_with_ending
from mlaut.analysis.importers.grids.forms.grid import FILE, Grid
from mlaut.analysis.importers.grids.names import (
    MEANS,
    PARTS,
    looks_like,
    one_of_runs,
    part_by_name,
    part_in,
    role_of,
    same_metric,
    shared_start,
    word_of,
)
from mlaut.analysis.scores.usual_names import usual_name
from mlaut.errors import AnalysisError, nearest, shortened, some_of

ONE = "this dataset"  # its name, where no column has one
_LOOKED_AT = 300  # names
_KNOWN = 0.34  # share of names that are known, from which they tell what they name
_RUNS = 5  # from which numbers of nested levels are those of runs, and not of shots
_MANY = 4  # columns that differ in their last word
_LIKE = 10  # times, within which a number is like others
_EXAMPLES, _EXAMPLE = 3, 20  # cells of each column that a question shows, and their letters
Way = Mapping[str, str | Sequence[str]]  # the columns of some roles: one way to read a table


@dataclass(frozen=True, eq=False)
class Reading:
    """Scores in long form, and what was read from which columns.

    Attributes
    ----------
    dataset, strategy : ndarray of str, length n
    score : ndarray of float, length n
    repeat, fold : ndarray or None
    spread : ndarray or None
        Spreads that are printed beside the scores.
    words : mapping of int to str
        Why a row has no score.
    sources : mapping of str to str
        Source of each dataset; empty without one.
    metric : str
    names : mapping of str to str
        Names of datasets, strategies, scores, repeats, folds, sources and spreads in the table.
    unused : tuple of str
        What is not used, each with the reason if it is not plain.
    others : tuple of Asked
        Other ways to read the table, of which this one was taken as it is sure.
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
    others: tuple[Asked, ...] = ()

    def table(self) -> pd.DataFrame:
        """Return a row for each strategy, and a column for each dataset: means of repeats."""
        parts = {"dataset": self.dataset, "strategy": self.strategy, "score": self.score}
        table = pd.DataFrame(parts).pivot_table("score", "strategy", "dataset")
        return table.reindex(columns=[*dict.fromkeys(self.dataset)])

    def without(self, datasets: Collection[str]) -> Self:
        """Return a reading without some datasets."""
        if not datasets:
            return self
        rows = np.flatnonzero(~np.isin(self.dataset, list(datasets)))
        place = {old: new for new, old in enumerate(rows.tolist())}
        of_rows = (self.repeat, self.fold, self.spread)
        repeat, fold, spread = (None if x is None else x[rows] for x in of_rows)
        return replace(
            self,
            dataset=self.dataset[rows],
            strategy=self.strategy[rows],
            score=self.score[rows],
            repeat=repeat,
            fold=fold,
            spread=spread,
            words={place[row]: word for row, word in self.words.items() if row in place},
            sources={x: source for x, source in self.sources.items() if x not in datasets},
        )


_RIGHT = re.compile("correct|right|pass|success|solve|hit|match|accura", re.I)  # names of flags
_NO_PARTS = {"subset": "dataset", "set": "dataset", "split": "fold"}  # of columns without parts
_TRAINED = re.compile(r"(?:pre_?)?train(?:ed|ing)?_|upstream_").match  # on other data
_END = re.compile(r"(?:^|[\W_])(?:low|lower|upper|high)(?:[\W_]|$)", re.I)  # of an interval
_LIMIT = re.compile(r"(?:^|[\W_])(?:min|max)(?:[\W_]|$)", re.I)  # of runs, and no spread either
_INTERVALS = re.compile(r"(?<![a-z])(?:ci|iqr|conf|confidence|intervals?|bounds)(?![a-z])", re.I)
_INTERVAL = re.compile(r"[(\[]?\s*([+-]?[\d.]+)%?\s*(?:[-\u2013,; ]|to)\s*([+-]?[\d.]+)%?\s*[)\]]?")
_FOLD = re.compile(r"(?:fold|resample|bootstrap)\D?\d+\b.*", re.I).fullmatch  # of R's caret


class Sheet:
    """Columns of a grid while it is being read: their roles, and what is left out."""

    def __init__(self, grid: Grid, asked: Asked) -> None:
        self.asked, self.where, self.metric = asked, asked.where, asked.metric
        self.unused: list[str] = list(grid.left)
        self.others: list[Asked] = []  # readings that were not taken
        self.own: list[str] = []  # the metrics of the datasets, if each has its own
        self.unnamed = grid.unnamed
        table = grid.table
        self.levels = table.columns if table.columns.nlevels > 1 else None
        if self.levels is not None:
            bare = [[str(x).removesuffix(".") for x in names] for names in table.columns]
            levels = [[*dict.fromkeys(filter(None, x))] for x in bare]  # "avg." as "avg"
            counts = Counter(x for names in levels for x in names)
            part = {x for x, n in counts.items() if 1 < n < len(levels) / 2}  # SOURCE and TARGET
            over = {x for x in counts if role_of(x) == "dataset" and x not in part}
            own = [[x for x in names if x not in over] or names for names in levels]
            spread = [x[:-1] for x in own if role_of(" / ".join(x)) == "spread"]
            mean = [x[-1].lower() in MEANS and x[:-1] in spread if x else False for x in own]
            own = [x[:-1] if over else x for x, over in zip(own, mean, strict=True)]
            table = table.set_axis([" / ".join(names) for names in own], axis=1)
        empty = [i for i, name in enumerate(table.columns) if not str(name)]
        names = [str(name) or "unnamed" for name in table.columns]
        for n, i in enumerate(empty[1:], 2):
            names[i] = f"unnamed {n}"
        names = [f"{x}_" if x in ("rows", "columns") else x for x in names]  # words of a user
        counts = Counter(names)
        for i, name in enumerate(names):  # a spread behind each of several measures
            if counts[name] > 1 and i and role_of(name) == "spread":
                names[i] = f"{names[i - 1]} {name}"
        spare = _spare_twins(table, names)
        self.unused += [f"a second `{names[i]}` ({why})" for i, why in spare.items()]
        left = [i for i in range(len(names)) if i not in spare]
        names, table = [names[i] for i in left], table.iloc[:, left]
        if twins := [name for name, n in Counter(names).items() if n > 1]:
            raise AnalysisError(f"{self.where}: two columns are called {twins[0]!r}")
        first = [x for x in names if re.search(r"(?<![\w.])-?\d+\.\d{4,}", x)]
        heads = table.head(_LOOKED_AT).to_numpy().T
        first += [x for x, cells in zip(names, heads, strict=True) if x in map(str, cells)]
        first += _among_cells(table, names)
        if len(first) > 1 and not asked.chosen:
            text = f"{self.where}: its first line has values ({first[-1]}), or names of columns"
            first_column = [
                ("strategy", "column 1"),
                ("dataset", "column 1"),
                ("strategy", names[0]),
            ]
            keys = first_column if self.levels is None else []
            raise QuestionError(text, [asked.with_columns(**{x: y}) for x, y in keys])
        if table.empty:
            raise AnalysisError(f"{self.where}: a table without rows; check the file")
        self.table = table.set_axis(names, axis=1)
        self.columns = {x.name: x for x in columns_of(self.table)}
        inside = [x for x in self.columns.values() if x.brackets is not None]
        if any(x.spreads is not x.brackets for x in inside):
            self.unused.append("numbers in brackets")
        self.n = len(table)
        self.roles = {name: self._role(column) for name, column in self.columns.items()}
        ends = [name.rpartition(" ")[0] for name in self.columns]
        of_many = [x for x in self.columns if x[-3:] == " id" and ends.count(x[:-3]) >= _MANY]
        self.roles |= dict.fromkeys(of_many, "")  # Indonesian, among other languages
        for name, column in self.columns.items():
            few = 1 < self.n_of(name) <= self.n / 2
            few |= bool(column.strange) and self.n_of(name) == self.n  # IDs beside names
            numbered = self.roles[name] == "size" and word_of(name).endswith("_id") and few
            if numbered or (name.startswith(FILE) and column.unit):  # as 410m, of a model
                texts = column.labels()  # numbers that are names
                self.columns[name], self.roles[name] = Column(name, texts=texts), ""
            if name.startswith(FILE) and self._names_metrics(name):
                self.roles[name] = "metric"
            if name.startswith(FILE) and {*self.columns[name].coded[1]} <= {*PARTS}:
                self.roles[name] = "part"
        self.given = list(self.columns)
        self.asked = asked = replace(asked, columns=self._spelled_out(asked.columns))
        for role, chosen in asked.columns.items():
            if unknown := [x for x in chosen if x not in {*self.columns, "rows", "columns"}]:
                raise AnalysisError(f"{self.where}: no column {self._unknown(unknown[0])}")
            for name in self.columns:
                if self.roles[name] == role and role not in ("size", ""):
                    self.roles[name] = ""
            self.roles |= {name: role for name in chosen if name in self.columns}
        for name in grid.unnamed:  # a level of nested names may have those of metrics
            given = self.columns[name].labels().tolist()
            means = set() if any(map(usual_name, given)) else {*given} & {*MEANS}
            labels = [self.metric or "score" if x in means else one_of_runs(x) for x in given]
            usual = {x for x in labels if usual_name(x) is not None}
            if usual or means or len({*labels}) == 1:
                usual |= {*labels} - {*given}
            least = ("size", "spread", *["relative", "average"] * bool(means))
            parts = {*map(part_in, given)} - {""}
            if len(parts) > 1 and parts <= {*PARTS}:
                self.roles[name] = "part"
            most = any(same_metric(x, self.metric) for x in usual)
            most &= 2 * len(usual) > len({*labels})
            if usual and (most or all(x in usual or role_of(x) in least for x in labels)):
                self.roles[name] = "metric"
                self.columns[name] = Column(name, texts=np.array(labels, dtype=object))
        self._number_levels(grid.unnamed)
        self._pair_spreads()
        self._shorten_files()
        self._set_trained_on()
        if asked.clusters:
            if asked.clusters not in self.columns:
                raise AnalysisError(f"no column {self._unknown(asked.clusters)}")
            self.roles[asked.clusters] = "source"

    def _spelled_out(self, chosen: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """Return the columns of each role, with those that fit ``*_acc`` in its place."""
        said = {x for names in chosen.values() for x in names}
        rest = [x for x in self.given if x not in said]
        fitting = {x: fitting_of(x, rest) for x in said - {*self.given} if "*" in x}
        return {
            role: tuple(y for x in names for y in fitting.get(x) or [x])
            for role, names in chosen.items()
        }

    def _in_short(self, way: Asked) -> Asked:
        """Return words that name many columns by a pattern, where one fits these and no other."""
        columns = dict(way.columns)
        for role, names in way.columns.items():
            said = {x for other, more in columns.items() if other != role for x in more}
            rest = [x for x in self.given if x not in said]
            start, end = shared_start(names), shared_start([x[::-1] for x in names])[::-1]
            patterns = (f"{start}*", f"*{end}", f"{start}*{end}")
            if len(names) >= _MANY:
                fits = (x for x in patterns if fitting_of(x, rest) == [*names])
                columns[role] = next(((x,) for x in fits), names)
        return replace(way, columns=columns)

    def _unknown(self, name: str) -> str:
        hint = nearest(name, self.columns) or f"; it has {', '.join(self.columns)}"
        return f"{name!r}{hint}"

    def _pair_spreads(self) -> None:
        """Put columns of spreads into the columns of their means, and remove them."""
        said = {name for names in self.asked.columns.values() for name in names}
        numbers = [x for x in self.columns if self.columns[x].is_number]
        self.paired: dict[str, str] = {}
        ending = spreads_with_ending([self.columns[x] for x in numbers])
        for mean, (first, *more) in (spreads_of(numbers) or ending).items():
            if said & {first, *more}:
                continue
            told = _END.search(first) or _LIMIT.search(first)
            if self.columns[mean].spreads is None and not told:
                spreads = self.columns.pop(first).numbers
                self.columns[mean] = replace(self.columns[mean], spreads=spreads)
                self.paired[mean] = first
            self.roles[mean] = "" if self.roles[mean] == "average" else self.roles[mean]
            ends = [x for x in (first, *more) if _END.search(x)]
            self.drop(ends, "an end of an interval")
            self.drop([first, *more], "a spread")
        self.drop([x for x in self.columns if x not in said and self._is_interval(x)], "intervals")

    def _is_interval(self, name: str) -> bool:
        """Return whether a column is called so, and its cells hold the numbers of another."""
        cells = [_INTERVAL.fullmatch(x) for x in self.columns[name].labels()]
        if self.columns[name].is_number or not _INTERVALS.search(name) or not all(cells):
            return False
        low, high = np.array([x.groups() for x in cells if x], dtype=float).T
        numbers = (x.numbers for x in self.columns.values() if x.is_number)
        return any(((low <= x) & (x <= high)).all() for x in numbers)

    def _names_metrics(self, name: str) -> bool:
        """Return whether files are called after metrics, and one of them after the wanted one."""
        names = [str(x) for x in self.columns[name].coded[1]]
        wanted = any(same_metric(x, self.metric) for x in names)
        return wanted and 2 * sum(usual_name(x) is not None for x in names) > len(names) > 1

    def _number_levels(self, levels: Sequence[str]) -> None:
        """Take a level of nested names that counts 0, 1, 2, ... for repeats, beside two others."""
        names = {x: [str(y) for y in self.columns[x].coded[1]] for x in levels}
        counts = [x for x, each in names.items() if {*each} == {*map(str, range(len(each)))}]
        free = [x for x in names if self.roles[x] == "" and x not in counts and len(names[x]) > 1]
        if len(counts) == 1 and len(free) > 1 and len(names[counts[0]]) >= _RUNS:
            self.roles[counts[0]] = self.roles[counts[0]] or "repeat"

    def _shorten_files(self) -> None:
        """Leave out of names of files the dataset that another column has, of each row."""
        scored = self.columns.get(self.metric)
        has = ~np.isnan(scored.numbers) if scored and scored.is_number else np.ones(self.n, bool)
        texts = [x for x in self.named("dataset", "strategy", "") if not self.columns[x].is_number]
        for name in [x for x in texts if FILE in self.columns and x != FILE]:
            files, others = self.columns[FILE].labels(), self.columns[name].labels()
            pairs = [*zip(map(str, files), map(str, others), strict=True)]
            own = {pair for pair, scored in zip(pairs, has, strict=True) if scored}
            if len({y for _, y in own}) > 1 and all(y and y.lower() in x.lower() for x, y in own):
                rest = [re.sub(re.escape(y), "", x, flags=re.I).strip("_-/. ") for x, y in pairs]
                least = 1 if self.roles[name] == "dataset" else len({x for x, _ in own}) / 2
                if len({*rest} - {""}) > 1 and (least == 1 or len({*rest}) <= least):
                    self.columns[FILE] = Column(FILE, texts=np.array(rest, dtype=object))
                    self.roles[FILE] = "strategy" if self.roles[name] == "dataset" else "dataset"

    def _set_trained_on(self) -> None:
        """Take data that models were trained on for a setting: scores are of other datasets."""
        said = {name for names in self.asked.columns.values() for name in names}
        datasets, models = self.named("dataset"), self.named("strategy")
        trained = [x for x in datasets if _TRAINED(word_of(x)) and x not in said]
        pairs = [self.n_of(*models) * self.n_of(x) for x in trained]
        crossed = len(trained) == len(datasets) and all(2 * self.n > n for n in pairs)
        self.roles |= dict.fromkeys([] if crossed else trained, "")

    def spreads_of(self, scores: Sequence[str]) -> str:
        """Return the names of the spreads of scores; those of others are not used."""
        self.unused += [f"`{x}` (a spread)" for of, x in self.paired.items() if of not in scores]
        own = [f"`{x}`" for of, x in self.paired.items() if of in scores]
        return some_of(own) if own else ""

    def _role(self, column: Column) -> str:
        """Return what a column is by its name, if its cells do not contradict it."""
        role, number = role_of(column.name), column.is_number
        wanted = (self.metric, *self.asked.columns.get("score", ()))
        if role == "" and usual_name(self.metric) and column.name not in wanted:
            cells = {str(x).lower() for x in self.table[column.name].dropna().unique()[:3]}
            if cells and cells <= {"true", "false"} and not _RIGHT.search(column.name):
                return "flag"  # such as detected: true may be a false alarm
        if role in ("", "size") and not number and all(map(_FOLD, column.coded[1])):
            return "fold"
        if {"fit_time", "score_time"} <= {*self.table} and re.fullmatch(r"level_\d", column.name):
            return "fold"  # the places in what scikit-learn's cross_validate returned
        if role == "average" and not number:  # names of losses
            return ""
        if role == "metric" and not number:  # or a corner that names columns, above strategies
            names, across = {*column.coded[1]}, [usual_name(x) for x in self.columns]
            known = sum(usual_name(x) is not None for x in names)
            several = len(names) == self.n or len(across) - across.count(None) > 1
            corner = several and 2 * known <= len(names) and self.metric not in names
            return "" if corner else role
        if role == "dataset" and not number:  # such as dev and test, of one dataset
            kinds = {PARTS.get(x.lower(), 9) for x in column.coded[1]}
            if len(kinds) > 1 and 0 in kinds and max(kinds) < 3:
                return "part"
        if number and word_of(column.name) in ("experiment", "exp"):  # 0, 1, 2, ...
            each = np.unique(column.numbers).tolist()
            return "repeat" if each == [*range(len(each))] and len(each) < self.n else role
        if word_of(column.name) == "bootstrap" and self.n_of(column.name) < 3:
            return ""  # whether rows are drawn, of a forest
        if role in ("strategy", "source", "part", "metric") and number:
            return "size" if word_of(column.name).endswith("_id") else ""
        short = role == "size" and word_of(column.name) in ("id", "index", "no", "p", "n")
        if number and (short or role in ("dataset", "repeat", "fold")):
            return role if (np.nan_to_num(column.numbers % 1) == 0).all() else ""
        if role in ("dataset", "strategy") and not number:
            names = {x.lower() for x in column.coded[1]} - {"", "-"}
            link = len(names) == 1 and names < {*word_of(column.name).split("_")}
            return "size" if link else role
        if role == "part" and not {*map(part_in, column.coded[1])} <= {*PARTS, ""}:
            role = _NO_PARTS.get(word_of(column.name), "")
        texts = role == "fold" and not column.is_number
        if texts and {*map(part_in, column.coded[1])} <= {*PARTS, ""}:
            return "part"
        if texts and np.mean([bool(re.search(r"\d", x)) for x in column.coded[1]]) < 1 / 2:
            return ""  # as random and time, of which a split is no repeat, or names of datasets
        return role

    def named(self, *roles: str) -> list[str]:
        """Return the names of the columns of some roles."""
        return [name for name, role in self.roles.items() if role in roles and name in self.columns]

    def drop(self, names: Iterable[str], why: str = "") -> None:
        """Leave columns out, which is said with the reason."""
        names = [name for name in names if name in self.columns]
        for name in names:
            del self.columns[name]
            self.unused.append(f"`{name}`" + (f" ({why})" if why else ""))

    def without(self, names: Iterable[str], out: Iterable[str], why: str = "") -> list[str]:
        """Leave columns out, which is said with the reason; return the names that are left."""
        names = list(names)
        self.drop(out, why)
        return [name for name in names if name in self.columns]

    def keep(self, rows: np.ndarray, what: str) -> None:
        """Keep some rows; what is left out is said."""
        if rows.all():
            return
        self.unused.append(what)
        self.n = int(rows.sum())
        number = np.flatnonzero(rows)
        place = {int(old): new for new, old in enumerate(number)}
        for name, column in self.columns.items():
            arrays = ("texts", "values", "spreads", "brackets", "bold", "units")
            each = {part: getattr(column, part) for part in arrays}
            parts = {part: values[rows] for part, values in each.items() if values is not None}
            for part in ("words", "strange"):
                texts = getattr(column, part)
                parts[part] = {place[row]: word for row, word in texts.items() if row in place}
            self.columns[name] = replace(column, **parts)

    def number_rows(self, names: Sequence[str]) -> list[str]:
        """Return the name of a new column, which numbers the rows with the same names."""
        label = pd.Series(self.label(names))
        counts = label.groupby(label).cumcount().to_numpy(dtype=float)
        self.columns["row"], self.roles["row"] = Column("row", values=counts), "repeat"
        return ["row"]

    def label(self, names: Sequence[str]) -> np.ndarray:
        """Return the names that one or several columns give to the rows; of none, `ONE`."""
        parts = [self.columns[name].labels() for name in names]
        if not parts:
            return np.full(self.n, ONE, dtype=object)
        if len(parts) == 1:
            return parts[0]
        codes = [self.columns[name].coded[0] for name in names]
        _, first, back = np.unique(
            np.column_stack(codes), axis=0, return_index=True, return_inverse=True
        )
        joined = [" ".join(x for x in (str(part[i]) for part in parts) if x) for i in first]
        return np.array(joined, dtype=object)[np.ravel(back)]

    def is_key(self, names: Sequence[str]) -> bool:
        """Return whether some columns together tell all rows apart."""
        codes = [self.columns[name].coded[0] for name in names]
        return not pd.MultiIndex.from_arrays(codes).duplicated().any() if codes else self.n == 1

    def n_of(self, *names: str) -> int:
        """Return how many different labels some columns have together."""
        codes = [self.columns[name].coded[0] for name in names]
        return len(pd.MultiIndex.from_arrays(codes).unique()) if codes else 1

    def fixes(self, finer: Sequence[str], coarser: str) -> bool:
        """Return whether a column is constant within each label of others."""
        return self.n_of(*finer, coarser) == self.n_of(*finer)

    def texts_within(self, names: Sequence[str]) -> list[str]:
        """Return the columns of texts that differ between rows of one name, and name no row.

        Dates, IDs and the like describe a run, and are no settings.
        """
        texts = [x for x in self.columns if x not in names and not self.columns[x].is_number]
        texts = [x for x in texts if self.roles[x] != "size" or part_by_name(x)]
        return [x for x in texts if self.n_of(x) < self.n and not self.fixes(names, x)]

    def least(self, names: Sequence[str], more: Sequence[str] = ()) -> list[str]:
        """Return columns without those that follow from the others, and from more."""
        kept = list(names)
        for x in kept[::-1]:
            rest = [y for y in kept if y != x]
            kept = rest if rest and self.fixes([*more, *rest], x) else kept
        return kept

    def check_units(self, names: Sequence[str]) -> None:
        """Raise an error where numbers have several units, or one that the metric has not."""
        kinds = {x: kind for x in names if (kind := self.columns[x].kind)}
        if not kinds:
            return
        units = {x: self.columns[x].units for x in names if x not in kinds}
        kinds |= {x: max(own) for x, own in units.items() if own is not None and any(own)}  # GB
        (first, kind), usual = next(iter(kinds.items())), usual_name(self.metric)
        if far := [x for x in kinds if kinds[x] != kind]:
            ways = [{"unused": x} for x in (far, [x for x in kinds if x not in far])]
            raise self.refuse(f"`{first}` is in {kind}, and `{far[0]}` in {kinds[far[0]]}", *ways)
        if usual and (usual.greater or (usual.metric == "seconds") != (kind == "s")):
            times = [{"metric": "seconds"}] * (kind == "s")
            raise self.refuse(f"`{first}` is in {kind}, and no {self.metric}", *times)

    def choose(self, why: str, ways: Sequence[Way], sure: bool) -> Way:
        """Return the first of several ways to read the table, if it is sure; else ask."""
        if not sure:
            raise self.refuse(why, *ways)
        self.others += [self._in_short(self.asked.with_columns(**way)) for way in ways[1:]]
        return ways[0]

    def refuse(self, text: str, *ways: Way) -> AnalysisError:
        """Return the error that asks, with the commands that answer by these columns."""
        answers = [self._in_short(self.asked.with_columns(**x)) for x in ways]
        return QuestionError(f"{self.where}: {text}", answers, sheet=self)

    def taken_for(self) -> dict[str, str]:
        """Return what each column of the table is taken for, with examples of its cells."""
        found = re.findall(r"^`(.+?)`(?: \((.*)\))?$", "\n".join(self.unused), re.MULTILINE)
        left: dict[str, str] = dict(found)
        told = {}
        for name in map(str, self.table):
            cells = self.table[name]
            each = [*dict.fromkeys(map(plain, cells.head(_LOOKED_AT).dropna()))]
            examples = ", ".join(shortened(x, _EXAMPLE) for x in each[:_EXAMPLES])
            taken = TAKEN.get(self.roles.get(name, ""), "texts")
            if taken == "texts" and name in self.columns and self.columns[name].is_number:
                taken = "numbers"
            if name in left or name not in self.columns:
                why = left.get(name) or "a spread" * (name in self.paired.values())
                taken = "not used" + f": {why}" * bool(why)
            told[name] = f"{taken} ({examples}{', ...' * (len(each) > _EXAMPLES)})"
        return told


def _among_cells(table: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the names of all columns but the first, if they are whole numbers as those below."""
    found = []
    for i, name in enumerate(names[1:], 1):
        cells = pd.to_numeric(table.iloc[:, i], errors="coerce").dropna()
        number = float(name) if name.isdigit() and not 1900 <= int(name) <= 2100 else 0
        near = not cells.empty and cells.min() / _LIKE <= number <= _LIKE * cells.max()
        if not number or not near or (cells % 1 != 0).any():
            return []
        found.append(name)
    return found


def _spare_twins(table: pd.DataFrame, names: Sequence[str]) -> dict[int, str]:
    """Return the columns of a name that another has too, if they are empty or equal, and which."""
    again = [i for i, name in enumerate(names) if names.count(name) > 1]
    empty = [i for i in again if not any(map(plain, table.iloc[:, i].dropna()))]
    spare = dict.fromkeys(empty, "empty")
    pairs = [(i, j) for i in again for j in again if j < i and names[i] == names[j]]
    same = [i for i, j in pairs if table.iloc[:, i].equals(table.iloc[:, j])]
    return dict.fromkeys(same, "the same") | spare


def fitting_of(pattern: str, names: Iterable[str]) -> list[str]:
    """Return the names that a pattern fits, in which ``*`` stands for any letters.

    Examples
    --------
    >>> fitting_of("*_acc", ["cnn_acc", "cnn_time", "rnn_acc"])
    ['cnn_acc', 'rnn_acc']
    """
    fits = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL).fullmatch
    return [x for x in names if fits(x)]


def quoted(names: Sequence[str], sign: str = " + ") -> str:
    """Return names of columns as a part of the sentence on how a table was read."""
    return sign.join(f"`{name}`" for name in names)


def likes(names: list[str]) -> str:
    """Return what names are, if they are known and nothing speaks for the contrary."""
    names = [str(name) for name in names if name][:_LOOKED_AT]
    strategies, datasets = looks_like(names, "strategy"), looks_like(names, "dataset")
    least = max(_KNOWN, 2 / max(len(names), 1)) if len(names) < 6 else _KNOWN
    if strategies >= min(least, 1) and datasets <= strategies / 3:
        return "strategy"
    if datasets >= min(least, 1) and strategies <= datasets / 3:
        return "dataset"
    return ""
