"""Tables of the files of a folder, with columns of what their names tell."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from mlaut.analysis.importers.grids.columns import measure_in
from mlaut.analysis.importers.grids.forms.grid import FILE, ROW, Grid, is_form, text_of
from mlaut.analysis.importers.grids.forms.headless import NUMBERED, with_names
from mlaut.analysis.importers.grids.forms.nested import OF_CLASSES, RUNS, over_classes
from mlaut.analysis.importers.grids.names import PARTS, role_of, shared_start
from mlaut.analysis.scores.usual_names import usual_name
from mlaut.errors import AnalysisError, DataError, some_of
from mlaut.files_io.kinds import PICKLES
from mlaut.files_io.safe_files.plain_files import strict_json
from mlaut.files_io.tables.tables import stem_of

_LEVELS, _FULL = 3, 0.5  # of folders, and the share of their ways that have a file
_RUN = "seed|run|fold|rep|repeat|trial"
_MEASURED = {"metrics", "scores", "results"}  # of one run, perhaps in parts
_OUTPUT = {"result", "results", "out", "output", "eval", "log"}


class SecondHeaderError(AnalysisError):
    """Error that a file of one table has two, of which a folder must not leave out one."""


def tables_of_folder(folder: Path, read: Callable[[Path], list[Grid]]) -> list[Grid]:
    """Return the rows of all files of a folder, with columns of what the names of files tell.

    Files of one column each, beside others, are a table of their own. So are those of each name, as
    of metrics and of settings, that folders have.
    """
    files = sorted(x for x in folder.rglob("*") if x.is_file() and is_form(x))
    files = [x for x in files if not x.name.startswith(".") and x.suffix.lower() not in PICKLES]
    tables: dict[Path, pd.DataFrame] = {}
    several: dict[Path, list[Grid]] = {}
    left, notes = list[str](), dict[str, None]()
    for file in files:
        try:
            grids = _of_run(file) or read(file)
        except SecondHeaderError:
            raise
        except (AnalysisError, DataError, ValueError):
            grids = []
        if len(grids) == 1 and grids[0].table.columns.nlevels == 1:
            tables[file] = with_names(grids[0].table)
            notes |= dict.fromkeys(grids[0].left)
        else:
            several |= {file: grids} if grids else {}
            left.append(file.relative_to(folder).as_posix())
    tables = dict(zip(tables, spelt_alike([*tables.values()]), strict=True))
    heads_of = {x: {*map(str, y)} for x, y in tables.items()}
    counts = Counter(name for head in heads_of.values() for name in head)
    other = [x for x, head in heads_of.items() if max((counts[y] for y in head), default=1) == 1]
    if 2 * len(other) < len(tables):  # pages about the others, perhaps
        left += [x.relative_to(folder).as_posix() for x in other]
        tables = {x: y for x, y in tables.items() if x not in other}
    if not tables:
        tables = {x: y for x, grids in several.items() if len(y := _of_headings(grids))}
        left = [x for x in left if folder / x not in tables]
    if not tables:
        some = [f"{len(y)} in {x.name} ({', '.join(_head(y[0]))})" for x, y in several.items()]
        found = f": {some_of(some, 3)}; give one of them, or save each table as CSV" if some else ""
        raise AnalysisError(f"{folder}: no file in it has one table of results{found}")
    named = pd.Series([*tables]).groupby([stem_of(x.name) for x in tables], sort=False).agg(list)
    each: list[list[Path]] = [x for x in named if len(x) > 1]
    again = [str(stem) for stem, x in named.items() if len(x) > 1]
    of_each = any(measure_in(x) or usual_name(x) for x in again)
    heads_of = {x: _kind(x, y, of_each) for x, y in tables.items()}
    heads = [{name for file in x for name in heads_of[file]} for x in each]
    alone = [file for file, table in tables.items() if table.shape[1] == 1]
    both = 1 < len(alone) < len(tables) - 1
    kinds = [alone, [x for x in tables if x not in alone]] if both else [[*tables]]
    by_head: dict[frozenset[str], list[Path]] = {}
    for file, head in heads_of.items():
        by_head.setdefault(frozenset(head), []).append(file)
    if any(x != heads[0] for x in heads):
        kinds = [*by_head.values()] if 2 * len(by_head) <= len(each) else each
    left += [x.relative_to(folder).as_posix() for x in tables if not any(x in y for y in kinds)]
    read_as = Counter(x.suffix for kind in kinds for x in kind)
    unread = [x for x in left if 2 * read_as[Path(x).suffix] > read_as.total()]
    if len(unread) >= read_as.total():  # what is read would stand for all
        text = f"{folder}: {len(unread)} of its {len(unread) + read_as.total()} files have another"
        raise AnalysisError(
            f"{text} form than the rest ({some_of(unread, 3)}): "
            "put those of one form into a folder of their own"
        )
    note = (*notes, *[f"files {some_of(left)} (not one table)"] * bool(left))
    return [_together({x: tables[x] for x in kind}, folder, note) for kind in kinds]


def spelt_alike(tables: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    """Return tables whose columns have the name of an earlier table's that only signs tell apart.

    Small and large letters do not count, nor do signs between words, as in ``Data set`` and
    ``data_set``, unless a table has both.
    """
    named = dict[str, str]()
    own = [{x: re.sub(r"[\s_-]+|\.(?!\d)", "", x.lower()) for x in map(str, y)} for y in tables]
    for names in own:
        for x, word in names.items():
            named.setdefault(word or x, x)
    both = {word for names in own for word, n in Counter(names.values()).items() if n > 1}
    found = []
    for table, names in zip(tables, own, strict=True):
        other = {x: named[y] for x, y in names.items() if y not in {*both, ""} and named[y] != x}
        found.append(table.rename(columns=other))
        found[-1].attrs |= {"spelt": other} if other else {}
    return found


def _kind(file: Path, table: pd.DataFrame, by_name: bool) -> set[str]:
    """Return the names of columns, or in their stead perhaps that of the file, if it has none."""
    names = {*map(str, table)}
    return {stem_of(file.name)} if by_name and f"{NUMBERED} 1" in names else names


def _head(grid: Grid) -> tuple[str, ...]:
    return tuple(map(str, grid.table.columns))


def _of_headings(grids: list[Grid]) -> pd.DataFrame:
    """Return tables of the same columns as one, with columns of the headings that tell them apart.

    It is empty where they do not.
    """
    levels = [set(x) for x in zip(*(grid.above for grid in grids), strict=False)]
    kept = [i for i, level in enumerate(levels) if len(level) > 1]
    ways = [tuple(grid.above[i] for i in kept) for grid in grids]
    alike = len({(_head(x), len(x.above)) for x in grids}) == 1
    if not alike or len({*ways}) < len(grids) or grids[0].table.columns.nlevels > 1:
        return pd.DataFrame()
    names = [_name_of_level(levels[i], i, "heading") for i in kept]
    tables = [
        x.table.assign(**dict(zip(names, w, strict=True))) for x, w in zip(grids, ways, strict=True)
    ]
    return pd.concat(tables, ignore_index=True)


def _of_run(path: Path) -> list[Grid]:
    """Return the row of a file in JSON that describes one run; none of any other.

    It has texts, and numbers of a known metric, perhaps in parts; lists are of its insides.
    """
    content = strict_json(text_of(path)) if path.suffix.lower() == ".json" else None
    if type(content) is not dict or not any(isinstance(x, str) for x in content.values()):
        return []
    if any(isinstance(y, list) and role_of(x) == "score" for x, y in content.items()):
        return []  # of many scores
    left = [f"`{x}` (a list)" for x, y in content.items() if isinstance(y, list)]
    kept = {x: y for x, y in content.items() if not isinstance(y, list)}
    inner = [x for x, y in kept.items() if type(y) is dict]
    parts = [x for x in inner if x.lower() in _MEASURED]
    if len(parts) == 1:  # beside settings
        measured = over_classes(kept[parts[0]], found := list[Any]())
        left += [*(f"`{x}`" for x in inner if x not in parts), *OF_CLASSES[: len(found)]]
        kept = {x: y for x, y in kept.items() if x not in inner} | measured
    table = pd.json_normalize(kept)
    scored = [x for x in map(str, table) if measure_in(x) or usual_name(x)]
    return [Grid("", table, left=tuple(left))] * bool(
        scored and max(x.count(".") for x in map(str, table)) < 2
    )


def _together(tables: dict[Path, pd.DataFrame], folder: Path, note: tuple[str, ...]) -> Grid:
    """Return the rows of files as one table, called after the end that all their names have."""
    spelt = {x: y for z in tables.values() for x, y in z.attrs.pop("spelt", {}).items()}
    bare = all(is_numeric_dtype(y[x]) for y in tables.values() for x in y)
    parts = _split_off(_parts_of_names([file.relative_to(folder) for file in tables], bare))
    stems = {stem_of(file.name) for file in tables}
    ends = stems if len(stems) == 1 else {re.split(r"[_.-]", x)[-1] for x in stems}
    heads = Counter(name for table in tables.values() for name in set(table.columns))
    alone = all(table.shape[1] == 1 for table in tables.values())
    rows = []
    for table, names in zip(tables.values(), parts, strict=True):
        if alone:  # a column of runs, called after its strategy or whatever else
            column = str(table.columns[0])
            table = table.set_axis(["score"], axis=1).assign(run=range(len(table)))
            if len(heads) > 1:
                table["name of the column"] = column
        elif len(tables) > 1:
            first = table.columns[0]
            unlike = heads[first] == 1 and not role_of(str(first))
            if first == "" or (unlike and table.iloc[:, 0].dtype == object):
                table = table.rename(columns={first: ROW})
        rows.append(table.assign(**names))
    name = ends.pop() if len(ends) == 1 and len(tables) > 1 else ""
    whole = pd.concat(rows, ignore_index=True)
    whole.attrs |= {"spelt": spelt}
    return Grid(name, whole, left=note)


def _name_of_level(level: Iterable[str], i: int, of: str = f"{FILE} part") -> str:
    """Return the word that all parts of names have before a number of a run; else their place."""
    words = {re.sub(r"[\W_]*\d+$", "", x) for x in level}
    return words.pop() if len(words) == 1 and role_of(*words) in RUNS else f"{of} {i}"


def _parts_of_names(paths: list[Path], alone: bool) -> list[dict[str, str]]:
    """Return for each file the parts of its name that differ between files, by column.

    If they are ``alone``, nothing in the files names a dataset or a strategy.
    """
    ways = [[*path.parts[:-1], stem_of(path.name)] for path in paths]
    if len({len(way) for way in ways}) > 1:
        return [{FILE: "/".join(way)} for way in ways]
    split, hyphened = (
        [[*way[:-1], *re.split(signs, way[-1])] for way in ways] for signs in ("__|_|--", "[_-]+")
    )
    for pieces in (split, ways):
        if crossed := _crossed(pieces, of_folders=pieces is ways):
            return crossed
    one = next((x for x in map(_levels, (split, ways)) if len(x) == 1), [])
    if one and (around := _around_shared(["/".join(way) for way in ways])):
        return around
    for pieces in (hyphened, _in_two(ways, 0), _in_two(ways, -1)) if alone else ():
        if crossed := _crossed(pieces, of_folders=False):
            return crossed
    if one and len({*one[0]}) == len(ways):
        run = _name_of_level(one[0], 1)
        return [{run if role_of(run) in RUNS else FILE: part} for part in one[0]]
    if len(ways[0]) == 2 and (parts := _without_folders(ways)):
        return parts
    return [{FILE: "/".join(way)} for way in ways]


def _levels(pieces: list[list[str]]) -> list[tuple[str, ...]]:
    """Return the parts of names that differ, if all names have as many parts."""
    if len({len(piece) for piece in pieces}) > 1:
        return []
    return [level for level in zip(*pieces, strict=True) if len(set(level)) > 1]


def _in_two(ways: list[list[str]], at: int) -> list[list[str]]:
    """Return names of files without folders as their first word, or last, and what differs else."""
    words = [re.findall(r"[_-]*[^_-]+", way[0]) for way in ways if len(way) == 1]
    if len(words) < len(ways) or not all(words):
        return []
    rest = ["".join(x[1:] if at == 0 else x[:-1]) for x in words]
    start, end = shared_start(rest), shared_start([x[::-1] for x in rest])[::-1]
    start, end = re.sub("[^_-]*$", "", start), re.sub("^[^_-]*", "", end)
    inner = [x.removeprefix(start).removesuffix(end).strip("_-") for x in rest]
    both = [*zip([x[at].strip("_-") for x in words], inner, strict=True)]
    return [[*(x if at == 0 else x[::-1])] for x in both] if all(inner) else []


def _crossed(pieces: list[list[str]], *, of_folders: bool) -> list[dict[str, str]]:
    """Return the parts of names by column, if each of a part stands beside each of the others."""
    levels = _levels(pieces)
    sizes, rows = [len(set(level)) for level in levels], list(zip(*levels, strict=True))
    own = of_folders and 2 * max(sizes, default=0) <= len(rows)  # folders, for their own
    full = math.prod(sizes) * (_FULL if own else 1) <= len(rows)
    if len(set(rows)) < len(rows) or not 2 <= len(levels) <= _LEVELS or not full:
        return []
    names = [_name_of_level(level, i) for i, level in enumerate(levels, 1)]
    counts = [{*x} == {*map(str, range(len({*x})))} for x in levels]
    if own and counts.count(True) == 1 < len(counts):  # folders 0, 1, ... of each
        names[counts.index(True)] = "run"
    return [dict(zip(names, row, strict=True)) for row in rows]


def _split_off(names: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return parts of names with those of the data, as ``test`` of ``svm_test``, for themselves."""
    for level in [x for x in names[0] if x.startswith(FILE)]:
        ends = [re.fullmatch(r"(.+?)[\W_]+([a-z]+)", name[level], re.I) for name in names]
        kinds = {x[2].lower() if x else "" for x in ends}
        if len(kinds) > 1 and kinds <= {*PARTS}:
            pairs = zip(names, filter(None, ends), strict=True)
            return [{**name, level: x[1], f"{FILE} part": x[2].lower()} for name, x in pairs]
    return names


