"""Write the tables of the studies into the folder ``datasets`` beside this: ``python load.py``.

Those that come with MLaut are copied; the others come from OpenML (``pip install 'mlaut[openml]'``)
or the UCI repository (``'mlaut[uci]'``), once. A table that is there already is left alone. The
copies that the committed tables of the studies rest on are those that the page names; a few of
these have other rows (primary-tumor, soybean), so numbers can differ in the second digit.
"""

import sys
from pathlib import Path

from mlaut.data import collection, fetch
from mlaut.errors import MlautError
from mlaut.records import CLASSIFICATION, Dataset

TABLES = Path(__file__).parent / "datasets"
ELSEWHERE = {
    "acute-inflammation": "uci/184",
    "adult": "openml/d/1590",
    "bupa": "pmlb/bupa",
    "chess-krvkp": "openml/d/3",
    "letter": "openml/d/6",
    "lung-cancer": "openml/d/163",
    "mushroom": "openml/d/24",
    "pima": "openml/d/37",
    "primary-tumor": "openml/d/171",
    "ringnorm": "openml/d/1496",
    "soybean": "openml/d/42",
    "statlog-heart": "openml/d/53",
    "waveform": "uci/107",
}
LARGE = ("adult", "letter", "mushroom", "ringnorm", "waveform")


def write(name: str, table: Dataset) -> None:
    """Write a table as a CSV file with the class in the column ``target``."""
    frame = table.frame.rename(columns={table.target: "target"})
    frame.to_csv(TABLES / (name + (".csv.gz" if name in LARGE else ".csv")), index=False)


def main() -> list[str]:
    """Write what is missing; return the names of the tables that could not be loaded."""
    TABLES.mkdir(exist_ok=True)
    for table in collection("starter", task=CLASSIFICATION):
        write(table.name, table)
    lacking = []
    for name, reference in ELSEWHERE.items():
        if list(TABLES.glob(f"{name}.*")):
            continue
        try:
            (table,) = fetch(reference)
            write(name, table)
        except MlautError as error:
            lacking.append(name)
            sys.stderr.write(f"{name} ({reference}): {error}\n")
    return lacking


if __name__ == "__main__":
    if lacking := main():
        sys.exit(f"not loaded: {', '.join(lacking)}; the same command tries these again")
