"""Reader of JSON files, for results that programs keep as JSON."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlaut.errors import DataError
from mlaut.files_io.safe_files.plain_files import MOST_JSON, check_plain, read_text, strict_json


def objects(path: Path) -> Iterator[Any]:
    """Yield the object of a JSON file, or the objects of a file with one object in each line."""
    try:
        if path.suffix != ".jsonl":
            yield strict_json(read_text(path, MOST_JSON))
            return
        check_plain(path)
        with path.open(encoding="utf-8") as file:
            yield from (strict_json(line) for line in file if line.strip())
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as JSON ({error}); check the file") from error