def _without_folders(ways: list[list[str]]) -> list[dict[str, str]]:
    """Return folders, and names of files without these, if several folders have the same."""
    folders, stems = zip(*ways, strict=True)
    rest = [x.removeprefix(folder) for folder, x in ways]
    cut = shared_start([x[::-1] for x in rest])[::-1]
    cut = cut[cut.find("_") :] if "_" in cut else ""
    rest = [x.removesuffix(cut).strip("_-. ") for x in rest]
    again = 2 * len({*rest}) <= len(rest) and all(rest) and {*rest} != {*stems}
    pairs = [*zip(folders, rest, strict=True)]
    if not again or len({*pairs}) < len(ways):
        return []
    return [{f"{FILE} part 1": x, f"{FILE} part 2": y} for x, y in pairs]


def _around_shared(stems: list[str]) -> list[dict[str, str]]:
    """Return what stands before and behind the word ``results``, or a run, in all names.

    Numbers from 0 or 1 behind that word are of runs: ``iris-results-1`` is of run 1, and
    ``iris_seed1_svm`` of seed 1.
    """
    words = set.intersection(*({*re.split(r"[\W_]+", x)} for x in stems)) & _OUTPUT
    runs = re.compile(
        rf"(.+?)[\W_]+(?:{'|'.join(words) or '(?!)'}|({_RUN})[\W_]?(\d+))(?:[\W_]+(.+))?"
    )
    found = [*filter(None, map(runs.fullmatch, stems))]
    parts = [[x[1], x[3] or "", x[4] or ""] for x in found]
    levels = [{*level} for level in zip(*parts, strict=True)]
    if len(found) < len(stems) or len({*map(tuple, parts)}) < len(stems) or len(levels[0]) < 2:
        return []
    if max(map(len, levels)) == len(stems):
        return []
    numbers = [int(x) for x in levels[2] if x.isdigit()]  # from 0 or 1, or they may be sizes
    numbered = len(levels[1]) == 1 and len(numbers) == len(levels[2]) and min(numbers) in (0, 1)
    names = [f"{FILE} part 1", found[0][2] or "run", "run" if numbered else f"{FILE} part 2"]
    several = [i for i, level in enumerate(levels) if len(level) > 1]
    return [{names[i]: part[i] for i in several} for part in parts]
