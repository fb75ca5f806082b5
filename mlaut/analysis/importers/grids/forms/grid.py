"""`Grid`: a table of cells as they are printed; that of a DataFrame, and the text of a file."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from mlaut.analysis.importers.grids.names import role_of
from mlaut.errors import DataError
from mlaut.files_io.kinds import EXCEL, JSON, MARKUP, PICKLES, TEXTS
from mlaut.files_io.safe_files.plain_files import MOST_JSON, read_text
from mlaut.files_io.tables.tables import ending_of

ROW = "row"  # column of theirs that has no name
FILE = "file"  # column with the names of the files of a folder


@dataclass(frozen=True, eq=False)
class Grid:
    """Table of cells as they are printed.

    Attributes
    ----------
    name : str
        Heading or caption above it, name of a sheet, or empty.
    table : DataFrame
        Its columns have one or several levels of names; those of an unnamed column are empty.
    unnamed : tuple of str
        Levels whose names the form does not tell, as those of nested JSON.
    left : tuple of str
        What was left out while reading, with the reason.
    above : tuple of str
        Headings above it, the last of which it has alone, and lines that name its metric.
    around : tuple of str
        Lines near it that may list the metrics of several numbers in a cell.
    """

    name: str
    table: pd.DataFrame
    unnamed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    around: tuple[str, ...] = ()


def is_form(path: Path) -> bool:
    """Return whether the name of a file is that of a table of some form."""
    suffix = path.suffix.lower()
    return bool(ending_of(path.name)) or suffix in (*MARKUP, *EXCEL, *JSON, *PICKLES, *TEXTS)


def text_of(path: Path) -> str:
    """Return the text of a file; raise `DataError` if it is none in UTF-8."""
    try:
        return read_text(path, MOST_JSON).removeprefix("\ufeff")
    except (OSError, UnicodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}); save it in UTF-8") from error


def tidy(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with names as texts, without empty rows and without unnamed empty columns."""
    if table.columns.nlevels == 1:
        names = [str(name).strip() for name in table.columns]
        table = table.set_axis(["" if x.startswith("Unnamed: ") else x for x in names], axis=1)
    table = table.dropna(how="all").reset_index(drop=True)
    named = [bool("".join(map(str, x if isinstance(x, tuple) else (x,)))) for x in table.columns]
    kept = [name or table.iloc[:, i].notna().any() for i, name in enumerate(named)]
    return table.loc[:, kept]


def grid_of_frame(table: pd.DataFrame) -> Grid:
    """Return a DataFrame as a grid: levels of its index that name rows are columns.

    So are levels of its columns that number repeats or folds.
    """
    runs = [x for x in table.columns.names if x and role_of(str(x)) in ("repeat", "fold")]
    if runs and len(runs) < table.columns.nlevels:
        table = pd.DataFrame(table.stack(runs, future_stack=True))  # noqa: PD013 - of levels
    whole = table.index.nlevels == 1 and pd.api.types.is_integer_dtype(table.index)
    if any(name is not None for name in table.index.names) or not whole:
        each = enumerate(table.index.names, 1)
        names = [f"unnamed {i}" * (i > 1) if x is None else x for i, x in each]
        table = table.rename_axis(names).reset_index()
    return Grid("", tidy(table.reset_index(drop=True)))
