"""Reader of JSON files, for results that programs keep as JSON."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlaut.errors import DataError


def objects(path: Path) -> Iterator[Any]:
    """Yield the object of a JSON file, or the objects of a file with one object in each line."""
    try:
        with path.open(encoding="utf-8") as file:
            if path.suffix == ".jsonl":
                yield from (json.loads(line) for line in file if line.strip())
            else:
                yield json.load(file)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as JSON ({error}); check the file") from error
